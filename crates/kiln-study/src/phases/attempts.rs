//! What was tried in a campaign. In: outcomes, as they come. Out: the best of them, their order, and whether all of them were
//! refused alike.

use kiln_bench::Evaluation;
use kiln_core::{Config, Refusal};

/// Configurations that are refused for one reason before the rest are thought to be, too.
const ALIKE: usize = 6;

/// A configuration that was tried.
#[derive(Debug, Clone)]
pub(crate) struct Tried {
    pub(crate) config: Config,
    pub(crate) evaluation: Evaluation,
}

/// Everything tried so far.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) all: Vec<Tried>,
    best: Option<usize>,
}

impl Attempts {
    /// The best that was measured to the end.
    pub(crate) fn best(&self) -> Option<&Tried> {
        self.best.map(|i| &self.all[i])
    }

    /// Takes an outcome in; says whether it is the best now.
    pub(crate) fn add(&mut self, tried: Tried) -> bool {
        let cost = |t: &Tried| if t.evaluation.complete() { t.evaluation.cost() } else { None };
        let better = match (cost(&tried), self.best().and_then(cost)) {
            (Some(new), Some(old)) => new < old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        self.all.push(tried);
        if better {
            self.best = Some(self.all.len() - 1);
        }
        better
    }

    /// Why all of them were refused, when there are enough and one is as the other.
    pub(crate) fn alike(&self) -> Option<&Refusal> {
        let mut refusals = self.all.iter().map(|tried| tried.evaluation.refusal());
        let first = refusals.next()??;
        let same = |other: &Refusal| (other.gate, &other.measured) == (first.gate, &first.measured);
        (self.all.len() >= ALIKE && refusals.all(|refusal| refusal.is_some_and(same))).then_some(first)
    }

    /// Those that were measured, each configuration once: to the end, best first; then those that were given up early,
    /// which may have been so beside one that only seemed fast.
    pub(crate) fn ranked(&self) -> Vec<&Tried> {
        let mut ranked: Vec<&Tried> = self.all.iter().filter(|t| t.evaluation.cost().is_some()).collect();
        ranked.sort_by(|a, b| {
            let order = |t: &Tried| (!t.evaluation.complete(), t.evaluation.cost().unwrap_or(f64::INFINITY));
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let mut seen: Vec<&Config> = Vec::new();
        ranked.retain(|t| {
            let new = !seen.contains(&&t.config);
            seen.push(&t.config);
            new
        });
        ranked
    }
}
