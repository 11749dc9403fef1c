//! The tools by kind: each a row of words and bounds, and the operation behind it.

pub(super) mod bench;
pub(super) mod check;
pub(super) mod describe;
pub(super) mod doctor;
pub(super) mod gate;
pub(super) mod lessons;
pub(super) mod next;
pub(super) mod profile;
pub(super) mod records;
pub(super) mod sanitize;
pub(super) mod tune;
