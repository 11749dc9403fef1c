//! A program that does not end. Nothing of it reaches the log but the tool's header: a kernel that hangs is never reported,
//! by any of the tools. A log that was cut after that line looks the same, so the header alone names a hang, and leaves the verdict
//! open. It is certain if the program says so, or whoever ran it; or if the source shows why: a barrier that only some threads
//! reach, or a loop that waits for a value.

mod suspect;

use suspect::{Kind, Suspect, suspect};

use super::{Context, Finding};
use crate::sanitizer::{Check, Place, Run};
use crate::{Cause, Reason, Tool};

/// The finding, unless another explains why the program hung; then that one says so.
pub(super) fn hang(context: &Context<'_>, findings: &mut [Finding]) -> Option<Finding> {
    let program = &context.log.program;
    let silent: Vec<&Run> = context.log.runs.iter().filter(|run| run.is_silent()).collect();
    let said = program.timed_out && program.check != Some(Check::Passed);
    if silent.is_empty() && !said {
        return None;
    }
    if let Some(cause) = findings.iter_mut().find(|finding| explains(finding.cause)) {
        cause.facts.set("hangs", true);
        return None;
    }
    let (name, suspect) = context.sources.files().find_map(|(name, text)| Some((name, suspect(text)?))).unzip();
    let cause = match suspect.as_ref().map(|suspect| suspect.kind) {
        Some(Kind::Barrier) => Cause::DivergentBarrier,
        Some(Kind::Warp) => Cause::BadSyncwarpMask,
        Some(Kind::Named) => Cause::BarrierProtocol,
        Some(Kind::Loop) | None => Cause::Hang,
    };
    let tool = silent.first().map_or(Tool::Program, |run| run.tool);
    let place = suspect.as_ref().zip(name).map(|(suspect, name)| Place {
        function: suspect.function.clone(),
        file: Some(name.into()),
        line: Some(suspect.line),
        offset: None,
    });
    let kernel = place.as_ref().map(|place| place.function.as_str()).filter(|name| !name.is_empty());
    let mut finding = context.located(cause, tool, kernel, place.as_ref());
    finding.facts.set("hangs", true);
    if !silent.is_empty() {
        finding.facts.set("runs_without_end", silent.len());
    }
    if suspect.is_none() && !said {
        finding.facts.set("reason", Reason::LogCut.id());
    }
    finding.facts.set_some("condition", suspect.as_ref().map(|suspect| suspect.condition.as_str()));
    (finding.explanation, finding.fix) = words(suspect.as_ref(), silence(context));
    if cause == Cause::Hang && suspect.is_none() {
        finding.facts.set("suspects", vec![Cause::DivergentBarrier.id(), Cause::BarrierProtocol.id()]);
    }
    Some(finding)
}

/// Whether nothing but the tool's header speaks for it.
pub(super) fn is_open(finding: &Finding) -> bool {
    finding.cause == Cause::Hang && finding.facts.get("reason").is_some()
}

/// Causes that can make a kernel wait forever.
fn explains(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::DivergentBarrier
            | Cause::BadSyncwarpMask
            | Cause::BarrierProtocol
            | Cause::WarpgroupSequence
            | Cause::MisalignedSharedBulk
            | Cause::Hang
            | Cause::RaceSharedRaw
            | Cause::UninitGlobal
    )
}

/// How a hang shows.
fn silence(context: &Context<'_>) -> &'static str {
    match context.log.program.timed_out {
        true => "The program did not end in time.",
        false => "The log ends after the tool's header: the program did not end and was stopped, or the log was cut.",
    }
}

fn words(suspect: Option<&Suspect>, silence: &str) -> (String, String) {
    match suspect {
        Some(suspect) if suspect.kind == Kind::Named => (
            format!(
                "{silence} The source has a named barrier that waits for more threads than `{}` lets through.",
                suspect.condition
            ),
            "Make the barrier's count the number of threads that reach it (a multiple of 32), or let all of them reach it.".into(),
        ),
        Some(suspect) if suspect.kind == Kind::Warp => (
            format!(
                "{silence} The source calls for the whole warp inside `{}`, which depends on the thread: lanes for which it is false \
                 never come.",
                suspect.condition
            ),
            "Pass the mask of exactly the lanes that reach the call, or move it out of the branch.".into(),
        ),
        Some(suspect) if suspect.kind == Kind::Barrier => (
            format!(
                "{silence} The source has a barrier inside `{}`, which depends on the thread: threads for which it is false never \
                 reach the barrier, and the others wait.",
                suspect.condition
            ),
            "Move the barrier out of the branch or loop, so that every thread of the block reaches it.".into(),
        ),
        Some(suspect) => (
            format!("{silence} The source has a loop that waits on `{}`.", suspect.condition),
            "Check who sets what the loop waits for: blocks that are not running yet cannot. Bound the wait, and launch \
             cooperatively if blocks wait for one another."
                .into(),
        ),
        None => (
            format!("{silence} No tool reports a hang."),
            "Give the source (--source) to look for barriers that only some threads reach. Otherwise look for a __syncthreads() \
             in a branch, an mbarrier that expects more arrivals than come, and a loop that waits for another block."
                .into(),
        ),
    }
}
