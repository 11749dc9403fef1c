//! `kiln cache`: what builds have left, and how to be rid of it.

use kiln_build::Cache;
use kiln_show::grouped;
use serde_json::json;

use crate::args::CacheArgs;
use crate::exit::{Failure, Success};
use crate::output;

/// Where builds are kept, under the folder kiln is run in.
const FOLDER: &str = ".kiln/cache";

pub(crate) fn run(args: &CacheArgs) -> Result<Success, Failure> {
    let cache = Cache::at(FOLDER);
    let state = if args.clear { cache.clear()? } else { cache.state()? };
    if args.json {
        let object = json!({
            "folder": FOLDER, "cleared": args.clear, "entries": state.entries, "bytes": state.bytes
        });
        output::data(&format!("{object}\n"))?;
        return Ok(Success::Done);
    }
    let verb = if args.clear { "removed" } else { "holds" };
    let (entries, bytes) = (grouped(state.entries.into()), grouped(state.bytes.into()));
    output::data(&format!("{FOLDER} {verb} {entries} libraries, {bytes} bytes\n"))?;
    Ok(Success::Done)
}
