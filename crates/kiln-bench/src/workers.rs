//! Workers, from the process to a subject that is loaded and mapped.

pub(crate) mod forks;
pub(crate) mod idle;
pub(crate) mod keeper;
pub(crate) mod ran;
pub(crate) mod seat;
pub(crate) mod seating;
pub(crate) mod subject;
pub(crate) mod under;
