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
    let table = assignments(all, &tunables, rows);
    let row = |row: usize| &table[row * tunables.len()..][..tunables.len()];
    let wanted: Vec<NodeId> = group.clauses.iter().map(|c| c.node).collect();
    let mut evaluator = Evaluator::new(&all.graph, &wanted, &[]);
    for (i, tunable) in tunables.iter().enumerate() {
        if let Some(input) = all.graph.find(&Op::Input(*tunable as u32)) {
            let values = &problem.dimensions[*tunable].values;
            let of_rows = table.iter().skip(i).step_by(tunables.len()).map(|v| &values[*v as usize]);
            evaluator.set(input, column(rows, of_rows));
        }
    }
    evaluator.run(&all.graph, rows);
    let alive = match survivors(&evaluator, &wanted, rows) {
        Ok(alive) => alive,
        Err(failing) => {
            let assignment = tunables.iter().zip(row(failing)).map(|(t, v)| (*t, *v)).collect();
            return Some(Err(Unbuilt::Failing(assignment)));
        }
    };
    Some(trie(&tunables, (0..rows).filter(|i| alive[*i]).map(row)).ok_or(Unbuilt::TooMany))
}

/// All assignments, row by row. The last tunable varies fastest, so that survivors come in the order of a trie.
fn assignments(all: &Clauses, tunables: &[usize], rows: usize) -> Vec<u32> {
    let mut table = Vec::with_capacity(rows * tunables.len());
    let mut positions = vec![0; tunables.len()];
    for _ in 0..rows {
        table.extend(tunables.iter().zip(&positions).map(|(t, p): (_, &usize)| all.domains[*t][*p]));
        for (tunable, position) in tunables.iter().zip(&mut positions).rev() {
            *position += 1;
            if *position < all.domains[*tunable].len() {
                break;
            }
            *position = 0;
        }
    }
    table
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
pub(crate) fn trie<'a>(tunables: &[usize], rows: impl Iterator<Item = &'a [u32]>) -> Option<Diagram> {
    let mut levels: Vec<Level> = tunables.iter().map(|t| Level::new(*t)).collect();
    // The root exists even when no row comes.
    if let Some(root) = levels.first_mut() {
        root.open();
    }
    let mut previous: &[u32] = &[];
    for row in rows {
        let shared = previous.iter().zip(row).take_while(|(a, b)| a == b).count();
        for i in shared..tunables.len() {
            let last = i + 1 == tunables.len();
            // A new edge leads to a new state of the next level, which begins where that level's edges end now.
            let child = if last { 0 } else { levels[i + 1].open() };
            levels[i].edges.push(Edge { value: row[i], child });
        }
        previous = row;
    }
    levels.iter_mut().for_each(Level::close);
    Diagram::finish(levels)
}

/// A column of values, without cloning numbers.
fn column<'a>(rows: usize, values: impl Iterator<Item = &'a Value> + Clone) -> Column {
    let mut ints = Vec::with_capacity(rows);
    for value in values.clone() {
        let Value::Int(int) = value else {
            return Column::from_values(&values.cloned().collect::<Vec<_>>());
        };
        ints.push(*int);
    }
    Column::Int(ints)
}
