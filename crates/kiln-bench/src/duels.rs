//! Times: of one subject, and of several next to each other; and what is believed of them.

pub(crate) mod account;
pub(crate) mod alone;
pub(crate) mod bout;
pub(crate) mod device_bout;
pub(crate) mod device_duel;
pub(crate) mod duel;
pub(crate) mod measure;
pub(crate) mod scrutiny;
