//! `kiln space`: from a file to its counted space.

use std::io::{self, BufWriter, Write};

use kiln_core::Report;
use kiln_show::SpaceView;
use kiln_space::{Problem, Space, removals, warnings};

use crate::args::SpaceArgs;
use crate::exit::{Failure, Success};
use crate::load::load;
use crate::output;

/// Configurations shown when no number is asked for.
const SHOWN: usize = 3;

pub(crate) fn run(args: &SpaceArgs) -> Result<Success, Failure> {
    let loaded = load(&args.selecting.path)?;
    let selection = loaded.select(&args.selecting)?;
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    let space = Space::build(&problem).map_err(|e| e.report(&selection))?;
    let seconds = loaded.read_at.elapsed().as_secs_f64();

    if args.list && !args.json {
        return list(&space);
    }
    let configs: Vec<_> = if args.list {
        space.iter().map(|p| space.config(&p)).collect()
    } else {
        let count = args.sample.unwrap_or(if args.json { 0 } else { SHOWN });
        space.sample(count, args.seed).iter().map(|p| space.config(p)).collect()
    };
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
    if args.json {
        output::data(&format!("{}\n", view.json(args.list || args.sample.is_some())))?;
    } else {
        output::warnings(&warned);
        output::data(&view.to_string())?;
    }
    Ok(Success::Done)
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
