//! The phases of a study, from proposals to what each choice is worth.

pub(crate) mod ablation;
pub(crate) mod attempts;
pub(crate) mod confirm;
pub(crate) mod contenders;
pub(crate) mod face;
pub(crate) mod finals;
pub(crate) mod opening;
pub(crate) mod proof;
pub(crate) mod proposals;
