//! Calls that somebody watches: a profiler around the worker on a GPU, and on a processor whoever looks where in its code the worker
//! is. In: a workload that is set up, something to call, the tool, a time. Out: whether the answer was right, or where the
//! worker was. Nothing is timed, and the worker serves nobody else.

use kiln_core::{Fault, Outcome, Workload};
use kiln_judge::{Coverage, Level};

use crate::bench::Bench;
use crate::questions::check::questions;
use crate::questions::stage::{Stage, Trouble};
use crate::tools::probe::{Probe, Probed};
use crate::workers::seat::Seat;
use crate::workers::subject::Subject;

/// Calls before the one that is watched: what is done at the first alone is not what a call takes.
const WARM: usize = 2;
/// Seconds in which places are looked for.
const LOOKING: f64 = 0.4;
/// Calls in that time at most.
const MOST_CALLS: f64 = 1e6;

impl<'a> Bench<'a> {
    /// A workload set up with one question: what is watched is asked once.
    pub fn one_question(&self, workload: Option<&'a Workload>, purpose: &str) -> Result<Stage<'a>, Trouble> {
        let mut asked = questions(&Level::Quick.plan());
        asked.truncate(1);
        self.stage(workload, purpose, &asked, Coverage::Sampled, None)
    }

    /// Calls a subject under a profiler, which sees the last call alone.
    pub fn watched(&self, stage: &mut Stage<'a>, subject: &Subject, probe: &Probe) -> Result<Probed, Fault> {
        self.under(stage, subject, probe, |stage, seat| last_watched(stage, seat, subject, probe.question))
    }

    /// Where in a library its calls spend their time: bytes from the beginning of the file, one for each look. Empty where the
    /// system does not tell.
    pub fn places(&self, stage: &mut Stage<'a>, subject: &Subject) -> Result<Outcome<Vec<u64>>, Fault> {
        let Subject::Library { path, .. } = subject else { return Ok(Outcome::Passed(Vec::new())) };
        let path = path.canonicalize_utf8().map_err(|e| Fault::new(format!("looking for {path}"), e))?;
        self.go_on()?;
        let mut seat = passed!(self.seating().take(subject)?);
        stage.fit(subject.config())?;
        passed!(stage.map(&mut seat, subject)?);
        passed!(stage.lay(0, &mut seat)?);
        let once = passed!(seat.time(2, 1)?).into_iter().fold(f64::INFINITY, f64::min);
        // More than a question may take is left to others.
        let seconds = LOOKING.min(0.5 * self.seating().limits.time.as_secs_f64());
        let calls = (seconds / once.max(1e-9)).clamp(1.0, MOST_CALLS) as u32;
        seat.call_and_look(calls, path.as_str())
    }
}

fn last_watched(
    stage: &mut Stage<'_>,
    seat: &mut Seat,
    subject: &Subject,
    question: usize,
) -> Result<Outcome<()>, Fault> {
    passed!(stage.map(seat, subject)?);
    for _ in 0..WARM {
        passed!(stage.lay(question, seat)?);
        passed!(seat.call()?);
    }
    stage.pose(question, seat, |_, seat| seat.call_watched())
}
