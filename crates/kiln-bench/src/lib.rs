//! The apparatus: everything a configuration is tried with. In: a kernel, settings, a machine. Out: evaluations, answers
//! judged, times measured next to each other. It knows no phases and no stores. A candidate's fault is a refusal; a fault of
//! the environment ends the run.
//!
//! From the inside out: a [`Stage`] is a workload with memory and questions; a `Seat` is a worker with a subject loaded; the
//! [`Bench`] builds and takes subjects up the ladder of gates; [`duel`] measures several against each other with fresh
//! workers.

/// The value of a stage that passed; a refusal is returned from the function around it.
macro_rules! passed {
    ($outcome:expr) => {
        match $outcome {
            kiln_core::Outcome::Passed(value) => value,
            kiln_core::Outcome::Refused(refusal) => return Ok(kiln_core::Outcome::Refused(refusal)),
        }
    };
}

mod apparatus;
mod bench;
mod building;
mod drawing;
mod duels;
mod evaluation;
mod event;
mod kernel;
mod ladder;
mod objective;
mod questions;
mod rivals;
mod rung;
mod settings;
mod stations;
mod surroundings;
mod tools;
mod workers;

pub use apparatus::{Apparatus, Queue, Staged, Task};
pub use bench::{Bench, Surroundings};
pub use building::builder::Build;
pub use building::compile::request as build_request;
pub use building::forge::{Forged, forge, toolchain};
pub use building::resources::{Resources, judge_resources};
pub use building::toolchain::cuda_toolchain;
pub use building::triton::{Ahead, AheadUse, triton_toolchain};
pub use drawing::derive;
pub use duels::duel::{Duel, Fought, LEAST_ROUNDS, Lost, Rounds, SETS, Turns, believed, duel, limits};
pub use duels::scrutiny::{Checked, Scrutiny};
pub use evaluation::{Ended, Evaluation, Measured};
pub use event::{Event, Listener};
pub use kernel::Kernel;
pub use objective::geomean;
pub use questions::case::{Cases, Tried};
pub use questions::check::{CheckReport, examine, examine_all, examine_selected};
pub use questions::stage::{Stage, Trouble, cost};
pub use rivals::baseline::{Baseline, Baselines, missing};
pub use rivals::field::{Rival, Unmeasured};
pub use rivals::standing::{Standing, Stands, ToBeat, standing};
pub use rivals::versus::{Against, Extent, Figures, Versus, versus};
pub use settings::{CacheState, Settings};
pub use surroundings::environment::environment;
pub use surroundings::machine::{Machine, now_ms};
pub use surroundings::peak::{BoardRate, Peaks, board_rate, peaks};
pub use tools::choice::{every_workload, tool_workloads};
pub use tools::instrument::Instrument;
pub use tools::placed::Placed;
pub use tools::probe::{Probe, Probed};
pub use workers::subject::{Laid, Subject};
