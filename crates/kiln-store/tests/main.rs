//! The tests of this crate from outside, in one binary: each more would have to be linked, and would run alone. A new file gets its line here.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod commits;
mod company;
mod example;
mod open;
mod profile;
mod records;
mod remarks;
mod round_trip;
mod run;
mod sessions;
mod stamp;
mod study;
mod validation;
