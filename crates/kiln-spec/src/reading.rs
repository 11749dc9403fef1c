//! Bytes to values with their places, and where findings are collected.

pub(crate) mod draft;
pub(crate) mod file;
pub(crate) mod formula;
pub(crate) mod item;
pub(crate) mod log;
pub(crate) mod naming;
pub(crate) mod section;
pub(crate) mod syntax;
