//! `kiln ci`: are the kernels still right, and as fast as they were?

use std::io::Write;

use kiln_app::{CiRequest, Ending, Ends, Failure, Fault, Project, Utf8Path, ci, writable, write_whole};
use kiln_show::{CiView, quoted};

use super::compare::{thresholds, typed_thresholds};
use crate::args::{CiArgs, CompareFormat, MAX_SAMPLES, MeasuringArgs, WIDTH};
use crate::hearing::Hearing;
use crate::output;

/// Where GitHub Actions shows a step's summary from.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

pub(crate) fn run(project: &Project, args: &CiArgs) -> Result<Ending, Failure> {
    let json = args.printing.format() == CompareFormat::Json;
    let hearing = Hearing::progress(&args.hearing, json)?;
    let request = CiRequest {
        paths: args.paths.clone(),
        selecting: args.into(),
        measuring: args.measuring.at_most(args.max_samples),
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
    let variable = std::env::var(SUMMARY).ok().filter(|file| !file.is_empty());
    let summary = args.summary.as_deref().or(variable.as_deref().map(Utf8Path::new));
    // It is appended to: where it is, its folder may be read-only.
    summary.filter(|file| !file.is_file()).map_or(Ok(()), |file| writable("the summary", file))?;
    args.printing.out.as_deref().map_or(Ok(()), |file| writable("the result", file))?;
    let guarded = ci(project, &request, &|event: &_| hearing.hear(event))?;
    let command = command(args);
    let view = CiView { guarded: &guarded, command: &command };
    let mut ending = guarded.ending();
    if let Some(Err(fault)) = summary.map(|file| append(file, &view.markdown())) {
        output::complain(&format!("error: {fault}"));
        ending = output::unwritten(ending);
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
    match args.printing.out.as_ref().map(|file| write_whole(file, text.as_bytes())) {
        Some(Ok(())) => {}
        // What was found is not lost for a file that cannot be written.
        Some(Err(fault)) => {
            hearing.data(&text)?;
            output::complain(&format!("error: {fault}"));
            ending = output::unwritten(ending);
        }
        None => hearing.data(&text)?,
    }
    Ok(ending)
}

/// Adds to a file that other steps write to as well.
fn append(file: &Utf8Path, text: &str) -> Result<(), Fault> {
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| Fault::new(format!("writing the summary to {file}"), e))
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
    let ratchet = args.ratchet.as_ref().map(|file| format!("--ratchet {}", quoted(file.as_str())));
    let words = paths.map(|path| path.to_string()).chain(flags).chain(config).chain(ratchet);
    let MeasuringArgs { samples, cold, warm, threads, no_pin, seed } = args.measuring;
    let numbers = [
        ("--samples", samples.map(|n| n.to_string())),
        ("--max-samples", (args.max_samples != MAX_SAMPLES).then(|| args.max_samples.to_string())),
        ("--width", (args.width != WIDTH).then(|| args.width.to_string())),
        ("--threads", (threads != 1).then(|| threads.to_string())),
        ("--seed", seed.map(|n| n.to_string())),
    ];
    let numbers = numbers.into_iter().filter_map(|(flag, value)| Some(format!("{flag} {}", value?)));
    let switches = [
        ("--cold", cold),
        ("--warm", warm),
        ("--no-pin", no_pin),
        ("--no-fuzz", args.no_fuzz),
        ("--nightly", args.nightly),
    ];
    let switches = switches.into_iter().filter(|(_, on)| *on).map(|(flag, _)| flag.to_string());
    let words: Vec<String> = words.chain(numbers).chain(typed_thresholds(&args.thresholds)).chain(switches).collect();
    format!("kiln ci {}", words.join(" "))
}
