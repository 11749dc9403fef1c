//! Results of single commands, in words and as JSON.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod ci;
pub(crate) mod claims;
pub(crate) mod coarse;
pub(crate) mod compare;
pub(crate) mod debug;
pub(crate) mod diagnosed_profile;
pub(crate) mod diagnosis;
pub(crate) mod doctor;
pub(crate) mod everywhere;
pub(crate) mod explain;
pub(crate) mod figure;
pub(crate) mod forge;
pub(crate) mod fuzz;
pub(crate) mod gate;
pub(crate) mod importance;
pub(crate) mod ladder;
pub(crate) mod profile;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod sanitize;
pub(crate) mod simulate;
pub(crate) mod space;
pub(crate) mod standing;
pub(crate) mod variants;
