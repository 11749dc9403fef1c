//! How far the work has come. In: attempts. Out: measured speedups in order, the best of them, and how long it took to a working
//! build and to a named bottleneck.

use serde::{Deserialize, Serialize};

use crate::{AttemptOutcome, Attempted, Session, SessionPhase};

/// The best speedup so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The speedup.
    pub speedup: f64,
    /// The kernel.
    pub kernel: String,
    /// On this workload; none for all together.
    pub workload: Option<String>,
    /// The configuration.
    pub config: Option<String>,
    /// The attempt that measured it.
    pub attempt: String,
}

/// Attempts that measured a speedup, in order.
pub fn measured(attempts: &[Attempted]) -> Vec<&Attempted> {
    attempts.iter().filter(|attempt| attempt.speedup.is_some()).collect()
}

/// The best speedup of the session's kernel and its goal's workload, as far as those are known.
pub fn best(session: &Session, attempts: &[Attempted]) -> Option<Best> {
    let meant = |attempt: &&&Attempted| {
        session.kernel.as_ref().is_none_or(|kernel| *kernel == attempt.kernel)
            && (attempt.workload.is_none()
                || session.goal.workload.is_none()
                || attempt.workload == session.goal.workload)
    };
    let all = measured(attempts);
    let own: Vec<&&Attempted> = all.iter().filter(meant).collect();
    let first = own.into_iter().max_by(|one, other| {
        one.speedup.unwrap_or(0.0).total_cmp(&other.speedup.unwrap_or(0.0)).then(other.at_ms.cmp(&one.at_ms))
    })?;
    Some(Best {
        speedup: first.speedup?,
        kernel: first.kernel.clone(),
        workload: first.workload.clone(),
        config: first.config.clone(),
        attempt: first.id.clone(),
    })
}

/// Seconds from the beginning to the first attempt that ran a kernel: it compiled and started.
pub fn time_to_build(session: &Session, attempts: &[Attempted]) -> Option<f64> {
    let ran = |attempt: &&Attempted| {
        let later = !matches!(attempt.phase, SessionPhase::Environment | SessionPhase::Report);
        later && attempt.outcome == AttemptOutcome::Passed && !attempt.kernel.is_empty()
    };
    attempts.iter().find(ran).map(|attempt| since(session, attempt))
}

/// Seconds from the beginning to the first attempt that named what limits the kernel.
pub fn time_to_bottleneck(session: &Session, attempts: &[Attempted]) -> Option<f64> {
    attempts.iter().find(|attempt| attempt.diagnosed()).map(|attempt| since(session, attempt))
}

fn since(session: &Session, attempt: &Attempted) -> f64 {
    (attempt.ended_ms() - session.started_ms).max(0) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::sample::{at, bench, profile, refused};

    #[test]
    fn the_first_that_passes_is_the_working_build() {
        let session = crate::session::sample();
        let attempts = [
            at(1.0, "doctor", SessionPhase::Environment),
            refused(2.0, "gate", SessionPhase::Build, "build_failed"),
            at(9.5, "gate", SessionPhase::Build),
            bench(12.0, 0.4),
            profile(14.5, "bank_conflicts", 2.0),
            Attempted { kernel: "other".into(), ..bench(20.0, 9.0) },
            bench(21.0, 0.9),
        ];
        assert_eq!(time_to_build(&session, &attempts), Some(600.0));
        assert_eq!(time_to_bottleneck(&session, &attempts), Some(900.0));
        assert_eq!(best(&session, &attempts).unwrap().speedup, 0.9);
        assert_eq!((time_to_build(&session, &attempts[..2]), best(&session, &attempts[..2])), (None, None));
    }
}
