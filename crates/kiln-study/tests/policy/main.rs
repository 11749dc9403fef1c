//! Every rule of a study, tried with an apparatus that only plays: nothing is built, run or waited for.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ablation;
mod apart;
mod budget;
mod devices;
mod finals;
mod implementations;
mod memory;
mod order;
mod resume;
mod script;
mod scripted;
mod stop;
