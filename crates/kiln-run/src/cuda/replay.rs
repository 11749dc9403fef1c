//! A sample's calls as graphs. In: a call and how many a sample holds, each on a set of its own. Out: graphs that make up that
//! many, each replayed once already so that the first timed replay is like any other. Refuses what cannot be recorded, and
//! recordings of host launchers that turn out to leave the work out.

use std::ops::Range;
use std::time::Duration;

use super::buffer;
use super::call::Call;
use super::context::Context;
use super::driver::Trouble;
use super::graph::Graph;
use super::memory::Shared;
use crate::protocol::MappedSlot;

/// Nodes of one graph at most: making a graph takes time for each.
const MOST_NODES: usize = 1024;
/// What the first replay of a graph may cost. Where it costs more, what it would smooth out does not matter.
const FIRST_REPLAY: Duration = Duration::from_millis(25);
/// Bytes of an output that are looked at to see that a recording writes it.
const HEAD: usize = 4096;

/// Graphs, and how often each is replayed in a sample.
pub(super) struct Replay {
    parts: Vec<(Graph, u32)>,
    /// The kernels of all of them, each once; none where some are not known.
    pub(super) kernels: Vec<String>,
}

impl Replay {
    /// Records `calls` calls. `took` is how long one takes, `slots` and `shared` are where it writes.
    pub(super) fn record(
        context: &Context,
        call: &mut Call,
        calls: u32,
        took: Duration,
        (slots, shared): (&[MappedSlot], &Shared),
    ) -> Result<Replay, Trouble> {
        let mut parts = Vec::new();
        for (numbers, times) in split(calls, call.sets(), call.steps()) {
            let each = numbers.len() as u32;
            let graph = Graph::record(context.stream, || numbers.clone().try_for_each(|number| call.enqueue(number)))?;
            if call.is_foreign() && parts.is_empty() {
                writes(&graph, context, slots, shared)?;
            } else if took.saturating_mul(each) <= FIRST_REPLAY {
                graph.launch(context.stream)?;
            }
            parts.push((graph, times));
        }
        context.synchronise()?;
        let kernels = all_of(parts.iter().map(|(graph, _)| graph.kernels.as_deref()));
        Ok(Replay { parts, kernels })
    }

    /// Puts a sample's calls on the stream.
    pub(super) fn enqueue(&self, context: &Context) -> Result<(), Trouble> {
        self.parts.iter().try_for_each(|(graph, times)| (0..*times).try_for_each(|_| graph.launch(context.stream)))
    }
}

/// The names of several lists, each once; nothing where one of the lists is not known.
fn all_of<'n>(lists: impl Iterator<Item = Option<&'n [String]>>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for list in lists {
        let Some(list) = list else { return Vec::new() };
        for name in list {
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
    }
    all
}

/// The numbers of the calls of each graph, and how often it is replayed. One that is replayed again begins with the first
/// set each time.
fn split(calls: u32, sets: u32, steps: usize) -> Vec<(Range<u32>, u32)> {
    let most = u32::try_from((MOST_NODES / steps.max(1)).max(1)).unwrap_or(u32::MAX);
    let sets = sets.max(1);
    if most < sets.min(calls) {
        let last = calls.min(sets);
        let mut parts: Vec<_> =
            (0..last).step_by(most as usize).map(|start| (start..last.min(start.saturating_add(most)), 1)).collect();
        // More calls than sets, and more sets than fit: whole rows of graphs, one after another.
        let row = parts.clone();
        (1..calls / last).for_each(|_| parts.extend(row.iter().cloned()));
        parts.extend(
            row.into_iter().map(|(r, n)| (r.start..r.end.min(calls % last), n)).filter(|(r, _)| r.start < r.end),
        );
        return parts;
    }
    let each = if calls <= most { calls } else { most - most % sets };
    let parts = [(0..each, calls / each.max(1)), (0..calls % each.max(1), 1)];
    parts.into_iter().filter(|(numbers, times)| !numbers.is_empty() && *times > 0).collect()
}

/// Whether replaying a host launcher's recording writes its outputs. A launcher that uses a stream of its own runs at once
/// when it is recorded, and leaves a recording without the work, which would seem infinitely fast.
fn writes(graph: &Graph, context: &Context, slots: &[MappedSlot], shared: &Shared) -> Result<(), Trouble> {
    context.synchronise()?;
    let mut heads = Vec::new();
    for slot in slots.iter().filter(|slot| matches!(slot.role.as_str(), "out" | "inout")) {
        let (start, bytes) = slot.part.unwrap_or((0, slot.bytes));
        let address = shared.at(0, slot.offset + start);
        let held = buffer::read(address, bytes.min(HEAD))?;
        let fresh = slot.role == "out";
        // An output that is only written may hold anything before: the opposite of what it holds is not the answer.
        let before = if fresh { held.iter().map(|byte| !byte).collect() } else { held.clone() };
        if fresh {
            buffer::write(address, &before)?;
        }
        heads.push((address, held, before, fresh));
    }
    graph.launch(context.stream)?;
    context.synchronise()?;
    let mut written = false;
    for (address, held, before, fresh) in heads {
        written |= buffer::read(address, before.len())? != before;
        // What lies between rows is nobody's to change.
        if fresh {
            buffer::write(address, &held)?;
        }
    }
    if written { Ok(()) } else { Err("cuGraphLaunch: the recording writes no output".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_several_graphs_are_known_only_where_all_are() {
        let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let (one, other) = (list(&["a", "b"]), list(&["b", "c"]));
        assert_eq!(all_of([Some(&one[..]), Some(&other[..])].into_iter()), ["a", "b", "c"]);
        assert_eq!(all_of([Some(&one[..]), None].into_iter()), Vec::<String>::new());
    }

    #[test]
    fn graphs_make_up_the_calls_that_were_asked_for() {
        assert_eq!(split(1, 1, 1), [(0..1, 1)]);
        assert_eq!(split(1000, 1, 1), [(0..1000, 1)]);
        assert_eq!(split(5000, 1, 1), [(0..1024, 4), (0..904, 1)]);
        assert_eq!(split(2048, 1, 2), [(0..512, 4)]);
        assert_eq!(split(3, 1, 5000), [(0..1, 3)]);
        assert_eq!(split(0, 1, 1), []);
        for (calls, sets, steps) in
            [(17, 1, 3), (4096, 5, 8), (64, 64, 1), (64, 64, 100), (200, 64, 100), (1025, 64, 1)]
        {
            let parts = split(calls, sets, steps);
            // In order, each call on the set of its number.
            let numbers = parts.iter().flat_map(|(numbers, times)| (0..*times).flat_map(|_| numbers.clone()));
            let used: Vec<u32> = numbers.map(|number| number % sets).collect();
            assert_eq!(used, (0..calls).map(|number| number % sets).collect::<Vec<_>>(), "{calls} {sets} {steps}");
            assert!(parts.iter().all(|(numbers, _)| numbers.len() == 1 || numbers.len() * steps <= MOST_NODES));
        }
    }
}
