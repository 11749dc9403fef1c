//! Races in shared memory. racecheck sums them up by instruction (analysis) or lists them byte by byte (hazard); only the
//! latter names their kind, so in a summary the kind follows from who comes first. An asynchronous copy that was not waited
//! for looks like a race of its write; the hazard's words or the source line tell.

use kiln_core::counted;

use super::group::Group;
use super::{Context, Finding};
use crate::sanitizer::{Direction, Hazard, Party, Severity, What};
use crate::{Cause, Tool};

/// Lines to look through for a barrier.
const LONGEST_BODY: usize = 500;
const BARRIERS: [&str; 7] =
    ["__syncthreads()", "__syncwarp(", "block.sync()", "cta.sync()", "bar.sync", "barrier.sync", "__barrier_sync("];
/// Waits that leave no copy pending.
const WAITS_FOR_ALL: [&str; 6] = [
    "cp.async.wait_all",
    "cp.async.wait_group 0",
    "__pipeline_wait_prior(0)",
    "wait_prior<0>",
    "cp_async_wait<0>",
    "cp_async_wait_all",
];
/// Instructions and functions that copy in the background.
const ASYNC_COPIES: [&str; 11] = [
    "cp.async",
    "memcpy_async",
    "cp_async",
    "cp_bulk",
    "bulk_copy",
    "copy_bulk",
    "async_copy",
    "copy_async",
    "tma_load",
    "load_tma",
    "SM90_TMA_LOAD",
];

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, parties: &[Party]) -> Finding {
    let cause = match is_async(context, parties) && !is_waited_for(context, parties) {
        true => Cause::AsyncCopyNoWait,
        false => kind(context, parties),
    };
    let mut finding = race(context, group, cause, parties);
    let hazards: u64 = group.records.iter().flat_map(|record| hazards(&record.what)).fold(0, u64::saturating_add);
    if hazards > 0 {
        finding.count = hazards;
        finding.facts.set("hazards", hazards);
    }
    explain(&mut finding, false);
    finding
}

fn hazards(what: &What) -> impl Iterator<Item = u64> {
    let parties: &[Party] = match what {
        What::Race { parties } => parties,
        _ => &[],
    };
    parties.iter().map(|party| party.hazards)
}

pub(super) fn hazard(context: &Context<'_>, group: &Group<'_>, hazard: &Hazard) -> Finding {
    let cause = match hazard.kind.as_str() {
        _ if hazard.async_copy || is_async(context, &hazard.parties) || is_with_itself(&hazard.parties) => {
            Cause::AsyncCopyNoWait
        }
        "WAR" => Cause::RaceSharedWar,
        "WAW" => Cause::RaceSharedWaw,
        _ => Cause::RaceSharedRaw,
    };
    let mut finding = race(context, group, cause, &hazard.parties);
    finding.facts.set("hazards", group.count);
    finding.facts.set_some("first_address", hazard.address.map(super::hex));
    finding.facts.set_some("first_block", group.first().block.map(|block| block.to_vec()));
    let threads: Vec<_> =
        hazard.parties.iter().filter_map(|party| party.thread.map(|thread| thread.to_vec())).collect();
    if !threads.is_empty() {
        finding.facts.set("first_threads", threads);
    }
    explain(&mut finding, hazard.in_warp);
    finding
}

/// The kind of a race by what its sides do, and which of them comes first: the tool lists them by instruction, not by time.
/// The one with the lower offset in the function is the earlier. Where a barrier lies between them in the source, the race
/// goes the other way: around a loop, from the later one to the earlier one of the next trip.
fn kind(context: &Context<'_>, parties: &[Party]) -> Cause {
    let Some(first) = parties.first() else { return Cause::RaceSharedRaw };
    let Some(other) = parties.iter().skip(1).max_by_key(|party| party.hazards) else { return Cause::RaceSharedWaw };
    if first.direction != Direction::Read && other.direction != Direction::Read {
        return Cause::RaceSharedWaw;
    }
    let (earlier, later) = in_order(first, other);
    let around = BARRIERS.iter().any(|barrier| between(context, earlier, later).contains(barrier));
    let begins = if around { later } else { earlier };
    match begins.direction {
        Direction::Read => Cause::RaceSharedWar,
        _ => Cause::RaceSharedRaw,
    }
}

/// Two sides as they follow one another in the function.
fn in_order<'a>(first: &'a Party, other: &'a Party) -> (&'a Party, &'a Party) {
    let places = first.place.as_ref().zip(other.place.as_ref()).filter(|(a, b)| a.function == b.function);
    let swapped = places.is_some_and(|(a, b)| a.offset.zip(b.offset).is_some_and(|(a, b)| b < a));
    if swapped { (other, first) } else { (first, other) }
}

/// The code from one side to the other, without comments and without what the preprocessor may drop: the rest of the one's line
/// after its first statement, and the lines up to the other. On one line, what is neither first nor last.
fn between(context: &Context<'_>, earlier: &Party, later: &Party) -> String {
    let line = |party: &Party| party.place.as_ref().and_then(|place| place.line);
    let file = earlier.place.as_ref().and_then(|place| place.file.as_deref());
    let (Some(file), Some(from), Some(to)) = (file, line(earlier), line(later)) else { return String::new() };
    let mut depth = 0_i32;
    let mut code = String::new();
    for number in (from..to.max(from.saturating_add(1))).take(LONGEST_BODY) {
        let line = context.sources.line(file, number).unwrap_or_default();
        let line = line.split("//").next().unwrap_or_default();
        depth += i32::from(line.starts_with("#if")) - i32::from(line.starts_with("#endif"));
        let mut own = line;
        if number == from {
            own = own.split_once(';').map_or("", |(_, rest)| rest);
        }
        if from == to {
            own = without_last(own);
        }
        if depth == 0 && !own.starts_with('#') {
            code.push_str(own);
            code.push('\n');
        }
    }
    code
}

/// A line without its last statement.
fn without_last(line: &str) -> &str {
    let statements = line.trim_end().trim_end_matches(['}', ' ', ';']);
    statements.rfind(';').map_or("", |end| &statements[..=end])
}

/// Whether every copy is waited for, and by all threads, before the other side: then the race is with the next copy.
fn is_waited_for(context: &Context<'_>, parties: &[Party]) -> bool {
    let [first, others @ ..] = parties else { return false };
    let Some(other) = others.iter().max_by_key(|party| party.hazards) else { return false };
    let (earlier, later) = in_order(first, other);
    let code = between(context, earlier, later);
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    earlier.direction == Direction::Write && has(&WAITS_FOR_ALL) && has(&BARRIERS)
}

fn is_async(context: &Context<'_>, parties: &[Party]) -> bool {
    let copies = |party: &Party| {
        let function = party.place.as_ref().map_or("", |place| place.function.as_str());
        let line = context.code(party.place.as_ref());
        ASYNC_COPIES.iter().any(|word| line.contains(word) || function.contains(word))
    };
    parties.iter().any(|party| party.direction == Direction::Write && copies(party))
}

/// A thread is in order with itself: if it races with its own write, a copy in the background wrote.
fn is_with_itself(parties: &[Party]) -> bool {
    match parties {
        [a, b] => a.thread.is_some() && a.thread == b.thread,
        _ => false,
    }
}

fn race(context: &Context<'_>, group: &Group<'_>, cause: Cause, parties: &[Party]) -> Finding {
    let mut finding = context.at(cause, Tool::Racecheck, group);
    finding.facts.set("space", "shared");
    let lines = |wanted: Direction| {
        let mut lines: Vec<String> = Vec::new();
        for party in parties.iter().filter(|party| (party.direction == Direction::Read) == (wanted == Direction::Read))
        {
            let line = party.place.as_ref().and_then(|place| place.source());
            lines.extend(line.filter(|line| !lines.contains(line)));
        }
        lines
    };
    for (name, direction) in [("writes_at", Direction::Write), ("reads_at", Direction::Read)] {
        let lines = lines(direction);
        if !lines.is_empty() {
            finding.facts.set(name, lines);
        }
    }
    match group.records.iter().map(|record| record.severity).max() {
        Some(Severity::Info) => finding.facts.set("severity", "info"),
        Some(Severity::Warning) => finding.facts.set("severity", "warning"),
        _ => {}
    }
    finding
}

fn explain(finding: &mut Finding, in_warp: bool) {
    let warning = finding.facts.text("severity") == Some("warning");
    let barrier = if in_warp || warning { "__syncwarp()" } else { "__syncthreads()" };
    let list = |finding: &Finding, name: &str| {
        let lines = finding.facts.get(name).and_then(|lines| lines.as_array()).into_iter().flatten();
        lines.filter_map(|line| line.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (writes, reads) = (list(finding, "writes_at"), list(finding, "reads_at"));
    let at = |lines: &str| if lines.is_empty() { String::new() } else { format!(" at {lines}") };
    let bytes = counted(finding.count.into(), "hazard");
    (finding.explanation, finding.fix) = match finding.cause {
        Cause::AsyncCopyNoWait => (
            format!("Shared memory is used{} while an asynchronous copy{} may still write it ({bytes}).", at(&reads), at(&writes)),
            "Wait for the copy (cp.async.wait_group, __pipeline_wait_prior, or the mbarrier of a bulk copy), then call \
             __syncthreads(), then read. Check that the wait leaves no group pending that is read."
                .into(),
        ),
        Cause::RaceSharedWar => (
            format!("Threads overwrite shared memory{} that others may not have read yet{} ({bytes}).", at(&writes), at(&reads)),
            format!("Put {barrier} between the read and the next write; in a loop, at the end of the body."),
        ),
        Cause::RaceSharedWaw => (
            format!("Several threads write the same shared memory{}, in no order ({bytes}).", at(&writes)),
            format!("Let one thread write, give each thread its own element, or use atomics; {barrier} between two writes in turn."),
        ),
        _ => (
            format!("Threads read shared memory{} that others may not have written yet{} ({bytes}).", at(&reads), at(&writes)),
            format!("Put {barrier} between the write and the read; if the write is an asynchronous copy, wait for the copy first."),
        ),
    };
}
