//! `kiln cache`: what builds have left, and how to be rid of it.

use kiln_app::{Ending, Failure, Project, cache};
use kiln_show::{grouped, size};
use serde_json::json;

use crate::args::CacheArgs;
use crate::output;

pub(crate) fn run(project: &Project, args: &CacheArgs) -> Result<Ending, Failure> {
    let found = cache(project, args.clear)?;
    let folder = &found.folder;
    output::data(&if args.json {
        let object = json!({
            "folder": folder.as_str(), "cleared": found.cleared, "entries": found.entries, "bytes": found.bytes
        });
        format!("{object}\n")
    } else {
        let verb = if found.cleared { "removed" } else { "holds" };
        let noun = if found.entries == 1 { "library" } else { "libraries" };
        format!("{folder} {verb} {} {noun}, {}\n", grouped(found.entries.into()), size(found.bytes))
    })?;
    Ok(Ending::Done)
}
