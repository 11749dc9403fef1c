//! Rules to clauses. In: a problem. Out: one graph of all expressions, the clauses that can still refuse something, which
//! tunables each reads, and the values each tunable keeps after the clauses that read it alone. Refuses names that
//! resolve to nothing; finds at once that nothing can be valid.
//!
//! `kiln_spec::Bindings` says what names stand for, one configuration at a time. The engine tries millions at once, so here
//! a tunable stays open and becomes an input of the graph, and a derived value becomes the nodes of its expression. Names
//! are looked for in the order of `Bindings`, and constants have the values they have there.

use kiln_core::Value;
use kiln_expr::{BinaryOp, CompareOp, Expr, Graph, NodeId, Op, Range, UnaryOp, truth};
use kiln_spec::Constants;

use crate::building::order::operands;
use crate::error::SpaceError;
use crate::problem::Problem;
use crate::rules::domain::Domains;
use crate::rules::trial::{ClauseTrial, Finding};

/// A set of tunables, by number.
pub(crate) type Mask = u128;

/// The tunables of a set, in order.
pub(crate) fn members(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let next = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            next
        })
    })
}

/// A condition that must hold, reading the tunables of its mask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clause {
    pub(crate) node: NodeId,
    pub(crate) mask: Mask,
}

/// All of a problem's conditions in the form the engine works on.
#[derive(Debug)]
pub(crate) struct Clauses {
    pub(crate) graph: Graph,
    /// What each node reads, by node number.
    pub(crate) masks: Vec<Mask>,
    /// Bounds on each node's values, by node number.
    pub(crate) ranges: Vec<Range>,
    /// The values each tunable keeps, as indices into its list.
    pub(crate) domains: Domains,
    /// Clauses of two or more tunables, and single ones that fail for some value.
    pub(crate) clauses: Vec<Clause>,
    /// True when some clause can never hold.
    pub(crate) empty: bool,
}

impl Clauses {
    pub(crate) fn new(problem: &Problem) -> Result<Clauses, SpaceError> {
        if problem.dimensions.len() > Mask::BITS as usize {
            return Err(SpaceError::TooManyTunables(problem.dimensions.len()));
        }
        // A rule has about this many parts that are not shared.
        let mut graph = Graph::with_capacity(problem.dimensions.len() + 4 * problem.rules.len());
        let mut nodes = Vec::new();
        for constants in &problem.constants {
            let mut names = NodeNames::new(problem, constants);
            for rule in &problem.rules {
                let root = names.expression(&mut graph, &rule.name, rule.expression.root())?;
                split(&mut graph, root, &mut nodes);
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        let stated = nodes.len();

        let mut clauses = Clauses {
            masks: vec![],
            ranges: vec![],
            domains: Domains::new(problem),
            clauses: vec![],
            empty: problem.dimensions.iter().any(|d| d.values.is_empty()),
            graph,
        };
        clauses.extend_tables(problem);
        for i in 0..stated {
            clauses.imply_divisors(nodes[i], &mut nodes, problem);
        }
        if nodes.len() > stated {
            nodes.sort_unstable();
            nodes.dedup();
        }
        if clauses.filter_single(&mut nodes, problem) {
            // Bounds computed anew from fewer values are tighter, and more clauses are decided.
            clauses.ranges.clear();
            clauses.extend_tables(problem);
        }
        for node in nodes {
            match clauses.ranges[node.index()].truth() {
                Some(true) => {}
                Some(false) => clauses.empty = true,
                None => clauses.clauses.push(Clause { node, mask: clauses.masks[node.index()] }),
            }
        }
        Ok(clauses)
    }

    /// What `x % (p * q) == 0` says of p and q alone: each divides x. Binding one of them then prunes at once.
    fn imply_divisors(&mut self, node: NodeId, nodes: &mut Vec<NodeId>, problem: &Problem) {
        let Op::Compare(CompareOp::Eq, rest, zero) = *self.graph.op(node) else { return };
        let Op::Binary(BinaryOp::Mod, number, divisor) = *self.graph.op(rest) else { return };
        let whole = |id: NodeId| matches!(self.ranges[id.index()], Range::Int(..));
        let is_zero = self.graph.as_constant(zero) == Some(&Value::Int(0));
        if !is_zero || !whole(number) || !whole(rest) {
            return;
        }
        let parts = operands(self, divisor, BinaryOp::Mul);
        for part in parts.into_iter().filter(|p| *p != divisor) {
            // Only of integers that are never 0, where nothing can fail.
            if matches!(self.ranges[part.index()], Range::Int(1.., _) | Range::Int(_, ..=-1)) {
                let rest = self.graph.add(Op::Binary(BinaryOp::Mod, number, part));
                nodes.push(self.graph.add(Op::Compare(CompareOp::Eq, rest, zero)));
            }
        }
        self.extend_tables(problem);
    }

    /// Bounds on the values of one expression under the first set of constants.
    pub(crate) fn range_of(problem: &Problem, expr: &Expr) -> Option<Range> {
        let mut clauses = Clauses::new(&Problem { rules: vec![], ..problem.clone() }).ok()?;
        let mut names = NodeNames::new(problem, problem.constants.first()?);
        let node = names.expression(&mut clauses.graph, "", expr).ok()?;
        clauses.extend_tables(problem);
        Some(clauses.ranges[node.index()])
    }

    /// Computes mask and range of every node that does not have them yet.
    pub(crate) fn extend_tables(&mut self, problem: &Problem) {
        self.masks.reserve(self.graph.len() - self.masks.len());
        self.ranges.reserve(self.graph.len() - self.ranges.len());
        for index in self.masks.len()..self.graph.len() {
            let mut mask = 0;
            match self.graph.op(NodeId(index as u32)) {
                Op::Input(tunable) => mask = 1 << tunable,
                op => op.each_child(|child| mask |= self.masks[child.index()]),
            }
            self.masks.push(mask);
        }
        for index in self.ranges.len()..self.graph.len() {
            let range = match self.graph.op(NodeId(index as u32)) {
                Op::Input(tunable) => {
                    let values = &problem.dimensions[*tunable as usize].values;
                    Range::of_all(self.domains[*tunable as usize].iter().map(|v| &values[*v as usize]))
                }
                op => Range::of_op(op, &|id| self.ranges[id.index()]),
            };
            self.ranges.push(range);
        }
    }

    /// Applies clauses that read one tunable to its list of values, and forgets them; true when some list is shorter now.
    fn filter_single(&mut self, nodes: &mut Vec<NodeId>, problem: &Problem) -> bool {
        let mut shorter = false;
        nodes.retain(|node| {
            // What holds for every value refuses none.
            if self.ranges[node.index()].truth() == Some(true) {
                return false;
            }
            let mask = self.masks[node.index()];
            if mask.count_ones() != 1 {
                return true;
            }
            let tunable = mask.trailing_zeros() as usize;
            let values = &problem.dimensions[tunable].values;
            let mut trial = ClauseTrial::new(&self.graph, &self.masks, &[Clause { node: *node, mask }], mask);
            let before = self.domains[tunable].len();
            let mut findings = Vec::with_capacity(before);
            findings.extend(self.domains[tunable].iter().map(|v| trial.bind(0, &values[*v as usize])));
            // A value it fails for may yet be refused by another clause: then the failure does not count.
            if findings.contains(&Finding::Fails) {
                return true;
            }
            self.domains.retain(tunable, |position| findings[position] == Finding::Holds);
            shorter |= self.domains[tunable].len() < before;
            self.empty |= self.domains[tunable].is_empty();
            false
        });
        shorter
    }
}

/// The nodes that names stand for under one set of constants, each tunable and each derived value built once.
struct NodeNames<'a> {
    problem: &'a Problem,
    constants: &'a Constants,
    /// The nodes of the tunables, then of the derived values. Comparing with a few dozen names is quicker than hashing.
    nodes: Vec<Option<NodeId>>,
}

impl<'a> NodeNames<'a> {
    fn new(problem: &'a Problem, constants: &'a Constants) -> NodeNames<'a> {
        NodeNames { problem, constants, nodes: vec![None; problem.dimensions.len() + problem.derived.len()] }
    }

    fn expression(&mut self, graph: &mut Graph, rule: &str, expr: &Expr) -> Result<NodeId, SpaceError> {
        graph
            .expression(expr, &mut |graph, name| self.node(graph, name))
            .map_err(|name| SpaceError::UnknownName { rule: rule.into(), name })
    }

    fn node(&mut self, graph: &mut Graph, name: &str) -> Option<NodeId> {
        let Problem { dimensions, derived, .. } = self.problem;
        if let Some(index) = dimensions.iter().position(|d| *d.name == *name) {
            let build = || match &dimensions[index].values[..] {
                // A tunable without a choice is a constant.
                [only] => graph.constant(only.clone()),
                _ => graph.add(Op::Input(index as u32)),
            };
            return Some(*self.nodes[index].get_or_insert_with(build));
        }
        let Some(index) = derived.iter().position(|(n, _)| **n == *name) else {
            return Some(graph.constant(self.constants.get(name)?));
        };
        let place = dimensions.len() + index;
        if self.nodes[place].is_none() {
            let root = derived[index].1.root();
            self.nodes[place] = Some(graph.expression(root, &mut |graph, name| self.node(graph, name)).ok()?);
        }
        self.nodes[place]
    }
}

/// The conjuncts of a condition: `a and b` is two, `not (a or b)` too, and a true constant none.
fn split(graph: &mut Graph, node: NodeId, clauses: &mut Vec<NodeId>) {
    match graph.op(node).clone() {
        Op::And(a, b) => {
            split(graph, a, clauses);
            split(graph, b, clauses);
        }
        Op::Unary(UnaryOp::Not, inner) => match graph.op(inner).clone() {
            Op::Or(a, b) => {
                for side in [a, b] {
                    let negated = graph.add(Op::Unary(UnaryOp::Not, side));
                    split(graph, negated, clauses);
                }
            }
            Op::Unary(UnaryOp::Not, inner) => split(graph, inner, clauses),
            _ => clauses.push(node),
        },
        Op::Const(value) if truth(&value) => {}
        _ => clauses.push(node),
    }
}
