//! `kiln ci`: are the kernels still right, and as fast as they were?

use std::io::Write;

use kiln_app::{CiRequest, Ending, Ends, Failure, Fault, Project, Utf8Path, ci, write_whole};
use kiln_show::{CiView, quoted};

use super::compare::thresholds;
use crate::args::{CiArgs, CompareFormat};
use crate::hearing::Hearing;

/// Where GitHub Actions shows a step's summary from.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

pub(crate) fn run(project: &Project, args: &CiArgs) -> Result<Ending, Failure> {
    let json = args.printing.format() == CompareFormat::Json;
    let hearing = Hearing::progress(&args.hearing, json)?;
    let request = CiRequest {
        paths: args.paths.clone(),
        selecting: args.into(),
        measuring: (&args.measuring).into(),
        config: args.config.clone(),
        base: args.base.clone(),
        ratchet: args.ratchet.clone(),
        update: args.update,
        fuzz: !args.no_fuzz,
        nightly: args.nightly,
        thresholds: thresholds(&args.thresholds)?,
        width: args.width,
        max_samples: args.max_samples,
    };
    let guarded = ci(project, &request, &|event: &_| hearing.hear(event))?;
    let command = command(args);
    let view = CiView { guarded: &guarded, command: &command };
    let variable = std::env::var(SUMMARY).ok().filter(|file| !file.is_empty());
    if let Some(file) = args.summary.as_deref().or(variable.as_deref().map(Utf8Path::new)) {
        append(file, &view.markdown())?;
    }
    let text = match args.printing.format() {
        CompareFormat::Text => view.to_string(),
        CompareFormat::Markdown => view.markdown(),
        CompareFormat::Json => format!("{}\n", view.json()),
        CompareFormat::Junit => view.junit(),
        CompareFormat::Sarif => view.sarif(),
        CompareFormat::Bencher => view.bencher(),
        CompareFormat::BenchmarkAction => view.benchmark_action(),
    };
    match &args.printing.out {
        Some(file) => write_whole(file, text.as_bytes())?,
        None => hearing.data(&text)?,
    }
    Ok(guarded.ending())
}

/// Adds to a file that other steps write to as well.
fn append(file: &Utf8Path, text: &str) -> Result<(), Failure> {
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    Ok(written.map_err(|e| Fault::new(format!("writing the summary to {file}"), e))?)
}

/// The command that does it again.
fn command(args: &CiArgs) -> String {
    let paths = args.paths.iter().map(|path| quoted(path.as_str()));
    let flags = [
        ("--base", args.base.as_ref()),
        ("--target", args.target.as_ref()),
        ("--variant", args.variant.as_ref()),
        ("--workload", args.workload.as_ref()),
    ];
    let flags = flags.into_iter().filter_map(|(flag, value)| Some(format!("{flag} {}", quoted(value?))));
    let config = Some(&args.config).filter(|config| !config.is_empty()).map(|c| format!("--config {}", quoted(c)));
    let words: Vec<String> = paths.map(|path| path.to_string()).chain(flags).chain(config).collect();
    format!("kiln ci {}", words.join(" "))
}
