//! How thoroughly a candidate is judged. In: a level. Out: what it asks for, as data; the loop puts the questions.

use kiln_core::Use;

use crate::distribution::Distribution;

/// Three depths; the names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every candidate, before it is timed.
    Quick,
    /// Candidates that may win.
    Full,
    /// The winner, before it is called one.
    Suite,
}

/// What a level asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Inputs drawn from each distribution for each workload, every one with a fresh seed.
    pub sets: usize,
    /// The distributions, each once.
    pub distributions: &'static [Distribution],
    /// Further calls on the same inputs that must give the same answer.
    pub reruns: usize,
    /// Which workloads.
    pub workloads: Scope,
    /// How much of each output is looked at.
    pub coverage: Coverage,
}

/// How much of a large output is held against the right answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// As many rows as a tenth of a second allows.
    Sampled,
    /// All of it.
    Every,
}

/// Which workloads a level uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those that are timed.
    Tuned,
    /// And those that are there for correctness.
    Checked,
    /// All, holdouts too.
    All,
}

impl Scope {
    /// Whether a workload of this use belongs to it.
    pub fn includes(self, use_for: Use) -> bool {
        match use_for {
            Use::Tune => true,
            Use::Check => self != Scope::Tuned,
            Use::Holdout => self == Scope::All,
        }
    }
}

impl Level {
    /// Every level, cheapest first.
    pub const ALL: [Level; 3] = [Level::Quick, Level::Full, Level::Suite];

    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Quick => "quick",
            Level::Full => "full",
            Level::Suite => "suite",
        }
    }

    /// The level of that name.
    pub fn named(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// What it asks for.
    pub fn plan(self) -> Plan {
        use Distribution::{Declared, Few, Highest, Large, Lowest, Mixed, Scaled, Spike, Spikes, Tiny};
        match self {
            Level::Quick => Plan {
                sets: 2,
                distributions: &[Declared],
                reruns: 1,
                workloads: Scope::Tuned,
                coverage: Coverage::Sampled,
            },
            Level::Full => Plan {
                sets: 1,
                distributions: &[Declared, Scaled(4), Spikes, Large, Tiny, Spike, Mixed, Few, Lowest, Highest],
                reruns: 2,
                workloads: Scope::Checked,
                coverage: Coverage::Every,
            },
            Level::Suite => Plan {
                sets: 1,
                distributions: &Distribution::ALL,
                reruns: 3,
                workloads: Scope::All,
                coverage: Coverage::Every,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_grow() {
        for (a, b) in [(Level::Quick, Level::Full), (Level::Full, Level::Suite)] {
            let (a, b) = (a.plan(), b.plan());
            assert!(a.reruns < b.reruns && a.distributions.iter().all(|d| b.distributions.contains(d)));
            assert!(Use::ALL.iter().all(|(_, u)| !a.workloads.includes(*u) || b.workloads.includes(*u)));
        }
        assert!(Level::ALL.into_iter().all(|level| Level::named(level.name()) == Some(level)));
        assert_eq!(Level::named("slow"), None);
    }
}
