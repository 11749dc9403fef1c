//! The loop, the only crate that knows the order: default, seed, search, finals, confirmation, ablation, record. In: a
//! kernel, settings, a store. Out: a [`Summary`], and on the way [`Event`]s for whoever shows them. A candidate's fault
//! is a refusal, recorded and counted; a fault of the environment ends the run, and what was recorded stays.
//!
//! Whatever was recorded before is taken from the record instead of being done: going on after a crash and replaying a study
//! are the same thing. What candidates are tried with is `kiln-bench`'s.

mod budget;
mod course;
mod phases;
mod promise;
mod recording;
mod tune;
mod winners;

pub use budget::Budget;
pub use kiln_bench::{
    Against, Baseline, Baselines, Bench, BoardRate, CacheState, Cases, CheckReport, Checked, Ended, Evaluation, Event,
    Extent, Figures, Forged, Instrument, Kernel, Listener, Lost, Machine, Measured, Peaks, Placed, Probe, Probed,
    Resources, Rival, Scrutiny, Settings, Stage, Standing, Stands, Subject, Surroundings, ToBeat, Tried, Trouble,
    Unmeasured, Versus, believed, board_rate, build_request, cost, cuda_toolchain, environment, every_workload,
    examine, examine_selected, forge, judge_resources, limits, missing, peaks, standing, tool_workloads, toolchain,
    triton_toolchain, versus,
};
pub use recording::archive::Archive;
pub use recording::record::Record;
pub use recording::recorded::{checked_calls, options, settings_of};
pub use recording::summary::{Ablated, Confirmed, Contender, Late, SanitizedRefusal, StudyLimit, Summary, TuneVerdict};
pub use tune::{OnSlow, tune};
pub use winners::adopt::{adopt, table};
pub use winners::best::{Best, Destination, Written, check_best, is_of, write_best};
pub use winners::earlier::{Conditions, Stays, Unlike};
pub use winners::python::Ran;
pub use winners::read::best_config;
pub use winners::write::write_whole;
