//! The tests of this crate from outside, in one binary: each more would have to be linked, and would run alone. A new file gets its line here.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod changes;
mod honesty;
mod noise;
mod properties;
mod record;
mod scipy;
