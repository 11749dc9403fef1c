//! What is built: sources, entries, the code around them, and the name of it all.

pub(crate) mod entry;
pub(crate) mod include;
pub(crate) mod key;
pub(crate) mod request;
pub(crate) mod shim;
