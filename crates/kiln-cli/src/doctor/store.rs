//! The store: does it open, and which version is it?

use kiln_show::{Finding, size};

use crate::exit::Failure;
use crate::past;
use crate::work;

const ID: &str = "store";
const WHY: &str = "every study is recorded in it; without it nothing can be resumed, shown or replayed";

/// Opens it where there is one; makes none.
pub(crate) fn look() -> Finding {
    let place = work::store();
    let fix = || format!("move {place} away, and kiln makes a new one");
    let store = match past::store() {
        Ok(Some(store)) => store,
        Ok(None) => return Finding::ok(ID, WHY, format!("none yet: the first study makes {place}")),
        Err(Failure::Fault(error)) => {
            // A fault brings its own hint along.
            let words = error.to_string();
            let (what, hint) = words.split_once("\n  = hint: ").unwrap_or((&words, ""));
            let hint = if hint.is_empty() { fix() } else { hint.to_string() };
            return Finding::fail(ID, WHY, what, hint);
        }
        Err(Failure::Input(_)) => return Finding::fail(ID, WHY, format!("{place} cannot be opened"), fix()),
    };
    match store.version() {
        Ok(version) => {
            let bytes = std::fs::metadata(&place).map_or(0, |m| m.len());
            Finding::ok(ID, WHY, format!("{place} opens, version {version}, {}", size(bytes)))
        }
        Err(fault) => Finding::fail(ID, WHY, format!("{}: {}", fault.what, fault.why), fault.hint.unwrap_or_else(fix)),
    }
}
