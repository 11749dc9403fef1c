//! The tests of this crate from outside, in one binary: each more would have to be linked, and would run alone. A new file gets its line here.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod auto;
mod importance;
mod planted;
mod properties;
mod quality;
mod race;
mod resume;
mod simulate;
mod spaces;
mod strategies;
mod transfer;
