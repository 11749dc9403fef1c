//! Which trials of a study are shown. In: pairs of names and values, as a page's address has them. Out: the filter, which trials it keeps, and the
//! same pairs again: who opens the address sees the same. Refuses names and values it does not know, with those it does.
//!
//! | key | value |
//! |---|---|
//! | `state` | `passed`, `refused`, `stopped`; several with commas |
//! | `phase` | a phase, such as `search` or `small/search`; several with commas |
//! | `gate` | the gate that refused; several with commas |
//! | `workload` | the workload of a search of its own, or on which a trial was refused |
//! | `t.NAME` | the value of the tunable NAME; several with commas, or, as of the keys above, by giving the key again |
//! | `top` | only the so many fastest, and none of those refused or stopped early |
//! | `sort` | `recorded` (usual), `fastest`, `slowest` |
//! | `refused` | `hide`: plots leave out what was refused |
//! | `page` | which page of the table, from 1 |
//! | `trial` | a trial to look at: `search/12` |

use std::collections::BTreeSet;

use kiln_core::{Config, Gate, Report, Value, nearest};
use kiln_store::{PhaseId, State, Study, Trial, TrialState};

/// Rows of a page of the table.
pub const TRIALS_A_PAGE: usize = 50;
/// Keys, in the order they are written.
const KEYS: [&str; 9] = ["state", "phase", "gate", "workload", "top", "sort", "refused", "page", "trial"];
/// Before the name of a tunable.
const TUNABLE: &str = "t.";
/// Names that are listed where one is wrong.
const SHOWN: usize = 20;
/// Phases that every study may come to.
const PHASES: [&str; 8] = ["default", "seed", "search", "final", "suite", "run-off", "confirm", "ablation"];
/// A longer value is none that anybody typed.
const LONGEST: usize = 4096;

/// A selection of trials.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrialFilter {
    /// Any of these states; all where there are none.
    pub states: Vec<TrialState>,
    /// Any of these phases; all where there are none.
    pub phases: Vec<String>,
    /// Refused by any of these gates; any trial where there are none.
    pub gates: Vec<Gate>,
    /// Of this workload.
    pub workload: Option<String>,
    /// Tunables with any of some values, as they are typed.
    pub values: Vec<(String, Vec<String>)>,
    /// Only the so many fastest.
    pub top: Option<usize>,
    /// The order of the table.
    pub order: TrialOrder,
    /// Whether plots leave out what was refused.
    pub hides_refused: bool,
    /// The page of the table, from 0.
    pub page: usize,
    /// A trial to look at.
    pub trial: Option<String>,
}

/// The order of a table of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrialOrder {
    /// As recorded.
    #[default]
    Recorded,
    /// By time, what has none at the end.
    Fastest,
    /// By time, the slowest first.
    Slowest,
}

impl TrialOrder {
    /// Every order.
    pub const ALL: [TrialOrder; 3] = [TrialOrder::Recorded, TrialOrder::Fastest, TrialOrder::Slowest];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            TrialOrder::Recorded => "recorded",
            TrialOrder::Fastest => "fastest",
            TrialOrder::Slowest => "slowest",
        }
    }
}

impl TrialFilter {
    /// The filter of some pairs. An empty value is as if the key were not there, since forms send those.
    pub fn parse<K: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<TrialFilter, Report> {
        let mut filter = TrialFilter::default();
        for (key, value) in pairs {
            let (key, value) = (key.as_ref(), value.as_ref().trim());
            if value.len() > LONGEST || key.len() > LONGEST {
                return Err(Report::error(format!("a filter of {} letters", value.len().max(key.len())))
                    .label(format!("expected at most {LONGEST}")));
            }
            if !value.is_empty() {
                filter.take(key, value)?;
            }
        }
        Ok(filter)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), Report> {
        let listed = || value.split(',').map(str::trim).filter(|part| !part.is_empty());
        match key {
            "state" => {
                let known = |name: &str| TrialState::from_name(name);
                let names = || TrialState::ALL.iter().map(|state| state.name());
                let found = listed().map(|name| known(name).ok_or_else(|| unknown(key, name, names())));
                self.states.extend(found.collect::<Result<Vec<_>, _>>()?);
            }
            "gate" => {
                let known = |name: &str| Gate::ALL.iter().copied().find(|gate| gate.name() == name);
                let names = || Gate::ALL.iter().map(|gate| gate.name());
                let found = listed().map(|name| known(name).ok_or_else(|| unknown(key, name, names())));
                self.gates.extend(found.collect::<Result<Vec<_>, _>>()?);
            }
            "sort" => {
                let known = TrialOrder::ALL.into_iter().find(|order| order.name() == value);
                self.order =
                    known.ok_or_else(|| unknown(key, value, TrialOrder::ALL.iter().map(|order| order.name())))?;
            }
            "refused" => {
                self.hides_refused = match value {
                    "hide" => true,
                    "show" => false,
                    _ => return Err(unknown(key, value, ["hide", "show"].into_iter())),
                };
            }
            "phase" => self.phases.extend(listed().map(String::from)),
            "workload" => self.workload = Some(value.into()),
            "top" => self.top = Some(number(key, value)?),
            "page" => self.page = number(key, value)? - 1,
            "trial" => self.trial = Some(value.into()),
            _ => match key.strip_prefix(TUNABLE).filter(|name| !name.is_empty()) {
                Some(name) => match self.values.iter_mut().find(|(own, _)| own == name) {
                    Some((_, values)) => values.extend(listed().map(String::from)),
                    None => self.values.push((name.into(), listed().map(String::from).collect())),
                },
                None => {
                    let report = Report::error(format!("there is no filter `{key}`"));
                    let near = nearest(key, KEYS).map(|near| format!("did you mean `{near}`?"));
                    let name = key.strip_prefix(TUNABLE).map_or(key, |_| "NAME");
                    let hint = near.unwrap_or_else(|| match name {
                        "NAME" => format!("a tunable is written {TUNABLE}NAME"),
                        name => format!("if `{name}` is a tunable, write {TUNABLE}{name}"),
                    });
                    return Err(report
                        .label(format!("expected one of {}, or {TUNABLE}TUNABLE", KEYS.join(", ")))
                        .hint(hint));
                }
            },
        }
        Ok(())
    }

    /// Whether a study has what the filter asks for. Refuses phases, workloads, tunables and trials that it does not have: they would show nothing.
    pub fn fits(&self, study: &Study, trials: &[Trial]) -> Result<(), Report> {
        let summary = study.summary.as_ref().and_then(|summary| summary.read().ok());
        let confirmed = summary.iter().flat_map(|summary| &summary.workloads).map(|workload| workload.name.as_str());
        let apart = trials.iter().filter_map(|trial| trial.phase_id().workload);
        let refused_on = trials.iter().filter_map(|trial| trial.workload.as_deref());
        let mut workloads: BTreeSet<String> = apart.chain(refused_on).chain(confirmed).map(String::from).collect();
        if self.workload.is_some() || !self.phases.is_empty() {
            workloads.extend(stated(study));
        }
        let phases: BTreeSet<&str> =
            trials.iter().flat_map(|trial| [trial.phase.as_str(), trial.phase_id().name]).collect();
        // A study that runs may come to others.
        for phase in self.phases.iter().filter(|phase| !trials.is_empty() && !phases.contains(phase.as_str())) {
            let name = PhaseId::parse(phase);
            let later = PHASES.contains(&name.name) && name.workload.is_none_or(|own| workloads.contains(own));
            if !later {
                let known: BTreeSet<&str> = phases.iter().copied().chain(PHASES).collect();
                return Err(missing("phase", phase, known.into_iter()));
            }
        }
        if let Some(workload) = self.workload.as_ref().filter(|own| !workloads.is_empty() && !workloads.contains(*own))
        {
            return Err(missing("workload", workload, workloads.iter().map(String::as_str)));
        }
        let configs = || trials.iter().filter_map(|trial| Config::parse(&trial.config).ok());
        for (name, wanted) in &self.values {
            if !trials.is_empty() && !configs().any(|config| config.get(name).is_some()) {
                let tunables: BTreeSet<String> = configs()
                    .flat_map(|config| config.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>())
                    .collect();
                return Err(missing("tunable", name, tunables.iter().map(String::as_str)));
            }
            // A study that runs may still try others.
            let tried: BTreeSet<String> = match study.state == State::Running {
                true => BTreeSet::new(),
                false => configs().filter_map(|config| config.get(name).map(shown)).collect(),
            };
            let untried = wanted.iter().find(|value| !tried.is_empty() && !tried.contains(value.trim_matches('"')));
            if let Some(value) = untried {
                let near =
                    nearest(value, tried.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
                return Err(Report::error(format!("the study tried no {name}={value}"))
                    .label(format!("expected {}", listed(tried.iter().map(String::as_str))))
                    .maybe_hint(near));
            }
        }
        let Some(trial) = &self.trial else { return Ok(()) };
        let asked = trial.rsplit_once('/').and_then(|(phase, number)| Some((phase, number.parse::<u64>().ok()?)));
        match asked.is_some() && trials.iter().any(|own| asked == Some((own.phase.as_str(), own.number))) {
            true => Ok(()),
            false => Err(Report::error(format!("the study has no trial `{trial}`"))
                .label("expected PHASE/NUMBER, such as search/12")),
        }
    }

    /// The pairs that make this filter.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let joined = |names: Vec<&str>| Some(names.join(",")).filter(|names| !names.is_empty());
        let parts = [
            joined(self.states.iter().map(|state| state.name()).collect()),
            joined(self.phases.iter().map(String::as_str).collect()),
            joined(self.gates.iter().map(|gate| gate.name()).collect()),
            self.workload.clone(),
            self.top.map(|top| top.to_string()),
            (self.order != TrialOrder::Recorded).then(|| self.order.name().into()),
            self.hides_refused.then(|| "hide".into()),
            (self.page > 0).then(|| (self.page + 1).to_string()),
            self.trial.clone(),
        ];
        let named = KEYS.into_iter().zip(parts).filter_map(|(key, value)| Some((key.to_string(), value?)));
        let values = self.values.iter().map(|(name, values)| (format!("{TUNABLE}{name}"), values.join(",")));
        named.chain(values).collect()
    }

    /// The same as the query of an address, without the question mark; empty where all is shown.
    pub fn query(&self) -> String {
        let pair = |(key, value): &(String, String)| format!("{}={}", encoded(key), encoded(value));
        self.pairs().iter().map(pair).collect::<Vec<_>>().join("&")
    }

    /// Whether it keeps every trial.
    pub fn is_open(&self) -> bool {
        let TrialFilter { states, phases, gates, workload, values, top, .. } = self;
        states.is_empty()
            && phases.is_empty()
            && gates.is_empty()
            && workload.is_none()
            && values.is_empty()
            && top.is_none()
    }

    /// The places of the trials it keeps, in the order recorded.
    pub fn select(&self, trials: &[Trial]) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..trials.len()).filter(|place| self.keeps(&trials[*place])).collect();
        if let Some(top) = self.top {
            // What was stopped early was measured on some workloads only.
            kept.retain(|place| trials[*place].state == TrialState::Passed && time(&trials[*place]).is_some());
            kept.sort_by(|a, b| {
                time(&trials[*a]).unwrap_or(f64::INFINITY).total_cmp(&time(&trials[*b]).unwrap_or(f64::INFINITY))
            });
            // A finalist's later trials are of the same configuration.
            let mut seen = BTreeSet::new();
            kept.retain(|place| seen.insert((trials[*place].phase_id().workload, &trials[*place].config)));
            kept.truncate(top);
            kept.sort_unstable();
        }
        kept
    }

    /// The places of some trials in the order of the table.
    pub fn ordered(&self, trials: &[Trial], mut places: Vec<usize>) -> Vec<usize> {
        let late = |place: &usize| time(&trials[*place]).unwrap_or(f64::INFINITY);
        match self.order {
            TrialOrder::Recorded => {}
            TrialOrder::Fastest => places.sort_by(|a, b| late(a).total_cmp(&late(b))),
            TrialOrder::Slowest => {
                let key = |place: &usize| time(&trials[*place]).unwrap_or(0.0);
                places.sort_by(|a, b| key(b).total_cmp(&key(a)));
            }
        }
        places
    }

    fn keeps(&self, trial: &Trial) -> bool {
        let phase = trial.phase_id();
        let of_workload = |name: &String| phase.workload == Some(name) || trial.workload.as_ref() == Some(name);
        let by_gate = || trial.refusal.as_ref().is_some_and(|refusal| self.gates.contains(&refusal.gate));
        (self.states.is_empty() || self.states.contains(&trial.state))
            && (self.phases.is_empty() || self.phases.iter().any(|name| *name == trial.phase || name == phase.name))
            && (self.gates.is_empty() || by_gate())
            && self.workload.as_ref().is_none_or(of_workload)
            && (self.values.is_empty() || self.has_values(trial))
    }

    fn has_values(&self, trial: &Trial) -> bool {
        let Ok(config) = Config::parse(&trial.config) else { return false };
        let has = |(name, wanted): &(String, Vec<String>)| {
            let own = config.get(name).map(|value| value.to_string());
            own.is_some_and(|own| wanted.iter().any(|wanted| *wanted == own || format!("\"{wanted}\"") == own))
        };
        self.values.iter().all(has)
    }
}

/// The time of what passed.
fn time(trial: &Trial) -> Option<f64> {
    trial.cost.filter(|_| trial.state == TrialState::Passed)
}

pub(crate) fn number(key: &str, value: &str) -> Result<usize, Report> {
    let read = value.parse::<usize>().ok().filter(|number| (1..=1_000_000_000).contains(number));
    read.ok_or_else(|| Report::error(format!("{key}={value}")).label("expected a whole number from 1"))
}

/// Workloads that the kernel file of a study states, as far as it can be read.
fn stated(study: &Study) -> Vec<String> {
    let spec = kiln_spec::parse(&study.path, study.spec_text.as_bytes());
    spec.map(|(spec, _)| spec.workloads.iter().map(|workload| workload.name.to_string()).collect()).unwrap_or_default()
}

fn missing<'n>(what: &str, value: &str, names: impl Iterator<Item = &'n str>) -> Report {
    let names: Vec<&str> = names.collect();
    let near = nearest(value, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    Report::error(format!("the study has no {what} `{value}`"))
        .label(format!("expected {}", listed(names.into_iter())))
        .maybe_hint(near)
}

/// The first names of some.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    format!("{}{more}", names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", "))
}

/// A value as it is typed, without quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        other => other.to_string(),
    }
}

pub(crate) fn unknown(key: &str, value: &str, names: impl Iterator<Item = &'static str>) -> Report {
    let names: Vec<&str> = names.collect();
    let near = nearest(value, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    Report::error(format!("there is no {key} `{value}`"))
        .label(format!("expected {}", names.join(", ")))
        .maybe_hint(near)
}

/// A part of a query: letters, digits and what means nothing in one; the rest as bytes.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' | b',' => {
                encoded.push(byte.into())
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;
    use kiln_core::Refusal;
    use kiln_store::{Kept, Options};

    fn trial(number: u64, phase: &str, config: &str, cost: Option<f64>) -> Trial {
        Trial { number, phase: phase.into(), config: config.into(), ..sample::trial(cost) }
    }

    #[test]
    fn a_filter_reads_back_what_it_writes() {
        let pairs = [
            ("state", "passed,refused"),
            ("phase", "small/search"),
            ("gate", "numerics"),
            ("workload", "a & b"),
            ("top", "20"),
            ("sort", "fastest"),
            ("refused", "hide"),
            ("page", "3"),
            ("trial", "search/12"),
            ("t.LANES", "8,16"),
        ];
        let filter = TrialFilter::parse(pairs).unwrap();
        assert_eq!((filter.page, filter.top, filter.hides_refused), (2, Some(20), true));
        assert_eq!(TrialFilter::parse(filter.pairs()).unwrap(), filter);
        assert!(filter.query().contains("workload=a%20%26%20b&") && filter.query().ends_with("t.LANES=8,16"));
        assert_eq!(TrialFilter::default().query(), "");
        assert_eq!(TrialFilter::parse([("state", ""), ("t.A", " ")]).unwrap(), TrialFilter::default());
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is() {
        let said = |key: &str, value: &str| TrialFilter::parse([(key, value)]).unwrap_err().to_string();
        assert!(said("state", "pased").contains("did you mean `passed`?"));
        assert!(said("gate", "nope").contains("expected constraint"));
        assert!(said("stat", "passed").contains("did you mean `state`?"));
        assert!(said("LANES", "8").contains("if `LANES` is a tunable, write t.LANES"));
        for (key, value) in [("page", "0"), ("page", "-1"), ("top", "1e9"), ("top", "99999999999999999999")] {
            assert!(said(key, value).contains("expected a whole number from 1"), "{key}={value}");
        }
        assert!(said("t.", "8").contains("a tunable is written t.NAME"));
        assert!(said("workload", &"x".repeat(5000)).contains("at most 4096"));
    }

    #[test]
    fn what_a_study_does_not_have_is_refused_with_what_it_has() {
        let trials = [trial(0, "seed", "LANES=8", Some(2.0)), trial(3, "small/search", "LANES=16", Some(1.0))];
        let study = Study {
            id: String::new(),
            started_ms: 0,
            ended_ms: None,
            state: State::Running,
            owner: String::new(),
            kernel: "k".into(),
            path: "k".into(),
            target: "cpu".into(),
            arch: None,
            variant: String::new(),
            seed: 0,
            strategy: String::new(),
            options: Kept::new(Options::default()),
            environment: Kept::found(serde_json::json!({})),
            git_commit: None,
            spec_hash: String::new(),
            spec_text: String::new(),
            kiln_version: String::new(),
            verdict: None,
            summary: None,
            seconds: 0.0,
        };
        let fits = |key: &str, value: &str| TrialFilter::parse([(key, value)]).unwrap().fits(&study, &trials);
        for (key, value) in [
            ("phase", "search"),
            ("phase", "small/search,seed"),
            ("phase", "run-off"),
            ("workload", "small"),
            ("t.LANES", "99"),
            ("trial", "small/search/3"),
            ("state", "refused"),
        ] {
            assert_eq!(fits(key, value), Ok(()), "{key}={value}");
        }
        for (key, value, said) in [
            ("phase", "serch", "did you mean `search`?"),
            ("phase", "large/search", "has no phase `large/search`"),
            ("workload", "smal", "did you mean `small`?"),
            ("t.LANE", "8", "did you mean `LANES`?"),
            ("t.NOPE", "1", "expected LANES"),
            ("trial", "zzz", "such as search/12"),
            ("trial", "search/3", "has no trial `search/3`"),
        ] {
            let words = fits(key, value).unwrap_err().to_string();
            assert!(words.contains(said), "{key}={value}: {words}");
        }
        let ended = Study { state: State::Finished, ..study.clone() };
        let fits = |value: &str| TrialFilter::parse([("t.LANES", value)]).unwrap().fits(&ended, &trials);
        assert_eq!((fits("8"), fits("8,16")), (Ok(()), Ok(())));
        let words = fits("8,99").unwrap_err().to_string();
        assert!(words.contains("tried no LANES=99") && words.contains("expected 16, 8"), "{words}");
        // A study that has only begun has nothing to hold a name against.
        assert_eq!(TrialFilter::parse([("t.NOPE", "1")]).unwrap().fits(&study, &[]), Ok(()));
    }

    #[test]
    fn every_key_selects() {
        let mut wrong = trial(1, "search", "LANES=16,MODE=\"a b\"", None);
        let (gate, [rule, measured, limit, evidence]) = (Gate::Numerics, Default::default());
        wrong.refusal = Some(Refusal { gate, rule, measured, limit, evidence, hint: None });
        wrong.workload = Some("small".into());
        let all = [
            trial(0, "seed", "LANES=8", Some(2.0)),
            wrong,
            trial(2, "a/search", "LANES=8", Some(1.0)),
            trial(3, "search", "?", Some(3.0)),
        ];
        let kept = |key: &str, value: &str| TrialFilter::parse([(key, value)]).unwrap().select(&all);
        assert_eq!(kept("state", "refused"), [1]);
        assert_eq!(kept("phase", "search"), [1, 2, 3]);
        assert_eq!(kept("phase", "a/search"), [2]);
        assert_eq!(kept("gate", "numerics"), [1]);
        assert_eq!(kept("workload", "small"), [1]);
        assert_eq!(kept("workload", "a"), [2]);
        assert_eq!(kept("t.LANES", "8"), [0, 2]);
        assert_eq!(kept("t.MODE", "a b"), [1]);
        let either =
            TrialFilter::parse([("t.LANES", "8"), ("t.LANES", "16"), ("state", "passed"), ("state", "refused")]);
        assert_eq!(either.unwrap().select(&all), [0, 1, 2]);
        assert_eq!(kept("top", "2"), [0, 2]);
        let sorted = |value: &str| TrialFilter::parse([("sort", value)]).unwrap().ordered(&all, vec![0, 1, 2, 3]);
        assert_eq!(sorted("fastest"), [2, 0, 3, 1]);
        assert_eq!(sorted("slowest"), [3, 0, 2, 1]);
    }
}
