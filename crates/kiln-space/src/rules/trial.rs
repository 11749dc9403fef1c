//! Clauses tried on one assignment after another, one tunable bound at a time. In: clauses, and the tunables in the order
//! of their numbers. Out: at each binding whether a clause it decides refuses, or fails. A node is computed when its last
//! tunable is bound and stays until that one is bound anew, so that a few assignments take little more than the
//! arithmetic they need.

use kiln_core::Value;
use kiln_expr::{Graph, NodeId, Op, truth};

use crate::rules::clause::{Clause, Mask};

/// What the clauses that a binding decides say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// All hold.
    Holds,
    /// None refuses, but some cannot be evaluated.
    Fails,
    /// Some refuses.
    Refuses,
}

pub(crate) struct ClauseTrial<'a> {
    graph: &'a Graph,
    /// By node number; none for what failed or is not needed.
    values: Vec<Option<Value>>,
    /// The nodes each binding decides, children first.
    steps: Vec<Step>,
    /// Where the steps of each binding end.
    ends: Vec<usize>,
}

struct Step {
    node: NodeId,
    is_clause: bool,
}

impl<'a> ClauseTrial<'a> {
    /// A trial of `clauses`, whose tunables are those of `mask`; `masks` says what each node reads.
    pub(crate) fn new(graph: &'a Graph, masks: &[Mask], clauses: &[Clause], mask: Mask) -> ClauseTrial<'a> {
        const CLAUSE: u8 = 1;
        const BELOW: u8 = 2;
        let mut marks = vec![0u8; graph.len()];
        clauses.iter().for_each(|clause| marks[clause.node.index()] = CLAUSE);
        let mut values = Vec::with_capacity(graph.len());
        values.resize(graph.len(), None);
        let mut needed = Vec::with_capacity(graph.len());
        // Children have smaller numbers than what they are children of.
        for node in (0..graph.len() as u32).rev().map(NodeId) {
            if marks[node.index()] == 0 {
                continue;
            }
            match graph.op(node) {
                Op::Const(value) => values[node.index()] = Some(value.clone()),
                op => {
                    op.each_child(|child| marks[child.index()] |= BELOW);
                    needed.push(node);
                }
            }
        }
        let mut trial = ClauseTrial {
            graph,
            values,
            steps: Vec::with_capacity(needed.len()),
            ends: Vec::with_capacity(mask.count_ones() as usize),
        };
        let mut open = mask;
        while open != 0 {
            // Binding the next tunable decides what waits for no other; what waited for none is decided by the first.
            let (before, first) = (open, open == mask);
            open &= open - 1;
            for node in needed.iter().rev() {
                let reads = masks[node.index()];
                if reads & open == 0 && (first || reads & before != 0) {
                    trial.steps.push(Step { node: *node, is_clause: marks[node.index()] & CLAUSE != 0 });
                }
            }
            trial.ends.push(trial.steps.len());
        }
        trial
    }

    /// Binds the tunable at a depth, those before it being bound.
    pub(crate) fn bind(&mut self, depth: usize, value: &Value) -> Finding {
        let start = if depth == 0 { 0 } else { self.ends[depth - 1] };
        let mut finding = Finding::Holds;
        for step in &self.steps[start..self.ends[depth]] {
            let result = match self.graph.op(step.node) {
                Op::Input(_) => Some(value.clone()),
                op => op.evaluate(&|id| self.values[id.index()].as_ref()),
            };
            if step.is_clause {
                match &result {
                    Some(result) if truth(result) => {}
                    Some(_) => return Finding::Refuses,
                    None => finding = Finding::Fails,
                }
            }
            self.values[step.node.index()] = result;
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use kiln_expr::Expression;

    use super::*;

    #[test]
    fn a_clause_is_heard_when_its_last_tunable_is_bound() {
        let mut graph = Graph::default();
        let mut node = |text: &str| {
            let name = |graph: &mut Graph, name: &str| Some(graph.add(Op::Input(u32::from(name == "B"))));
            graph.expression(Expression::parse(text).unwrap().root(), &mut { name }).unwrap()
        };
        let (tie, own) = (node("1 // A == B"), node("A < 3"));
        let mut masks: Vec<Mask> = Vec::new();
        for index in 0..graph.len() as u32 {
            let mut mask = 0;
            match graph.op(NodeId(index)) {
                Op::Input(tunable) => mask = 1 << tunable,
                op => op.each_child(|child| mask |= masks[child.index()]),
            }
            masks.push(mask);
        }
        let clauses = [Clause { node: tie, mask: 3 }, Clause { node: own, mask: 1 }];
        let mut trial = ClauseTrial::new(&graph, &masks, &clauses, 3);
        let mut found = |a: i64, b: i64| {
            let first = trial.bind(0, &Value::Int(a));
            (first, if first == Finding::Refuses { first } else { trial.bind(1, &Value::Int(b)) })
        };
        assert_eq!(found(1, 1), (Finding::Holds, Finding::Holds));
        assert_eq!(found(1, 0), (Finding::Holds, Finding::Refuses));
        assert_eq!(found(2, 0), (Finding::Holds, Finding::Holds));
        assert_eq!(found(3, 0), (Finding::Refuses, Finding::Refuses));
        // The quotient has no value, but only the clause that reads it fails.
        assert_eq!(found(0, 0), (Finding::Holds, Finding::Fails));
        assert_eq!(found(2, 0), (Finding::Holds, Finding::Holds));
    }
}
