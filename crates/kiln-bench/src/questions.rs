//! Workloads set up: where arguments lie, what they hold, what is right, and whether a question is worth asking.

pub(crate) mod case;
pub(crate) mod check;
pub(crate) mod doubts;
pub(crate) mod draws;
pub(crate) mod exams;
pub(crate) mod filling;
pub(crate) mod layout;
pub(crate) mod lots;
pub(crate) mod outside;
pub(crate) mod pace;
pub(crate) mod reference;
pub(crate) mod setup;
pub(crate) mod stage;
pub(crate) mod supply;
pub(crate) mod tray;
pub(crate) mod whole_range;
