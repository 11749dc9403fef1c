//! Tools run on workloads, one after another. In: a bench, a configuration, tools, how long they may take. Out: a diagnosis, and
//! how each run went. Where the time is up, the rest is left out, and said to be.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kiln_core::{Config, Fault, Outcome, Refusal, Workload};
use kiln_diagnose::{Diagnosis, Verdict};
use kiln_run::{ComputeSanitizer, SanitizerTool, Wrapper};
use kiln_study::{Bench, Instrument, Probe, Probed, Stage, Subject};
use serde::Serialize;

use super::PHASE;
use super::fold::{Seen, ToolRun, diagnosed, merged};
use super::sources::{relative, sources};
use super::tools::Tools;
use crate::failure::Failure;
use crate::operation::case::{CASE, Given};

/// Bytes kept of what a worker writes to standard error.
const WORDS: usize = 4 << 20;
/// Bytes of a tool's log that are read.
const LARGEST_LOG: u64 = 32 << 20;

/// How long tools may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Each run.
    pub(crate) each: Duration,
    /// All of them.
    pub(crate) until: Option<Instant>,
}

impl Bounds {
    /// How long the next run may take; none when the time is up.
    fn next(&self) -> Option<Duration> {
        match self.until {
            Some(until) => {
                Some(until.saturating_duration_since(Instant::now()).min(self.each)).filter(|d| !d.is_zero())
            }
            None => Some(self.each),
        }
    }
}

/// How the program came out of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// Its answer was right.
    Passed,
    /// It failed, or its answer was wrong.
    Refused,
    /// It did not end in time.
    TimedOut,
}

/// One run of a tool on a workload.
#[derive(Debug, Clone, Serialize)]
pub struct SanitizerRun {
    /// The workload; empty for a file without any.
    pub workload: String,
    /// The tool: one of compute-sanitizer's, or `asan+ubsan`.
    pub tool: &'static str,
    /// How the program came out of it.
    pub outcome: ToolOutcome,
    /// Why, where it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// How long it took.
    pub seconds: f64,
}

/// What all runs came to.
pub(crate) struct Examined {
    pub(crate) diagnosis: Diagnosis,
    pub(crate) runs: Vec<SanitizerRun>,
    /// Why there are none.
    pub(crate) refusal: Option<Refusal>,
}

impl Examined {
    /// Nothing was run.
    pub(crate) fn nothing() -> Examined {
        let diagnosis = Diagnosis { findings: Vec::new(), verdict: Verdict::NotRun, notes: Vec::new() };
        Examined { diagnosis, runs: Vec::new(), refusal: None }
    }
}

/// What is known without a tool.
#[derive(Clone, Copy)]
pub(crate) enum Plain<'p> {
    /// To be found out, with the configuration as it is always built.
    Check(&'p Subject),
    /// It was refused.
    Refused(&'p Refusal),
}

/// What tools are run on.
#[derive(Clone, Copy)]
pub(crate) enum Ground<'a> {
    /// A workload of the file; none for a file without any.
    Workload(Option<&'a Workload>),
    /// A case that was typed.
    Case(&'a Given),
}

/// Runs every tool on every workload.
pub(crate) fn examine<'a>(
    bench: &Bench<'a>,
    config: &Config,
    plain: Plain<'_>,
    grounds: &[Ground<'a>],
    tools: &Tools,
    bounds: &Bounds,
    step: &dyn Fn(usize),
) -> Result<Examined, Failure> {
    let instrument = match tools {
        Tools::Compiler(sanitizers, _) => Instrument::Sanitizers(sanitizers.clone()),
        Tools::Gpu(..) => Instrument::Lines,
    };
    let subject = match bench.instrumented(config, &instrument)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return Ok(Examined { refusal: Some(refusal), ..Examined::nothing() }),
    };
    let sources = sources(bench.kernel);
    let (mut runs, mut found, mut late) = (Vec::new(), Vec::new(), Vec::new());
    for ground in grounds {
        let (mut stage, name) = match ground {
            Ground::Workload(workload) => {
                let stage = bench.ground(*workload, PHASE)?;
                let name = stage.name().to_string();
                (stage, name)
            }
            Ground::Case(given) => (bench.ground_of(&given.workload, &given.case)?, CASE.to_string()),
        };
        let plain = match plain {
            Plain::Check(ordinary) => bench.check_on(&mut stage, ordinary)?,
            Plain::Refused(refusal) => Some((refusal.clone(), 0)),
        };
        let question = plain.as_ref().map_or(0, |(_, question)| *question);
        let mut seen = Seen { plain: plain.map(|(refusal, _)| refusal), runs: Vec::new() };
        for tool in each(tools) {
            let Some(limit) = bounds.next() else {
                late.push(format!("{} on {name}", tool.name()));
                continue;
            };
            let (probed, log) = one(bench, (&mut stage, question), &subject, &tool, limit)?;
            runs.push(told(&name, tool.name(), &probed));
            seen.runs.push(ToolRun { tool: tool.name(), probed, log });
            step(runs.len());
        }
        if !seen.runs.is_empty() {
            found.push((name, diagnosed(&seen, matches!(tools, Tools::Compiler(..)), &sources)));
        }
    }
    let mut diagnosis = merged(found);
    if !late.is_empty() {
        diagnosis.notes.push(format!("time was up before {}", late.join(", ")));
    }
    relative(&mut diagnosis, bench.kernel);
    Ok(Examined { diagnosis, runs, refusal: None })
}

/// A tool that is run by itself.
enum Tool<'t> {
    Compiler(&'t kiln_build::Sanitizers),
    Gpu(&'t ComputeSanitizer, SanitizerTool),
}

impl Tool<'_> {
    fn name(&self) -> &'static str {
        match self {
            Tool::Compiler(_) => "asan+ubsan",
            Tool::Gpu(_, tool) => tool.name(),
        }
    }
}

fn each(tools: &Tools) -> Vec<Tool<'_>> {
    match tools {
        Tools::Compiler(sanitizers, _) => vec![Tool::Compiler(sanitizers)],
        Tools::Gpu(sanitizer, tools) => tools.iter().map(|tool| Tool::Gpu(sanitizer, *tool)).collect(),
    }
}

/// One run; what came of it, and what the tool wrote.
fn one<'a>(
    bench: &Bench<'a>,
    (stage, question): (&mut Stage<'a>, usize),
    subject: &Subject,
    tool: &Tool<'_>,
    limit: Duration,
) -> Result<(Probed, String), Fault> {
    let fault = |e: std::io::Error| Fault::new("making room for a tool's log", e);
    let folder = tempfile::tempdir().map_err(fault)?;
    let log = folder.path().join("log");
    let (wrapper, blank) = match tool {
        Tool::Compiler(sanitizers) => {
            (Wrapper::address_sanitizer(sanitizers.runtime.as_std_path(), folder.path()), false)
        }
        Tool::Gpu(sanitizer, tool) => (sanitizer.wrapper(*tool, &log), *tool == SanitizerTool::Initcheck),
    };
    let probe = Probe { wrapper: Some(wrapper), apart: true, blank, words: WORDS, limit, until: None, question };
    let probed = bench.probe(stage, subject, &probe)?;
    let mut reports = written(folder.path()).map_err(fault)?;
    if let Tool::Compiler(sanitizers) = tool
        && !sanitizers.apart
    {
        reports = format!("{reports}\n{}", probed.words);
    }
    Ok((probed, reports))
}

/// What a tool left in its folder. The compiler's sanitizers write a file for each of them and each process; of all together the first
/// bytes are read.
fn written(folder: &Path) -> std::io::Result<String> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.sort();
    let mut text = Vec::new();
    for file in files.iter().filter(|file| file.is_file()) {
        std::fs::File::open(file)?.take(LARGEST_LOG.saturating_sub(text.len() as u64)).read_to_end(&mut text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn told(workload: &str, tool: &'static str, probed: &Probed) -> SanitizerRun {
    let refusal = if let Outcome::Refused(refusal) = &probed.outcome { Some(refusal.clone()) } else { None };
    let outcome = match &refusal {
        _ if probed.timed_out() => ToolOutcome::TimedOut,
        Some(_) => ToolOutcome::Refused,
        None => ToolOutcome::Passed,
    };
    SanitizerRun { workload: workload.into(), tool, outcome, refusal, seconds: probed.seconds }
}
