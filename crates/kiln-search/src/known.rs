//! What a strategy knows: told, pending, from other studies.

pub(crate) mod history;
pub(crate) mod knowledge;
pub(crate) mod observation;
pub(crate) mod prior;
pub(crate) mod seen;
pub(crate) mod transfer;
