//! The machine: its processors, caches and clocks, what it can do at best, and how long things take on it.

pub(crate) mod caches;
pub(crate) mod clocks;
pub(crate) mod environment;
pub(crate) mod machine;
pub(crate) mod peak;
pub(crate) mod watch;
