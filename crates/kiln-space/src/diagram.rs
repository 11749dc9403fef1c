//! The layered graph of a group's valid assignments: every path from the root is one, every state knows how many paths
//! leave it. In: levels of edges as they were found. Out: the same without dead ends, counted; lookups by index and by
//! values in as many steps as there are tunables.

/// One value leading to one state of the next level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Index into the tunable's list of values.
    pub(crate) value: u32,
    /// State of the next level; the only one behind the last is 0.
    pub(crate) child: u32,
}

/// The edges of one tunable: those of state `s` are `starts[s]..starts[s + 1]`, in order of value.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) tunable: usize,
    pub(crate) starts: Vec<u32>,
    pub(crate) edges: Vec<Edge>,
    /// Paths that leave each state.
    counts: Vec<u128>,
}

impl Level {
    pub(crate) fn new(tunable: usize) -> Level {
        Level { tunable, starts: Vec::new(), edges: Vec::new(), counts: Vec::new() }
    }

    /// Begins a new state, whose edges are those pushed from now on. The end of the last is pushed when all are in.
    pub(crate) fn open(&mut self) -> u32 {
        self.starts.push(self.edges.len() as u32);
        self.starts.len() as u32 - 1
    }

    /// Ends the last state.
    pub(crate) fn close(&mut self) {
        self.starts.push(self.edges.len() as u32);
    }

    pub(crate) fn edges_of(&self, state: u32) -> &[Edge] {
        &self.edges[self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize]
    }

    /// How many states have been begun.
    pub(crate) fn begun(&self) -> usize {
        self.starts.len()
    }

    /// How many states it has, once it is closed.
    pub(crate) fn states(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// A group's valid assignments.
#[derive(Debug, Clone)]
pub(crate) struct Diagram {
    levels: Vec<Level>,
}

impl Diagram {
    /// Counts paths from the last level to the first and drops states that none leaves.
    pub(crate) fn finish(mut levels: Vec<Level>) -> Diagram {
        const DROPPED: u32 = u32::MAX;
        // Behind the last level there is one state (or none was reached).
        let mut renumbered: Vec<u32> = vec![0];
        let mut below: Vec<u128> = vec![1];
        for level in levels.iter_mut().rev() {
            let mut starts = Vec::with_capacity(level.starts.len());
            let mut numbers = Vec::with_capacity(level.states());
            let mut counts = Vec::new();
            let mut kept = 0;
            starts.push(0);
            for state in 0..level.states() {
                let mut count = 0u128;
                let first = kept;
                for position in level.starts[state] as usize..level.starts[state + 1] as usize {
                    let edge = level.edges[position];
                    let child = renumbered[edge.child as usize];
                    if child != DROPPED {
                        // A group of 2^128 paths cannot be reached with fewer edges than fit in memory, unless
                        // nearly nothing is refused; such a count is reported as too large by the caller.
                        count = count.saturating_add(below[child as usize]);
                        level.edges[kept] = Edge { value: edge.value, child };
                        kept += 1;
                    }
                }
                if kept > first {
                    numbers.push(counts.len() as u32);
                    counts.push(count);
                    starts.push(kept as u32);
                } else {
                    numbers.push(DROPPED);
                }
            }
            level.edges.truncate(kept);
            level.edges.shrink_to_fit();
            level.starts = starts;
            level.counts.clone_from(&counts);
            below = counts;
            renumbered = numbers;
        }
        Diagram { levels }
    }

    /// A single tunable with these values, none refused.
    pub(crate) fn free(tunable: usize, values: &[u32]) -> Diagram {
        let edges = values.iter().map(|v| Edge { value: *v, child: 0 }).collect();
        let starts = vec![0, values.len() as u32];
        Diagram { levels: vec![Level { tunable, starts, edges, counts: vec![values.len() as u128] }] }
    }

    /// How many assignments there are.
    pub(crate) fn count(&self) -> u128 {
        self.levels.first().and_then(|l| l.counts.first()).copied().unwrap_or(0)
    }

    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Paths that leave a state of a level; the state behind the last has one.
    pub(crate) fn count_at(&self, level: usize, state: u32) -> u128 {
        self.levels.get(level).map_or(1, |l| l.counts[state as usize])
    }

    /// Writes the values of assignment `index` (below the count) into `point`.
    pub(crate) fn write(&self, mut index: u128, point: &mut [u32]) {
        let mut state = 0;
        for (depth, level) in self.levels.iter().enumerate() {
            for edge in level.edges_of(state) {
                let count = self.count_at(depth + 1, edge.child);
                if index < count {
                    point[level.tunable] = edge.value;
                    state = edge.child;
                    break;
                }
                index -= count;
            }
        }
    }

    /// The index of the assignment in `point`, if it is valid.
    pub(crate) fn find(&self, point: &[u32]) -> Option<u128> {
        let mut state = 0;
        let mut index = 0;
        if self.count() == 0 {
            return None;
        }
        for (depth, level) in self.levels.iter().enumerate() {
            let edges = level.edges_of(state);
            let position = edges.binary_search_by_key(&point[level.tunable], |e| e.value).ok()?;
            index += edges[..position].iter().map(|e| self.count_at(depth + 1, e.child)).sum::<u128>();
            state = edges[position].child;
        }
        Some(index)
    }
}
