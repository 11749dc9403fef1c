//! Two profiles side by side: what changed, and how much of the difference in time it explains. In: two subjects, the one in question and the
//! one that it is held against. Out: a [`Comparison`]. Shares of the difference come from the rules: a cause that only the slower has
//! explains what its removal is worth there. Refuses subjects without a time.

mod difference;
mod pairs;
mod split;

use serde::Serialize;

use super::cause::Bottleneck;
use super::diagnosis::{at_roofline, ranked};
use super::metric as m;
use super::name;
use super::odd::PAIRS;
use super::rule::{Rule, rounded};
use super::rules;
use super::subject::Subject;

pub use difference::Difference;
pub use pairs::{Pairs, pairs};
pub use split::Split;

/// Two launches, compared. `against` is the other side of every figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The kernel, as ncu has it.
    pub kernel: String,
    /// The kernel that it is compared with.
    pub against_kernel: String,
    /// Its time, in microseconds.
    pub time_us: f64,
    /// The other's.
    pub against_us: f64,
    /// How many times as fast as the other it is: below 1 it is slower.
    pub speedup: f64,
    /// What changed, that which explains most first.
    pub changed: Vec<Changed>,
    /// The share of the difference in time that the causes explain together; none where the times are alike.
    pub explained: Option<f64>,
    /// The difference divided into work and waiting; none where the times are alike or a unit was not collected.
    pub split: Option<Split>,
    /// Further metrics that differ, the most different first.
    pub metrics: Vec<Difference>,
}

/// A cause that does not apply to both alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// The cause.
    pub cause: Bottleneck,
    /// The speedup that its removal promises here; none if it does not apply here.
    pub expected_speedup: Option<f64>,
    /// The same for the other.
    pub against_expected_speedup: Option<f64>,
    /// The share of the difference in time that it explains; none for a cause of the faster alone.
    pub explains: Option<f64>,
    /// The metrics that say so, with both values.
    pub metrics: Vec<Difference>,
}

impl Comparison {
    /// The kernel's name for people.
    pub fn name(&self) -> &str {
        name::shown(&self.kernel)
    }

    /// The other's.
    pub fn against_name(&self) -> &str {
        name::shown(&self.against_kernel)
    }
}

/// Times closer than this are alike: a single profiled launch is no more exact.
pub const ALIKE: f64 = 1.03;

/// Compares a launch with another; none if one of them has no time.
pub fn compare(here: &Subject, against: &Subject) -> Option<Comparison> {
    let times = (here.micros(), against.micros());
    if !(times.0 > 0.0 && times.1 > 0.0) {
        return None;
    }
    let factor = (times.0 / times.1).max(times.1 / times.0);
    let alike = factor < ALIKE;
    let mut changed = changed(here, against);
    let explained = (!alike).then(|| share_out(&mut changed, times.0 > times.1, factor));
    // A cause of the faster is no explanation: it comes last.
    changed.sort_by(|one, other| other.explains.unwrap_or(-1.0).total_cmp(&one.explains.unwrap_or(-1.0)));
    let cited: Vec<String> =
        changed.iter().flat_map(|change| change.metrics.iter().map(|own| own.metric.clone())).collect();
    Some(Comparison {
        kernel: here.kernel.clone(),
        against_kernel: against.kernel.clone(),
        time_us: rounded(times.0),
        against_us: rounded(times.1),
        speedup: rounded(times.1 / times.0),
        changed,
        explained,
        split: if alike { None } else { Split::of(here, against) },
        metrics: difference::others(here, against, &cited),
    })
}

/// A promise changes where it does so by more than this.
const SAME: f64 = 1.02;

/// The causes that do not apply to both alike. Being at a roof explains no time.
fn changed(here: &Subject, against: &Subject) -> Vec<Changed> {
    let (ours, theirs) = (ranked(here), ranked(against));
    let worth =
        |of: &[(&Rule, f64)], cause: Bottleneck| of.iter().find(|(rule, _)| rule.cause == cause).map(|(_, gain)| *gain);
    let change = |rule: &Rule| {
        let (one, other) = (worth(&ours, rule.cause), worth(&theirs, rule.cause));
        let (least, most) =
            (one.unwrap_or(1.0).min(other.unwrap_or(1.0)), one.unwrap_or(1.0).max(other.unwrap_or(1.0)));
        (most / least > SAME).then(|| Changed {
            cause: rule.cause,
            expected_speedup: one.map(rounded),
            against_expected_speedup: other.map(rounded),
            explains: None,
            metrics: cited(rule, here, against),
        })
    };
    rules::ALL.iter().filter(|rule| !at_roofline(rule.cause)).filter_map(change).collect()
}

/// The metrics that say what is wrong where the rule holds, with the values of both.
fn cited(rule: &Rule, here: &Subject, against: &Subject) -> Vec<Difference> {
    let of = if rule.holds(here) { here } else { against };
    let symptoms = (rule.conditions)(of).into_iter().filter(|condition| !condition.context);
    let mut names: Vec<&str> = Vec::new();
    for condition in symptoms {
        // A count says something beside that which it is judged by.
        let by =
            PAIRS.iter().filter(|(metric, _)| metric.contains(&condition.metric)).filter_map(|(_, by)| of.reading(by));
        for name in std::iter::once(condition.metric).chain(by.map(|reading| reading.name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let both = |name: &str| Difference {
        metric: name.into(),
        value: here.launch.get(name),
        against: against.launch.get(name),
    };
    names.into_iter().map(both).collect()
}

/// Gives each cause its share of the difference, the most worth first, and no more than there is: causes overlap.
fn share_out(changed: &mut [Changed], slower: bool, factor: f64) -> f64 {
    let worth = |own: &Changed| {
        let (one, other) = (own.expected_speedup.unwrap_or(1.0), own.against_expected_speedup.unwrap_or(1.0));
        if slower { one / other } else { other / one }
    };
    changed.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    let mut left: f64 = 1.0;
    for own in changed.iter_mut() {
        let worth = worth(own);
        if worth <= 1.0 {
            continue;
        }
        let share = ((1.0 - 1.0 / worth) / (1.0 - 1.0 / factor)).min(left);
        left -= share;
        own.explains = Some(rounded(share));
    }
    rounded(1.0 - left)
}

/// A note where the two are not of one kind of GPU.
pub fn other_gpu(here: &Subject, against: &Subject) -> Option<String> {
    let (one, other) = (here.reading(m::SMS)?.value, against.reading(m::SMS)?.value);
    (one != other).then(|| format!("the profiles are of different GPUs: {one:.0} SMs here, {other:.0} there"))
}

#[cfg(test)]
mod tests;
