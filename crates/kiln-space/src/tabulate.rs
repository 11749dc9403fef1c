//! Small groups, the direct way: all assignments are evaluated at once and the survivors written down as a trie. Ordering
//! and merging pay off only when there are more assignments than fit in a few columns.

use kiln_core::Value;
use kiln_expr::{Column, Evaluator, NodeId, Op};

use crate::bind::Unbuilt;
use crate::clause::{Clauses, members};
use crate::diagram::{Diagram, Edge, Level};
use crate::group::Group;
use crate::problem::Problem;

/// Groups with at most this many assignments are tabulated.
const MOST_ROWS: usize = 256;

/// The valid assignments of a small group; none when it is not small.
pub(crate) fn tabulate(problem: &Problem, all: &Clauses, group: &Group) -> Option<Result<Diagram, Unbuilt>> {
    let tunables: Vec<usize> = members(group.mask).collect();
    let rows = tunables
        .iter()
        .try_fold(1usize, |rows, t| rows.checked_mul(all.domains[*t].len()).filter(|rows| *rows <= MOST_ROWS))?;
    // The last tunable varies fastest, so that survivors come in the order of a trie.
    let mut strides = vec![1; tunables.len()];
    for i in (1..tunables.len()).rev() {
        strides[i - 1] = strides[i] * all.domains[tunables[i]].len();
    }
    let value = |row: usize, i: usize| {
        let domain = &all.domains[tunables[i]];
        domain[row / strides[i] % domain.len()]
    };
    let wanted: Vec<NodeId> = group.clauses.iter().map(|c| c.node).collect();
    let mut evaluator = Evaluator::new(&all.graph, &wanted, &[]);
    for (i, tunable) in tunables.iter().enumerate() {
        if let Some(input) = all.graph.find(&Op::Input(*tunable as u32)) {
            let values = &problem.dimensions[*tunable].values;
            evaluator.set(input, column(rows, |row| &values[value(row, i) as usize]));
        }
    }
    evaluator.run(&all.graph, rows);
    let alive = match survivors(&evaluator, &wanted, rows) {
        Ok(alive) => alive,
        Err(row) => {
            let assignment = tunables.iter().enumerate().map(|(i, t)| (*t, value(row, i))).collect();
            return Some(Err(Unbuilt::Failing(assignment)));
        }
    };
    Some(trie(&tunables, (0..rows).filter(|row| alive[*row]), value).ok_or(Unbuilt::TooMany))
}

/// The rows that keep every clause, or a row that some clause fails on and none refuses.
fn survivors(evaluator: &Evaluator, clauses: &[NodeId], rows: usize) -> Result<Vec<bool>, usize> {
    let mut alive = vec![true; rows];
    let mut failed = vec![false; rows];
    for clause in clauses {
        let column = evaluator.column(*clause);
        match evaluator.failures(*clause) {
            None => alive.iter_mut().enumerate().for_each(|(row, alive)| *alive &= column.truth(row)),
            Some(failures) => {
                for row in 0..rows {
                    failed[row] |= failures[row];
                    alive[row] &= failures[row] || column.truth(row);
                }
            }
        }
    }
    match (0..rows).find(|row| alive[*row] && failed[*row]) {
        Some(row) => Err(row),
        None => Ok(alive),
    }
}

/// The trie of rows that come in lexicographic order.
fn trie(tunables: &[usize], rows: impl Iterator<Item = usize>, value: impl Fn(usize, usize) -> u32) -> Option<Diagram> {
    let mut levels: Vec<Level> = tunables.iter().map(|t| Level::new(*t)).collect();
    // The root exists even when no row comes.
    if let Some(root) = levels.first_mut() {
        root.open();
    }
    let mut previous: Option<usize> = None;
    for row in rows {
        let shared = previous.map_or(0, |p| (0..tunables.len()).take_while(|i| value(p, *i) == value(row, *i)).count());
        for i in shared..tunables.len() {
            let last = i + 1 == tunables.len();
            // A new edge leads to a new state of the next level, which begins where that level's edges end now.
            let child = if last { 0 } else { levels[i + 1].open() };
            levels[i].edges.push(Edge { value: value(row, i), child });
        }
        previous = Some(row);
    }
    levels.iter_mut().for_each(Level::close);
    Diagram::finish(levels)
}

/// A column of values looked up row by row, without cloning numbers.
fn column<'a>(rows: usize, value: impl Fn(usize) -> &'a Value) -> Column {
    let ints: Option<Vec<i64>> =
        (0..rows).map(|row| if let Value::Int(v) = value(row) { Some(*v) } else { None }).collect();
    match ints {
        Some(ints) => Column::Int(ints),
        None => Column::from_values(&(0..rows).map(|row| value(row).clone()).collect::<Vec<_>>()),
    }
}
