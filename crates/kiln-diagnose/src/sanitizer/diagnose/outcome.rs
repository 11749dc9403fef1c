//! The verdict. In: the findings, and how the runs and the program ended. Out: the diagnosis. Clean needs every run to have
//! ended and nothing to speak against the program: a wrong, varying or failing result with clean tools is inconclusive.

use kiln_core::counted;

use super::{Context, Finding};
use crate::sanitizer::{Check, Run, What};
use crate::{Cause, Diagnosis, Facts, Tool, Verdict};

/// Draws the conclusion.
pub(super) fn conclude(context: &Context<'_>, mut findings: Vec<Finding>) -> Diagnosis {
    let runs = &context.log.runs;
    let notes = notes(context);
    let ran = |run: &&Run| run.not_run.is_none();
    let verdict = if !findings.is_empty() {
        Verdict::BugsFound
    } else if !runs.iter().any(|run| ran(&run)) {
        Verdict::NotRun
    } else if program_is_wrong(context) {
        findings.push(inconclusive(context));
        Verdict::Inconclusive
    } else if runs.iter().all(|run| run.is_clean() && !missed(run)) && !is_only_xml(context) {
        Verdict::Clean
    } else {
        Verdict::Inconclusive
    };
    Diagnosis { findings, verdict, notes }
}

fn program_is_wrong(context: &Context<'_>) -> bool {
    let program = &context.log.program;
    program.check == Some(Check::Failed)
        || program.varies
        || !program.errors.is_empty()
        || context.log.runs.iter().any(|run| run.program_failed)
}

/// XML without records looks the same whether the tool found nothing or the program never reached the device, and it has no
/// results. A log in text, or a check that passed, says more.
fn is_only_xml(context: &Context<'_>) -> bool {
    context.log.runs.iter().all(|run| run.is_xml) && context.log.program.check != Some(Check::Passed)
}

/// The tool says that it did not see everything.
fn missed(run: &Run) -> bool {
    run.remarks.iter().any(|remark| remark.contains("undetected") || remark.contains("dropped"))
}

fn notes(context: &Context<'_>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut note = |text: String| {
        if !notes.contains(&text) {
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
        note(
            "the XML has no records: it does not say whether the program ran to its end, or with which result. Give what the tool \
             prints without --xml too"
                .into(),
        );
    }
    for run in &context.log.runs {
        let tool = run.tool.name();
        if let Some(reason) = &run.not_run {
            note(format!("{tool} checked nothing: {reason}. Run it where the program finds a GPU and a driver"));
        } else if !run.ended && !run.is_silent() {
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
    notes
}

/// The tools found nothing, and yet the program is wrong.
fn inconclusive(context: &Context<'_>) -> Finding {
    let program = &context.log.program;
    let mut facts = Facts::default();
    let mut tools: Vec<&str> =
        context.log.runs.iter().filter(|run| run.is_clean()).map(|run| run.tool.name()).collect();
    tools.dedup();
    facts.set("clean_runs", tools);
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
    let (suspects, explanation, fix) = guess(context);
    facts.set("suspects", suspects.iter().map(|cause| cause.id()).collect::<Vec<_>>());
    Finding {
        cause: Cause::Inconclusive,
        tool: Tool::Program,
        kernel: None,
        file: None,
        line: None,
        count: 1,
        facts,
        explanation,
        fix,
    }
}

/// What may be behind it, the likeliest first.
fn guess(context: &Context<'_>) -> (Vec<Cause>, String, String) {
    let program = &context.log.program;
    let ran = |tool: Tool| context.log.runs.iter().any(|run| run.tool == tool);
    if let Some(error) = program.errors.first() {
        return (
            vec![Cause::MisalignedGlobal, Cause::OobGlobalRead, Cause::LaunchFailureConfig],
            format!("This tool found nothing, but the program failed with {error}: it checks something else."),
            "Run memcheck: it names the access or the call behind such an error.".into(),
        );
    }
    if program.varies {
        return (
            vec![Cause::RaceGlobalInterblock, Cause::UninitShared, Cause::AsyncCopyNoWait],
            "The tools found nothing, but the results differ from run to run. None of the tools sees races between blocks \
             through global memory, and before version 2025.4 none sees uninitialised shared memory."
                .into(),
            "Look for global memory that several blocks write without atomics, for a block that reads what another writes, and \
             for shared memory that is read before it is written; run the kernel with one block and compare."
                .into(),
        );
    }
    let missing = match ran(Tool::Initcheck) && ran(Tool::Racecheck) {
        true => "",
        false => " Run all four tools first: memcheck, racecheck, initcheck, synccheck.",
    };
    (
        vec![Cause::SemanticIndex, Cause::RaceGlobalInterblock, Cause::UninitShared, Cause::OobGlobalWriteSilent],
        "The tools found nothing, but the program's result is wrong. Accesses are valid; their meaning may not be: swapped \
         indices, a wrong stride or a missed edge look like this, and so do races between blocks."
            .into(),
        format!(
            "Compare with the reference on the smallest input that fails, element by element: wrong rows, columns or edges show \
             which index it is. Run it several times: a result that varies is a race. Run memcheck with --padding 256: without it, \
             a write into the neighbouring allocation goes unseen.{missing}"
        ),
    )
}
