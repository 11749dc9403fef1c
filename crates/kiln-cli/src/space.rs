//! `kiln space`: from a file to its counted space.

use std::io::{self, BufWriter, Write};

use kiln_core::Report;
use kiln_run::Pad;
use kiln_show::SpaceView;
use kiln_space::{Problem, Space, removals, warnings};

use crate::args::SpaceArgs;
use crate::exit::{Failure, Success};
use crate::load::load;
use crate::output;

/// Configurations shown when no number is asked for.
const SHOWN: usize = 3;
/// A sample is held in memory.
const LARGEST_SAMPLE: usize = 10_000_000;

/// The program's allocator: the system's, until a command that is over in a moment opens it.
#[global_allocator]
static PAD: Pad = Pad::closed();

pub(crate) fn run(args: &SpaceArgs) -> Result<Success, Failure> {
    // A few calls instead of hundreds of page faults and searches for free memory on the way.
    kiln_run::prefault();
    PAD.open();
    let loaded = load(&args.selecting.path)?;
    let selection = loaded.select(&args.selecting)?;
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    let space = Space::build(&problem).map_err(|e| e.report(&selection))?;
    let seconds = loaded.read_at.elapsed().as_secs_f64();

    if args.list && !args.json {
        return list(&space);
    }
    let count = args.sample.unwrap_or(if args.json { 0 } else { SHOWN });
    if count > LARGEST_SAMPLE {
        return Err(Report::error(format!("--sample {count}"))
            .label(format!("expected at most {LARGEST_SAMPLE}"))
            .hint("--list gives every configuration, one at a time")
            .into());
    }
    let configs: Vec<_> = space.sample(count, args.seed).iter().map(|p| space.config(p)).collect();
    if args.sample.is_some() && !args.json {
        let lines: String = configs.iter().map(|c| format!("{c}\n")).collect();
        output::data(&lines)?;
        return Ok(Success::Done);
    }
    let removals = removals(&problem);
    let mut warned = loaded.warnings.clone();
    warned.extend(warnings(&selection, &problem, &space, &removals));
    let view = SpaceView {
        selection: &selection,
        problem: &problem,
        space: &space,
        removals: &removals,
        seconds,
        recorded: loaded.recorded,
        configs: &configs,
        warnings: &warned,
    };
    if args.json && args.list {
        list_json(&view.json(false), &space)?;
    } else if args.json {
        output::data(&format!("{}\n", view.json(args.sample.is_some())))?;
    } else {
        output::warnings(&warned);
        output::data(&view.to_string())?;
    }
    Ok(Success::Done)
}

/// The object with every configuration, written as they come.
fn list_json(object: &serde_json::Value, space: &Space) -> Result<(), Failure> {
    let head = object.to_string();
    let mut out = BufWriter::new(io::stdout().lock());
    write!(out, "{},\"configurations\":[", head.trim_end_matches('}'))?;
    for (i, point) in space.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}{}", serde_json::json!(space.config(&point)))?;
    }
    writeln!(out, "]}}")?;
    out.flush()?;
    Ok(())
}

/// Every configuration as it comes, so that a space of any size can be piped on.
fn list(space: &Space) -> Result<Success, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    for point in space.iter() {
        writeln!(out, "{}", space.config(&point))?;
    }
    out.flush()?;
    Ok(Success::Done)
}
