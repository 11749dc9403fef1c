//! `kiln space`: from a file to its counted space.

use std::io::{self, BufWriter, Write};

use kiln_app::{Ending, Failure, KernelFile, Pad, SpaceRequest, Spaced, prefault, space};
use kiln_show::SpaceView;

use crate::args::SpaceArgs;
use crate::output;

/// Configurations shown when no number is asked for.
const SHOWN: usize = 3;

/// The program's allocator: the system's, until a command that is over in a moment opens it.
#[global_allocator]
static PAD: Pad = Pad::closed();

pub(crate) fn run(args: &SpaceArgs) -> Result<Ending, Failure> {
    // A few calls instead of hundreds of page faults and searches for free memory on the way.
    prefault();
    PAD.open();
    let file = KernelFile::read(&args.selecting.path)?;
    let listed = args.list && !args.json;
    let sample = args.sample.unwrap_or(if args.json || listed { 0 } else { SHOWN });
    let request = SpaceRequest { selecting: (&args.selecting).into(), sample, seed: args.seed };
    let found = space(&file, &request)?;
    if listed {
        list(&found)?;
        return Ok(Ending::Done);
    }
    if args.sample.is_some() && !args.json {
        let lines: String = found.configs.iter().map(|c| format!("{c}\n")).collect();
        output::data(&lines)?;
        return Ok(Ending::Done);
    }
    let removals = found.removals();
    let warnings = found.warnings(&removals);
    let view = SpaceView {
        selection: &found.selection,
        problem: &found.problem,
        space: &found.space,
        removals: &removals,
        seconds: found.seconds,
        recorded: found.recorded,
        configs: &found.configs,
        warnings: &warnings,
    };
    if args.json && args.list {
        list_json(&view.json(false), &found)?;
    } else if args.json {
        output::data(&format!("{}\n", view.json(args.sample.is_some())))?;
    } else {
        output::warnings(&warnings);
        output::data(&view.to_string())?;
    }
    Ok(Ending::Done)
}

/// The object with every configuration, written as they come.
fn list_json(object: &serde_json::Value, found: &Spaced<'_>) -> io::Result<()> {
    let head = object.to_string();
    let mut out = BufWriter::new(io::stdout().lock());
    write!(out, "{},\"configurations\":[", head.trim_end_matches('}'))?;
    for (i, config) in found.every().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}{}", serde_json::json!(config))?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}

/// Every configuration as it comes, so that a space of any size can be piped on.
fn list(found: &Spaced<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for config in found.every() {
        writeln!(out, "{config}")?;
    }
    out.flush()
}
