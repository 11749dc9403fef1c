//! What only sessions and logged attempts can tell. Until they are recorded nothing is known of it, and the tree goes on as if it had not
//! been asked.

use kiln_diagnose::next::{Look, SessionNow};

/// Why the kernel was retired.
pub(super) fn retired() -> Look<String> {
    Look::Unknown
}

/// The open session.
pub(super) fn session() -> Look<SessionNow> {
    Look::Unknown
}

/// Whether the doctor passed this machine.
pub(super) fn examined() -> Option<bool> {
    None
}

/// Whether nobody checked the last change.
pub(super) fn unchecked() -> Option<bool> {
    None
}

/// Several variables that were changed at once.
pub(super) fn several_changed() -> Look<String> {
    Look::Unknown
}

/// How many refusals in a row were of one cause.
pub(super) fn refusals_alike() -> Option<u64> {
    None
}
