//! A candidate under tools that look for the cause of a fault: built for that, called plainly, never timed.

pub(crate) mod choice;
pub(crate) mod instrument;
pub(crate) mod probe;
