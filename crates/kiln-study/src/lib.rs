//! The loop, the only crate that knows the order: default, seed, search, finals, confirmation, ablation, record. In: a
//! kernel, settings, a store. Out: a [`Summary`], and on the way [`Event`]s for whoever shows them. A candidate's fault
//! is a refusal, recorded and counted; a fault of the environment ends the run, and what was recorded stays.
//!
//! Whatever was recorded before is taken from the record instead of being done: going on after a crash and replaying a study
//! are the same thing. What candidates are tried with is `kiln-bench`'s.

mod ablation;
mod adopt;
mod archive;
mod best;
mod budget;
mod confirm;
mod course;
mod document;
mod face;
mod finals;
mod promise;
mod proof;
mod proposals;
mod record;
mod recorded;
mod summary;
mod tune;
mod write;

pub use adopt::{adopt, table};
pub use archive::Archive;
pub use best::{Best, Destination, Written, is_of, write_best};
pub use budget::Budget;
pub use kiln_bench::{
    Against, Baseline, Baselines, Bench, CacheState, CheckReport, Checked, Ended, Evaluation, Event, Forged, Kernel,
    Listener, Lost, Machine, Measured, Peaks, Resources, Rival, Scrutiny, Settings, Stage, Standing, Stands, Subject,
    Surroundings, ToBeat, Trouble, Unmeasured, Versus, cuda_toolchain, environment, examine, forge, judge_resources,
    peaks, standing, toolchain, versus,
};
pub use record::Record;
pub use recorded::{checked_calls, options, settings_of};
pub use summary::{Ablated, Confirmed, Late, Summary, TuneVerdict};
pub use tune::tune;
pub use write::write_whole;
