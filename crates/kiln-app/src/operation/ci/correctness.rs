//! The steps that look for mistakes a check does not ask about: cases that nobody listed, and memory that nobody may touch. Quick
//! ones on every run, thorough ones with `--nightly`.

use kiln_core::{Config, Refusal};
use kiln_diagnose::Verdict;

use super::choice::Case;
use super::course::{Course, Stepped};
use crate::ending::Ends;
use crate::failure::Failure;
use crate::kernel::{Opened, Selecting};
use crate::operation::fuzz::{self, FuzzRequest, Fuzzed, KeptNow};
use crate::operation::sanitize::{self, SanitizeRequest, Sanitized};

/// Cases and minutes of a configuration, on every run and by night.
const QUICK: (usize, f64) = (30, 0.15);
const NIGHTLY: (usize, f64) = (1000, 5.0);
/// The tool for every run.
const MEMCHECK: &str = "memcheck";

/// Every configuration is right on shapes and inputs that nobody listed. A machine too slow for the first case is no failure.
pub(super) fn fuzzed(course: &mut Course<'_>) -> Result<Stepped, Failure> {
    if !course.request.fuzz {
        return Ok(Stepped::Skipped("as asked".into()));
    }
    let (cases, minutes) = if course.request.nightly { NIGHTLY } else { QUICK };
    let (mut passed, mut left, mut why) = (0, 0, None);
    for (selecting, config) in configurations(course) {
        let request = FuzzRequest {
            selecting,
            config: config.to_string(),
            study: None,
            baseline: None,
            suite: None,
            case: None,
            cases,
            minutes,
            runs: None,
            configs: 1,
            jobs: None,
            seed: None,
        };
        let fuzzed = fuzz::run(course.project, course.file, &request, course.teller)?;
        if let Some((refusal, case)) = refused(&fuzzed) {
            return Ok(Stepped::Refused(refusal.clone(), format!("{} on {case}; kiln fuzz replays it", refusal.gate)));
        }
        passed += fuzzed.passed;
        left += fuzzed.not_run;
        why = why.or_else(|| fuzzed.excluded.first().map(|(why, _)| why.clone()));
    }
    let cases = kiln_core::counted(passed as u128, "case");
    Ok(Stepped::Passed(match (passed, left, why) {
        (0, 0, Some(why)) => format!("no case: {why}"),
        (_, 0, _) => format!("{cases} answered correctly"),
        (..) => format!("{cases} answered correctly, no time for {left} more"),
    }))
}

/// What failed, and on which case.
fn refused(fuzzed: &Fuzzed) -> Option<(&Refusal, String)> {
    let kept = || {
        fuzzed.kept.iter().find_map(|kept| match &kept.now {
            KeptNow::Fails(refusal) => Some((refusal, kept.case.case.clone())),
            _ => None,
        })
    };
    let now = fuzzed.failure.as_ref().map(|failure| (&failure.refusal, failure.smallest.to_string()));
    let before = fuzzed.unusable.as_ref().map(|(config, refusal)| (refusal, config.to_string()));
    before.or(now).or_else(kept)
}

/// No configuration touches memory it must not: memcheck where there is a GPU, and by night everything there is.
pub(super) fn sanitized(course: &mut Course<'_>) -> Result<Stepped, Failure> {
    let nightly = course.request.nightly;
    let mut tools = String::new();
    for (selecting, config) in configurations(course) {
        let opened = Opened::unexamined(course.file, &selecting)?;
        let on_gpu = opened.kernel.on_gpu();
        if !on_gpu && (!nightly || opened.kernel.selection.target.kind == kiln_spec::TargetKind::Python) {
            return Ok(Stepped::Skipped(
                if nightly { "no memory to watch" } else { "done on a GPU, or with --nightly" }.into(),
            ));
        }
        let chosen = if on_gpu && !nightly { vec![MEMCHECK.to_string()] } else { Vec::new() };
        let request = SanitizeRequest { selecting, config: config.to_string(), tools: chosen, ..Default::default() };
        let found: Sanitized = match sanitize::run(course.project, course.file, &request, course.teller) {
            Ok(found) => found,
            // Not every machine has the tool; who asks for everything is told.
            Err(failure) if !nightly && !course.project.is_stopped() => {
                return Ok(Stepped::Skipped(failure.reason().unwrap_or_default()));
            }
            Err(failure) => return Err(failure),
        };
        if let Some(refusal) = found.refusal {
            return Ok(Stepped::Refused(refusal.clone(), format!("{}: {}", refusal.gate, refusal.measured)));
        }
        match (found.diagnosis.verdict, found.diagnosis.findings.first()) {
            (Verdict::BugsFound, Some(finding)) => {
                let place = match (&finding.file, finding.line) {
                    (Some(file), Some(line)) => format!(" at {file}:{line}"),
                    _ => String::new(),
                };
                let words = format!("{}{place}", finding.cause.id());
                return Ok(Stepped::Found(found.diagnosis.findings, words));
            }
            // What is wrong was refused by the check; a tool that is slow accuses nobody.
            (Verdict::Inconclusive, _) => tools = format!("inconclusive: {}", found.tools),
            (Verdict::NotRun, _) => tools = format!("checked nothing: {}", found.tools),
            _ => tools = format!("clean: {}", found.tools),
        }
    }
    Ok(Stepped::Passed(tools))
}

/// Every configuration once, for all its workloads, of the variant that is guarded.
fn configurations(course: &Course<'_>) -> Vec<(Selecting, Config)> {
    let variant = course.kernel.variant.clone().filter(|variant| !variant.is_empty());
    let mut found: Vec<(Selecting, Config)> = Vec::new();
    for Case { selecting, config, .. } in &course.cases {
        if !found.iter().any(|(_, known)| known == config) {
            let selecting = Selecting { workload: None, variant: variant.clone(), ..selecting.clone() };
            found.push((selecting, config.clone()));
        }
    }
    found
}
