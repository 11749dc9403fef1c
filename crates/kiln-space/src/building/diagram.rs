//! The layered graph of a group's valid assignments: every path from the root is one, every state knows how many paths
//! leave it. In: levels of edges as they were found. Out: the same without dead ends, counted; lookups by index and by
//! values in as many steps as there are tunables. Refuses 2^128 paths and more.

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
    /// Paths by the edges of a state before each edge, so that an index is found by halves; empty where states have so
    /// few edges that adding them up is as quick.
    before: Vec<u128>,
}

/// States with more edges than this are searched by halves.
const WIDE: usize = 16;
/// Levels with fewer edges keep the little room they have to spare.
const WORTH_SHRINKING: usize = 1024;
/// Room for the edges of a small group, which then never move.
const FEW: usize = 32;

impl Level {
    pub(crate) fn new(tunable: usize) -> Level {
        let (starts, edges) = (Vec::with_capacity(FEW), Vec::with_capacity(FEW));
        Level { tunable, starts, edges, counts: Vec::new(), before: Vec::new() }
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

    /// The running counts of a state's edges, where they are kept.
    fn before_of(&self, state: u32) -> Option<&[u128]> {
        let range = self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize;
        self.before.get(range).filter(|b| !b.is_empty())
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
    /// Counts paths from the last level to the first and drops states that none leaves; none when there are too many.
    pub(crate) fn finish(mut levels: Vec<Level>) -> Option<Diagram> {
        const DROPPED: u32 = u32::MAX;
        // Behind the last level there is one state (or none was reached).
        let mut renumbered: Vec<u32> = vec![0];
        let mut numbers = Vec::new();
        for depth in (0..levels.len()).rev() {
            let (above, behind) = levels.split_at_mut(depth + 1);
            let below: &[u128] = behind.first().map_or(&[1], |l| &l.counts);
            let level = &mut above[depth];
            numbers.clear();
            numbers.reserve(level.states());
            let mut counts = Vec::with_capacity(level.states());
            // What is kept moves up in place: never beyond where it is read.
            let (mut kept, mut widest, mut start) = (0, 0, 0);
            for state in 0..level.states() {
                let mut count = 0u128;
                let first = kept;
                let end = level.starts[state + 1] as usize;
                for position in start..end {
                    let edge = level.edges[position];
                    let child = renumbered[edge.child as usize];
                    if child != DROPPED {
                        count = count.checked_add(below[child as usize])?;
                        level.edges[kept] = Edge { value: edge.value, child };
                        kept += 1;
                    }
                }
                start = end;
                widest = widest.max(kept - first);
                if kept > first {
                    numbers.push(counts.len() as u32);
                    counts.push(count);
                    level.starts[counts.len()] = kept as u32;
                } else {
                    numbers.push(DROPPED);
                }
            }
            level.edges.truncate(kept);
            level.starts.truncate(counts.len() + 1);
            if kept > WORTH_SHRINKING {
                level.edges.shrink_to_fit();
                level.starts.shrink_to_fit();
                counts.shrink_to_fit();
            }
            level.counts = counts;
            if widest > WIDE {
                level.before = running(&level.starts, &level.edges, below);
            }
            std::mem::swap(&mut renumbered, &mut numbers);
        }
        Some(Diagram { levels })
    }

    /// A single tunable with these values, none refused.
    pub(crate) fn free(tunable: usize, values: &[u32]) -> Diagram {
        let edges: Vec<Edge> = values.iter().map(|v| Edge { value: *v, child: 0 }).collect();
        let starts = vec![0, values.len() as u32];
        let before = if edges.len() > WIDE { (0..edges.len() as u128).collect() } else { vec![] };
        Diagram { levels: vec![Level { tunable, starts, edges, counts: vec![values.len() as u128], before }] }
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
        for depth in 0..self.levels.len() {
            let level = &self.levels[depth];
            let edges = level.edges_of(state);
            let position = match level.before_of(state) {
                Some(before) => before.partition_point(|paths| *paths <= index) - 1,
                None => {
                    let mut passed = 0;
                    let reaches = |e: &Edge| {
                        let end = passed + self.count_at(depth + 1, e.child);
                        let found = index < end;
                        if !found {
                            passed = end;
                        }
                        found
                    };
                    edges.iter().position(reaches).unwrap_or(0)
                }
            };
            index -= self.paths_before(depth, state, position);
            point[level.tunable] = edges[position].value;
            state = edges[position].child;
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
            index += self.paths_before(depth, state, position);
            state = edges[position].child;
        }
        Some(index)
    }

    /// Paths by the edges of a state that come before one of them.
    fn paths_before(&self, depth: usize, state: u32, position: usize) -> u128 {
        let level = &self.levels[depth];
        match level.before_of(state) {
            Some(before) => before[position],
            None => level.edges_of(state)[..position].iter().map(|e| self.count_at(depth + 1, e.child)).sum(),
        }
    }

    /// The first path, as positions of edges within their states; `point` gets its values.
    pub(crate) fn first(&self, point: &mut [u32]) -> Vec<u32> {
        let mut path = vec![0; self.levels.len()];
        self.descend(&mut path, 0, 0, point);
        path
    }

    /// The path after this one, written into `path` and `point`; false behind the last, when both are the first again.
    pub(crate) fn advance(&self, path: &mut [u32], point: &mut [u32]) -> bool {
        // States along the path, so that going back up needs no search.
        let mut states = Vec::with_capacity(path.len());
        let mut state = 0;
        for (level, position) in self.levels.iter().zip(path.iter()) {
            states.push(state);
            state = level.edges_of(state)[*position as usize].child;
        }
        for depth in (0..path.len()).rev() {
            let edges = self.levels[depth].edges_of(states[depth]);
            if (path[depth] as usize) + 1 < edges.len() {
                path[depth] += 1;
                let edge = edges[path[depth] as usize];
                point[self.levels[depth].tunable] = edge.value;
                self.descend(path, depth + 1, edge.child, point);
                return true;
            }
        }
        self.descend(path, 0, 0, point);
        false
    }

    /// Takes the first edge of every state from `depth` on.
    fn descend(&self, path: &mut [u32], depth: usize, mut state: u32, point: &mut [u32]) {
        for (level, position) in self.levels.iter().zip(path).skip(depth) {
            *position = 0;
            let edge = level.edges_of(state)[0];
            point[level.tunable] = edge.value;
            state = edge.child;
        }
    }
}

/// For each edge the paths by those before it in the same state.
fn running(starts: &[u32], edges: &[Edge], below: &[u128]) -> Vec<u128> {
    let mut before = Vec::with_capacity(edges.len());
    for state in starts.windows(2) {
        let mut paths = 0;
        for edge in &edges[state[0] as usize..state[1] as usize] {
            before.push(paths);
            paths += below[edge.child as usize];
        }
    }
    before
}
