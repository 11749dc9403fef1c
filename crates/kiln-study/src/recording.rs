//! What a study keeps, and finds again when it goes on.

pub(crate) mod archive;
pub(crate) mod record;
pub(crate) mod recorded;
pub(crate) mod summary;
