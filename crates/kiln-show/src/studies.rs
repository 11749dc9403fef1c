//! Studies: how they go, what they came to, and the list of them.

pub(crate) mod changes;
pub(crate) mod columns;
pub(crate) mod history;
pub(crate) mod outcome;
pub(crate) mod past;
pub(crate) mod study;
pub(crate) mod summary;
