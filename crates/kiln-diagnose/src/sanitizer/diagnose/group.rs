//! Records that are one finding. In: a run. Out: its records grouped by what happened and where, in the order of the first
//! of each; and how many errors belong to a group when the tool counted more than it printed.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::rc::Rc;

use super::allocations::Allocations;
use crate::Tool;
use crate::listed::first_and_most;
use crate::sanitizer::{Direction, Place, Problem, Record, Run, Space, What};

/// Records of one kind at one place.
pub(super) struct Group<'a> {
    pub(super) run: &'a Run,
    /// What the run says about memory.
    pub(super) allocations: Rc<Allocations>,
    pub(super) records: Vec<&'a Record>,
    /// Errors that were counted, printed or not.
    pub(super) count: u64,
}

impl<'a> Group<'a> {
    /// The record that stands for all.
    pub(super) fn first(&self) -> &'a Record {
        self.records[0]
    }
}

/// Groups of one kind in one run that become findings. A diagnosis lists fewer; these may still be one finding, or follow from another.
const MOST: usize = 1000;

/// Groups a run's records, and says how many groups are left out because there are too many. No group is empty.
pub(super) fn groups(run: &Run) -> (Vec<Group<'_>>, usize) {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let allocations = Rc::new(Allocations::of(run));
    // Records with the same key are few kinds of the same.
    let mut keys: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
    for record in &run.records {
        let alike = keys.entry(key(record)).or_default();
        match alike.iter().copied().find(|index| same(groups[*index].first(), record)) {
            Some(index) => groups[index].records.push(record),
            None => {
                alike.push(groups.len());
                groups.push(Group { run, allocations: Rc::clone(&allocations), records: vec![record], count: 0 });
            }
        }
    }
    for group in &mut groups {
        group.count = group.records.len() as u64;
    }
    let unprinted = unprinted(run);
    let is_found = |what: &What| is_on_device(what) || matches!(what, What::UninitialisedCopy { .. });
    let mut on_device = groups.iter_mut().filter(|group| is_found(&group.first().what));
    if let (Some(group), None) = (on_device.next(), on_device.next()) {
        group.count = group.count.saturating_add(unprinted);
    }
    if groups.len() <= MOST {
        return (groups, 0);
    }
    let telling = |groups: &[Group<'_>]| groups.iter().filter(|group| super::fault::is_told(group.first())).count();
    let all = telling(&groups);
    let groups = fewer(groups);
    let left_out = all - telling(&groups);
    (groups, left_out)
}

/// The first and the most frequent groups of each kind: what follows from what needs all kinds.
fn fewer(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut kinds: HashMap<Discriminant<What>, Vec<(usize, Group<'_>)>> = HashMap::new();
    for (index, group) in groups.into_iter().enumerate() {
        kinds.entry(discriminant(&group.first().what)).or_default().push((index, group));
    }
    let kept = kinds.into_values().flat_map(|groups| first_and_most(groups, MOST, |(_, group)| group.count));
    let mut kept: Vec<(usize, Group<'_>)> = kept.collect();
    kept.sort_by_key(|(index, _)| *index);
    kept.into_iter().map(|(_, group)| group).collect()
}

/// What records that are the same have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Access(Space, Direction, u64, Option<At<'a>>),
    Uninitialised(Space, u64, Option<At<'a>>),
    Parties(Vec<At<'a>>),
    Leak(bool),
    Copy(&'a str, &'a [String]),
    Other(String, Option<At<'a>>),
}

fn key(record: &Record) -> Key<'_> {
    match &record.what {
        What::Access(access) => Key::Access(access.space, access.direction, access.size, place(record)),
        What::Uninitialised(access) => Key::Uninitialised(access.space, access.size, place(record)),
        What::Race { .. } | What::Hazard(_) => Key::Parties(parties(record)),
        What::Leak { device_heap, .. } => Key::Leak(*device_heap),
        What::UninitialisedCopy { api, .. } => Key::Copy(api, &record.host),
        what => Key::Other(format!("{what:?}"), place(record)),
    }
}

/// Whether it happened in a kernel.
pub(super) fn is_on_device(what: &What) -> bool {
    !matches!(what, What::Leak { .. } | What::Api(_) | What::UninitialisedCopy { .. } | What::Unrecognised { .. })
}

/// Whether the context does not survive it.
pub(super) fn ends_context(what: &What) -> bool {
    matches!(
        what,
        What::Access(_) | What::HeapCall { .. } | What::Fault { .. } | What::Barrier { .. } | What::Warpgroup { .. }
    )
}

/// Errors in kernels that were counted and not printed. Leaks come from their own summary; and after an error that ends
/// the context, memcheck counts the call that then fails.
fn unprinted(run: &Run) -> u64 {
    let printed = |kind: fn(&What) -> bool| run.records.iter().filter(|record| kind(&record.what)).count() as u64;
    let leaks = run.leaked.map_or(0, |(_, allocations)| allocations);
    let leaks = leaks.saturating_sub(printed(|what| matches!(what, What::Leak { .. })));
    let calls = printed(|what| matches!(what, What::Api(_)));
    let aborted = run.records.iter().any(|record| ends_context(&record.what));
    let call = u64::from(run.tool == Tool::Memcheck && aborted && run.program_failed && calls == 0);
    run.not_printed.saturating_sub(leaks).saturating_sub(call)
}

fn same(a: &Record, b: &Record) -> bool {
    match (&a.what, &b.what) {
        (What::Access(x), What::Access(y)) => {
            (x.space, x.direction, x.size) == (y.space, y.direction, y.size)
                && alike(&x.problem, &y.problem)
                && place(a) == place(b)
        }
        (What::Uninitialised(x), What::Uninitialised(y)) => {
            (x.space, x.size) == (y.space, y.size) && place(a) == place(b)
        }
        (What::Race { .. }, What::Race { .. }) => parties(a) == parties(b),
        (What::Hazard(x), What::Hazard(y)) => {
            (&x.kind, x.async_copy, parties(a)) == (&y.kind, y.async_copy, parties(b))
        }
        (What::Leak { device_heap: x, .. }, What::Leak { device_heap: y, .. }) => x == y,
        (What::UninitialisedCopy { api: x, .. }, What::UninitialisedCopy { api: y, .. }) => x == y && a.host == b.host,
        (x, y) => x == y && place(a) == place(b),
    }
}

/// A record that was cut does not say what is wrong.
fn alike(a: &Problem, b: &Problem) -> bool {
    let unknown = |problem: &Problem| *problem == Problem::Other(String::new());
    unknown(a) || unknown(b) || std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn place(record: &Record) -> Option<At<'_>> {
    record.place.as_ref().map(at)
}

fn parties(record: &Record) -> Vec<At<'_>> {
    record.places().map(at).collect()
}

type At<'a> = (&'a str, Option<&'a str>, Option<u32>, Option<u64>);

/// A line, or an instruction where lines are not known.
fn at(place: &Place) -> At<'_> {
    let offset = place.offset.filter(|_| place.line.is_none());
    (&place.function, place.file.as_deref(), place.line, offset)
}
