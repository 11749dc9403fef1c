//! Small groups, the direct way: all assignments are tried, and those that keep every clause written down as a trie.
//! Ordering and merging pay off only when there are more of them.

use crate::building::bind::Unbuilt;
use crate::building::diagram::{Diagram, Edge, Level};
use crate::building::group::Group;
use crate::problem::Problem;
use crate::rules::clause::{Clauses, members};
use crate::rules::trial::{ClauseTrial, Finding};

/// Groups with at most this many assignments are tabulated.
const MOST_ROWS: usize = 256;

/// The valid assignments of a small group; none when it is not small.
pub(crate) fn tabulate(problem: &Problem, all: &Clauses, group: &Group) -> Option<Result<Diagram, Unbuilt>> {
    let tunables: Vec<usize> = members(group.mask).collect();
    tunables
        .iter()
        .try_fold(1usize, |rows, t| rows.checked_mul(all.domains[*t].len()).filter(|rows| *rows <= MOST_ROWS))?;
    let trial = ClauseTrial::new(&all.graph, &all.masks, &group.clauses, group.mask);
    let (row, trie) = (vec![0; tunables.len()], Trie::new(&tunables));
    let mut table = Table { problem, all, tunables: &tunables, trial, row, trie };
    Some(match table.fill(0, Finding::Holds) {
        Ok(()) => table.trie.finish().ok_or(Unbuilt::TooMany),
        Err(Failing) => Err(Unbuilt::Failing(tunables.iter().copied().zip(table.row).collect())),
    })
}

/// The row at hand cannot be judged.
struct Failing;

struct Table<'a> {
    problem: &'a Problem,
    all: &'a Clauses,
    tunables: &'a [usize],
    trial: ClauseTrial<'a>,
    row: Vec<u32>,
    trie: Trie,
}

impl Table<'_> {
    /// Tries all values of the tunables from `depth` on, given what was found before; they come in the order of a trie.
    fn fill(&mut self, depth: usize, before: Finding) -> Result<(), Failing> {
        let tunable = self.tunables[depth];
        for value in &self.all.domains[tunable] {
            let here = self.trial.bind(depth, &self.problem.dimensions[tunable].values[*value as usize]);
            if here == Finding::Refuses {
                continue;
            }
            // What fails may yet be refused by a clause that is decided later.
            let found = if here == Finding::Holds { before } else { here };
            self.row[depth] = *value;
            if depth + 1 < self.tunables.len() {
                self.fill(depth + 1, found)?;
            } else if found == Finding::Fails {
                return Err(Failing);
            } else {
                self.trie.add(&self.row);
            }
        }
        Ok(())
    }
}

/// Rows that come in lexicographic order, as a graph.
pub(crate) struct Trie {
    levels: Vec<Level>,
}

impl Trie {
    pub(crate) fn new(tunables: &[usize]) -> Trie {
        let mut levels: Vec<Level> = tunables.iter().map(|t| Level::new(*t)).collect();
        // The root exists even when no row comes.
        if let Some(root) = levels.first_mut() {
            root.open();
        }
        Trie { levels }
    }

    /// Adds a row behind the last.
    pub(crate) fn add(&mut self, row: &[u32]) {
        // As far as a row goes the way of the last one, no edge is needed.
        let last = self.levels.iter().map(|level| level.edges.last().map(|edge| edge.value));
        let shared = last.zip(row).take_while(|(last, value)| *last == Some(**value)).count();
        for i in shared..row.len() {
            // A new edge leads to a new state of the next level, which begins where that level's edges end now.
            let child = if i + 1 == row.len() { 0 } else { self.levels[i + 1].open() };
            self.levels[i].edges.push(Edge { value: row[i], child });
        }
    }

    pub(crate) fn finish(mut self) -> Option<Diagram> {
        self.levels.iter_mut().for_each(Level::close);
        Diagram::finish(self.levels)
    }
}
