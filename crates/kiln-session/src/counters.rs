//! How often a lesson was met here, and how often the failure it fits was put right afterwards. In: attempts. Out: counts and the
//! median time from the failure to the success.

use std::collections::BTreeMap;

use kiln_stats::median;
use serde::{Deserialize, Serialize};

use crate::Attempted;

/// A lesson's record in this project.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LessonCount {
    /// Failures that it fitted; a row of equal ones counts once.
    pub met: usize,
    /// Those that a later attempt put right ([`Attempted::answers`]).
    pub worked: usize,
    /// The median time from failure to success, in seconds.
    pub median_s: Option<f64>,
}

/// The record of every lesson that was met. Attempts are in order.
pub fn counters(attempts: &[Attempted]) -> BTreeMap<String, LessonCount> {
    let mut times: BTreeMap<String, (usize, Vec<f64>)> = BTreeMap::new();
    for (index, attempt) in attempts.iter().enumerate() {
        let Some(lesson) = &attempt.lesson else { continue };
        let alike = |one: &Attempted| one.same_kernel(attempt) && one.lesson.as_ref() == Some(lesson);
        // What goes on failing alike is one failure, put right once.
        let last = attempts[..index].iter().rposition(alike);
        let right =
            |last: usize, one: &Attempted| one.answers(&attempts[last]) && !one.evades(&attempts[last], attempt);
        if last.is_some_and(|last| !attempts[last + 1..index].iter().any(|one| right(last, one))) {
            continue;
        }
        let (met, took) = times.entry(lesson.clone()).or_default();
        *met += 1;
        let later = &attempts[index + 1..];
        let shown_again = |one: &Attempted| later.iter().any(|again| alike(again) && one.evades(attempt, again));
        let right = |one: &&Attempted| one.lesson.is_none() && one.answers(attempt) && !shown_again(one);
        if let Some(success) = later.iter().find(right) {
            took.push((success.ended_ms() - attempt.ended_ms()).max(0) as f64 / 1e3);
        }
    }
    let counted = |(lesson, (met, took)): (String, (usize, Vec<f64>))| {
        (lesson, LessonCount { met, worked: took.len(), median_s: median(&took).ok() })
    };
    times.into_iter().map(counted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionPhase::{Build, Check};
    use crate::attempt::sample::{at, refused};

    #[test]
    fn a_row_of_equal_failures_is_put_right_once() {
        let wrong =
            |minute| Attempted { lesson: Some("tail_guard".into()), ..refused(minute, "check", Check, "numerics") };
        let story = [wrong(1.0), wrong(2.0), at(2.5, "gate", Build), at(4.0, "check", Check), wrong(9.0)];
        let found = counters(&story)["tail_guard"];
        assert_eq!(found, LessonCount { met: 2, worked: 1, median_s: Some(180.0) });
        assert!(counters(&story[3..4]).is_empty());
        let builds = [wrong(1.0), at(2.0, "gate", Build), wrong(3.0), at(4.0, "check", Check)];
        assert_eq!(counters(&builds)["tail_guard"].met, 1, "a build in between puts nothing right");
        let other = Attempted { config: Some("A=9".into()), ..at(2.0, "check", Check) };
        let around = counters(&[wrong(1.0), other, wrong(3.0)])["tail_guard"];
        assert_eq!((around.met, around.worked), (1, 0), "another configuration went around it");
        let bisected = [wrong(1.0), at(2.0, "bisect", Check), at(3.0, "true", Check)];
        assert_eq!(counters(&bisected)["tail_guard"].worked, 0, "other commits, and a command that is not kiln's");
    }
}
