//! The difference between two times in two parts that add up: what the busiest unit has to do, and the time in which even that unit
//! waits. In: two subjects. Out: both parts on both sides, with their share of the difference. None where a unit was not collected.

use serde::Serialize;

use super::super::load::Load;
use super::super::rule::rounded;
use super::super::subject::Subject;

/// Work and waiting of two launches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Split {
    /// The busiest unit here.
    pub unit: &'static str,
    /// How long it works, in microseconds.
    pub work_us: f64,
    /// The time beyond that.
    pub waiting_us: f64,
    /// The busiest unit of the other.
    pub against_unit: &'static str,
    /// How long that works.
    pub against_work_us: f64,
    /// The other's time beyond that.
    pub against_waiting_us: f64,
    /// The share of the difference in time that is work; the rest is waiting. Negative where the work grew while the time fell.
    pub work_share: f64,
}

impl Split {
    pub(super) fn of(here: &Subject, against: &Subject) -> Option<Self> {
        let (ours, theirs) = (part(here)?, part(against)?);
        let difference = here.micros() - against.micros();
        Some(Self {
            unit: ours.0,
            work_us: rounded(ours.1),
            waiting_us: rounded(here.micros() - ours.1),
            against_unit: theirs.0,
            against_work_us: rounded(theirs.1),
            against_waiting_us: rounded(against.micros() - theirs.1),
            work_share: rounded((ours.1 - theirs.1) / difference),
        })
    }
}

/// The busiest unit, and how long it works.
fn part(subject: &Subject) -> Option<(&'static str, f64)> {
    let (unit, share) = Load::of(subject).busiest_unit();
    subject.has_units().then_some((unit, share * subject.micros()))
}
