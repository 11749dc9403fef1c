//! Many workloads set up. In: workloads, and what their questions are drawn from. Out: stages in that order. Large questions
//! take seconds to make, so where kiln knows the answers itself several stages are made at once, or the next one while the
//! last one is in use, if there is memory for both. A reference outside kiln is asked one question at a time.

use std::sync::mpsc::sync_channel;
use std::thread;

use kiln_core::{Fault, Workload};
use kiln_judge::Distribution;

use crate::bench::Bench;
use crate::stage::{Stage, Trouble};

impl<'a> Bench<'a> {
    /// All of them.
    pub(crate) fn stages(
        &self,
        workloads: &[Option<&'a Workload>],
        purpose: &str,
        distributions: &[Distribution],
    ) -> Result<Vec<Stage<'a>>, Trouble> {
        let together = || workloads.iter().map(|workload| self.needed(*workload, distributions.len())).sum::<u128>();
        if self.asks_outside() || workloads.len() < 2 || together() > self.memory().into() {
            return workloads.iter().map(|workload| self.stage(*workload, purpose, distributions)).collect();
        }
        thread::scope(|scope| {
            let make = |workload: &Option<&'a Workload>| {
                let workload = *workload;
                scope.spawn(move || self.stage(workload, purpose, distributions))
            };
            let made: Vec<_> = workloads.iter().map(make).collect();
            let gone = |_| Err(Fault::new("setting workloads up", "a thread ended before its time").into());
            made.into_iter().map(|one| one.join().unwrap_or_else(gone)).collect()
        })
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
