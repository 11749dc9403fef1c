//! Mistakes that were made again although their remedy was known. In: attempts, of this session and before. Out: each with where it
//! was met and put right first.

use serde::{Deserialize, Serialize};

use crate::Attempted;

/// A mistake that had been put right once before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// The lesson or the cause.
    pub what: String,
    /// The attempt that made it again.
    pub attempt: String,
    /// When.
    pub at_ms: i64,
    /// The kernel.
    pub kernel: String,
    /// Whether it was put right before this session.
    pub earlier_session: bool,
    /// The lesson that fits, where one does.
    pub lesson: Option<String>,
}

/// Mistakes of the session's attempts that were made and put right before, in order. `before` are older attempts.
pub fn mistakes(before: &[Attempted], own: &[Attempted]) -> Vec<Mistake> {
    let all: Vec<&Attempted> = before.iter().chain(own).collect();
    let mut found: Vec<Mistake> = Vec::new();
    for (index, again) in all.iter().enumerate().skip(before.len()) {
        let Some(what) = again.mistake() else { continue };
        let right =
            |at: usize| all[at + 1..index].iter().any(|later| later.answers(all[at]) && !later.evades(all[at], again));
        // What was not put right since goes on failing: the first time counts.
        let last = all[..index].iter().rposition(|one| one.same_kernel(again) && one.mistake() == Some(what));
        if last.is_some_and(|last| !right(last)) {
            continue;
        }
        let put_right =
            all[..index].iter().enumerate().rev().find(|(at, one)| one.mistake() == Some(what) && right(*at));
        if let Some((at, _)) = put_right {
            found.push(Mistake {
                what: what.into(),
                attempt: again.id.clone(),
                at_ms: again.at_ms,
                kernel: again.kernel.clone(),
                earlier_session: at < before.len(),
                lesson: again.lesson.clone(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionPhase::Check;
    use crate::attempt::sample::{at, refused};

    #[test]
    fn a_mistake_is_repeated_once_it_was_put_right() {
        let wrong = |minute| refused(minute, "check", Check, "numerics");
        let right = |minute| at(minute, "check", Check);
        let found = mistakes(&[], &[wrong(1.0), wrong(2.0), right(3.0), wrong(4.0), wrong(5.0)]);
        assert_eq!((found.len(), found[0].at_ms), (1, 240_000));
        assert!(mistakes(&[], &[wrong(1.0), wrong(2.0), right(3.0)]).is_empty(), "the first time it is none");
        let found = mistakes(&[wrong(1.0), right(2.0)], &[wrong(9.0)]);
        assert!(found[0].earlier_session);
        assert!(mistakes(&[wrong(1.0)], &[wrong(9.0)]).is_empty(), "nobody had put it right");
        let builds = [wrong(1.0), right(2.0), wrong(3.0), at(4.0, "gate", crate::SessionPhase::Build), wrong(5.0)];
        assert_eq!(mistakes(&[], &builds).len(), 1, "a build in between puts nothing right: it is one mistake");
        let bisected = [wrong(1.0), at(2.0, "bisect", Check), at(3.0, "true", Check), wrong(4.0)];
        assert!(mistakes(&[], &bisected).is_empty(), "a bisection puts nothing right");
        let around = Attempted { config: Some("A=9".into()), ..right(2.0) };
        assert!(mistakes(&[], &[wrong(1.0), around, wrong(3.0)]).is_empty(), "another configuration put nothing right");
        let other = Attempted { kernel: "other".into(), ..wrong(4.0) };
        assert_eq!(mistakes(&[], &[wrong(1.0), right(3.0), other]).len(), 1, "the same mistake in another kernel");
    }
}
