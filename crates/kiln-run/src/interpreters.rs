//! Python: which interpreter, the source of its workers, and how they are forked.

pub(crate) mod fork_server;
pub(crate) mod python;
