//! Numbers for questions: what they are drawn from, how they are held, and which ones kernels forget.

pub(crate) mod distribution;
pub(crate) mod element;
pub(crate) mod fresh;
pub(crate) mod inputs;
pub(crate) mod integers;
pub(crate) mod interval;
pub(crate) mod magnitude;
pub(crate) mod narrow;
pub(crate) mod normal;
pub(crate) mod scalar;
pub(crate) mod special;
pub(crate) mod whole;
