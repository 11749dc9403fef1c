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

mod attempt;
mod commit;
mod damage;
mod database;
mod decision;
mod find;
mod label;
mod point;
mod profile;
mod read;
mod records;
mod remark;
mod run;
mod sessions;
mod stamp;
mod store;
mod validation;
mod write;

pub use attempt::AttemptsOf;
pub use commit::{CommitJudged, CommitVerdict};
pub use damage::Damaged;
pub use database::place::exists;
pub use label::{Labels, NAME, TAG, check_label};
pub use point::RunPoint;
pub use profile::ProfileRecord;
pub use records::details::{ByWorkload, CallChecks, CheckedCalls, Details};
pub use records::environment::{Environment, NamedGpu, Packages};
pub use records::kept::{Kept, Printed};
pub use records::measurement::Measurement;
pub use records::note::Note;
pub use records::options::Options;
pub use records::phase::PhaseId;
pub use records::study::{Filter, State, Study};
pub use records::summary::{Ablated, Confirmed, Contender, Late, SanitizedRefusal, StudyLimit, Summary, TuneVerdict};
pub use records::sweep::{SweepAgainst, SweepAxis, SweepCell, SweepLink, SweepPlan, SweepRecord, SweepUnmeasured};
pub use records::trial::{Trial, TrialState};
pub use remark::{Remark, RemarkSubject};
pub use run::{Run, RunSide};
pub use sessions::SessionRecord;
pub use stamp::StudyStamp;
pub use store::Store;
pub use validation::Validation;
