//! How well fixes are ordered. In: outcomes, and models without each kernel. Out: for several orders the share of pairs whose better fix comes first, and
//! what following the order gives up: pairs across kernels, and fixes for the same kernel and workload. Both outcomes of a pair belong to kernels that the
//! model has not seen, so that neither has helped to place the other. Pairs whose measured speedups are within 3 % count for nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::gain::{GainModel, usable};
use super::leave_out::asked;
use super::outcome::Outcome;
use crate::profile::Bottleneck;

/// A way to order fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By what the model expects.
    Model,
    /// By what the diagnosis promises.
    Promise,
    /// Static: by the mean of what fixes of the same cause gave, whatever the profile says.
    CauseMean,
    /// Static: by the list of causes in docs/diagnosis.md.
    Catalogue,
}

impl Order {
    /// Every order.
    pub const ALL: [Order; 4] = [Order::Model, Order::Promise, Order::CauseMean, Order::Catalogue];

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Order::Model => "the model",
            Order::Promise => "the diagnosis' promise",
            Order::CauseMean => "static: the cause's mean gain",
            Order::Catalogue => "static: the list of causes",
        }
    }
}

/// How good an order is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderScore {
    /// The order.
    pub order: Order,
    /// Pairs of outcomes of different kernels.
    pub pairs: usize,
    /// The share of them whose better fix comes first; a tie counts half.
    pub right: Option<f64>,
    /// The factor that is given up on average by taking the first of each pair.
    pub given_up: Option<f64>,
    /// Pairs of fixes for one kernel and workload: what somebody has to choose from. A fix for a cause that was not claimed counts as promising nothing.
    pub same_work: usize,
    /// The share of those whose better fix comes first.
    pub same_work_right: Option<f64>,
    /// The factor that is given up on average.
    pub same_work_given_up: Option<f64>,
}

/// Measured speedups within this factor are alike.
const ALIKE: f64 = 1.03;

#[derive(Default, Clone, Copy)]
struct Tally {
    pairs: usize,
    right: f64,
    lost: f64,
}

impl Tally {
    /// `ahead` is positive where the order puts the first one first, `gain` the logarithm of how much better it was.
    fn count(&mut self, ahead: f64, gain: f64) {
        let share = match ahead * gain {
            agreed if agreed > 0.0 => 1.0,
            agreed if agreed < 0.0 => 0.0,
            _ => 0.5,
        };
        self.pairs += 1;
        self.right += share;
        self.lost += (1.0 - share) * gain.abs();
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.pairs > 0).then(|| sum / self.pairs as f64)
    }
}

/// Scores every order. In: outcomes, and a model without each kernel.
pub(super) fn scores(outcomes: &[Outcome], models: &BTreeMap<&str, GainModel>) -> Vec<OrderScore> {
    let ranked: Vec<&Outcome> = outcomes.iter().filter(|outcome| GainModel::knows(&outcome.cause)).collect();
    let used: Vec<&Outcome> = ranked.iter().copied().filter(|outcome| usable(outcome).is_some()).collect();
    let mut across = Tallies::default();
    let kernels: Vec<(&str, &GainModel)> = models.iter().map(|(kernel, model)| (*kernel, model)).collect();
    for (from, (one, model)) in kernels.iter().enumerate() {
        for (other, _) in &kernels[from + 1..] {
            let others: Vec<&Outcome> =
                used.iter().copied().filter(|own| own.kernel != *one && own.kernel != *other).collect();
            let both = model.refit(others.iter().copied());
            for first in of(&used, one) {
                of(&used, other).for_each(|second| across.pair(first, second, &both, &others));
            }
        }
    }
    let mut within = Tallies::default();
    for (kernel, model) in kernels {
        let others: Vec<&Outcome> = used.iter().copied().filter(|own| own.kernel != kernel).collect();
        let own: Vec<&Outcome> = of(&ranked, kernel).collect();
        for (place, first) in own.iter().enumerate() {
            let same = own[place + 1..].iter().filter(|second| second.workload == first.workload);
            same.for_each(|second| within.pair(first, second, model, &others));
        }
    }
    let score = |((order, across), within): ((Order, Tally), Tally)| OrderScore {
        order,
        pairs: across.pairs,
        right: across.mean(across.right),
        given_up: across.mean(across.lost).map(f64::exp),
        same_work: within.pairs,
        same_work_right: within.mean(within.right),
        same_work_given_up: within.mean(within.lost).map(f64::exp),
    };
    Order::ALL.into_iter().zip(across.0).zip(within.0).map(score).collect()
}

/// What each order comes to.
#[derive(Default)]
struct Tallies([Tally; Order::ALL.len()]);

impl Tallies {
    fn pair(&mut self, first: &Outcome, second: &Outcome, model: &GainModel, others: &[&Outcome]) {
        let gain = first.log_measured() - second.log_measured();
        if gain.abs() < ALIKE.ln() {
            return;
        }
        for (order, tally) in Order::ALL.into_iter().zip(&mut self.0) {
            tally.count(place(order, first, model, others) - place(order, second, model, others), gain);
        }
    }
}

/// The outcomes of a kernel.
fn of<'a>(all: &'a [&'a Outcome], kernel: &'a str) -> impl Iterator<Item = &'a Outcome> {
    all.iter().copied().filter(move |own| own.kernel == kernel)
}

/// Where an order puts a fix: the larger, the sooner.
fn place(order: Order, outcome: &Outcome, model: &GainModel, others: &[&Outcome]) -> f64 {
    match order {
        Order::Model => model.expect(&asked(outcome)).speedup,
        Order::Promise => asked(outcome).promised,
        Order::CauseMean => {
            let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len().max(1) as f64;
            let same: Vec<f64> =
                others.iter().filter(|own| own.cause == outcome.cause).map(|own| own.log_measured()).collect();
            mean(if same.is_empty() { others.iter().map(|own| own.log_measured()).collect() } else { same })
        }
        Order::Catalogue => {
            let all = Bottleneck::ALL;
            -(all.iter().position(|cause| cause.id() == outcome.cause).unwrap_or(all.len()) as f64)
        }
    }
}
