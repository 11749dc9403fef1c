//! The verdict. In: the findings, and how the runs and the program ended. Out: the diagnosis. Clean needs every run to have
//! ended and nothing to speak against the program: a wrong, varying or failing result with clean tools is inconclusive.

use std::collections::HashSet;

use kiln_core::counted;

use super::hang::is_open;
use super::{Context, Finding};
use crate::inconclusive::Doubt;
use crate::sanitizer::{Check, Record, Run, What};
use crate::{Diagnosis, Facts, Reason, Verdict};

/// Draws the conclusion.
pub(super) fn conclude(context: &Context<'_>, mut findings: Vec<Finding>) -> Diagnosis {
    let runs = &context.log.runs;
    let notes = notes(context);
    let verdict = if !findings.is_empty() && findings.iter().all(is_open) {
        Verdict::Inconclusive
    } else if !findings.is_empty() {
        Verdict::BugsFound
    } else if runs.iter().all(|run| run.not_run.is_some()) {
        Verdict::NotRun
    } else if let Some(doubt) = doubt(context) {
        findings.push(doubt.finding(facts(context)));
        Verdict::Inconclusive
    } else {
        Verdict::Clean
    };
    Diagnosis { findings, verdict, notes }
}

/// What speaks against a clean result. Clean needs every run to have ended with nothing found, and nothing against the program.
fn doubt(context: &Context<'_>) -> Option<Doubt> {
    let log = context.log;
    let found = |reason: Reason, detail: String| Some(Doubt::new(reason, detail, true));
    let any = |test: fn(&Run) -> bool| log.runs.iter().find(|run| test(run));
    // What ended the program explains why the log has no end; a wrong result does not.
    let early = |(reason, _): &(Reason, String)| {
        matches!(reason, Reason::Hang | Reason::NotLoaded | Reason::Aborted | Reason::Killed)
    };
    let trouble = log.program.trouble();
    if let Some((reason, detail)) = trouble.clone().filter(early) {
        return found(reason, detail);
    }
    if any(|run| run.program_crashed).is_some() {
        return found(Reason::Killed, "the tool says that it did not terminate successfully".into());
    }
    if let Some(run) = any(|run| run.not_run.is_none() && !run.ended) {
        return found(Reason::LogCut, ends(run).into());
    }
    if let Some((reason, detail)) = trouble {
        return found(reason, detail);
    }
    if any(|run| run.program_failed).is_some() {
        return found(Reason::NonzeroExit, String::new());
    }
    let missed = log.runs.iter().flat_map(|run| &run.remarks);
    if let Some(remark) = missed.into_iter().find(|remark| remark.contains("undetected") || remark.contains("dropped"))
    {
        return found(Reason::ToolIncomplete, remark.trim_end_matches('.').into());
    }
    let internal = |remark: &&String| remark.contains("Internal Sanitizer Error");
    if let Some(remark) = log.runs.iter().flat_map(|run| &run.remarks).find(internal) {
        return found(Reason::ToolFailed, remark.trim_end_matches('.').into());
    }
    if let Some(run) = any(|run| run.not_run.is_some()) {
        return found(Reason::ToolIncomplete, format!("{} checked nothing", run.tool.name()));
    }
    let unknown = |record: &Record| matches!(&record.what, What::Unrecognised { .. });
    if let Some(run) = any(|run| run.errors.unwrap_or(0) > 0 || run.not_printed > 0)
        && !run.records.iter().any(unknown)
    {
        let errors = counted(run.errors.unwrap_or(0).max(run.not_printed).into(), "error");
        return found(Reason::NotPrinted, format!("{errors} of {}", run.tool.name()));
    }
    if let Some(words) = log.runs.iter().flat_map(|run| &run.records).find_map(unrecognised) {
        return found(Reason::UnknownReport, words.into());
    }
    is_only_xml(context).then(|| Doubt::new(Reason::NoRecords, "", true))
}

fn unrecognised(record: &Record) -> Option<&str> {
    match &record.what {
        What::Unrecognised { words } => Some(words),
        _ => None,
    }
}

/// Where a log ends that has no summary.
fn ends(run: &Run) -> &'static str {
    match run {
        _ if run.is_xml => "the last tag is missing",
        _ if run.is_silent() => "nothing follows the tool's header",
        _ => "the tool's summary is missing",
    }
}

/// XML without records looks the same whether the tool found nothing or the program never reached the device, and it has no
/// results. A log in text, or a check that passed, says more.
fn is_only_xml(context: &Context<'_>) -> bool {
    context.log.runs.iter().all(|run| run.is_xml) && context.log.program.check != Some(Check::Passed)
}

/// Notes of one diagnosis.
const NOTES: usize = 50;

fn notes(context: &Context<'_>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut note = |text: String| {
        if seen.insert(text.clone()) {
            notes.push(text);
        }
    };
    if context.log.runs.is_empty() {
        note("this is no output of compute-sanitizer: it has no line that begins with `=========`".into());
    }
    if !context.log.runs.is_empty()
        && is_only_xml(context)
        && context.log.runs.iter().all(|run| run.records.is_empty() && run.ended)
    {
        note("the XML has no records".into());
    }
    for run in &context.log.runs {
        let tool = run.tool.name();
        if let Some(reason) = &run.not_run {
            note(format!("{tool} checked nothing: {reason}. Run it where the program finds a GPU and a driver"));
        } else if !run.ended {
            note(format!("the log of {tool} ends before its summary: what came later is not known"));
        }
        for record in &run.records {
            if let What::Unrecognised { words } = &record.what {
                note(format!("{tool} printed what kiln does not know: {words}"));
            }
        }
        for remark in &run.remarks {
            note(format!("{tool}: {remark}"));
        }
        let printed = run.records.iter().filter(|record| super::group::is_on_device(&record.what)).count();
        if run.not_printed > 0 && printed == 0 {
            let errors = counted(run.not_printed.into(), "error");
            note(format!("{errors} of {tool} were not printed; use a larger --print-limit"));
        }
    }
    let more = notes.len().saturating_sub(NOTES);
    if more > 0 {
        notes.truncate(NOTES);
        notes.push(format!("{} like these", counted(more as u128, "more note")));
    }
    notes
}

/// What is known of the program and of the tools that found nothing.
fn facts(context: &Context<'_>) -> Facts {
    let program = &context.log.program;
    let mut facts = Facts::default();
    let mut tools: Vec<&str> =
        context.log.runs.iter().filter(|run| run.is_clean()).map(|run| run.tool.name()).collect();
    tools.dedup();
    if !tools.is_empty() {
        facts.set("clean_runs", tools);
    }
    if let Some(check) = program.check {
        facts.set("check", if check == Check::Failed { "failed" } else { "passed" });
    }
    if !program.results.is_empty() {
        facts.set("results", program.results.clone());
    }
    facts.set("results_vary", program.varies);
    if !program.errors.is_empty() {
        facts.set("program_errors", program.errors.clone());
    }
    facts
}
