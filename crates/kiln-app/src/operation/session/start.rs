//! A session that begins. In: what was typed, or answered. Out: the session, recorded. Refuses what cannot be read, and a second session
//! while one is open.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use kiln_core::Report;
use kiln_diagnose::next::Thresholds;
use kiln_session::{Goal, GoalError, PhaseBudget, Prices, Session, SessionState, hourly, span};
use kiln_store::Study;
use kiln_study::Machine;

use super::{amount, now, one_line};
use crate::attempt::{here, open, user};
use crate::doctor;
use crate::failure::Failure;
use crate::kernel::KernelFile;
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

/// What is taken where nobody says otherwise. Refuses a kernel that cannot be read.
pub fn session_defaults(path: Option<&camino::Utf8Path>) -> Result<SessionDefaults, Failure> {
    let file = path.map(KernelFile::read).transpose()?;
    let gpu = doctor::quick(None).ok().map(|ready| ready.card.name).or_else(|| Some(Machine::look().processor));
    let Some(file) = file else { return Ok(SessionDefaults { gpu, ..SessionDefaults::default() }) };
    let baseline = file.spec.targets.iter().flat_map(|target| &target.baselines).next().map(|one| one.name.to_string());
    let smallest = file.spec.workloads.first().map(|one| one.name.to_string());
    Ok(SessionDefaults { gpu: gpu.filter(|name| !name.is_empty()), baseline, smallest })
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
    let usual = session_defaults(request.path.as_deref())?;
    let said = |words: &Option<String>| words.as_deref().map(one_line).filter(|words| !words.is_empty());
    let kernel = request.path.as_deref().map(KernelFile::read).transpose()?.map(|file| file.spec.name);
    let minutes = own_thresholds(project)?;
    let store = project.store()?;
    if let Some(session) = open(project, &store, now())? {
        return Err(is_open(Some(&session)).into());
    }
    let session = Session {
        id: Study::new_id(),
        started_ms: now(),
        ended_ms: None,
        state: SessionState::Open,
        folder: here(project),
        user: user(),
        kernel,
        goal: Goal::parse(&one_line(&request.goal)),
        budget_s: budget_s.unwrap_or(60.0 * minutes.value(IN_ALL).unwrap_or(Session::BUDGET_S / 60.0)),
        phase_minutes: phase_minutes(&minutes),
        prices,
        worth: request.worth,
        gpu: said(&request.gpu).or(usual.gpu),
        baseline: said(&request.baseline).or(usual.baseline),
        smallest: said(&request.smallest).or(usual.smallest),
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
    use kiln_diagnose::next::tree;

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
