//! What follows from what. In: findings of all runs. Out: one per cause and place, with consequences as facts of the first
//! cause: after an error that ends the context every call fails and nothing is freed any more, and a program that stops at a
//! failed call frees nothing either.

use super::api::AFTERMATH;
use crate::sanitizer::SanitizerLog;
use crate::source::last_part;
use crate::{Cause, Facts, Finding};

/// Merges, folds and orders.
pub(super) fn fold(log: &SanitizerLog, found: Vec<(usize, Finding)>) -> Vec<Finding> {
    let mut kept: Vec<(usize, Finding)> = Vec::new();
    let mut folded: Vec<(usize, Finding)> = Vec::new();
    let ends = |run: usize| found.iter().any(|(other, finding)| *other == run && ends_context(finding));
    let stopped = |run: usize| {
        let failed = log.runs.get(run).is_some_and(|run| run.program_failed) && !log.program.errors.is_empty();
        failed && found.iter().any(|(other, finding)| *other == run && finding.cause != Cause::Leak)
    };
    // What a log that is cut has not said yet may explain why memory was not freed.
    let unsettled = |run: usize, finding: &Finding| {
        let other = found.iter().any(|(other, finding)| *other == run && finding.cause != Cause::Leak);
        finding.cause == Cause::Leak && other && log.runs.get(run).is_some_and(|run| !run.ended)
    };
    for (run, finding) in &found {
        let follows = match finding.cause {
            Cause::Leak => ends(*run) || stopped(*run) || !log.program.assertions.is_empty(),
            _ if is_echo(finding) => found.iter().any(|(_, other)| is_call(other) && !is_echo(other)),
            _ if is_call(finding) => {
                let code = finding.facts.number("error_code");
                code.is_some_and(|code| AFTERMATH.contains(&code)) && found.iter().any(|(_, other)| ends_context(other))
            }
            _ => false,
        };
        match follows {
            true => folded.push((*run, finding.clone())),
            false if unsettled(*run, finding) => {}
            false => merge(&mut kept, *run, finding),
        }
    }
    kept.sort_by_key(|(_, finding)| rank(finding.cause));
    for (run, consequence) in folded {
        let same_run = kept.iter().position(|(other, _)| *other == run).unwrap_or(0);
        if let Some((_, primary)) = kept.get_mut(same_run) {
            attach(&mut primary.facts, &consequence);
        }
    }
    kept.into_iter().map(|(_, finding)| finding).collect()
}

/// A finding that is nothing but a failed call.
fn is_call(finding: &Finding) -> bool {
    finding.facts.get("api").is_some() && finding.facts.get("error").is_some()
}

/// A call that does nothing but return the error of an earlier one.
fn is_echo(finding: &Finding) -> bool {
    let api = finding.facts.text("api").unwrap_or_default();
    is_call(finding) && (api.contains("GetLastError") || api.contains("PeekAtLastError"))
}

fn ends_context(finding: &Finding) -> bool {
    !is_call(finding)
        && !matches!(
            finding.cause,
            Cause::Leak
                | Cause::UninitGlobal
                | Cause::UninitShared
                | Cause::RaceSharedRaw
                | Cause::RaceSharedWar
                | Cause::RaceSharedWaw
                | Cause::AsyncCopyNoWait
        )
}

fn attach(facts: &mut Facts, consequence: &Finding) {
    match consequence.cause {
        Cause::Leak => {
            facts.set_some("leaked_after_abort", consequence.facts.number("allocations"));
            facts.set_some("leaked_bytes_after_abort", consequence.facts.number("leaked_bytes"));
        }
        _ => {
            let error = consequence.facts.text("error").unwrap_or_default();
            let api = consequence.facts.text("api").unwrap_or_default();
            facts.set("followed_by", format!("{error} from {api}"));
        }
    }
}

/// The same cause at the same place, found again in another run, is one finding.
fn merge(kept: &mut Vec<(usize, Finding)>, run: usize, finding: &Finding) {
    let place = |finding: &Finding| {
        let file = finding.file.as_deref().map(last_part).map(str::to_owned);
        (finding.cause, finding.kernel.clone(), file, finding.line)
    };
    // A record of an assertion does not say which, and of two calls that are refused for the same reason one may not name the kernel.
    let vague = |finding: &Finding| match finding.cause {
        Cause::DeviceAssert => finding.file.is_none(),
        Cause::LaunchFailureSmem | Cause::LaunchFailureConfig => finding.kernel.is_none(),
        _ => false,
    };
    let same = |known: &Finding| {
        place(known) == place(finding) || known.cause == finding.cause && (vague(known) || vague(finding))
    };
    let Some((known_run, known)) = kept.iter_mut().find(|(_, known)| same(known)) else {
        kept.push((run, finding.clone()));
        return;
    };
    // An assertion that the program printed and the tool recorded is one.
    let other = finding.cause != Cause::DeviceAssert && !vague(finding) && !vague(known);
    known.count = match *known_run == run && other {
        // Two instructions on one line.
        true => known.count.saturating_add(finding.count),
        false => known.count.max(finding.count),
    };
    known.kernel = known.kernel.take().or_else(|| finding.kernel.clone());
    for (name, value) in finding.facts.iter() {
        if known.facts.get(name).is_none() {
            known.facts.set(name, value.clone());
        }
    }
}

/// What to look at first: errors that stop kernels, then wrong order, then wrong data, then calls, then leaks.
fn rank(cause: Cause) -> u8 {
    match cause {
        Cause::Leak => 9,
        Cause::ApiError => 8,
        Cause::DeviceFault => 7,
        Cause::UninitGlobal | Cause::UninitShared => 5,
        Cause::RaceSharedRaw | Cause::RaceSharedWar | Cause::RaceSharedWaw => 4,
        Cause::AsyncCopyNoWait => 3,
        Cause::DivergentBarrier | Cause::BadSyncwarpMask | Cause::BarrierProtocol => 2,
        _ => 1,
    }
}
