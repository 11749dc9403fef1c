//! What is asked of a sweep, and how it ended.

use kiln_core::Report;
use kiln_store::Run;

use super::story::SweepStory;
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{Measuring, Selecting};

/// What is to be measured, and on which shapes.
#[derive(Debug, Clone)]
pub struct SweepRequest {
    /// The kernel; its workload is the shape that stands for dimensions that are not swept over.
    pub selecting: Selecting,
    /// How times are taken.
    pub measuring: Measuring,
    /// Dimensions and their values, each as `NAME=WORDS`; the file's grid when there are none.
    pub dims: Vec<String>,
    /// Values as `NAME=VALUE,...` for every shape; what is left out is each shape's own default.
    pub config: String,
    /// The winner of this study on every shape.
    pub study: Option<String>,
    /// Only these baselines; all when there are none.
    pub baselines: Vec<String>,
    /// Go on until speedups are known to plus or minus this many per cent.
    pub width: f64,
    /// Samples on each side at most.
    pub max_samples: usize,
    /// On a GPU, end with fewer samples than asked for where they tell twice as much as `width` asks for.
    pub early: bool,
    /// Differences below this many per cent do not matter.
    pub dead_zone: f64,
    /// Begin no shape that would not be done after so many minutes; what is left of them goes to shapes near a cross-over.
    pub minutes: Option<f64>,
    /// Go on with this sweep: a run's id, or `last`.
    pub resume: Option<String>,
}

impl SweepRequest {
    /// Refuses a time that is none.
    pub(super) fn checked(&self) -> Result<(), Failure> {
        match self.minutes {
            Some(minutes) if !(minutes.is_finite() && minutes > 0.0) => {
                let report = Report::error(format!("--minutes {minutes} is out of range"));
                Err(report.label("expected a number above 0").into())
            }
            _ => Ok(()),
        }
    }
}

/// What was measured.
pub struct Swept {
    /// The run as it is recorded.
    pub run: Run,
    /// What it says.
    pub story: SweepStory,
    /// How it ended.
    pub end: SweepEnd,
}

/// How a sweep ended.
pub enum SweepEnd {
    /// Every shape was tried.
    Complete,
    /// There was no time for the rest.
    OutOfTime,
    /// Somebody stopped it.
    Interrupted,
    /// A fault of the environment.
    Failed(Failure),
}

impl Ends for Swept {
    fn ending(&self) -> Ending {
        match &self.end {
            SweepEnd::Interrupted => Ending::Interrupted,
            SweepEnd::Failed(failure) => failure.ending(),
            SweepEnd::Complete | SweepEnd::OutOfTime if self.story.measured() == 0 => Ending::Refused,
            SweepEnd::Complete | SweepEnd::OutOfTime => Ending::Done,
        }
    }

    fn reason(&self) -> Option<String> {
        match &self.end {
            SweepEnd::Failed(failure) => failure.reason(),
            _ => None,
        }
    }
}
