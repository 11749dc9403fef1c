//! Tools that a worker is run under. They see what a candidate does with its memory, take their time about it, and need what a
//! confined process may not do: calls under a tool are plain ones, never timed, and the worker is not confined.

pub(crate) mod compute_sanitizer;
pub(crate) mod ncu;
pub(crate) mod wrapper;
