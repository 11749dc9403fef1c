//! A candidate under tools that look for the cause of a fault or of its time: called plainly there, never timed.

pub(crate) mod choice;
pub(crate) mod instrument;
pub(crate) mod placed;
pub(crate) mod probe;
pub(crate) mod watched;
