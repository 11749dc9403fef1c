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

mod account;
mod alone;
mod another;
mod apparatus;
mod baseline;
mod bench;
mod bout;
mod builder;
mod caches;
mod check;
mod clocks;
mod compile;
mod compilers;
mod device_bout;
mod device_duel;
mod doubts;
mod drawing;
mod draws;
mod duel;
mod environment;
mod evaluation;
mod event;
mod exams;
mod field;
mod filling;
mod forge;
mod forks;
mod idle;
mod keeper;
mod kernel;
mod ladder;
mod layout;
mod lots;
mod machine;
mod measure;
mod objective;
mod outside;
mod peak;
mod ran;
mod reference;
mod resources;
mod rung;
mod scrutiny;
mod seat;
mod seating;
mod settings;
mod setup;
mod stage;
mod standing;
mod subject;
mod supply;
mod toolchain;
mod tray;
mod versus;
mod watch;
mod whole_range;

pub use apparatus::{Apparatus, Staged};
pub use baseline::{Baseline, Baselines};
pub use bench::{Bench, Surroundings};
pub use builder::Build;
pub use check::{CheckReport, examine, examine_all};
pub use drawing::derive;
pub use duel::{Duel, Fought, LEAST_ROUNDS, Lost, Rounds, SETS, Turns, believed, duel, limits};
pub use environment::environment;
pub use evaluation::{Ended, Evaluation, Measured};
pub use event::{Event, Listener};
pub use field::{Rival, Unmeasured};
pub use forge::{Forged, forge, toolchain};
pub use kernel::Kernel;
pub use machine::{Machine, now_ms};
pub use objective::geomean;
pub use peak::{Peaks, peaks};
pub use resources::{Resources, judge_resources};
pub use scrutiny::{Checked, Scrutiny};
pub use settings::{CacheState, Settings};
pub use stage::{Stage, Trouble};
pub use standing::{Standing, Stands, ToBeat, standing};
pub use subject::Subject;
pub use toolchain::cuda_toolchain;
pub use versus::{Against, Versus, versus};
