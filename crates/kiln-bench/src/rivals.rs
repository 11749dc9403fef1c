//! Whom a configuration is measured against, and the figures of that.

pub(crate) mod baseline;
pub(crate) mod field;
pub(crate) mod standing;
pub(crate) mod version;
pub(crate) mod versus;
