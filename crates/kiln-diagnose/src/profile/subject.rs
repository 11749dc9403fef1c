//! One kernel with everything that is known about it: the metrics of a launch, what the compiler said, hints from the source. Rules
//! read it through names that hold for every architecture.

use super::code::Hints;
use super::metric::{self as m, Metric};
use super::odd::{self, Odd};
use super::page::{Kernel, Launch};
use super::ptxas::Resources;

/// What is diagnosed.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    /// The kernel's name, as ncu has it.
    pub kernel: String,
    /// How many launches of it the page has.
    pub launches: u64,
    /// The metrics of its longest launch.
    pub launch: Launch,
    /// What ptxas said.
    pub resources: Option<Resources>,
    /// What the source says, where it is at hand.
    pub hints: Option<Hints>,
}

/// A metric's value, with the name that the page has for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
}

impl Subject {
    /// A subject of a kernel's metrics alone.
    pub fn of(kernel: &Kernel) -> Self {
        let launch = kernel.longest.clone();
        Self { kernel: kernel.name.clone(), launches: kernel.launches, launch, resources: None, hints: None }
    }

    /// The first metric whose value cannot be: a page with one is damaged, and gives no diagnosis.
    pub fn odd(&self) -> Option<Odd> {
        odd::of(self)
    }

    /// A metric under any of its names. One whose value cannot be counts as not collected.
    pub(crate) fn reading(&self, metric: Metric) -> Option<Reading> {
        let mut all = metric.iter().filter_map(|name| Some(Reading { name, value: self.launch.get(name)? }));
        all.find(|reading| odd::expected(metric, reading.name, reading.value).is_none())
    }

    /// Whether the page does not have a metric. An average over no loads is none that was left out.
    pub(crate) fn lacks(&self, metric: Metric) -> bool {
        let of_nothing = metric == m::LOAD_BYTES_PER_SECTOR
            && self.reading(m::LOAD_REQUESTS).is_some_and(|requests| requests.value == 0.0);
        self.reading(metric).is_none() && !of_nothing
    }

    /// Whether the page has the load of every unit.
    pub(crate) fn has_units(&self) -> bool {
        !m::UNITS.iter().any(|unit| self.lacks(unit))
    }

    /// A metric's value; 0 where it was not collected.
    pub(crate) fn value(&self, metric: Metric) -> f64 {
        self.reading(metric).map_or(0.0, |reading| reading.value)
    }

    /// A percentage as a share.
    pub(crate) fn share(&self, metric: Metric) -> f64 {
        (self.value(metric) / 100.0).clamp(0.0, 1.0)
    }

    /// One metric by another; 0 where the second is 0.
    pub(crate) fn ratio(&self, metric: Metric, by: Metric) -> f64 {
        let by = self.value(by);
        if by > 0.0 { self.value(metric) / by } else { 0.0 }
    }

    /// The share of the time for which an SM had work: below 1 where SMs wait for the last blocks.
    pub(crate) fn active(&self) -> f64 {
        match self.ratio(m::CYCLES_ACTIVE, m::CYCLES_ELAPSED) {
            share if share > 0.0 => share.min(1.0),
            _ => 1.0,
        }
    }

    /// How a warp's waiting divides: the part of one reason.
    pub(crate) fn stall(&self, metric: Metric) -> f64 {
        let all: f64 = m::STALLS.iter().map(|(_, stall)| self.value(stall)).sum();
        if all > 0.0 { self.value(metric) / all } else { 0.0 }
    }

    /// What warps wait for beside one reason. It is summed without that reason, so that it does not change with it by a rounding.
    pub(crate) fn other_stalls(&self, metric: Metric) -> f64 {
        m::STALLS.iter().filter(|(_, stall)| *stall != metric).map(|(_, stall)| self.value(stall)).sum()
    }

    /// The launch's time in microseconds.
    pub(crate) fn micros(&self) -> f64 {
        self.value(m::DURATION) / 1e3
    }

    /// The number of SMs; that of an H200 where the page does not say.
    pub(crate) fn sms(&self) -> f64 {
        match self.value(m::SMS) {
            sms if sms >= 1.0 => sms,
            _ => 132.0,
        }
    }
}
