//! The loop, the only crate that knows the order: default, seed, search, finals, confirmation, ablation, record. In: a
//! kernel, settings, a store. Out: a [`Summary`], and on the way [`Event`]s for whoever shows them. A candidate's fault
//! is a refusal, recorded and counted; a fault of the environment ends the run, and what was recorded stays.
//!
//! From the inside out: a [`Stage`] is a workload with memory and questions; a `Seat` is a worker with a subject loaded; the
//! [`Bench`] builds and takes subjects up the ladder of gates; `duel` measures several against each other with fresh
//! workers; `tune` knows the phases. Whatever was recorded before is taken from the record instead of being done: going on
//! after a crash and replaying a study are the same thing.

/// The value of a stage that passed; a refusal is returned from the function around it.
macro_rules! passed {
    ($outcome:expr) => {
        match $outcome {
            kiln_core::Outcome::Passed(value) => value,
            kiln_core::Outcome::Refused(refusal) => return Ok(kiln_core::Outcome::Refused(refusal)),
        }
    };
}

mod ablation;
mod adopt;
mod another;
mod audit;
mod baseline;
mod bench;
mod best;
mod budget;
mod builder;
mod check;
mod clocks;
mod compile;
mod confirm;
mod doubts;
mod drawing;
mod duel;
mod environment;
mod evaluation;
mod event;
mod face;
mod filling;
mod finals;
mod forge;
mod idle;
mod kernel;
mod ladder;
mod layout;
mod machine;
mod measure;
mod objective;
mod outside;
mod peak;
mod promise;
mod proposals;
mod record;
mod resources;
mod rung;
mod seat;
mod settings;
mod setup;
mod stage;
mod subject;
mod summary;
mod toolchain;
mod tune;
mod versus;
mod whole_range;

pub use adopt::{adopt, table};
pub use baseline::{Baseline, Baselines};
pub use bench::{Bench, Surroundings};
pub use best::{Written, write_best};
pub use budget::Budget;
pub use check::{CheckReport, examine};
pub use duel::Lost;
pub use environment::environment;
pub use evaluation::{Ended, Evaluation, Measured};
pub use event::{Event, Listener};
pub use forge::{Forged, forge, toolchain};
pub use kernel::Kernel;
pub use machine::Machine;
pub use peak::{Peaks, peaks};
pub use record::Record;

pub use resources::{Resources, judge_resources};
pub use settings::{CacheState, Settings};
pub use stage::{Stage, Trouble};
pub use subject::Subject;
pub use summary::{Ablated, Confirmed, Summary, TuneVerdict};
pub use toolchain::cuda_toolchain;
pub use tune::tune;
pub use versus::{Against, Versus, versus};
