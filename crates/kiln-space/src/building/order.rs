//! In which order a group's tunables are bound. In: the clauses of one group. Out: an order that keeps the number of
//! distinct states small, estimated from what the unfinished clauses still need of the bound tunables. The estimate
//! depends only on the *set* of bound tunables, so small groups are solved exactly over subsets, larger ones greedily.

use kiln_expr::{BinaryOp, Column, Evaluator, NodeId, Op, Range};

use crate::problem::Problem;
use crate::rules::clause::{Clause, Clauses, Mask, members};

/// Groups up to this size are ordered exactly: 2^9 subsets cost well under a millisecond.
const EXACT_UP_TO: usize = 9;
/// Clauses with at most this many assignments are tried on all of them to learn how much they refuse.
const TRIED_ASSIGNMENTS: usize = 1024;
/// What a clause is taken to let through when it was not tried.
const ASSUMED_PASSING: f64 = 0.4;

/// The tunables of `mask` in the order they should be bound.
pub(crate) fn order(problem: &Problem, all: &Clauses, clauses: &[Clause], mask: Mask) -> Vec<usize> {
    let members: Vec<usize> = members(mask).collect();
    if members.len() == 1 {
        return members;
    }
    let estimator = Estimator { all, clauses, passing: clauses.iter().map(|c| passing(problem, all, c)).collect() };
    if members.len() <= EXACT_UP_TO { exact(&estimator, &members) } else { greedy(&estimator, &members) }
}

fn exact(estimator: &Estimator<'_>, members: &[usize]) -> Vec<usize> {
    let subsets = 1usize << members.len();
    let to_mask = |subset: usize| {
        members.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1).fold(0, |m: Mask, (_, t)| m | 1 << t)
    };
    let mut best = vec![(f64::INFINITY, usize::MAX); subsets];
    best[0] = (0.0, usize::MAX);
    for subset in 0..subsets - 1 {
        let states = estimator.states(to_mask(subset));
        for (i, tunable) in members.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 0) {
            let cost = best[subset].0 + states * estimator.all.domains[*tunable].len() as f64;
            let next = subset | 1 << i;
            if cost < best[next].0 {
                best[next] = (cost, i);
            }
        }
    }
    let mut order = Vec::with_capacity(members.len());
    let mut subset = subsets - 1;
    while subset != 0 {
        let last = best[subset].1;
        order.push(members[last]);
        subset ^= 1 << last;
    }
    order.reverse();
    order
}

fn greedy(estimator: &Estimator<'_>, members: &[usize]) -> Vec<usize> {
    let mut left = members.to_vec();
    let mut order = Vec::with_capacity(members.len());
    let mut bound: Mask = 0;
    while !left.is_empty() {
        let (position, _) = left
            .iter()
            .enumerate()
            .map(|(i, t)| (i, estimator.states(bound | 1 << t)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 0.0));
        let tunable = left.remove(position);
        bound |= 1 << tunable;
        order.push(tunable);
    }
    order
}

struct Estimator<'a> {
    all: &'a Clauses,
    clauses: &'a [Clause],
    /// The share of assignments each clause lets through.
    passing: Vec<f64>,
}

impl Estimator<'_> {
    /// How many distinct states there are once `bound` is bound.
    fn states(&self, bound: Mask) -> f64 {
        let mut cuts: Vec<Mask> = Vec::new();
        let mut finished = 1.0;
        let mut bools = 0;
        for (clause, passing) in self.clauses.iter().zip(&self.passing) {
            if clause.mask & !bound == 0 {
                finished *= passing;
            } else if clause.mask & bound != 0 {
                self.cut(clause.node, bound, &mut cuts, &mut bools);
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        let by_cut: f64 = cuts.iter().map(|m| self.assignments(*m)).product::<f64>() * f64::from(1u32 << bools.min(20));
        let needed = cuts.iter().fold(0, |a, b| a | b);
        let by_tunable = if bools > 0 { self.assignments(bound) } else { self.assignments(needed) };
        let by_prefix = self.assignments(bound) * finished;
        by_cut.min(by_tunable).min(by_prefix).max(1.0)
    }

    /// What the unfinished `node` needs of the bound tunables: the masks of its greatest finished parts. Operands of one
    /// sum or product count as one part, since they can be brought together; a finished comparison is one bit.
    fn cut(&self, node: NodeId, bound: Mask, cuts: &mut Vec<Mask>, bools: &mut u32) {
        let mask = self.all.masks[node.index()];
        if mask & bound == 0 {
            return;
        }
        if mask & !bound == 0 {
            match self.all.ranges[node.index()] {
                Range::Bool(..) => *bools += 1,
                _ => cuts.push(mask),
            }
            return;
        }
        let op = self.all.graph.op(node);
        let parts = match op {
            Op::Binary(sign @ (BinaryOp::Add | BinaryOp::Mul), ..) => operands(self.all, node, *sign),
            _ => vec![],
        };
        if parts.len() < 2 {
            return op.each_child(|child| self.cut(child, bound, cuts, bools));
        }
        let mut together = 0;
        for part in parts {
            let mask = self.all.masks[part.index()];
            if mask & !bound == 0 {
                together |= mask;
            } else {
                self.cut(part, bound, cuts, bools);
            }
        }
        if together != 0 {
            cuts.push(together);
        }
    }

    fn assignments(&self, mask: Mask) -> f64 {
        members(mask).map(|t| self.all.domains[t].len() as f64).product()
    }
}

/// The operands of a sum or product of any length; the node itself where it cannot be regrouped.
pub(crate) fn operands(all: &Clauses, node: NodeId, op: BinaryOp) -> Vec<NodeId> {
    let mut result = Vec::new();
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        match all.graph.op(node) {
            // Integers whose bounds are known cannot overflow, so grouping does not change the result.
            Op::Binary(o, a, b)
                if *o == op && matches!(all.ranges[node.index()], Range::Int(..)) && result.len() < 64 =>
            {
                stack.push(*b);
                stack.push(*a);
            }
            _ => result.push(node),
        }
    }
    result
}

/// The share of a clause's assignments that it lets through, measured where that is cheap.
fn passing(problem: &Problem, all: &Clauses, clause: &Clause) -> f64 {
    let members: Vec<usize> = members(clause.mask).collect();
    let rows = members
        .iter()
        .try_fold(1usize, |rows, t| rows.checked_mul(all.domains[*t].len()).filter(|rows| *rows <= TRIED_ASSIGNMENTS));
    let Some(rows) = rows else { return ASSUMED_PASSING };
    let mut evaluator = Evaluator::new(&all.graph, &[clause.node], &[]);
    let mut repeat = 1;
    for tunable in members {
        let domain = &all.domains[tunable];
        let values: Vec<_> = (0..rows)
            .map(|row| problem.dimensions[tunable].values[domain[row / repeat % domain.len()] as usize].clone())
            .collect();
        repeat *= domain.len();
        if let Some(input) = all.graph.find(&Op::Input(tunable as u32)) {
            evaluator.set(input, Column::from_values(&values));
        }
    }
    evaluator.run(&all.graph, rows);
    let column = evaluator.column(clause.node);
    (0..rows).filter(|row| column.truth(*row)).count() as f64 / rows.max(1) as f64
}
