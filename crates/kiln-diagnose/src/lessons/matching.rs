//! Which lessons fit. In: lessons and what is seen. Out: those that fit, the most specific first; ties in the order of the
//! lessons, which is the user's own before others' and then by name. Deterministic.

use super::{Lesson, Pattern, Symptoms};

/// A lesson that fits, and how specific the fit is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<'a> {
    /// The lesson.
    pub lesson: &'a Lesson,
    /// The score of its best alternative: words, causes, findings and habits count 3, a gate, its rule and metrics 2,
    /// architecture and kind 1.
    pub score: u32,
}

/// From this score on a lesson is worth showing. An architecture or a kind of kernel alone says nothing about a failure.
pub const USEFUL: u32 = 2;

/// The lessons that fit, the best first.
pub fn matching<'a>(lessons: impl IntoIterator<Item = &'a Lesson>, seen: &Symptoms) -> Vec<Match<'a>> {
    let score = |lesson: &Lesson| lesson.symptoms.iter().filter_map(|pattern: &Pattern| pattern.score(seen)).max();
    let fits = |lesson: &'a Lesson| Some(Match { lesson, score: score(lesson)? });
    let mut found: Vec<Match<'a>> = lessons.into_iter().filter_map(fits).filter(|own| own.score >= USEFUL).collect();
    found.sort_by_key(|own| std::cmp::Reverse(own.score));
    found
}

#[cfg(test)]
mod tests {
    use kiln_core::Gate;

    use super::*;
    use crate::lessons::{Habit, parse};

    fn lesson(id: &str, symptoms: &str) -> Lesson {
        let text = format!(
            "id = \"{id}\"\ntitle = \"t\"\n{symptoms}\n[lesson]\ncause = \"c\"\nremedy = \"r\"\nevidence = \"e\"\n"
        );
        parse(&format!("{id}.toml"), &text).unwrap()
    }

    fn seen() -> Symptoms {
        Symptoms {
            gate: Some(Gate::RuntimeFailed),
            text: "CUDA_ERROR_MISALIGNED_ADDRESS: misaligned address".into(),
            arch: Some("sm_90a".into()),
            ..Symptoms::default()
        }
    }

    #[test]
    fn the_most_specific_comes_first_and_ties_keep_their_order() {
        let gate = lesson("gate", "[[symptom]]\ngate = [\"runtime_failed\"]");
        let text = lesson("text", "[[symptom]]\ntext = [\"Misaligned +address\"]");
        let both =
            lesson("both", "[[symptom]]\ngate = [\"runtime_failed\"]\ntext = [\"misaligned\"]\narch = [\"sm_90\"]");
        let same = lesson("a_tie", "[[symptom]]\ntext = [\"ADDRESS$\"]");
        let all = [gate, text, both, same];
        let found: Vec<(&str, u32)> =
            matching(&all, &seen()).iter().map(|own| (own.lesson.id.as_str(), own.score)).collect();
        assert_eq!(found, [("both", 6), ("text", 3), ("a_tie", 3), ("gate", 2)]);
    }

    #[test]
    fn everything_stated_must_hold_and_alternatives_are_enough_alone() {
        let other = lesson("other", "[[symptom]]\ngate = [\"numerics\"]\ntext = [\"misaligned\"]");
        assert!(matching([&other], &seen()).is_empty());
        let either = lesson("either", "[[symptom]]\ngate = [\"numerics\"]\n[[symptom]]\ntext = [\"misaligned\"]");
        assert_eq!(matching([&either], &seen())[0].score, 3);
        let elsewhere = lesson("elsewhere", "[[symptom]]\ntext = [\"misaligned\"]\narch = [\"sm_80\"]");
        assert!(matching([&elsewhere], &seen()).is_empty());
        assert!(matching([&either], &Symptoms::default()).is_empty());
    }

    #[test]
    fn metrics_lie_within_their_ranges() {
        let narrow = lesson("narrow", "[[symptom]]\n[symptom.metrics]\nl2_hit = { above = 0.1, below = 0.7 }");
        let with = |value: f64| Symptoms { metrics: [("l2_hit".into(), value)].into(), ..Symptoms::default() };
        assert_eq!(matching([&narrow], &with(0.5)).len(), 1);
        assert!(matching([&narrow], &with(0.7)).is_empty() && matching([&narrow], &with(f64::NAN)).is_empty());
        assert!(matching([&narrow], &seen()).is_empty(), "what was not measured is not within a range");
    }

    #[test]
    fn habits_and_findings_name_it() {
        let habit = lesson("habit", "[[symptom]]\nhabits = [\"blind_change\", \"getting_worse\"]");
        assert_eq!(matching([&habit], &Symptoms::of_habits(&[Habit::GettingWorse]))[0].score, 3);
        assert!(matching([&habit], &Symptoms::of_habits(&[Habit::NoProgress])).is_empty());
        let spot = lesson("spot", "[[symptom]]\nfindings = [\"spot\"]");
        assert_eq!(matching([&spot], &Symptoms::of_environment("spot", "may be taken away"))[0].score, 3);
        assert!(matching([&spot], &Symptoms::of_environment("disk", "")).is_empty());
    }
}
