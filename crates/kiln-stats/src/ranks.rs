//! Two samples by the ranks of their values.

pub(crate) mod cliff;
pub(crate) mod hodges_lehmann;
pub(crate) mod mann_whitney;
