//! A session that begins. In: what was typed, or answered. Out: the session, recorded. Refuses what cannot be read, and a second session
//! while one is open.

use camino::Utf8PathBuf;
use kiln_core::Report;
use kiln_session::{Goal, GoalError, Prices, Session, SessionState, hourly, span};
use kiln_store::Study;
use kiln_study::Machine;

use super::now;
use crate::attempt::{here, open, user};
use crate::doctor;
use crate::failure::Failure;
use crate::kernel::KernelFile;
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

/// Begins a session.
pub fn start_session(project: &Project, request: &StartSessionRequest) -> Result<Session, Failure> {
    let wrong = |flag: &'static str| {
        move |error: GoalError| Failure::from(Report::error(format!("{flag} {}", error.typed)).label(error.expected))
    };
    let budget_s = request.budget.as_deref().map(span).transpose().map_err(wrong("--budget"))?;
    let price = |flag, text: &Option<String>| text.as_deref().map(hourly).transpose().map_err(wrong(flag));
    let prices = Prices {
        gpu: price("--price", &request.price)?,
        engineer: price("--engineer-price", &request.engineer_price)?,
        assistant: price("--assistant-price", &request.assistant_price)?,
    };
    if let Some(worth) = request.worth.filter(|worth| !(worth.is_finite() && *worth >= 0.0)) {
        return Err(Report::error(format!("--worth {worth}")).label("expected an amount of at least 0").into());
    }
    let usual = session_defaults(request.path.as_deref())?;
    let kernel = request.path.as_deref().map(KernelFile::read).transpose()?.map(|file| file.spec.name);
    let store = project.store()?;
    if let Some(session) = open(project, &store, now())? {
        let goal = if session.goal.text.is_empty() { "no goal" } else { session.goal.text.as_str() };
        let report = Report::error(format!("session {} is open in this folder ({goal})", session.short_id()));
        return Err(report.hint("`kiln session status` shows it, `kiln session end` ends it").into());
    }
    let session = Session {
        id: Study::new_id(),
        started_ms: now(),
        ended_ms: None,
        state: SessionState::Open,
        folder: here(project),
        user: user(),
        kernel,
        goal: Goal::parse(&request.goal),
        budget_s: budget_s.unwrap_or(Session::BUDGET_S),
        prices,
        worth: request.worth,
        gpu: request.gpu.clone().or(usual.gpu),
        baseline: request.baseline.clone().or(usual.baseline),
        smallest: request.smallest.clone().or(usual.smallest),
        criteria: request.criteria.clone(),
    };
    store.begin_session(&session)?;
    Ok(session)
}
