//! From what ncu measured to the cause of a kernel's time.

pub mod code;
mod csv;
mod number;
mod page;
pub mod ptxas;

pub use page::{Kernel, Launch, NcuRule, Pages, Trouble};
