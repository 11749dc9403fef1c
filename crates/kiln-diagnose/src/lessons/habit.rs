//! Habits: what a sequence of attempts shows and no single one does. A closed list; identifiers are stable.

use serde::{Deserialize, Serialize};

macro_rules! habits {
    ($($variant:ident $id:literal $meaning:literal,)*) => {
        /// Something that is seen only over several attempts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Habit { $(#[doc = $meaning] #[serde(rename = $id)] $variant,)* }

        impl Habit {
            /// Every habit.
            pub const ALL: &'static [Habit] = &[$(Habit::$variant,)*];

            /// The stable identifier.
            pub fn id(self) -> &'static str {
                match self { $(Habit::$variant => $id,)* }
            }

            /// What it means, in a line.
            pub fn meaning(self) -> &'static str {
                match self { $(Habit::$variant => $meaning,)* }
            }
        }
    };
}

habits! {
    BlindChange "blind_change" "code or configuration changed after a slow result, without a profile in between",
    SeveralChanged "several_changed" "several things changed between two measurements",
    UnmeasuredClaim "unmeasured_claim" "a speedup was claimed that no run shows",
    NoBaseline "no_baseline" "candidates were measured before any baseline",
    FailingBuilds30Min "failing_builds_30min" "every build has failed for 30 minutes",
    SameFailure3x "same_failure_3x" "the same failure three times in a row",
    BelowHalfWithoutProfile "below_half_without_profile" "below half the baseline's speed, and not profiled",
    GettingWorse "getting_worse" "each attempt is slower than the one before",
    NoProgress "no_progress" "many attempts without a better result",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_the_same_in_json() {
        for habit in Habit::ALL {
            assert_eq!(serde_json::to_string(habit).unwrap(), format!("\"{}\"", habit.id()));
            assert_eq!(Habit::ALL.iter().filter(|other| other.id() == habit.id()).count(), 1);
        }
    }
}
