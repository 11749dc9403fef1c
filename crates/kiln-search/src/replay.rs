//! Recorded spaces: searched again, and asked what mattered.

pub(crate) mod importance;
pub(crate) mod recorded;
pub(crate) mod simulate;
