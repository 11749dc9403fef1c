//! Memory: shared between processes, read in another one, and the pages of this one.

pub(crate) mod arena;
pub(crate) mod handle;
pub(crate) mod lines;
pub(crate) mod mapping;
pub(crate) mod pad;
pub(crate) mod prefault;
pub(crate) mod reading;
pub(crate) mod resident;
