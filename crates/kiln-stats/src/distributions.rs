//! Distributions that figures are held against, and seeded draws.

pub(crate) mod draw;
pub mod normal;
pub mod student;
pub(crate) mod u_distribution;
