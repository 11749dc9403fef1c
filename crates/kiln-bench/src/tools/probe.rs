//! One call under a tool. In: a workload that is set up, something built for the tool, the tool, a time. Out: whether the answer
//! was right, everything the worker and the tool in it wrote, and whether all of it ended by itself. Nothing is timed, and
//! the worker serves nobody else.

use std::time::{Duration, Instant};

use kiln_core::{Fault, Gate, Outcome, Refusal, Report, Workload};
use kiln_judge::{Coverage, FuzzCase, Level};
use kiln_run::Wrapper;

use crate::bench::Bench;
use crate::questions::case::stage as case_stage;
use crate::questions::check::questions;
use crate::questions::stage::{Stage, Trouble};
use crate::workers::seat::Seat;
use crate::workers::subject::Subject;

/// How a candidate is called.
#[derive(Debug, Clone)]
pub struct Probe {
    /// What the worker is run under; none for an ordinary, confined one.
    pub wrapper: Option<Wrapper>,
    /// Whether every argument has an allocation of its own.
    pub apart: bool,
    /// On a device, whether memory that calls write before they read it holds nothing.
    pub blank: bool,
    /// Bytes that are kept of what it writes to standard error.
    pub words: usize,
    /// How long each step may take.
    pub limit: Duration,
    /// When all of it must be over.
    pub until: Option<Instant>,
    /// The number of the question.
    pub question: usize,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Probed {
    /// Whether the answer was right; why not, or why there was none.
    pub outcome: Outcome<()>,
    /// What the worker wrote to standard error: the kernel's own words, and a sanitizer's reports.
    pub words: String,
    /// Bytes of that which were not kept.
    pub left_out: u64,
    /// Whether the worker, and a tool around it, ended by themselves.
    pub ended: bool,
    /// How long it took.
    pub seconds: f64,
}

impl Probed {
    /// Whether it did not end in time.
    pub fn timed_out(&self) -> bool {
        !self.ended || matches!(&self.outcome, Outcome::Refused(refusal) if refusal.gate == Gate::Timeout)
    }
}

impl<'a> Bench<'a> {
    /// A workload set up with the questions of a quick check.
    pub fn ground(&self, workload: Option<&'a Workload>, purpose: &str) -> Result<Stage<'a>, Trouble> {
        self.stage(workload, purpose, &questions(&Level::Quick.plan()), Coverage::Sampled, None)
    }

    /// A shape set up with the questions of a case. Refuses inputs that make no sense for the kernel.
    pub fn ground_of(&self, workload: &'a Workload, case: &FuzzCase) -> Result<Stage<'a>, Trouble> {
        let stage = case_stage(self, (workload, case), None)?;
        if stage.exams.is_empty() {
            return Err(Report::error(format!("--case: inputs {} say nothing new here", case.inputs)).into());
        }
        Ok(stage)
    }

    /// The quick check of one workload, in an ordinary worker; the refusal and the question, if it fails.
    pub fn check_on(&self, stage: &mut Stage<'a>, subject: &Subject) -> Result<Option<(Refusal, usize)>, Fault> {
        let mut seat = match self.seating().take(subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => return Ok(Some((refusal, 0))),
        };
        stage.fit(subject.config())?;
        if let Outcome::Refused(refusal) = stage.map(&mut seat, subject)? {
            return Ok(Some((refusal, 0)));
        }
        let before = match stage.answer(0, &mut seat)? {
            Outcome::Passed((before, _)) => before,
            Outcome::Refused(refusal) => return Ok(Some((refusal, 0))),
        };
        if let Outcome::Refused(refusal) = stage.pose(1, &mut seat, |_, seat| seat.call())? {
            return Ok(Some((refusal, 1)));
        }
        let again = stage.answer_again(0, &mut seat, &before)?;
        Ok(if let Outcome::Refused(refusal) = again { Some((refusal, 0)) } else { None })
    }

    /// Calls a subject once, on one question of a workload.
    pub fn probe(&self, stage: &mut Stage<'a>, subject: &Subject, probe: &Probe) -> Result<Probed, Fault> {
        self.under(stage, subject, probe, |stage, seat| {
            Ok(match stage.map(seat, subject)? {
                Outcome::Passed(()) if probe.apart => stage.pose_apart(probe.question, seat, probe.blank)?,
                Outcome::Passed(()) => stage.pose(probe.question, seat, |_, seat| seat.call())?,
                refused => refused,
            })
        })
    }

    /// A worker under a tool, what is done with it, and what it and the tool left.
    pub(super) fn under(
        &self,
        stage: &mut Stage<'a>,
        subject: &Subject,
        probe: &Probe,
        done: impl FnOnce(&mut Stage<'a>, &mut Seat) -> Result<Outcome<()>, Fault>,
    ) -> Result<Probed, Fault> {
        self.go_on()?;
        let started = Instant::now();
        let mut seat = match self.seating().take_under(subject, probe)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => {
                let (words, left_out, seconds) = (refusal.evidence.clone(), 0, started.elapsed().as_secs_f64());
                return Ok(Probed { outcome: Outcome::Refused(refusal), words, left_out, ended: true, seconds });
            }
        };
        stage.fit(subject.config())?;
        let outcome = done(stage, &mut seat)?;
        let (ended, words, left_out) = seat.leave(probe.limit);
        Ok(Probed { outcome, words, left_out, ended, seconds: started.elapsed().as_secs_f64() })
    }
}
