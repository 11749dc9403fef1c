//! Where the time went. In: attempts and the moment now. Out: seconds by phase, in commands and in all: the time before a command
//! belongs to its phase, since it was spent preparing it. Phases have budgets.

use serde::{Deserialize, Serialize};

use crate::{Attempted, Session, SessionPhase};

/// The time of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    /// The phase.
    pub phase: SessionPhase,
    /// Seconds that commands took.
    pub commands_s: f64,
    /// Seconds with the time before each command.
    pub elapsed_s: f64,
    /// Commands of the session's own work; those with other kernels, and those that judge nothing, take its time alone.
    pub attempts: usize,
}

/// Phases that share a budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseBudget {
    /// What they are together.
    pub name: &'static str,
    /// The phases.
    pub phases: &'static [SessionPhase],
    /// Minutes they may take.
    pub minutes: f64,
}

impl PhaseBudget {
    /// All budgets. Together they are more than a session's: not every phase takes all of its own.
    pub const ALL: [PhaseBudget; 6] = [
        PhaseBudget { name: "environment", phases: &[SessionPhase::Environment], minutes: 15.0 },
        PhaseBudget { name: "build", phases: &[SessionPhase::Build, SessionPhase::Check], minutes: 30.0 },
        PhaseBudget { name: "baseline", phases: &[SessionPhase::Baseline], minutes: 15.0 },
        PhaseBudget { name: "profile and fix", phases: &[SessionPhase::Profile, SessionPhase::Tune], minutes: 90.0 },
        PhaseBudget { name: "confirm", phases: &[SessionPhase::Confirm], minutes: 30.0 },
        PhaseBudget { name: "report", phases: &[SessionPhase::Report], minutes: 60.0 },
    ];
}

/// A budget and what is spent of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Budgeted {
    /// What it is of.
    pub name: &'static str,
    /// Seconds it may take.
    pub budget_s: f64,
    /// Seconds it took.
    pub spent_s: f64,
}

impl Budgeted {
    /// Whether it is spent.
    pub fn is_over(&self) -> bool {
        self.spent_s > self.budget_s
    }
}

/// The time of every phase that had some.
pub fn phases(session: &Session, attempts: &[Attempted]) -> Vec<PhaseTime> {
    let empty = |phase| PhaseTime { phase, commands_s: 0.0, elapsed_s: 0.0, attempts: 0 };
    let mut times: Vec<PhaseTime> = SessionPhase::ALL.into_iter().map(empty).collect();
    // A long one may have begun before others that are over.
    let mut laid: Vec<&Attempted> = attempts.iter().collect();
    laid.sort_by_key(|one| (one.at_ms, &one.id));
    let mut until = session.started_ms;
    for attempt in laid {
        // Two commands may run at once: what is elapsed is counted once.
        let before_s = (attempt.at_ms - until).max(0) as f64 / 1e3;
        let own_s = (attempt.ended_ms() - until.max(attempt.at_ms)).max(0) as f64 / 1e3;
        until = until.max(attempt.ended_ms());
        let known = attempt.parts.values().sum::<f64>();
        for time in &mut times {
            let main = time.phase == attempt.phase;
            let part = attempt.parts.get(time.phase.name()).copied().unwrap_or(0.0);
            // What no part accounts for is the phase that it mostly was.
            let seconds = part + if main { (attempt.seconds - known).max(0.0) } else { 0.0 };
            let share = if attempt.seconds > 0.0 { (seconds / attempt.seconds).min(1.0) } else { f64::from(main) };
            time.commands_s += seconds;
            time.elapsed_s += own_s * share + if main { before_s } else { 0.0 };
            time.attempts += usize::from(main && attempt.is_work_of(session) && attempt.is_judgement());
        }
    }
    times.retain(|time| time.attempts > 0 || time.commands_s > 0.0 || time.elapsed_s > 0.0);
    times
}

/// Every budget with what is spent of it. A session may have minutes of its own.
pub fn budgeted(session: &Session, times: &[PhaseTime]) -> Vec<Budgeted> {
    let spent = |budget: &PhaseBudget| {
        let own = times.iter().filter(|time| budget.phases.contains(&time.phase));
        // The sum of no floats is -0.0.
        own.map(|time| time.elapsed_s).fold(0.0, |all, own| all + own)
    };
    let minutes = |budget: &PhaseBudget| session.phase_minutes.get(budget.name).copied().unwrap_or(budget.minutes);
    let all = PhaseBudget::ALL.iter();
    all.map(|budget| Budgeted { name: budget.name, budget_s: 60.0 * minutes(budget), spent_s: spent(budget) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::sample::at;

    #[test]
    fn the_time_before_a_command_belongs_to_its_phase() {
        let session = crate::session::sample();
        let mut tune = at(30.0, "tune", SessionPhase::Tune);
        tune.seconds = 600.0;
        tune.parts = [("baseline".to_string(), 60.0), ("confirm".to_string(), 120.0)].into();
        let attempts = [at(10.0, "gate", SessionPhase::Build), tune];
        let times = phases(&session, &attempts);
        let of = |phase| times.iter().find(|time| time.phase == phase).unwrap();
        assert_eq!((of(SessionPhase::Build).commands_s, of(SessionPhase::Build).elapsed_s), (30.0, 630.0));
        assert_eq!(of(SessionPhase::Tune).commands_s, 420.0);
        assert_eq!((of(SessionPhase::Confirm).commands_s, of(SessionPhase::Confirm).elapsed_s), (120.0, 120.0));
        let all: f64 = times.iter().map(|time| time.elapsed_s).sum();
        assert_eq!(all, 2400.0, "every second is counted once");
    }

    #[test]
    fn other_kernels_take_time_and_are_no_attempts() {
        let session = crate::session::sample();
        let other = Attempted { kernel: "other".into(), ..at(10.0, "gate", SessionPhase::Build) };
        let times = phases(&session, &[other, at(20.0, "gate", SessionPhase::Build)]);
        assert_eq!((times.len(), times[0].attempts, times[0].elapsed_s), (1, 1, 1230.0));
    }

    #[test]
    fn commands_at_once_are_no_more_time_than_passed() {
        let session = crate::session::sample();
        let mut long = at(0.0, "tune", SessionPhase::Tune);
        long.seconds = 600.0;
        let times = phases(&session, &[long, at(5.0, "gate", SessionPhase::Build)]);
        assert_eq!(times.iter().map(|time| time.elapsed_s).sum::<f64>(), 600.0);
        let is_over = |session: &Session| {
            let all = budgeted(session, &phases(session, &[at(16.0, "doctor", SessionPhase::Environment)]));
            all.iter().find(|budget| budget.name == "environment").unwrap().is_over()
        };
        assert!(is_over(&session));
        assert!(budgeted(&session, &[]).iter().all(|budget| budget.spent_s.is_sign_positive()), "-0.0 s is no time");
        let more = [("environment".to_string(), 20.0)].into();
        assert!(!is_over(&Session { phase_minutes: more, ..session }), "it has minutes of its own");
    }
}
