//! How good the model is on kernels it has not seen. In: outcomes. Out: each outcome beside what a model that was fitted without its kernel expects, how many
//! lie within their 80 % intervals, and how well fixes are ordered.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::gain::{Asked, Expected, GainModel, usable};
use super::order::{OrderScore, scores};
use super::outcome::Outcome;

/// An outcome and what was expected of it without its kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// The cause.
    pub cause: String,
    /// What was changed.
    pub fix: Option<String>,
    /// What was promised.
    pub promised: f64,
    /// What was measured.
    pub measured: f64,
    /// What the model expected.
    pub expected: Expected,
    /// Whether the measured speedup lies within the interval.
    pub within: bool,
}

/// The coverage of one cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldCause {
    /// The cause.
    pub cause: String,
    /// How many outcomes it has.
    pub outcomes: usize,
    /// How many lie within their intervals.
    pub within: usize,
}

/// What leaving out each kernel in turn shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// How many kernels were left out, one after the other.
    pub kernels: usize,
    /// Every outcome that the model learns from.
    pub held: Vec<Held>,
    /// The share of outcomes within their 80 % intervals.
    pub coverage: Option<f64>,
    /// The same by cause.
    pub causes: Vec<HeldCause>,
    /// How far measured speedups are from what the model expected: the typical factor.
    pub model_error: Option<f64>,
    /// How far they are from the promises.
    pub promise_error: Option<f64>,
    /// How well fixes of kernels that were both left out are ordered.
    pub orders: Vec<OrderScore>,
}

/// Leaves out each kernel in turn.
pub fn leave_out(outcomes: &[Outcome]) -> LeftOut {
    let used: Vec<&Outcome> = outcomes.iter().filter(|outcome| usable(outcome).is_some()).collect();
    let kernels: BTreeSet<&str> = used.iter().map(|outcome| outcome.kernel.as_str()).collect();
    let (whole, mut models) = (GainModel::fit(used.iter().copied()), BTreeMap::new());
    for kernel in &kernels {
        let others = used.iter().copied().filter(|outcome| outcome.kernel != *kernel);
        models.insert(*kernel, whole.fit_part(others));
    }
    let held: Vec<Held> = used.iter().map(|outcome| held(outcome, &models[outcome.kernel.as_str()])).collect();
    let orders = scores(outcomes, &models);
    let typical = |error: fn(&Held) -> f64| {
        let squares: f64 = held.iter().map(|own| error(own).powi(2)).sum();
        (!held.is_empty()).then(|| (squares / held.len() as f64).sqrt().exp())
    };
    let within = held.iter().filter(|own| own.within).count();
    LeftOut {
        kernels: kernels.len(),
        coverage: (!held.is_empty()).then(|| within as f64 / held.len() as f64),
        causes: causes(&held),
        model_error: typical(|own| (own.measured / own.expected.speedup).ln()),
        promise_error: typical(|own| (own.measured / own.promised).ln()),
        held,
        orders,
    }
}

/// The question whose answer was measured, of a model that does not know the kernel.
pub(super) fn asked(outcome: &Outcome) -> Asked<'_> {
    Asked {
        promised: outcome.promised.map_or(1.0, |promised| promised.ratio),
        cause: &outcome.cause,
        fix: outcome.fix.as_deref(),
        kernel: Some(&outcome.kernel),
        chip: Some(&outcome.chip),
    }
}

fn held(outcome: &Outcome, model: &GainModel) -> Held {
    let (asked, measured) = (asked(outcome), outcome.measured.ratio);
    let expected = model.expect(&asked);
    Held {
        kernel: outcome.kernel.clone(),
        workload: outcome.workload.clone(),
        cause: outcome.cause.clone(),
        fix: outcome.fix.clone(),
        promised: asked.promised,
        measured,
        within: (expected.low..=expected.high).contains(&measured),
        expected,
    }
}

fn causes(held: &[Held]) -> Vec<HeldCause> {
    let mut all: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for own in held {
        let counts = all.entry(&own.cause).or_default();
        *counts = (counts.0 + 1, counts.1 + usize::from(own.within));
    }
    let mut all: Vec<HeldCause> = all
        .into_iter()
        .map(|(cause, (outcomes, within))| HeldCause { cause: cause.into(), outcomes, within })
        .collect();
    all.sort_by_key(|own| std::cmp::Reverse(own.outcomes));
    all
}
