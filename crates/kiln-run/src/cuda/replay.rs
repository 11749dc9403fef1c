//! A sample's calls as graphs. In: a call and how many a sample holds. Out: graphs that make up that many, each replayed
//! once already so that the first timed replay is like any other. Refuses what cannot be recorded, and recordings of host
//! launchers that turn out to leave the work out.

use std::time::Duration;

use super::buffer::{self, Buffer};
use super::call::Call;
use super::context::Context;
use super::driver::Trouble;
use super::graph::Graph;
use crate::protocol::Slot;

/// Nodes of one graph at most: making a graph takes time for each.
const MOST_NODES: usize = 1024;
/// What the first replay of a graph may cost. Where it costs more, what it would smooth out does not matter.
const FIRST_REPLAY: Duration = Duration::from_millis(25);
/// Bytes of an output that are looked at to see that a recording writes it.
const HEAD: usize = 4096;

/// Graphs, and how often each is replayed in a sample.
pub(super) struct Replay {
    parts: Vec<(Graph, u32)>,
}

impl Replay {
    /// Records `calls` calls. `took` is how long one takes, `slots` and `mirror` are where it writes.
    pub(super) fn record(
        context: &Context,
        call: &mut Call,
        calls: u32,
        took: Duration,
        (slots, mirror): (&[Slot], &Buffer),
    ) -> Result<Replay, Trouble> {
        let mut parts = Vec::new();
        for (each, times) in split(calls, call.steps()) {
            let graph = Graph::record(context.stream, || (0..each).try_for_each(|_| call.enqueue()))?;
            if call.is_foreign() && parts.is_empty() {
                writes(&graph, context, slots, mirror)?;
            } else if took.saturating_mul(each) <= FIRST_REPLAY {
                graph.launch(context.stream)?;
            }
            parts.push((graph, times));
        }
        context.synchronise()?;
        Ok(Replay { parts })
    }

    /// Puts a sample's calls on the stream.
    pub(super) fn enqueue(&self, context: &Context) -> Result<(), Trouble> {
        self.parts.iter().try_for_each(|(graph, times)| (0..*times).try_for_each(|_| graph.launch(context.stream)))
    }
}

/// Calls of each graph and how often it is replayed.
fn split(calls: u32, steps: usize) -> Vec<(u32, u32)> {
    let most = u32::try_from((MOST_NODES / steps.max(1)).max(1)).unwrap_or(u32::MAX);
    let each = most.min(calls.max(1));
    [(each, calls / each), (calls % each, 1)].into_iter().filter(|(each, times)| *each > 0 && *times > 0).collect()
}

/// Whether replaying a host launcher's recording writes its outputs. A launcher that uses a stream of its own runs at once
/// when it is recorded, and leaves a recording without the work, which would seem infinitely fast.
fn writes(graph: &Graph, context: &Context, slots: &[Slot], mirror: &Buffer) -> Result<(), Trouble> {
    context.synchronise()?;
    let mut heads = Vec::new();
    for slot in slots.iter().filter(|slot| matches!(slot.role.as_str(), "out" | "inout")) {
        let address = mirror.at(slot.offset);
        let held = buffer::read(address, slot.bytes.min(HEAD))?;
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
    fn graphs_make_up_the_calls_that_were_asked_for() {
        assert_eq!(split(1, 1), [(1, 1)]);
        assert_eq!(split(1000, 1), [(1000, 1)]);
        assert_eq!(split(5000, 1), [(1024, 4), (904, 1)]);
        assert_eq!(split(2048, 2), [(512, 4)]);
        assert_eq!(split(3, 5000), [(1, 3)]);
        assert_eq!(split(0, 1), []);
        for (calls, steps) in [(17, 3), (4096, 8), (u32::MAX, 1), (1025, 1)] {
            let made: u64 = split(calls, steps).iter().map(|(each, times)| u64::from(*each) * u64::from(*times)).sum();
            assert_eq!(made, u64::from(calls));
        }
    }
}
