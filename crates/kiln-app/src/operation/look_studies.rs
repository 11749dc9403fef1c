//! The list of studies for a page. In: a filter, which a page's address holds. Out: studies as they stand now with their best time, in the order
//! asked for. Refuses keys and values of a filter that it does not know.
//!
//! | key | value |
//! |---|---|
//! | `kernel` | its name |
//! | `state` | `running`, `finished`, `interrupted`, `failed`; several with commas |
//! | `verdict` | `reached`, `not_reached`, `no_valid_candidate`, `stopped`; several with commas |
//! | `device` | a part of the device's name |
//! | `tag` | a tag |
//! | `sort` | `newest` (usual), `oldest`, `kernel`, `speedup`, `best`, `trials` |
//! | `page` | which page of the list, from 1 |

use kiln_core::{Report, nearest};
use kiln_store::{State, TrialState};
use kiln_study::TuneVerdict;

use super::look::filter::{encoded, number, unknown};
use super::look::workloads_together;
use crate::failure::Failure;
use crate::operation::history::{HistoryRequest, history};
use crate::project::Project;
use crate::record::{StudyNow, configurations_tried};

/// Studies of a page of the list.
pub const STUDIES_A_PAGE: usize = 50;
/// Studies looked through, the newest.
const MOST: u32 = 5000;
const KEYS: [&str; 7] = ["kernel", "state", "verdict", "device", "tag", "sort", "page"];

/// A selection of studies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StudiesFilter {
    /// Only of this kernel.
    pub kernel: Option<String>,
    /// Any of these states; all where there are none.
    pub states: Vec<State>,
    /// Any of these verdicts; all where there are none.
    pub verdicts: Vec<TuneVerdict>,
    /// Only on devices whose name holds this.
    pub device: Option<String>,
    /// Only with this tag.
    pub tag: Option<String>,
    /// The order.
    pub order: StudiesOrder,
    /// The page, from 0.
    pub page: usize,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StudiesOrder {
    /// The newest first.
    #[default]
    Newest,
    /// The oldest first.
    Oldest,
    /// By kernel.
    Kernel,
    /// The largest speedup first.
    Speedup,
    /// The shortest time first.
    Best,
    /// Most trials first.
    Trials,
}

impl StudiesOrder {
    /// Every order.
    pub const ALL: [StudiesOrder; 6] = [
        StudiesOrder::Newest,
        StudiesOrder::Oldest,
        StudiesOrder::Kernel,
        StudiesOrder::Speedup,
        StudiesOrder::Best,
        StudiesOrder::Trials,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            StudiesOrder::Newest => "newest",
            StudiesOrder::Oldest => "oldest",
            StudiesOrder::Kernel => "kernel",
            StudiesOrder::Speedup => "speedup",
            StudiesOrder::Best => "best",
            StudiesOrder::Trials => "trials",
        }
    }
}

impl StudiesFilter {
    /// The filter of some pairs. An empty value is as if the key were not there, since forms send those.
    pub fn parse<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<StudiesFilter, Report> {
        let mut filter = StudiesFilter::default();
        for (key, value) in pairs {
            let (key, value) = (key.as_ref(), value.as_ref().trim());
            if !value.is_empty() {
                filter.take(key, value)?;
            }
        }
        Ok(filter)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), Report> {
        let listed = || value.split(',').map(str::trim).filter(|part| !part.is_empty());
        match key {
            "kernel" => self.kernel = Some(value.into()),
            "device" => self.device = Some(value.into()),
            "tag" => self.tag = Some(value.into()),
            "page" => self.page = number(key, value)? - 1,
            "state" => {
                let read = |name: &str| {
                    State::from_name(name)
                        .ok_or_else(|| unknown(key, name, State::ALL.iter().map(|state| state.name())))
                };
                self.states = listed().map(read).collect::<Result<_, _>>()?;
            }
            "verdict" => {
                let read = |name: &str| {
                    let known = TuneVerdict::ALL.into_iter().find(|verdict| verdict.name() == name);
                    known.ok_or_else(|| unknown(key, name, TuneVerdict::ALL.iter().map(|verdict| verdict.name())))
                };
                self.verdicts = listed().map(read).collect::<Result<_, _>>()?;
            }
            "sort" => {
                let known = StudiesOrder::ALL.into_iter().find(|order| order.name() == value);
                self.order =
                    known.ok_or_else(|| unknown(key, value, StudiesOrder::ALL.iter().map(|order| order.name())))?;
            }
            _ => {
                let near = nearest(key, KEYS).map(|near| format!("did you mean `{near}`?"));
                let report = Report::error(format!("there is no filter `{key}`"));
                return Err(report.label(format!("expected one of {}", KEYS.join(", "))).maybe_hint(near));
            }
        }
        Ok(())
    }

    /// The pairs that make this filter.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let joined = |names: Vec<&str>| Some(names.join(",")).filter(|names| !names.is_empty());
        let parts = [
            self.kernel.clone(),
            joined(self.states.iter().map(|state| state.name()).collect()),
            joined(self.verdicts.iter().map(|verdict| verdict.name()).collect()),
            self.device.clone(),
            self.tag.clone(),
            (self.order != StudiesOrder::Newest).then(|| self.order.name().into()),
            (self.page > 0).then(|| (self.page + 1).to_string()),
        ];
        KEYS.into_iter().zip(parts).filter_map(|(key, value)| Some((key.to_string(), value?))).collect()
    }

    /// The same as the query of an address, without the question mark; empty where all is shown.
    pub fn query(&self) -> String {
        let pair = |(key, value): &(String, String)| format!("{}={}", encoded(key), encoded(value));
        self.pairs().iter().map(pair).collect::<Vec<_>>().join("&")
    }

    fn keeps(&self, row: &StudyRow) -> bool {
        let StudyRow { now, state, .. } = row;
        let verdict =
            || TuneVerdict::ALL.into_iter().find(|verdict| Some(verdict.name()) == now.study.verdict.as_deref());
        let device = || now.study.device().unwrap_or_default().to_lowercase();
        (self.states.is_empty() || self.states.contains(state))
            && (self.verdicts.is_empty() || verdict().is_some_and(|verdict| self.verdicts.contains(&verdict)))
            && self.device.as_ref().is_none_or(|wanted| device().contains(&wanted.to_lowercase()))
    }
}

/// A list of studies.
pub struct StudiesLook {
    /// Those that the filter keeps, in its order, all pages.
    pub rows: Vec<StudyRow>,
    /// How many there are without the filter.
    pub all: usize,
    /// Kernels that have studies.
    pub kernels: Vec<String>,
    /// Whether there are older ones that were not looked through.
    pub more: bool,
    /// Records that cannot be read.
    pub damaged: usize,
    /// When it was looked at, in milliseconds since 1970.
    pub at_ms: i64,
}

/// One study of it.
pub struct StudyRow {
    /// The study; trials are there only where it has no summary.
    pub now: StudyNow,
    /// How it stands: one whose process is gone was interrupted.
    pub state: State,
    /// Configurations tried.
    pub trials: usize,
    /// Seconds of the best, as a geometric mean over the tuned workloads: confirmed, or while searching.
    pub best_s: Option<f64>,
    /// Over how many workloads that is a mean.
    pub best_over: usize,
    /// The one workload that it is of, where each is searched apart and none is confirmed.
    pub best_on: Option<String>,
    /// Whether that is confirmed.
    pub is_confirmed: bool,
}

impl StudyRow {
    fn of(now: StudyNow) -> StudyRow {
        let state = now.state();
        let searching = || now.trials.iter().filter(|trial| trial.phase_id().is_searching());
        let (trials, _) = configurations_tried(&now.study, &now.trials);
        let summary = now.study.summary.as_ref().and_then(|summary| summary.read().ok());
        let tuned: Vec<f64> = summary.map_or_else(Vec::new, |summary| {
            summary
                .workloads
                .iter()
                .filter(|workload| !workload.holdout)
                .map(|workload| workload.best_ms / 1e3)
                .collect()
        });
        let confirmed =
            (!tuned.is_empty()).then(|| (tuned.iter().map(|time| time.ln()).sum::<f64>() / tuned.len() as f64).exp());
        let passed = searching().filter(|trial| trial.state == TrialState::Passed);
        let passed = passed.filter_map(|trial| Some((trial.cost?, trial.phase_id().workload)));
        let found = passed.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let best_on = found.and_then(|(_, on)| on.map(String::from)).filter(|_| confirmed.is_none());
        let found = found.map(|(cost, _)| cost);
        let best_over = if confirmed.is_some() { tuned.len() } else { workloads_together(&now.study) };
        StudyRow {
            state,
            trials,
            best_s: confirmed.or(found),
            best_over,
            best_on,
            is_confirmed: confirmed.is_some(),
            now,
        }
    }
}

/// Looks at the studies.
pub fn look_studies(project: &Project, filter: &StudiesFilter) -> Result<StudiesLook, Failure> {
    let all = history(project, &HistoryRequest { limit: MOST, ..HistoryRequest::default() })?;
    let mut kernels: Vec<String> = all.studies.iter().map(|now| now.study.kernel.clone()).collect();
    kernels.sort();
    kernels.dedup();
    let count = all.studies.len();
    let labelled = |now: &StudyNow| {
        filter.kernel.as_ref().is_none_or(|kernel| *kernel == now.study.kernel)
            && filter.tag.as_ref().is_none_or(|tag| now.labels.tags.contains(tag))
    };
    let mut rows: Vec<StudyRow> = all.studies.into_iter().filter(labelled).map(StudyRow::of).collect();
    rows.retain(|row| filter.keeps(row));
    let speedup = |row: &StudyRow| row.now.study.speedup().map_or(0.0, |(value, _)| value);
    let best = |row: &StudyRow| row.best_s.unwrap_or(f64::INFINITY);
    match filter.order {
        StudiesOrder::Newest => {}
        StudiesOrder::Oldest => rows.reverse(),
        StudiesOrder::Kernel => rows.sort_by(|a, b| a.now.study.kernel.cmp(&b.now.study.kernel)),
        StudiesOrder::Speedup => rows.sort_by(|a, b| speedup(b).total_cmp(&speedup(a))),
        StudiesOrder::Best => rows.sort_by(|a, b| best(a).total_cmp(&best(b))),
        StudiesOrder::Trials => rows.sort_by_key(|row| std::cmp::Reverse(row.trials)),
    }
    let at_ms = jiff::Timestamp::now().as_millisecond();
    Ok(StudiesLook { rows, all: count, kernels, more: all.more, damaged: all.damaged, at_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;
    use kiln_store::{Labels, Trial};

    #[test]
    fn the_best_of_workloads_tuned_apart_says_of_which_it_is() {
        let study = crate::operation::watch::tests::study("1@here".into());
        let trial = |phase: &str, cost| Trial { phase: phase.into(), ..sample::trial(Some(cost)) };
        let row = |trials: Vec<Trial>| {
            let (study, labels) = (study.clone(), Labels::default());
            StudyRow::of(StudyNow { study, gone: false, trials, labels, validated: Vec::new(), remarks: Vec::new() })
        };
        let apart = row(vec![trial("short/seed", 2e-3), trial("long/seed", 5e-3)]);
        assert_eq!((apart.best_s, apart.best_on.as_deref()), (Some(2e-3), Some("short")));
        assert_eq!(row(vec![trial("seed", 2e-3)]).best_on, None);
    }

    #[test]
    fn a_study_is_counted_as_it_counted_itself() {
        let mut study = crate::operation::watch::tests::study("1@here".into());
        let trial = |phase: &str, config: &str| Trial {
            phase: phase.into(),
            config: config.into(),
            ..sample::trial(Some(1.0))
        };
        let trials = [trial("seed", "A=1"), trial("search", "A=2"), trial("ablation", "A=0"), trial("ablation", "A=1")];
        assert_eq!(configurations_tried(&study, &trials), (3, Some(1)));
        // The same from a list, which has no trials, as from the study itself.
        for (summary, expected) in [
            (serde_json::json!({ "trials": 2 }), (2, None)),
            (serde_json::json!({ "trials": 3, "ablated": 1 }), (3, Some(1))),
        ] {
            study.summary = Some(kiln_store::Kept::found(summary));
            assert_eq!(configurations_tried(&study, &trials), expected);
            assert_eq!(configurations_tried(&study, &[]), expected);
        }
    }

    #[test]
    fn a_filter_reads_back_what_it_writes_and_refuses_what_it_does_not_know() {
        let pairs = [
            ("kernel", "soft max"),
            ("state", "running,finished"),
            ("verdict", "reached"),
            ("device", "H200"),
            ("tag", "nightly"),
            ("sort", "speedup"),
            ("page", "2"),
        ];
        let filter = StudiesFilter::parse(pairs).unwrap();
        assert_eq!(StudiesFilter::parse(filter.pairs()).unwrap(), filter);
        assert!(filter.query().starts_with("kernel=soft%20max&state=running,finished&"), "{}", filter.query());
        let said = |key: &str, value: &str| StudiesFilter::parse([(key, value)]).unwrap_err().to_string();
        assert!(said("state", "runing").contains("did you mean `running`?"));
        assert!(said("kernle", "x").contains("did you mean `kernel`?"));
        assert!(said("sort", "x").contains("expected newest"));
    }
}
