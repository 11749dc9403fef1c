//! Rules: what they keep, what they refuse of one configuration, and what each costs.

pub(crate) mod clause;
pub(crate) mod domain;
pub(crate) mod judge;
pub(crate) mod removal;
pub(crate) mod trial;
pub(crate) mod warn;
