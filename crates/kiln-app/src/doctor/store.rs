//! The store: does it open, and which version is it?

use crate::doctor::Finding;
use kiln_core::{Fault, size};

use crate::project::Project;

const ID: &str = "store";
const WHY: &str = "every study is recorded in it; without it nothing can be resumed, shown or replayed";

/// Opens it where there is one; makes none.
pub(crate) fn look(project: &Project) -> Finding {
    let place = project.store_place();
    let fix = || format!("move {place} away, and kiln makes a new one");
    let broken =
        |fault: Fault| Finding::fail(ID, WHY, format!("{}: {}", fault.what, fault.why), fault.hint.unwrap_or_else(fix));
    let store = match project.recorded() {
        Ok(Some(store)) => store,
        Ok(None) => return Finding::ok(ID, WHY, format!("none yet: the first study makes {place}")),
        // A fault brings its own hint along.
        Err(fault) => return broken(fault),
    };
    let examined = store.examine();
    // It names them: whoever warns of them would only send the user here.
    let _ = project.untold_damage();
    match examined.and_then(|()| store.version()) {
        Ok(version) => {
            let bytes = std::fs::metadata(place).map_or(0, |m| m.len());
            Finding::ok(ID, WHY, format!("{place} opens, version {version}, {}", size(bytes)))
        }
        Err(fault) => broken(fault),
    }
}
