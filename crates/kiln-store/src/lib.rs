//! The record of every study and benchmark. In: studies, their trials, the samples of each trial, remarks, runs. Out: the same again, later,
//! from another process, after a crash, and by a newer kiln.
//!
//! What [`Store::record`] returned from survives the end of the process, however it ends: a trial is in the store with
//! all its samples, or not at all. A power cut may take the last few trials with it (a study resumes before them) but
//! leaves the file whole.
//!
//! The engine is SQLite through sqlx's `Any` driver, with SQL that PostgreSQL takes as well: columns are text, bigint or
//! double precision, parameters are `$1`, and what differs between engines is in `engine.rs` alone. The interface is
//! synchronous. A [`Store`] has one connection, which its threads take in turn: a study records a few trials a second,
//! and a pool would hold transactions open in background tasks that no runtime is there to run.
//!
//! Refused, as a [`Fault`](kiln_core::Fault): a place that cannot be written, a file that is damaged or is not kiln's, a
//! store written by a newer kiln, a trial recorded twice, numbers that would not read back (NaN and infinities), names
//! that fit no study or more than one.

mod column;
mod details;
mod engine;
mod environment;
mod fault;
mod find;
mod insert;
mod kept;
mod label;
mod measurement;
mod migration;
mod note;
mod options;
mod outline;
mod phase;
mod place;
mod read;
mod run;
mod session;
mod store;
mod study;
mod summary;
mod trial;
mod write;

pub use details::{ByWorkload, CallChecks, CheckedCalls, Details};
pub use environment::{Environment, NamedGpu, Packages};
pub use kept::{Kept, Printed};
pub use label::{Labels, NAME, TAG, check_label};
pub use measurement::Measurement;
pub use note::Note;
pub use options::Options;
pub use phase::PhaseId;
pub use place::exists;
pub use run::{Run, RunSide};
pub use store::Store;
pub use study::{Filter, State, Study};
pub use summary::{Ablated, Confirmed, Late, Summary, TuneVerdict};
pub use trial::{Trial, TrialState};
