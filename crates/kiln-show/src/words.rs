//! Parts that every view is made of.

pub(crate) mod colour;
pub(crate) mod command;
pub(crate) mod kernels;
pub(crate) mod lesson;
pub(crate) mod markdown;
pub(crate) mod number;
pub(crate) mod refusal;
pub(crate) mod remark;
pub(crate) mod scrutiny;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod visible;
pub(crate) mod warnings;
