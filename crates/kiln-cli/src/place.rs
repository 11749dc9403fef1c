//! Where the store is. In: `--store`, the environment. Out: the place, and the command a hint has to name so that the next
//! kiln finds the same one.

use kiln_app::Project;
use kiln_show::quoted;

/// Chooses the store's place where `--store` does not.
const VARIABLE: &str = "KILN_STORE";

/// The place that was chosen; none for the usual one.
pub(crate) fn chosen(flag: Option<&String>) -> Option<String> {
    flag.cloned().or_else(by_variable)
}

fn by_variable() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|place| !place.is_empty())
}

/// The command, with `--store` where it is needed to find the same store again.
pub(crate) fn kiln(project: &Project) -> String {
    let place = project.store_place();
    match by_variable() {
        Some(variable) if variable == place => "kiln".into(),
        None if place == Project::USUAL_STORE => "kiln".into(),
        _ => format!("kiln --store {}", quoted(place)),
    }
}
