//! The records, typed, as they go in and come out.

pub(crate) mod details;
pub(crate) mod environment;
pub(crate) mod kept;
pub(crate) mod measurement;
pub(crate) mod note;
pub(crate) mod options;
pub(crate) mod outline;
pub(crate) mod phase;
pub(crate) mod study;
pub(crate) mod summary;
pub(crate) mod sweep;
pub(crate) mod trial;
