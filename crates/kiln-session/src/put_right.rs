//! A lesson from a difference. In: attempts of a kernel. Out: the last failure that was followed by a success, and what was changed in
//! between: for a user to keep as a lesson. Where a known lesson fitted the failure there is nothing new to learn.

use serde::Serialize;

use crate::{Attempted, Changed, difference};

/// A failure, the success after it, and what lies between.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PutRight {
    /// The failure.
    pub failure: Attempted,
    /// The success.
    pub success: Attempted,
    /// What was changed.
    pub changed: Changed,
}

impl PutRight {
    /// Seconds from one to the other.
    pub fn took_s(&self) -> f64 {
        (self.success.ended_ms() - self.failure.ended_ms()).max(0) as f64 / 1e3
    }
}

/// What the newest attempt put right, if it did. Attempts are of one kernel, in order.
pub fn put_right(attempts: &[Attempted]) -> Option<PutRight> {
    let (success, before) = attempts.split_last().filter(|(success, _)| success.passed())?;
    let own = |one: &&Attempted| one.same_kernel(success);
    // The failure that is nearest to what works now; a row of them has one cause.
    let at = before.iter().rposition(|one| own(&one) && one.failed())?;
    let failure = before.get(at).filter(|one| one.cause.is_some())?;
    // A build that works says nothing of a wrong result; what answered the failure before this did is no news.
    if !success.answers(failure) || before[at..].iter().any(|one| one.answers(failure)) {
        return None;
    }
    let changed = difference(failure, success);
    (!changed.is_empty()).then(|| PutRight { failure: failure.clone(), success: success.clone(), changed })
}

/// The last failure that was put right, looking back from the newest attempt.
pub fn last_put_right(attempts: &[Attempted]) -> Option<PutRight> {
    (0..attempts.len()).rev().find_map(|last| put_right(&attempts[..=last]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionPhase::{Build, Check};
    use crate::attempt::sample::{at, refused};

    #[test]
    fn a_success_after_a_failure_says_what_was_changed() {
        let wrong = refused(1.0, "check", Check, "numerics");
        let right = Attempted { config: Some("A=1,B=4".into()), ..at(3.0, "check", Check) };
        let found = put_right(&[wrong.clone(), right.clone()]).unwrap();
        assert_eq!((found.changed.words().as_str(), found.took_s()), ("B: 2 -> 4", 120.0));
        assert_eq!(put_right(&[wrong.clone(), at(3.0, "check", Check)]), None, "nothing was changed");
        let builds = Attempted { config: Some("A=1,B=4".into()), ..at(3.0, "gate", Build) };
        assert_eq!(put_right(&[wrong.clone(), builds]), None, "that it builds says nothing of the result");
        let bisected = Attempted { sources: Some("two".into()), ..at(3.0, "bisect", Check) };
        assert_eq!(put_right(&[wrong.clone(), bisected]), None, "a bisection looks at other commits");
        let later = [wrong.clone(), right.clone(), at(5.0, "check", Check)];
        assert!(put_right(&later).is_none() && last_put_right(&later).is_some());
        let built = [wrong, Attempted { config: right.config.clone(), ..at(2.0, "gate", Build) }, right];
        assert!(put_right(&built[..2]).is_none() && put_right(&built).is_some(), "a build in between answers nothing");
    }
}
