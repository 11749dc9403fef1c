//! Text to expressions.

pub(crate) mod ast;
pub(crate) mod list;
pub(crate) mod parse;
pub(crate) mod token;
