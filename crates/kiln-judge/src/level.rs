//! How thoroughly a candidate is judged. In: a level. Out: what it asks for, as data; the loop puts the questions.

use kiln_core::Use;

use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::Distribution;

/// Numbers of a workload's inputs and outputs from which on it is large.
const LARGE: usize = 1 << 25;

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
    /// How many of them a workload is asked about that is so large that each question takes a second: the first, and of the
    /// others some in turn.
    pub of_large: usize,
    /// Further calls on the same inputs that must give the same answer.
    pub reruns: usize,
    /// Which workloads.
    pub workloads: Scope,
    /// How much of each output is looked at.
    pub coverage: Coverage,
}

/// How much of a large output is held against the correct answer.
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

impl Plan {
    /// How the inputs of each question about a workload are drawn: from every distribution that suits its arguments, or, where
    /// those are large, from some of them. Large workloads have turns, so that together they are asked about all.
    pub fn questions(&self, signature: &Signature, turn: usize) -> Vec<Distribution> {
        let mut suited: Vec<Distribution> =
            self.distributions.iter().copied().filter(|distribution| signature.suits(*distribution)).collect();
        let numbers: usize = signature.slots.iter().filter(|s| s.is_input() || s.is_output()).map(Slot::elements).sum();
        let others = suited.len().saturating_sub(1);
        if numbers > LARGE && self.of_large < suited.len() {
            let wanted = self.of_large.saturating_sub(1);
            suited[1..].rotate_left(turn.wrapping_mul(wanted) % others.max(1));
            suited.truncate(self.of_large);
        }
        suited.into_iter().flat_map(|distribution| std::iter::repeat_n(distribution, self.sets)).collect()
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
                of_large: 1,
                reruns: 1,
                workloads: Scope::Tuned,
                coverage: Coverage::Sampled,
            },
            Level::Full => Plan {
                sets: 1,
                distributions: &[Declared, Scaled(4), Spikes, Large, Tiny, Spike, Mixed, Few, Lowest, Highest],
                of_large: 2,
                reruns: 2,
                workloads: Scope::Checked,
                coverage: Coverage::Every,
            },
            Level::Suite => Plan {
                sets: 1,
                distributions: &Distribution::ALL,
                of_large: 4,
                reruns: 3,
                workloads: Scope::All,
                coverage: Coverage::Every,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use kiln_spec::{Dtype, Init, Role};

    use super::*;

    #[test]
    fn levels_grow() {
        for (a, b) in [(Level::Quick, Level::Full), (Level::Full, Level::Suite)] {
            let (a, b) = (a.plan(), b.plan());
            assert!(a.reruns < b.reruns && a.distributions.iter().all(|d| b.distributions.contains(d)));
            assert!(Use::ALL.iter().all(|(_, u)| !a.workloads.includes(*u) || b.workloads.includes(*u)));
        }
        let tensor =
            |elements: usize| Slot { init: Init::Normal, ..Slot::packed("x", Role::In, Dtype::F16, &[elements]) };
        let signature = |elements: usize| Signature { slots: vec![tensor(elements), tensor(1000)] };
        for level in [Level::Full, Level::Suite] {
            let (plan, all) = (level.plan(), level.plan().questions(&signature(1000), 7));
            assert_eq!(all, level.plan().questions(&signature(LARGE - 1000), 0));
            assert!(all.len() > 6 && all.iter().all(|d| plan.distributions.contains(d)));
            // No type with ends, nothing about them; and of large ones all of them together.
            assert!(!all.contains(&Distribution::Lowest));
            let large: Vec<_> = (0..9).map(|turn| plan.questions(&signature(LARGE), turn)).collect();
            assert!(large.iter().all(|asked| asked.len() == plan.of_large && asked[0] == Distribution::Declared));
            assert!(all.iter().all(|d| large.iter().flatten().any(|asked| asked == d)), "{level:?}");
        }
        assert!(Level::ALL.into_iter().all(|level| Level::named(level.name()) == Some(level)));
        assert_eq!(Level::named("slow"), None);
    }
}
