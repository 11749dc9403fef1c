//! Winners, written where they are used.

pub(crate) mod adopt;
pub(crate) mod best;
pub(crate) mod document;
pub(crate) mod earlier;
pub(crate) mod header;
pub(crate) mod python;
pub(crate) mod read;
pub(crate) mod write;
