//! Invalid accesses: misaligned or out of bounds. The addresses of all threads together say more than one: which stride
//! makes rows misaligned, how far past the end the farthest access is, whether the pointer ever pointed to the device.

mod bounds;
mod misaligned;

use kiln_core::counted;

use super::group::Group;
use super::pattern::{Touch, pattern};
use super::{Context, hex};
use crate::sanitizer::{Access, Problem, Record, Space, What};
use crate::{Cause, Facts, Finding, Tool};

/// How many addresses a finding shows.
const SHOWN: usize = 4;

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, access: &Access) -> Finding {
    match &access.problem {
        Problem::Misaligned => misaligned::finding(context, group, access),
        Problem::Other(words) if words.contains("in a block that") => cluster(context, group, access, words),
        Problem::OutOfBounds | Problem::Other(_) => bounds::finding(context, group, access),
    }
}

/// Whether what is missing of a log decides the cause: XML lists allocations last, and without all of them an access out of bounds
/// may be of any pointer.
pub(super) fn is_unsettled(group: &Group<'_>) -> bool {
    let run = group.run;
    let outside = |access: &Access| access.space == Space::Global && access.problem != Problem::Misaligned;
    run.is_xml && !run.ended && matches!(&group.first().what, What::Access(access) if outside(access))
}

/// Facts that every invalid access has.
pub(super) fn facts(finding: &mut Finding, group: &Group<'_>, access: &Access) {
    let facts = &mut finding.facts;
    facts.set("space", access.space.name());
    facts.set("direction", access.direction.name());
    facts.set("access_bytes", access.size);
    let record = group.first();
    // The line is in a function that the kernel calls.
    let at = (finding.file.as_deref(), finding.line);
    let mut outwards = record.places().skip_while(|place| (place.file.as_deref(), place.line) != at).skip(1);
    if let Some(caller) = outwards.find(|place| place.file.is_some() && (place.file.as_deref(), place.line) != at) {
        facts.set_some("called_from", caller.source());
    }
    threads(facts, group);
}

/// How many threads and blocks are in it, as far as they were printed.
fn threads(facts: &mut Facts, group: &Group<'_>) {
    let mut blocks: Vec<[u32; 3]> = group.records.iter().filter_map(|record| record.block).collect();
    let mut threads: Vec<_> = group.records.iter().filter_map(|record| record.block.zip(record.thread)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    threads.sort_unstable();
    threads.dedup();
    if !threads.is_empty() {
        // An access that stops the kernel happens once in a thread: as many threads as errors, unless some show up twice.
        let once = threads.len() == group.records.len() && super::group::ends_context(&group.first().what);
        facts.set("threads", if once { group.count } else { threads.len() as u64 });
        facts.set("blocks", blocks.len());
        if group.count > group.records.len() as u64 {
            facts.set("printed", group.records.len());
        }
    }
    let first = group.first();
    facts.set_some("first_thread", first.thread.map(|thread| thread.to_vec()));
    facts.set_some("first_block", first.block.map(|block| block.to_vec()));
    let addresses: Vec<String> = addresses(&group.records).take(SHOWN).map(hex).collect();
    if !addresses.is_empty() {
        facts.set("addresses", addresses);
    }
}

fn accessed(record: &Record) -> Option<&Access> {
    match &record.what {
        What::Access(access) | What::Uninitialised(access) => Some(access),
        _ => None,
    }
}

pub(super) fn addresses(records: &[&Record]) -> impl Iterator<Item = u64> {
    records.iter().filter_map(|record| accessed(record)?.address)
}

pub(super) fn touches(group: &Group<'_>) -> Vec<Touch> {
    let touch = |record: &&Record| Some((record.block?, record.thread?, accessed(record)?.address?));
    group.records.iter().filter_map(touch).collect()
}

/// The pattern of a group's addresses, written into its facts.
pub(super) fn strides(facts: &mut Facts, group: &Group<'_>, access: &Access) -> super::pattern::Pattern {
    let found = pattern(&touches(group), access.size);
    facts.set_some("thread_step_bytes", found.step.filter(|step| *step != 0));
    facts.set_some("stride_bytes", found.stride);
    facts.set_some("threads_per_row", found.threads_per_row);
    found
}

/// Shared memory of another block of the cluster, used while that block may not be there.
fn cluster(context: &Context<'_>, group: &Group<'_>, access: &Access, words: &str) -> Finding {
    let mut finding = context.at(Cause::RaceCluster, Tool::Racecheck, group);
    facts(&mut finding, group, access);
    finding.facts.set("problem", words);
    finding.explanation = format!("Shared memory of another block is accessed: it {words}.");
    finding.fix = "Call cluster.sync() after all blocks have started and before any of them ends.".into();
    finding
}

/// `16-byte read`, `4-byte write`.
fn described(access: &Access) -> String {
    format!("{}-byte {} in {} memory", access.size, access.direction.name(), access.space.name())
}

/// `512 times`.
fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        _ => counted(count.into(), "time"),
    }
}

/// Whether it is an access a block's shared memory is the target of.
fn is_shared(access: &Access) -> bool {
    access.space == Space::Shared
}
