//! Many workloads set up. In: workloads, and what their questions are drawn from. Out: stages in that order. Large questions
//! take seconds to make, so where kiln knows the answers itself several stages are made at once, or the next one while the
//! last one is in use, if there is memory for both. A reference outside kiln is asked one question at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use kiln_core::{Use, Workload};
use kiln_judge::{Coverage, Distribution, Plan};

use crate::bench::Bench;
use crate::event::Event;
use crate::questions::stage::{Stage, Trouble};

/// Bytes of stages from which on making them takes long enough to be shown.
const SHOWN: u128 = 1 << 30;
/// Under what name.
const PHASE: &str = "questions";

/// A workload, and what the inputs of its questions are drawn from.
pub(crate) type Asked<'a> = (Option<&'a Workload>, Vec<Distribution>);

impl<'a> Bench<'a> {
    /// What a level asks about each of these workloads; told where it is not everything.
    pub(crate) fn asked(&self, workloads: &[Option<&'a Workload>], plan: &Plan) -> Result<Vec<Asked<'a>>, Trouble> {
        let (mut asked, mut large) = (Vec::with_capacity(workloads.len()), Vec::new());
        for workload in workloads {
            let signature = Stage::signature(self.kernel, *workload)?.0;
            let questions = plan.questions(&signature, (self.settings.seed as usize).wrapping_add(large.len()));
            let all = plan.distributions.iter().filter(|d| signature.suits(**d)).count() * plan.sets;
            if questions.len() < all {
                large.push((workload.map_or("", |w| &w.name), questions.len(), all));
            }
            asked.push((*workload, questions));
        }
        if let Some((_, some, all)) = large.first() {
            let names: Vec<&str> = large.iter().map(|(name, _, _)| *name).collect();
            self.note(format!("{}: large, each asked about {some} of {all} kinds of inputs in turn", names.join(", ")));
        }
        Ok(asked)
    }

    /// Workloads that the search does not see, for this target and variant, and not among those set up.
    pub(crate) fn kept_back(&self) -> Vec<Option<&'a Workload>> {
        let selection = &self.kernel.selection;
        let all = selection.spec.workloads.iter().filter(|w| w.use_for == Use::Holdout);
        let answered = all.filter(|w| w.is_for(self.kernel.target()) && selection.answers(w)).map(Some);
        answered.filter(|w| !self.stages.iter().any(|stage| stage.workload == *w)).collect()
    }

    /// All of them.
    pub fn stages(
        &self,
        workloads: &[Option<&'a Workload>],
        purpose: &str,
        distributions: &[Distribution],
    ) -> Result<Vec<Stage<'a>>, Trouble> {
        let bytes: u128 = workloads.iter().map(|workload| self.needed(*workload, distributions.len())).sum();
        let shown = bytes > SHOWN && !distributions.is_empty();
        let planned = workloads.len();
        if shown {
            (self.listener)(&Event::Phase { phase: PHASE, planned });
        }
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(planned)));
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(workload) = workloads.get(place) else { return };
                let stage = match self.go_on() {
                    Ok(()) => self.stage(*workload, purpose, distributions, Coverage::Sampled, None),
                    Err(fault) => Err(fault.into()),
                };
                if stage.is_err() {
                    next.store(planned, Ordering::Relaxed);
                }
                let Ok(mut made) = made.lock() else { return };
                made.push((place, stage));
                if shown {
                    (self.listener)(&Event::Step { phase: PHASE, done: made.len(), planned });
                }
            }
        };
        let apart = !self.asks_outside() && bytes <= self.memory().into();
        let threads = if apart { thread::available_parallelism().map_or(1, usize::from).min(planned) } else { 1 };
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            // Here too: what a reference outside starts ends with the thread that started it.
            work();
        });
        if shown {
            (self.listener)(&Event::Phase { phase: "", planned: 0 });
        }
        let mut made = made.into_inner().unwrap_or_default();
        made.sort_by_key(|(place, _)| *place);
        made.into_iter().map(|(_, stage)| stage).collect()
    }

    /// One after another, each for as long as `visit` has it, until that says no.
    pub(crate) fn each_stage(
        &self,
        asked: &[Asked<'a>],
        purpose: &str,
        coverage: Coverage,
        visit: impl FnMut(Stage<'a>) -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        let device = self.device_reference(coverage);
        let made = self.one_by_one(asked, visit, |(workload, distributions)| {
            self.go_on()?;
            self.stage(*workload, purpose, distributions, coverage, device.as_ref())
        });
        if let Some(fault) = device.and_then(|device| device.failed.into_inner()) {
            self.note(format!("{fault}; the processor did it instead, which takes longer"));
        }
        made
    }

    /// Stages made one after another; the next one while the last is in use, where that is possible.
    fn one_by_one(
        &self,
        asked: &[Asked<'a>],
        mut visit: impl FnMut(Stage<'a>) -> Result<bool, Trouble>,
        make: impl Fn(&Asked<'a>) -> Result<Stage<'a>, Trouble> + Sync,
    ) -> Result<(), Trouble> {
        let mut make = asked.iter().map(&make);
        let needed = |(workload, questions): &Asked<'a>| self.needed(*workload, questions.len());
        let most = || asked.iter().map(needed).max().unwrap_or(0);
        if self.asks_outside() || asked.len() < 2 || 2 * most() > self.memory().into() {
            for stage in make {
                if !visit(stage?)? {
                    break;
                }
            }
            return Ok(());
        }
        thread::scope(|scope| {
            // Nothing waits in it: one stage is in use, one is ready or being made.
            let (send, receive) = sync_channel(0);
            scope.spawn(move || {
                make.all(|stage| {
                    let good = stage.is_ok();
                    send.send(stage).is_ok() && good
                })
            });
            for stage in receive {
                if !visit(stage?)? {
                    break;
                }
            }
            Ok(())
        })
    }
}
