//! Right answers: where they come from, how far an output may be off, and whether they say anything.

pub(crate) mod allowed;
pub(crate) mod answer;
pub(crate) mod dependence;
pub(crate) mod derive;
pub(crate) mod elementwise;
pub(crate) mod expected;
pub(crate) mod null;
pub(crate) mod projection;
pub(crate) mod reference;
pub(crate) mod solution;
pub(crate) mod tensor;
