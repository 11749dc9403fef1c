//! What trials say of configurations not tried: an ensemble of random trees over derived features. Used by the strategies
//! `forest` and `auto`, by priors and by [`crate::importance`].

pub(crate) mod features;
pub(crate) mod forest;
pub(crate) mod process;
pub(crate) mod tree;
