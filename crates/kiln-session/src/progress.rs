//! How far the work has come. In: attempts. Out: measured speedups in order, the best of them, and how long it took to a working
//! build and to a named bottleneck.

use serde::{Deserialize, Serialize};

use crate::changed::is_same_code;
use crate::refuted::{broken_since, is_refuted};
use crate::words::times;
use crate::{Attempted, Session};

/// Below the best by more than this share is slower.
const SLOWER: f64 = 0.02;

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
    /// What it is of: the verdict, the workloads, what it is over; none where that is not recorded.
    #[serde(default)]
    pub words: Option<String>,
}

impl Best {
    fn of(one: &Attempted, speedup: f64) -> Best {
        // What else was measured stands behind it.
        let first = one.words.as_deref().and_then(|words| words.split("; ").next());
        Best {
            speedup,
            kernel: one.kernel.clone(),
            workload: one.workload.clone(),
            config: one.config.clone(),
            attempt: one.id.clone(),
            words: first.filter(|words| words.starts_with(&times(speedup))).map(String::from),
        }
    }
}

/// Whether a speedup counts for the session: it is of its kernel, on its goal's workload, and was not found wrong since. What was
/// measured on others, or on all together, says nothing of a goal on one of them. Where the goal names none, all of them count: the
/// one that was left out, or on which the same code is slower, speaks for the others.
pub(crate) fn counts(session: &Session, attempts: &[Attempted], at: usize) -> bool {
    let Some((one, speedup)) = attempts.get(at).and_then(|one| Some((one, one.speedup?))) else { return false };
    let slower = |other: &Attempted| {
        let elsewhere = is_same_code(one, other) && other.workload != one.workload;
        // Measured again there since, that one speaks for it.
        elsewhere && other.speedup.is_some_and(|there| other.workload.is_none() || there < speedup)
    };
    let newest = |(at, other): &(usize, &Attempted)| {
        let again = |later: &Attempted| {
            is_same_code(later, other) && later.workload == other.workload && later.speedup.is_some()
        };
        !attempts[at + 1..].iter().any(again)
    };
    let left_out = session.goal.workload.is_none()
        && one.workload.is_some()
        && attempts.iter().enumerate().filter(|(_, other)| slower(other)).any(|other| newest(&other));
    session.goal.is_about(one.workload.as_deref()) && session.is_about(one) && !is_refuted(attempts, at) && !left_out
}

/// The best speedup of those that count.
pub fn best(session: &Session, attempts: &[Attempted]) -> Option<Best> {
    let mut all: Vec<(usize, f64)> =
        attempts.iter().enumerate().filter_map(|(at, one)| Some((at, one.speedup?))).collect();
    // The fastest first: of a long session only a few are looked at closely.
    all.sort_by(|(at, one), (then, other)| {
        other.total_cmp(one).then(attempts[*at].at_ms.cmp(&attempts[*then].at_ms)).then(at.cmp(then))
    });
    let (at, speedup) = all.into_iter().find(|(at, _)| counts(session, attempts, *at))?;
    Some(Best::of(&attempts[at], speedup))
}

/// The newest speedup like the best one, where the sources have changed since that and made it slower.
pub fn newest_behind(session: &Session, attempts: &[Attempted]) -> Option<Best> {
    let best = best(session, attempts)?;
    let at = attempts.iter().position(|one| one.id == best.attempt)?;
    let like = |one: &&Attempted| session.is_about(one) && one.workload == best.workload && one.speedup.is_some();
    let newest = attempts[at + 1..].iter().rfind(like)?;
    let speedup = newest.speedup?;
    let edited = newest.sources != attempts[at].sources;
    (edited && speedup < best.speedup * (1.0 - SLOWER)).then(|| Best::of(newest, speedup))
}

/// The attempt that leaves the kernel broken since its best speedup: with a wrong result, or without a build. Sources that are again
/// what was measured, by the digest they have now, are not.
pub fn broken<'a>(session: &Session, attempts: &'a [Attempted], sources: Option<&str>) -> Option<&'a Attempted> {
    let best = best(session, attempts)?;
    let at = attempts.iter().position(|one| one.id == best.attempt)?;
    let is_back = sources.is_some() && attempts[at].sources.as_deref() == sources;
    broken_since(attempts, at).filter(|_| !is_back)
}

/// Seconds from the beginning to the first attempt that ran the session's kernel: it compiled and started.
pub fn time_to_build(session: &Session, attempts: &[Attempted]) -> Option<f64> {
    let ran = |attempt: &&Attempted| session.is_about(attempt) && attempt.ran_kernel();
    attempts.iter().find(ran).map(|attempt| since(session, attempt))
}

/// Seconds from the beginning to the first attempt that named what limits the session's kernel.
pub fn time_to_bottleneck(session: &Session, attempts: &[Attempted]) -> Option<f64> {
    attempts
        .iter()
        .find(|attempt| session.is_about(attempt) && attempt.diagnosed())
        .map(|attempt| since(session, attempt))
}

fn since(session: &Session, attempt: &Attempted) -> f64 {
    (attempt.ended_ms() - session.started_ms).max(0) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionPhase;
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

    #[test]
    fn only_what_ran_the_sessions_kernel_counts() {
        let session = crate::session::sample();
        let other = |one: Attempted| Attempted { kernel: "other".into(), ..one };
        let nothing = [
            other(at(1.0, "gate", SessionPhase::Build)),
            other(profile(2.0, "bank_conflicts", 2.0)),
            at(3.0, "bisect", SessionPhase::Check),
            at(4.0, "diagnose", SessionPhase::Check),
            Attempted { kernel: String::new(), path: String::new(), ..at(5.0, "true", SessionPhase::Check) },
            Attempted { config: None, ..at(6.0, "bench", SessionPhase::Baseline) },
        ];
        assert_eq!((time_to_build(&session, &nothing), time_to_bottleneck(&session, &nothing)), (None, None));
    }

    #[test]
    fn a_goal_on_a_workload_is_reached_on_that_one_alone() {
        let mut session = crate::session::sample();
        session.goal = crate::Goal::parse("1.2x s512").unwrap();
        let on =
            |speedup, workload: Option<&str>| Attempted { workload: workload.map(String::from), ..bench(1.0, speedup) };
        assert_eq!(best(&session, &[on(3.0, Some("s128")), on(2.0, None)]), None);
        assert_eq!(best(&session, &[on(3.0, Some("s128")), on(1.1, Some("s512"))]).unwrap().speedup, 1.1);
    }

    #[test]
    fn a_goal_without_a_workload_is_not_reached_by_leaving_one_out() {
        let session = crate::session::sample();
        let on =
            |speedup, workload: Option<&str>| Attempted { workload: workload.map(String::from), ..bench(1.0, speedup) };
        let found = |all: &[Attempted]| best(&session, all).map(|best| (best.speedup, best.workload));
        let whole = Some((0.9, None));
        assert_eq!(found(&[on(0.9, None), on(5.2, Some("short"))]), whole, "all together, then the best of them alone");
        assert_eq!(found(&[on(5.2, Some("short")), on(0.9, None)]), whole);
        let slower = Some((0.2, Some("long".to_string())));
        assert_eq!(found(&[on(0.2, Some("long")), on(5.2, Some("short"))]), slower);
        let again = [on(0.2, Some("long")), on(5.2, Some("short")), on(6.0, Some("long"))];
        assert_eq!(found(&again), Some((5.2, Some("short".into()))), "it was measured again");
        let other = Attempted { config: Some("A=9".into()), ..on(5.2, Some("short")) };
        assert_eq!(found(&[on(0.9, None), other]), Some((5.2, Some("short".into()))), "another configuration");
        assert_eq!(found(&[on(5.2, Some("short"))]), Some((5.2, Some("short".into()))), "nothing else is known");
    }

    #[test]
    fn the_newest_sources_may_be_slower_than_the_best() {
        let session = crate::session::sample();
        let of = |minute, speedup, sources: &str| Attempted { sources: Some(sources.into()), ..bench(minute, speedup) };
        let behind = |all: &[Attempted]| newest_behind(&session, all).map(|found| found.speedup);
        let edited = [of(1.0, 18.8, "one"), of(2.0, 4.0, "two")];
        assert_eq!(behind(&edited), Some(4.0));
        assert_eq!(behind(&[of(1.0, 18.8, "one"), of(2.0, 4.0, "one")]), None, "the same code");
        assert_eq!(behind(&[of(1.0, 18.8, "one"), of(2.0, 18.7, "two")]), None, "no slower");
        assert_eq!(behind(&[edited[0].clone(), edited[1].clone(), of(3.0, 18.8, "one")]), None, "brought back");
        let other = Attempted { workload: Some("w1".into()), ..edited[1].clone() };
        assert_eq!(behind(&[edited[0].clone(), other]), None, "another workload says nothing of it");
    }

    #[test]
    fn the_best_says_what_it_is_of() {
        let session = crate::session::sample();
        let words = "7.14x, faster, mean over 2 workloads (w0 10.0x, w1 5.10x), against naive";
        let found =
            |words: &str| best(&session, &[Attempted { words: Some(words.into()), ..bench(1.0, 7.14) }]).unwrap().words;
        assert_eq!(found(&format!("{words}; 0.820x, slower, on w0, against A=2")).as_deref(), Some(words));
        assert_eq!(found("0.820x, slower, on w0, against A=2"), None);
    }
}
