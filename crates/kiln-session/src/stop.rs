//! Whether a session should end, in one place: `kiln next` and the session's report say the same. In: a session, its attempts, what was
//! decided, the moment now. Out: why it should end, and whether anything is left to decide first.

use crate::{Attempted, Decision, Session, StopRule, StopWarning, broken, warnings};

/// Why a session should end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Why, in words.
    pub what: String,
    /// Whether nothing is left to decide: the goal is reached, or to stop is recorded.
    pub settled: bool,
}

/// Why a session should end; none while it should go on. `sources` is the digest that the kernel's have now.
pub fn stop(
    session: &Session,
    attempts: &[Attempted],
    decisions: &[Decision],
    now_ms: i64,
    sources: Option<&str>,
) -> Option<Stop> {
    let last = decisions.iter().rfind(|made| made.is_of(session));
    let mut rules = ending(session, attempts, now_ms);
    let answered = answered(session, attempts, decisions);
    rules.retain(|rule| !answered.contains(&rule.rule));
    // What broke since is put right first: the goal is not reached with it.
    let reached = rules.iter().find(|rule| rule.rule == StopRule::GoalReached);
    if let Some(reached) = reached.filter(|_| broken(session, attempts, sources).is_none()) {
        return Some(Stop { what: reached.what.clone(), settled: true });
    }
    if let Some(made) = last.filter(|made| made.stops()) {
        return Some(Stop { what: format!("it was decided: {} ({})", made.choice, made.because), settled: true });
    }
    let open = rules.iter().find(|rule| rule.rule != StopRule::GoalReached);
    open.map(|rule| Stop { what: rule.what.clone(), settled: false })
}

/// The rules that a choice to go on answers: those that asked for an end when it was made.
pub(crate) fn answered(session: &Session, attempts: &[Attempted], decisions: &[Decision]) -> Vec<StopRule> {
    let last = decisions.iter().rfind(|made| made.is_of(session)).filter(|made| !made.stops());
    let Some(made) = last else { return Vec::new() };
    let then = attempts.iter().filter(|one| one.ended_ms() <= made.at_ms).cloned().collect::<Vec<_>>();
    ending(session, &then, made.at_ms).into_iter().map(|warning| warning.rule).collect()
}

fn ending(session: &Session, attempts: &[Attempted], now_ms: i64) -> Vec<StopWarning> {
    warnings(session, attempts, now_ms).into_iter().filter(|warning| warning.rule.ends()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionPhase::Check;
    use crate::attempt::sample::{at, bench, profile, refused};
    use crate::session::decided;

    fn found(attempts: &[Attempted], decisions: &[Decision], minute: f64) -> Option<(String, bool)> {
        let found = stop(&crate::session::sample(), attempts, decisions, (60e3 * minute) as i64, None)?;
        Some((found.what, found.settled))
    }

    #[test]
    fn what_was_decided_is_not_asked_again() {
        let near = [bench(1.0, 0.9), profile(2.0, "at_roofline_memory", 1.05)];
        assert_eq!(found(&[], &[], 3.0), None);
        assert!(!found(&near, &[], 3.0).unwrap().1, "it is to be decided");
        assert_eq!(found(&near, &[decided(3.0, "go on")], 4.0), None, "it was");
        let spent = found(&near, &[decided(3.0, "go on")], 200.0).unwrap();
        assert!(spent.0.contains("time is spent") && !spent.1, "another rule, later: {spent:?}");
        assert!(!found(&near, &[decided(0.5, "go on")], 4.0).unwrap().1, "nothing was known then");
        let (what, settled) = found(&near, &[decided(3.0, "go on"), decided(4.0, "use the baseline")], 5.0).unwrap();
        assert!(settled && what == "it was decided: use the baseline (so)");
        let reached = [bench(1.0, 1.3)];
        assert!(found(&reached, &[decided(0.5, "go on")], 3.0).unwrap().1, "the goal is reached");
        assert_eq!(found(&reached, &[decided(2.0, "go on")], 3.0), None, "and more is wanted");
    }

    #[test]
    fn nothing_ends_with_a_kernel_that_was_broken_since() {
        let wrong = refused(2.0, "fuzz", Check, "numerics");
        assert_eq!(found(&[bench(1.0, 1.3), wrong.clone()], &[], 3.0), None, "the fast result was wrong");
        let edited = Attempted { sources: Some("two".into()), ..wrong };
        assert_eq!(found(&[bench(1.0, 1.3), edited.clone()], &[], 3.0), None, "an edit broke it");
        assert!(found(&[bench(1.0, 1.3), edited.clone()], &[decided(2.5, "stop")], 3.0).unwrap().1);
        let back = [bench(1.0, 1.3), edited.clone()];
        let reached = stop(&crate::session::sample(), &back, &[], 180_000, Some("one"));
        assert!(reached.unwrap().settled, "the files are again what was measured");
        assert!(found(&[bench(1.0, 1.3), edited, at(3.0, "check", Check)], &[], 4.0).unwrap().1, "taken back");
    }
}
