//! What was recorded: studies as they stand now, what they measured, what a new one starts from, and which can go on.

pub(crate) mod chosen;
pub(crate) mod commits;
pub(crate) mod kept_cases;
pub(crate) mod outcomes;
mod past;
pub(crate) mod prior;
pub(crate) mod profiles;
pub(crate) mod recording;
pub(crate) mod resume;
mod run_file;
#[cfg(test)]
pub(crate) mod sample;
mod validated;
mod whose;
pub(crate) mod winner;

pub use past::{StudyNow, configurations_tried};
pub(crate) use past::{as_they_stand, is_gone};
pub(crate) use recording::results;
pub(crate) use run_file::run_file;
pub(crate) use validated::of_winners;
pub(crate) use whose::{Whose, folder_of, place_of};
