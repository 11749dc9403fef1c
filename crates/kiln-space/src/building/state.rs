//! What a group must remember between two bindings. In: a group's clauses and the order of its tunables. Out: one
//! [`Layer`] for each tunable: the clauses that are finished by binding it, the values carried on for those that are not,
//! and plans that bound the unfinished ones early, so that hopeless states are dropped and settled clauses forgotten.

use rustc_hash::FxHashMap;

use kiln_core::Value;
use kiln_expr::{BinaryOp, Evaluator, NodeId, Op, Range};

use crate::building::bounds::Bounds;
use crate::building::order::operands;
use crate::building::sieve::Sieve;
use crate::problem::Problem;
use crate::rules::clause::{Clause, Clauses, Mask, members};

/// Marks a state in which some clause failed: an error, should it survive to the end.
pub(crate) const FAILED_BIT: u64 = 1 << 63;
/// Clauses beyond these are never marked as settled.
const SETTLED_BITS: usize = 62;

/// The kind of a carried value, which tells how it is packed into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Int,
    Float,
    Bool,
    /// Interned: strings, kinds that vary, and everything that may have failed.
    Interned,
}

/// A carried value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carried {
    pub(crate) node: NodeId,
    pub(crate) packing: Packing,
    /// Which settled-bits must all be set before the value no longer matters; 0 when it always does.
    pub(crate) users: u64,
}

/// One binding step.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) tunable: usize,
    pub(crate) input: Option<NodeId>,
    /// Clauses finished here, with their settled-bit (0 when they have none).
    pub(crate) finished: Vec<(NodeId, u64)>,
    pub(crate) carried_in: Vec<Carried>,
    pub(crate) carried_out: Vec<Carried>,
    pub(crate) evaluator: Evaluator,
    /// Looks ahead from the states after this binding.
    pub(crate) bounds: Option<Bounds>,
    /// Looks ahead from the states before it, for whole ranges of values; only where there are many.
    pub(crate) sieve: Option<Sieve>,
}

/// The layers of a group bound in `order`.
pub(crate) fn layers(problem: &Problem, all: &mut Clauses, clauses: &[Clause], order: &[usize]) -> Vec<Layer> {
    let mut depth_of = [0usize; Mask::BITS as usize];
    for (depth, tunable) in order.iter().enumerate() {
        depth_of[*tunable] = depth + 1;
    }
    let mut memo = FxHashMap::default();
    let nodes: Vec<NodeId> = clauses.iter().map(|c| regroup(problem, all, c.node, &depth_of, &mut memo)).collect();
    let bit = |i: usize| if i < SETTLED_BITS { 1u64 << i } else { 0 };

    let mut bound: Mask = 0;
    let mut carried_in: Vec<Carried> = Vec::new();
    let mut result = Vec::with_capacity(order.len());
    for tunable in order {
        let before = bound;
        bound |= 1 << tunable;
        let mut finished = Vec::new();
        let mut pending = Vec::new();
        let mut ahead = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            let mask = all.masks[node.index()];
            if mask & !bound == 0 && (mask & !before != 0 || mask == 0) {
                finished.push((*node, bit(i)));
            } else if mask & !bound != 0 && mask & bound != 0 {
                pending.push((*node, bit(i)));
            }
            if mask & !before != 0 && mask & bound != 0 {
                ahead.push((*node, bit(i)));
            }
        }
        let carried_out = slots(all, &pending, bound);
        let wanted: Vec<NodeId> = finished.iter().map(|(n, _)| *n).chain(carried_out.iter().map(|s| s.node)).collect();
        let given: Vec<NodeId> = carried_in.iter().map(|s| s.node).collect();
        let input = all.graph.find(&Op::Input(*tunable as u32));
        let sieve = input.and_then(|input| {
            let values: Vec<&Value> =
                all.domains[*tunable].iter().map(|v| &problem.dimensions[*tunable].values[*v as usize]).collect();
            Sieve::new(&values, || Bounds::new(all, &ahead, &carried_in, bound, Some(input)))
        });
        result.push(Layer {
            tunable: *tunable,
            input,
            sieve,
            finished,
            evaluator: Evaluator::new(&all.graph, &wanted, &given),
            bounds: Bounds::new(all, &pending, &carried_out, bound, None),
            carried_in: std::mem::replace(&mut carried_in, carried_out.clone()),
            carried_out,
        });
    }
    result
}

/// The same expression with the operands of sums and products in binding order, so that what is bound first comes
/// together first and is carried as one value.
fn regroup(
    problem: &Problem,
    all: &mut Clauses,
    node: NodeId,
    depth_of: &[usize],
    memo: &mut FxHashMap<NodeId, NodeId>,
) -> NodeId {
    if let Some(done) = memo.get(&node) {
        return *done;
    }
    let op = all.graph.op(node).clone();
    let result = match op {
        Op::Const(_) | Op::Input(_) => node,
        Op::Binary(sign @ (BinaryOp::Add | BinaryOp::Mul), ..) => {
            let mut parts: Vec<NodeId> = operands(all, node, sign)
                .into_iter()
                .map(|part| if part == node { part } else { regroup(problem, all, part, depth_of, memo) })
                .collect();
            if parts.len() < 2 {
                rebuild(problem, all, node, depth_of, memo)
            } else {
                let depth = |n: &NodeId| members(all.masks[n.index()]).map(|t| depth_of[t]).max().unwrap_or(0);
                parts.sort_by_key(depth);
                let mut together = parts[0];
                let mut safe = true;
                for part in &parts[1..] {
                    together = all.graph.add(Op::Binary(sign, together, *part));
                    all.extend_tables(problem);
                    // A new grouping could overflow where the old one did not.
                    safe &= matches!(all.ranges[together.index()], Range::Int(..));
                }
                if safe { together } else { rebuild(problem, all, node, depth_of, memo) }
            }
        }
        _ => rebuild(problem, all, node, depth_of, memo),
    };
    memo.insert(node, result);
    result
}

/// The same operation on regrouped operands.
fn rebuild(
    problem: &Problem,
    all: &mut Clauses,
    node: NodeId,
    depth_of: &[usize],
    memo: &mut FxHashMap<NodeId, NodeId>,
) -> NodeId {
    let mut again = |id: NodeId, all: &mut Clauses| regroup(problem, all, id, depth_of, memo);
    let op = match all.graph.op(node).clone() {
        op @ (Op::Const(_) | Op::Input(_)) => op,
        Op::Unary(op, a) => Op::Unary(op, again(a, all)),
        Op::Binary(op, a, b) => Op::Binary(op, again(a, all), again(b, all)),
        Op::Compare(op, a, b) => Op::Compare(op, again(a, all), again(b, all)),
        Op::And(a, b) => Op::And(again(a, all), again(b, all)),
        Op::Or(a, b) => Op::Or(again(a, all), again(b, all)),
        Op::If(c, a, b) => Op::If(again(c, all), again(a, all), again(b, all)),
        Op::In(item, list) => Op::In(again(item, all), list.iter().map(|e| again(*e, all)).collect()),
        Op::Call(function, arguments) => Op::Call(function, arguments.iter().map(|e| again(*e, all)).collect()),
    };
    let node = all.graph.add(op);
    all.extend_tables(problem);
    node
}

/// The greatest finished parts of the pending clauses, each once, with the settled-bits of the clauses that need it.
fn slots(all: &Clauses, pending: &[(NodeId, u64)], bound: Mask) -> Vec<Carried> {
    let mut found: Vec<Carried> = Vec::new();
    for (clause, bit) in pending {
        let mut seen = Vec::new();
        let mut stack = vec![*clause];
        while let Some(node) = stack.pop() {
            let mask = all.masks[node.index()];
            if mask & bound == 0 || seen.contains(&node) {
                continue;
            }
            seen.push(node);
            if mask & !bound != 0 {
                all.graph.op(node).each_child(|child| stack.push(child));
                continue;
            }
            match found.iter_mut().find(|s| s.node == node) {
                // A clause without a bit is never settled, and neither is what it needs.
                Some(slot) => slot.users = if *bit == 0 || slot.users == 0 { 0 } else { slot.users | bit },
                None => found.push(Carried { node, packing: packing(all.ranges[node.index()]), users: *bit }),
            }
        }
    }
    found
}

fn packing(range: Range) -> Packing {
    match range {
        Range::Int(..) => Packing::Int,
        Range::Float(..) => Packing::Float,
        Range::Bool(..) => Packing::Bool,
        Range::Unknown => Packing::Interned,
    }
}
