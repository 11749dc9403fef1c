//! Many workloads set up. In: workloads, and what their questions are drawn from. Out: stages in that order. Large questions
//! take seconds to make, so where kiln knows the answers itself several stages are made at once, or the next one while the
//! last one is in use, if there is memory for both. A reference outside kiln is asked one question at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use kiln_core::{Fault, Workload};
use kiln_judge::Distribution;

use crate::bench::Bench;
use crate::event::Event;
use crate::stage::{Stage, Trouble};

/// Sets of inputs that the rounds of a duel take turns with: several, or two of a large workload.
const SETS: usize = 4;
const LARGE_SETS: usize = 2;
/// Bytes of arguments from which on a workload is large.
const LARGE: u128 = 64 << 20;
/// Bytes of stages from which on making them takes long enough to be shown.
const SHOWN: u128 = 1 << 30;
/// Under what name.
const PHASE: &str = "questions";

impl<'a> Bench<'a> {
    /// All of them.
    pub(crate) fn stages(
        &self,
        workloads: &[Option<&'a Workload>],
        purpose: &str,
        questions: impl Fn(Option<&'a Workload>) -> Vec<Distribution> + Sync,
    ) -> Result<Vec<Stage<'a>>, Trouble> {
        let needed = |workload: &Option<&'a Workload>| self.needed(*workload, questions(*workload).len());
        let bytes: u128 = workloads.iter().map(needed).sum();
        let (done, planned) = (AtomicUsize::new(0), workloads.len());
        let make = |workload: Option<&'a Workload>| {
            let made = self.stage(workload, purpose, &questions(workload));
            if bytes > SHOWN {
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                (self.listener)(&Event::Step { phase: PHASE, done, planned });
            }
            made
        };
        if bytes > SHOWN {
            (self.listener)(&Event::Phase { phase: PHASE, planned });
        }
        if self.asks_outside() || workloads.len() < 2 || bytes > self.memory().into() {
            return workloads.iter().map(|workload| make(*workload)).collect();
        }
        thread::scope(|scope| {
            let start = |workload: &Option<&'a Workload>| {
                let (make, workload) = (&make, *workload);
                scope.spawn(move || make(workload))
            };
            let made: Vec<_> = workloads.iter().map(start).collect();
            let gone = |_| Err(Fault::new("setting workloads up", "a thread ended before its time").into());
            made.into_iter().map(|one| one.join().unwrap_or_else(gone)).collect()
        })
    }

    /// What the rounds of a duel ask on a workload.
    pub(crate) fn sets(&self, workload: Option<&'a Workload>) -> Vec<Distribution> {
        // Without questions it needs four times its arguments.
        let large = self.needed(workload, 0) / 4 > LARGE;
        vec![Distribution::Declared; if large { LARGE_SETS } else { SETS }]
    }

    /// One after another, each for as long as `visit` has it, until that says no.
    pub(crate) fn each_stage(
        &self,
        workloads: &[Option<&'a Workload>],
        purpose: &str,
        distributions: &[Distribution],
        mut visit: impl FnMut(Stage<'a>) -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        let mut make = workloads.iter().map(|workload| self.stage(*workload, purpose, distributions));
        let most = || workloads.iter().map(|workload| self.needed(*workload, distributions.len())).max().unwrap_or(0);
        if self.asks_outside() || workloads.len() < 2 || 2 * most() > self.memory().into() {
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
            scope.spawn(move || make.all(|stage| send.send(stage).is_ok()));
            for stage in receive {
                if !visit(stage?)? {
                    break;
                }
            }
            Ok(())
        })
    }
}
