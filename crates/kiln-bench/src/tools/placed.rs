//! Where a subject stands on one workload. In: something to call. Out: its time, and the shares of what memory and arithmetic can do here; or the
//! refusal of a wrong answer. Taken like a trial of a search: a few samples, checked.

use kiln_core::{Fault, Outcome, Workload};
use kiln_judge::Level;

use crate::apparatus::Apparatus;
use crate::bench::Bench;
use crate::building::builder::Build;
use crate::evaluation::{Ended, Measured};
use crate::questions::check::questions;
use crate::questions::stage::Trouble;
use crate::surroundings::peak::{Peaks, peaks};
use crate::workers::subject::Subject;

/// A time beside what the machine can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Seconds of a call.
    pub seconds: f64,
    /// The share of memory's peak; none where the file states no bytes.
    pub memory: Option<f64>,
    /// The share of arithmetic's peak; none where it states no operations.
    pub compute: Option<f64>,
    /// Operations of a call; none where the file states none.
    pub flops: Option<f64>,
    /// Whether the file states what a call must move. On a processor every argument counts as moved once where it does not.
    pub stated: bool,
}

impl<'a> Bench<'a> {
    /// Checks and measures a subject on one workload.
    pub fn placed(&mut self, workload: Option<&'a Workload>, subject: &Subject) -> Result<Outcome<Placed>, Trouble> {
        let mut stages = self.stages(&[workload], "profile", &questions(&Level::Quick.plan()))?;
        let stated = stages.iter().all(|stage| stage.bytes.is_some());
        if self.gpu.is_none() {
            stages.iter_mut().for_each(|stage| stage.bytes = stage.bytes.or(Some(stage.layout.bytes() as f64)));
        }
        let before = self.exchange_stages(stages);
        let others = std::mem::take(&mut self.others);
        let roofs = peaks(self).ok();
        let way = self.go_on().and_then(|()| self.evaluate(Build::Ready(subject.clone()), 0, None));
        self.others = others;
        let stages = self.exchange_stages(before);
        let (stage, seconds) = match (way?.outcome, stages.first()) {
            (Ended::Refused(refusal, _), _) => return Ok(Outcome::Refused(refusal)),
            (Ended::Measured { workloads, .. }, Some(stage)) => {
                (stage, workloads.first().map_or(f64::INFINITY, Measured::median))
            }
            _ => return Err(Fault::new("measuring a workload", "nothing was set up").into()),
        };
        let share = |flops, bytes| roofs.as_ref().and_then(|roofs: &Peaks| roofs.share(flops, bytes, seconds));
        let (memory, compute) = (share(None, stage.bytes), share(stage.flops, None));
        Ok(Outcome::Passed(Placed { seconds, memory, compute, flops: stage.flops, stated }))
    }
}
