//! `kiln cache`: what builds have left, and how to be rid of it.

use kiln_show::grouped;
use serde_json::json;

use crate::args::CacheArgs;
use crate::exit::{Failure, Success};
use crate::output;
use crate::work;

pub(crate) fn run(args: &CacheArgs) -> Result<Success, Failure> {
    let cache = work::cache();
    let folder = cache.root();
    let state = if args.clear { cache.clear()? } else { cache.state()? };
    if args.json {
        let object = json!({
            "folder": folder.as_str(), "cleared": args.clear, "entries": state.entries, "bytes": state.bytes
        });
        output::data(&format!("{object}\n"))?;
        return Ok(Success::Done);
    }
    let verb = if args.clear { "removed" } else { "holds" };
    let (entries, bytes) = (grouped(state.entries.into()), grouped(state.bytes.into()));
    output::data(&format!("{folder} {verb} {entries} libraries, {bytes} bytes\n"))?;
    Ok(Success::Done)
}
