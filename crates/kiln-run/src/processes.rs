//! Processes: started, spoken to, kept to processors, ended, and what they leave behind.

pub(crate) mod channel;
pub(crate) mod lifeline;
pub(crate) mod orphans;
pub(crate) mod pin;
pub(crate) mod pipes;
pub(crate) mod place;
pub(crate) mod preemption;
pub(crate) mod process;
pub(crate) mod scratch;
pub(crate) mod signal;
pub(crate) mod spawn;
pub(crate) mod words;
