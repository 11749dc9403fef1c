//! A session that begins. In: what was typed, or answered. Out: the session, recorded. Refuses what cannot be read, what the kernel does
//! not have, and a second session while one is open.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, nearest};
use kiln_diagnose::next::Thresholds;
use kiln_session::{Goal, GoalError, PhaseBudget, Prices, Session, SessionState, hourly, span};
use kiln_store::Study;
use kiln_study::Machine;

use super::{amount, current, now, one_line};
use crate::attempt::{home, inside, open, user};
use crate::doctor;
use crate::failure::Failure;
use crate::kernel::{KernelFile, kernels_below};
use crate::operation::next::own_thresholds;
use crate::project::Project;

/// What a session is to be.
#[derive(Debug, Clone, Default)]
pub struct StartSessionRequest {
    /// The kernel it is about.
    pub path: Option<Utf8PathBuf>,
    /// What is to be reached, as `1.2x s512`.
    pub goal: String,
    /// How long it may take, as `4h`.
    pub budget: Option<String>,
    /// The price of an hour of the GPU, as `3.5/h`.
    pub price: Option<String>,
    /// Of the engineer.
    pub engineer_price: Option<String>,
    /// Of the assistant.
    pub assistant_price: Option<String>,
    /// What reaching the goal is worth.
    pub worth: Option<f64>,
    /// The GPU; that of this machine when none.
    pub gpu: Option<String>,
    /// What is to be beaten; the kernel's first baseline when none.
    pub baseline: Option<String>,
    /// The smallest case; the kernel's smallest workload when none.
    pub smallest: Option<String>,
    /// When it is done.
    pub criteria: Option<String>,
}

/// What is taken where nobody says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionDefaults {
    /// The GPU of this machine, else its processor.
    pub gpu: Option<String>,
    /// The kernel's first baseline.
    pub baseline: Option<String>,
    /// The kernel's smallest workload.
    pub smallest: Option<String>,
}

/// What is taken where nobody says otherwise, for whoever asks. Refuses a kernel that cannot be read, and a session that is open: no
/// answer would help.
pub fn session_defaults(project: &Project, path: Option<&Utf8Path>) -> Result<SessionDefaults, Failure> {
    if let Some(session) = current(project)? {
        return Err(is_open(Some(&session)).into());
    }
    Ok(usual(path.map(KernelFile::read).transpose()?.as_ref()))
}

fn usual(file: Option<&KernelFile>) -> SessionDefaults {
    let gpu = doctor::quick(None).ok().map(|ready| ready.card.name).or_else(|| Some(Machine::look().processor));
    let Some(file) = file else { return SessionDefaults { gpu, ..SessionDefaults::default() } };
    let baseline = baselines(file).first().map(|name| name.to_string());
    let smallest = file.spec.workloads.first().map(|one| one.name.to_string());
    SessionDefaults { gpu: gpu.filter(|name| !name.is_empty()), baseline, smallest }
}

/// Names of baselines of all targets, those of the first one first.
fn baselines(file: &KernelFile) -> Vec<&str> {
    let all = file.spec.targets.iter().flat_map(|target| &target.baselines).map(|one| &*one.name);
    let mut known: Vec<&str> = Vec::new();
    all.for_each(|name| {
        if !known.contains(&name) {
            known.push(name);
        }
    });
    known
}

fn workloads(file: &KernelFile) -> Vec<&str> {
    file.spec.workloads.iter().map(|one| &*one.name).collect()
}

/// Refuses a name that is none of those there are.
fn known(flag: &str, noun: &str, name: &str, there: &[&str]) -> Result<(), Failure> {
    if there.contains(&name) {
        return Ok(());
    }
    let near = nearest(name, there.iter().copied()).map(|near| format!("did you mean {near}?"));
    let expected =
        if there.is_empty() { "the kernel has none".into() } else { format!("expected one of {}", there.join(", ")) };
    Err(Report::error(format!("{flag}: there is no {noun} `{name}`")).label(expected).maybe_hint(near).into())
}

/// The goal as it was typed. Refuses a number that is not understood, and a workload that the kernel, or no kernel here, has.
fn goal(text: &str, file: Option<&KernelFile>) -> Result<Goal, Failure> {
    let goal = Goal::parse(text).map_err(|error| {
        let hint = meant(text).unwrap_or_else(|| "what no number says goes into --criteria".into());
        Failure::from(Report::error(format!("--goal {}", error.typed)).label(error.expected).hint(hint))
    })?;
    let Some(workload) = &goal.workload else { return Ok(goal) };
    if let Some(file) = file {
        known("--goal", "workload", workload, &workloads(file))?;
        return Ok(goal);
    }
    let here = Utf8Path::new(".");
    let own = here.join("kernel.toml").is_file().then(|| here.to_owned());
    let files = own.into_iter().chain(kernels_below(here)).map(|path| KernelFile::read(&path));
    // What cannot be read may have it.
    if let Ok(files) = files.collect::<Result<Vec<KernelFile>, Failure>>()
        && !files.is_empty()
    {
        let all: Vec<&str> = files.iter().flat_map(workloads).collect();
        if !all.contains(&workload.as_str()) {
            let near = nearest(workload, all.iter().copied()).map(|near| format!("did you mean {near}?"));
            let hint = near.unwrap_or_else(|| "name the kernel: kiln session start PATH".into());
            let report = Report::error(format!("--goal: no kernel here has a workload `{workload}`"));
            return Err(report.hint(hint).into());
        }
    }
    Ok(goal)
}

/// What a number that is no speedup was meant as.
fn meant(text: &str) -> Option<String> {
    let (first, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let end = first.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(first.len());
    let (number, unit) = first.split_at(end);
    // A decimal comma.
    if let Some(part) = unit.strip_prefix(',').and_then(|rest| rest.strip_suffix(['x', 'X', '\u{d7}'])) {
        let digits = !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
        return (digits && !number.contains('.')).then(|| format!("did you mean {number}.{part}x?"));
    }
    let value: f64 = number.parse().ok().filter(|value| *value > 0.0)?;
    match unit {
        "" if rest.starts_with('%') => Some(format!("did you mean {}x?", (100.0 + value) / 100.0)),
        "%" => Some(format!("did you mean {}x?", (100.0 + value) / 100.0)),
        "" | "\u{d7}" => Some(format!("did you mean {number}x?")),
        _ => None,
    }
}

/// Seconds that a session may take.
const BUDGETS: std::ops::RangeInclusive<f64> = 1.0..=366.0 * 86400.0;

/// Begins a session.
pub fn start_session(project: &Project, request: &StartSessionRequest) -> Result<Session, Failure> {
    let wrong = |flag: &'static str| {
        move |error: GoalError| Failure::from(Report::error(format!("{flag} {}", error.typed)).label(error.expected))
    };
    let budget_s = request.budget.as_deref().map(span).transpose().map_err(wrong("--budget"))?;
    if let Some(budget) = budget_s.filter(|budget| !BUDGETS.contains(budget)) {
        let report = Report::error(format!("--budget of {budget} s is out of range"));
        return Err(report.label("expected from 1 second to 366 days").into());
    }
    let price = |flag: &'static str, text: &Option<String>| -> Result<Option<f64>, Failure> {
        let price = text.as_deref().map(hourly).transpose().map_err(wrong(flag))?;
        price.map(|price| amount(flag, price)).transpose()
    };
    let prices = Prices {
        gpu: price("--price", &request.price)?,
        engineer: price("--engineer-price", &request.engineer_price)?,
        assistant: price("--assistant-price", &request.assistant_price)?,
    };
    request.worth.map(|worth| amount("--worth", worth)).transpose()?;
    if request.worth.is_some() && [prices.gpu, prices.engineer, prices.assistant] == [None; 3] {
        let report = Report::error("--worth without a price").label("expected the price of an hour beside it");
        return Err(report
            .hint("--price 3.5/h: kiln warns when the time left costs more than the goal is worth")
            .into());
    }
    let file = request.path.as_deref().map(KernelFile::read).transpose()?;
    let goal = goal(&one_line(&request.goal), file.as_ref())?;
    let said = |words: &Option<String>| words.as_deref().map(one_line).filter(|words| !words.is_empty());
    let (baseline, smallest) = (said(&request.baseline), said(&request.smallest));
    if let Some(file) = &file {
        baseline.iter().try_for_each(|name| known("--baseline", "baseline", name, &baselines(file)))?;
        smallest.iter().try_for_each(|name| known("--smallest", "workload", name, &workloads(file)))?;
    }
    let minutes = own_thresholds(project)?;
    let usual = usual(file.as_ref());
    let kernel = file.map(|file| file.spec.name);
    let path = request.path.as_deref().map(inside);
    let store = project.store()?;
    if let Some(session) = open(project, &store, now())? {
        return Err(is_open(Some(&session)).into());
    }
    let session = Session {
        id: Study::new_id(),
        started_ms: now(),
        ended_ms: None,
        state: SessionState::Open,
        folder: home(project, &store)?,
        user: user(),
        kernel,
        path,
        goal,
        budget_s: budget_s.unwrap_or(60.0 * minutes.value(IN_ALL).unwrap_or(Session::BUDGET_S / 60.0)),
        phase_minutes: phase_minutes(&minutes),
        prices,
        worth: request.worth,
        gpu: said(&request.gpu).or(usual.gpu),
        baseline: baseline.or(usual.baseline),
        smallest: smallest.or(usual.smallest),
        criteria: said(&request.criteria),
    };
    // Somebody may have begun one in the meantime.
    match store.begin_session(&session)? {
        true => Ok(session),
        false => Err(is_open(open(project, &store, now())?.as_ref()).into()),
    }
}

fn is_open(session: Option<&Session>) -> Report {
    let goal = session.map(|session| session.goal.text.as_str()).filter(|goal| !goal.is_empty()).unwrap_or("no goal");
    let id = session.map(Session::short_id).unwrap_or_default();
    let report = Report::error(format!("session {id} is open in this folder ({goal})"));
    report.hint("`kiln session status` shows it, `kiln session end` ends it")
}

/// The threshold of a session's time in all.
const IN_ALL: &str = "session_minutes";
/// The threshold behind each budget of phases.
const MINUTES: [(&str, &str); 6] = [
    ("environment", "environment_minutes"),
    ("build", "build_minutes"),
    ("baseline", "baseline_minutes"),
    ("profile and fix", "profile_minutes"),
    ("confirm", "confirm_minutes"),
    ("report", "report_minutes"),
];

/// Minutes of phases that the project's settings change.
fn phase_minutes(own: &Thresholds) -> BTreeMap<String, f64> {
    let usual = |name: &str| PhaseBudget::ALL.iter().find(|budget| budget.name == name).map(|budget| budget.minutes);
    let changed = |(name, key): &(&str, &str)| {
        let minutes = own.value(key).filter(|minutes| usual(name) != Some(*minutes))?;
        Some((name.to_string(), minutes))
    };
    MINUTES.iter().filter_map(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;
    use kiln_diagnose::next::tree;

    const KERNEL: &str = "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nX = [1]\n[target.cpu]\nsource = \"k.c\"\n\
        [[workloads]]\nname = \"s128\"\ndims = { N = 1 }\n[[workloads]]\nname = \"s512\"\ndims = { N = 2 }\n\
        [baselines]\nnaive = \"naive.c:naive\"\nnumpy = \"b.py:numpy\"\n";

    #[test]
    fn what_the_kernel_does_not_have_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(place.path()).unwrap();
        std::fs::write(folder.join("kernel.toml"), KERNEL).unwrap();
        let project = Project::here(Some(folder.join(".kiln/kiln.db").into_string()), Stop::never());
        let project = project.in_folder(&folder.join(".kiln"));
        let usual = StartSessionRequest { path: Some(folder.into()), ..StartSessionRequest::default() };
        let said = |request: StartSessionRequest| start_session(&project, &request).unwrap_err().to_string();
        let goal = |goal: &str| StartSessionRequest { goal: goal.into(), ..usual.clone() };
        for (typed, hint) in [
            ("1.2x s51", "did you mean s512?"),
            ("1.2", "did you mean 1.2x?"),
            ("2\u{d7}", "did you mean 2x?"),
            ("1,2x", "did you mean 1.2x?"),
            ("20% faster", "did you mean 1.2x?"),
            ("1.2x s512 or so", "goes into --criteria"),
        ] {
            let said = said(goal(typed));
            assert!(said.contains("--goal") && said.contains("expected ") && said.contains(hint), "{typed}: {said}");
        }
        let odd = said(StartSessionRequest { baseline: Some("nunpy".into()), ..usual.clone() });
        assert!(odd.contains("expected one of naive, numpy") && odd.contains("did you mean numpy?"), "{odd}");
        let odd = said(StartSessionRequest { smallest: Some("s64".into()), ..usual.clone() });
        assert!(odd.contains("--smallest: there is no workload `s64`"), "{odd}");
        let odd = said(StartSessionRequest { worth: Some(100.0), ..usual.clone() });
        assert!(odd.contains("--worth without a price"), "{odd}");
        assert!(!folder.join(".kiln").exists(), "a mistake makes no store");
        let begun = StartSessionRequest { baseline: Some("numpy".into()), ..goal("1.2x s512") };
        let begun = start_session(&project, &begun).unwrap();
        assert_eq!((begun.baseline.as_deref(), begun.smallest.as_deref()), (Some("numpy"), Some("s128")));
        let twice = session_defaults(&project, Some(folder)).unwrap_err().to_string();
        assert!(twice.contains("is open in this folder"), "nobody is asked in vain: {twice}");
    }

    #[test]
    fn every_budget_has_its_threshold_with_the_same_minutes() {
        let usual = Thresholds::usual(tree().unwrap());
        assert!(phase_minutes(&usual).is_empty());
        assert!(MINUTES.iter().map(|(name, _)| *name).eq(PhaseBudget::ALL.iter().map(|budget| budget.name)));
        assert!(MINUTES.iter().all(|(_, key)| usual.value(key).is_some()));
        assert_eq!(usual.value(IN_ALL), Some(Session::BUDGET_S / 60.0));
        let own = Thresholds::read(tree().unwrap(), "config.toml", "[thresholds]\nbuild_minutes = 45").unwrap();
        assert_eq!(phase_minutes(&own), [("build".to_string(), 45.0)].into());
    }
}
