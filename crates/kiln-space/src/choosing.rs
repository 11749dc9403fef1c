//! Configurations of a space, chosen by chance or by nearness.

pub(crate) mod draw;
pub(crate) mod latin;
pub(crate) mod neighbour;
pub(crate) mod sample;
