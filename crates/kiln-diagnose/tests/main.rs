//! The tests of this crate from outside, in one binary: each more would have to be linked, and would run alone. A new file gets its line here.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod claims;
mod comparison;
mod constructed;
mod cut;
mod ends;
mod forms;
mod h200;
mod incomplete;
mod large;
mod lessons;
mod model;
mod planted;
#[path = "recorded/planted_outcomes.rs"]
mod planted_outcomes;
mod pointers;
mod programs;
mod promises;
mod quick;
mod recorded;
mod streaming;
mod variations;
