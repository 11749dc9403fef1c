//! What a seat does on the clock. In: how many calls, and on a device what they shall read. Out: their times, or a refusal.
//!
//! Where another process keeps the memory, that one fills it before every batch, while the subject's own stands still.

use std::sync::atomic::Ordering;
use std::time::Instant;

use kiln_core::{Fault, Gate, Outcome, Refusal};
use kiln_run::{Answer, Ask, Drawing, Timing, work_on};

use super::Seat;
use crate::duels::account::Wall;
use crate::questions::tray::Tray;
use crate::workers::ran::wrong_kernel;

/// How often a disturbed sample is taken again.
const RETAKES: usize = 3;

/// Some bytes before all arguments, fetched to see that a device has come to the end of what it was told.
const FENCE: (usize, usize) = (0, 64);

impl Seat {
    /// Seconds of one call, `batches` times, each the mean of `calls` calls in a row.
    pub(crate) fn time(&mut self, batches: u32, calls: u32) -> Result<Outcome<Vec<f64>>, Fault> {
        self.time_drawn(batches, calls, None)
    }

    /// The same on a device, with fresh numbers before every batch.
    pub(crate) fn time_drawn(
        &mut self,
        batches: u32,
        calls: u32,
        draw: Option<Drawing>,
    ) -> Result<Outcome<Vec<f64>>, Fault> {
        Ok(self
            .timed(batches, calls, draw)?
            .map(|timing| timing.nanoseconds.iter().map(|ns| seconds(*ns, timing.calls)).collect()))
    }

    /// One sample on a device, and what its calls read. It is taken again a few times, on other numbers, while the GPU slows
    /// down to protect itself. Whether that happens does not depend on what is being timed, so that it favours neither
    /// side.
    pub(crate) fn sample(
        &mut self,
        calls: u32,
        mut draw: impl FnMut(usize) -> Option<Drawing>,
    ) -> Result<Outcome<(f64, Option<Drawing>)>, Fault> {
        let mut attempt = 0;
        loop {
            let drawing = draw(attempt);
            let timing = passed!(self.timed(1, calls, drawing.clone())?);
            self.replayed = timing.graph;
            let slowed = timing.gpu.as_ref().is_some_and(kiln_run::GpuState::is_slowed);
            if attempt == RETAKES || (timing.preemptions.iter().all(|times| *times == 0) && !slowed) {
                let time = timing.nanoseconds.first().map_or(f64::INFINITY, |ns| seconds(*ns, timing.calls));
                return Ok(Outcome::Passed((time, drawing)));
            }
            attempt += 1;
            self.retaken.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Times so many batches.
    pub(crate) fn timing(&mut self, batches: u32, calls: u32) -> Result<Outcome<Timing>, Fault> {
        self.timed(batches, calls, None)
    }

    /// Makes ready to call the subject on these sets, in order: on a processor, before anything is laid there.
    pub(crate) fn prepare_calls(&mut self, order: &[u32]) -> Result<Outcome<()>, Fault> {
        self.done(Ask::Prepare { order: order.to_vec() })
    }

    /// Times the calls that were made ready, as one batch. The worker stands still until then, so that its account begins
    /// where its time does.
    pub(crate) fn go(&mut self) -> Result<Outcome<Timing>, Fault> {
        self.time_asked(Ask::Go { returned: self.returned, copy: !self.readable }, 1)
    }

    /// Copies what calls returned to where they would have written it. The worker stands still, so that it is read as it was
    /// when the clock had stopped; one that says it lies where nothing can be read is refused.
    pub(crate) fn take_returned(
        &mut self,
        tray: &mut Tray,
        timing: &Timing,
        order: &[u32],
    ) -> Result<Outcome<()>, Fault> {
        if timing.returned.is_empty() {
            return Ok(Outcome::Passed(()));
        }
        let mut readable = self.readable;
        for (set, spots) in order.iter().zip(&timing.returned) {
            for (output, address) in spots {
                let read = |bytes: &mut [u8]| {
                    let worker = self.rested.as_ref().map(|rested| &rested.worker);
                    worker.is_some_and(|worker| worker.read(*address, bytes).is_ok())
                };
                readable &= tray.adopt(*set as usize, *output as usize, read);
            }
        }
        if readable {
            return Ok(Outcome::Passed(()));
        }
        Ok(Outcome::Refused(Refusal {
            gate: Gate::WorkerProtocol,
            rule: String::new(),
            measured: "what a timed call returned is not where the worker says".into(),
            limit: "arrays in the worker's memory".into(),
            evidence: String::new(),
            hint: None,
        }))
    }

    /// Whether kiln may read the worker's memory.
    pub(crate) fn is_readable(&self) -> bool {
        self.rested.as_ref().is_some_and(|rested| rested.worker.is_readable())
    }

    /// Seconds in which several threads had no processor; where there is one, processor time says it all.
    fn queued(&self) -> f64 {
        let worker = self.rested.as_ref().map(|rested| &rested.worker).filter(|_| self.threaded);
        worker.map_or(0.0, |worker| worker.queued().as_secs_f64())
    }

    /// Lays what a tray has ready where calls on these sets find it: in the caches of the processor that the worker runs on,
    /// or, where caches shall be cold, in memory alone. Whatever would bring it near in the worker's own process would give
    /// code there time with the inputs, off the clock.
    pub(crate) fn lay_sets(&self, tray: &mut Tray, order: &[u32]) {
        match self.rested.as_ref().and_then(|rested| rested.worker.processor()) {
            _ if self.is_cold() => tray.lay_far(),
            Some(cpu) => work_on(cpu, || tray.lay_near(order)),
            None => tray.lay_near(order),
        }
    }

    fn timed(&mut self, batches: u32, calls: u32, draw: Option<Drawing>) -> Result<Outcome<Timing>, Fault> {
        // With cold caches every call of a sample is the first on its set.
        let calls = if self.is_cold() && self.on_device() { calls.min(self.sets) } else { calls };
        if self.keeper.is_some() {
            return self.timed_kept(batches, calls, draw);
        }
        let ask = Ask::Time { batches, calls, flush: self.flush, draw };
        self.time_asked(ask, batches)
    }

    fn time_asked(&mut self, ask: Ask, batches: u32) -> Result<Outcome<Timing>, Fault> {
        self.settle();
        let (open, queued, asked) = (self.processor_time(), self.queued(), Instant::now());
        self.resume();
        let answer = self.ask(ask)?;
        // Time in which others had the processor is nobody's claim; nor is it known that it was others.
        let elapsed = asked.elapsed().as_secs_f64();
        let left_out = (self.queued() - queued).clamp(0.0, elapsed);
        let waited = elapsed - left_out;
        Ok(match answer {
            Outcome::Passed(Answer::Times(timing)) if timing.nanoseconds.len() == batches as usize => {
                self.account.open = open;
                self.account.questions += 1;
                let claimed = timing.nanoseconds.iter().map(|ns| *ns as f64 * 1e-9).sum::<f64>();
                self.account.claimed += claimed;
                self.returned |= !timing.returned.is_empty();
                if !self.on_device() {
                    self.walls.push(Wall { claimed, waited, left_out });
                }
                self.saw(&timing.kernels).map(|()| timing)
            }
            Outcome::Passed(answer) => Outcome::Refused(self.unexpected(answer)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }

    /// The same where another process keeps the memory, and fills it before every batch while the subject's stands still.
    fn timed_kept(&mut self, batches: u32, calls: u32, draw: Option<Drawing>) -> Result<Outcome<Timing>, Fault> {
        let mut all = Timing { calls, ..Timing::default() };
        for batch in 0..batches {
            self.pause();
            let prepared = self.prepare(draw.as_ref(), u64::from(batch) * u64::from(calls));
            self.resume();
            passed!(prepared?);
            let asked = Instant::now();
            match self.ask(Ask::time(1, calls))? {
                Outcome::Passed(Answer::Times(timing)) => {
                    // From here on its process does nothing: what it returned is read as it is now.
                    self.pause();
                    let Timing { nanoseconds, preemptions, gpu, graph, kernels, row, lie, .. } = timing;
                    self.row = row;
                    if let Some(lie) = lie {
                        self.lie.insert(row, *lie);
                    }
                    // What the subject left undone on the device is done before its keeper gets there, or never.
                    passed!(self.kept(Ask::Fetch { set: 0, parts: vec![FENCE] })?);
                    let claimed = nanoseconds.iter().map(|ns| *ns as f64 * 1e-9).sum();
                    let waited = asked.elapsed().as_secs_f64();
                    self.walls.push(Wall { claimed, waited, left_out: 0.0 });
                    all.nanoseconds.extend(nanoseconds);
                    all.preemptions.extend(preemptions);
                    (all.gpu, all.graph) = (gpu, graph);
                    passed!(self.saw(&kernels));
                }
                Outcome::Passed(answer) => return Ok(Outcome::Refused(self.unexpected(answer))),
                Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
            }
        }
        Ok(Outcome::Passed(all))
    }

    /// Remembers what a sample ran, and refuses one that lacks the kernels asked for.
    fn saw(&mut self, kernels: &[String]) -> Outcome<()> {
        if self.on_device() {
            self.ran.add(kernels);
        }
        wrong_kernel(&self.required, kernels).map_or(Outcome::Passed(()), Outcome::Refused)
    }

    /// Fresh numbers, `further` calls behind the first, and cold caches where they are to be cold.
    fn prepare(&mut self, draw: Option<&Drawing>, further: u64) -> Result<Outcome<()>, Fault> {
        if let Some(drawing) = draw {
            let drawing = Drawing { first: drawing.first.wrapping_add(further), ..drawing.clone() };
            passed!(self.kept(Ask::Draw(drawing))?);
        }
        if self.flush > 0 { self.kept(Ask::Cool) } else { Ok(Outcome::Passed(())) }
    }
}

/// A clock that did not move measured nothing: half a tick is the most that can be said.
fn seconds(nanoseconds: u64, calls: u32) -> f64 {
    (nanoseconds as f64).max(0.5) * 1e-9 / f64::from(calls.max(1))
}
