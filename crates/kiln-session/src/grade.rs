//! How well a session went: each target judged, and a letter with its reasons. A target that never came up counts neither way; where
//! nothing was attempted there is no letter.

use serde::{Deserialize, Serialize};

use crate::report::Facts;
use crate::words::{lasting, times};

/// A working build is expected within this time.
const BUILD: f64 = 30.0 * 60.0;
/// A named bottleneck is expected this long after the build works.
const BOTTLENECK: f64 = 15.0 * 60.0;

/// What stands for the letter where there is none.
const NONE: &str = "-";

/// A target and whether it was met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// What was aimed at.
    pub target: String,
    /// What came of it.
    pub found: String,
    /// Whether it was met; none where it never came up.
    pub met: Option<bool>,
}

/// A letter from A to E, with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// The letter: A for every target met, one letter down for each that was missed; `-` where nothing can be judged.
    pub letter: String,
    /// Why there is none.
    #[serde(default)]
    pub ungraded: Option<String>,
    /// Every target.
    pub targets: Vec<Judged>,
}

/// Judges what a session came to.
pub fn grade(facts: &Facts<'_>) -> Grade {
    let within = |target: &str, took: Option<f64>, most: f64, began: f64, never: bool| Judged {
        target: target.into(),
        found: took.map_or_else(|| if never { "not reached" } else { "did not come up" }.into(), lasting),
        met: match took {
            Some(took) => Some(took - began <= most),
            None => never.then_some(false),
        },
    };
    let none = |target: &str, count: usize, asked: bool| Judged {
        target: target.into(),
        found: count.to_string(),
        met: asked.then_some(count == 0),
    };
    let tried = facts.attempts > 0;
    let goal = Judged {
        target: if facts.goal.is_empty() { "goal reached".into() } else { format!("goal {}", facts.goal) },
        found: match (facts.speedup, facts.decided) {
            (Some(speedup), true) if !facts.reached => format!("{}; the choice to stop is recorded", times(speedup)),
            (Some(speedup), _) => times(speedup),
            (None, true) => "the choice to stop is recorded".into(),
            (None, false) => "nothing measured".into(),
        },
        // To use the baseline is a valid end, where it is argued.
        met: facts.has_goal.then_some(facts.reached || facts.decided),
    };
    let budget = Judged {
        target: format!("time within {}", lasting(facts.budget_s)),
        found: match facts.cost {
            Some(cost) => format!("{}, cost {cost:.2}", lasting(facts.elapsed_s)),
            None => lasting(facts.elapsed_s),
        },
        met: Some(facts.elapsed_s <= facts.budget_s),
    };
    let targets = vec![
        within("working build within 30 min", facts.build_s, BUILD, 0.0, tried),
        within(
            "bottleneck named within 15 min of it",
            facts.bottleneck_s,
            BOTTLENECK,
            facts.build_s.unwrap_or(0.0),
            facts.slow,
        ),
        none("no blind change", facts.blind, tried),
        none("no repeated mistake", facts.repeated, tried),
        budget,
        goal,
    ];
    let missed = targets.iter().filter(|target| target.met == Some(false)).count();
    let letter = ["A", "B", "C", "D", "E"][missed.min(4)].to_string();
    match tried {
        true => Grade { letter, ungraded: None, targets },
        false => Grade { letter: NONE.into(), ungraded: Some("no command in it judged anything".into()), targets },
    }
}
