//! What a kernel file says, with everything evaluated.

pub(crate) mod evaluate;
pub(crate) mod geometry;
pub(crate) mod instance;
pub(crate) mod rules;
pub(crate) mod signature;
