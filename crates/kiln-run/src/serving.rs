//! The worker's side: questions answered, functions called and timed, sources compiled.

pub(crate) mod apart;
pub(crate) mod clock;
pub(crate) mod cpu;
pub(crate) mod nvrtc;
pub(crate) mod serve;
pub(crate) mod stopwatch;
