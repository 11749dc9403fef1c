//! The compiled form: one node for every distinct sub-expression, shared across all expressions added to the graph, with
//! constants folded. In: expressions and a resolver for their names. Out: node numbers whose children always have
//! smaller numbers, so that a single pass in order evaluates everything.

use std::hash::BuildHasher;

use kiln_core::Value;
use rustc_hash::FxBuildHasher;

use crate::arithmetic::function::Function;
use crate::arithmetic::ops;
use crate::text::ast::{BinaryOp, CompareOp, Expr, Kind, UnaryOp};

/// A node's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index into per-node tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node computes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    /// A fixed value.
    Const(Value),
    /// The value of the numbered input.
    Input(u32),
    /// `-a`, `+a`, `not a`.
    Unary(UnaryOp, NodeId),
    /// Arithmetic.
    Binary(BinaryOp, NodeId, NodeId),
    /// One comparison; chains are conjunctions of these.
    Compare(CompareOp, NodeId, NodeId),
    /// Whether the first equals one of the others.
    In(NodeId, Box<[NodeId]>),
    /// `a and b`, with Python's result: `a` when it is false, else `b`.
    And(NodeId, NodeId),
    /// `a or b`, with Python's result.
    Or(NodeId, NodeId),
    /// Condition, then, otherwise.
    If(NodeId, NodeId, NodeId),
    /// A function call.
    Call(Function, Box<[NodeId]>),
}

impl Op {
    /// Visits the nodes it reads, in order.
    pub fn each_child(&self, mut visit: impl FnMut(NodeId)) {
        match self {
            Op::Const(_) | Op::Input(_) => {}
            Op::Unary(_, a) => visit(*a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::And(a, b) | Op::Or(a, b) => {
                visit(*a);
                visit(*b);
            }
            Op::If(c, a, b) => {
                visit(*c);
                visit(*a);
                visit(*b);
            }
            Op::In(item, list) => {
                visit(*item);
                list.iter().copied().for_each(visit);
            }
            Op::Call(_, arguments) => arguments.iter().copied().for_each(visit),
        }
    }

    /// The nodes it reads, in order.
    pub fn children(&self) -> Vec<NodeId> {
        let mut children = Vec::new();
        self.each_child(|child| children.push(child));
        children
    }
}

/// All nodes, children before parents.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    ops: Vec<Op>,
    /// The numbers of the nodes, each at a place that follows from its operation's hash, or at the next free one. A map
    /// from operations to numbers would keep every operation twice.
    places: Vec<u32>,
}

/// A place without a node.
const FREE: u32 = u32::MAX;

impl Graph {
    /// An empty graph with room for this many nodes.
    pub fn with_capacity(nodes: usize) -> Graph {
        Graph { ops: Vec::with_capacity(nodes), places: vec![FREE; (2 * nodes).next_power_of_two()] }
    }

    /// The node for `op`: an existing one where the same was added before, a constant where the operands are constants.
    pub fn add(&mut self, op: Op) -> NodeId {
        // At least half of the places stay free, so that a search is short.
        if self.places.len() < 2 * (self.ops.len() + 1) {
            self.places = vec![FREE; 4 * (self.ops.len() + 1).next_power_of_two()];
            for number in 0..self.ops.len() {
                let place = self.place(&self.ops[number]);
                self.places[place] = number as u32;
            }
        }
        let place = self.place(&op);
        if self.places[place] != FREE {
            return NodeId(self.places[place]);
        }
        let op = match self.fold(op) {
            Ok(node) => return node,
            Err(op) => op,
        };
        let id = NodeId(self.ops.len() as u32);
        self.places[place] = id.0;
        self.ops.push(op);
        id
    }

    /// Where the number of `op` stands, or would stand; there is a free place.
    fn place(&self, op: &Op) -> usize {
        // As many places as a power of two.
        let last = self.places.len() - 1;
        let mut place = FxBuildHasher.hash_one(op) as usize & last;
        while self.places[place] != FREE && self.ops[self.places[place] as usize] != *op {
            place = (place + 1) & last;
        }
        place
    }

    /// A constant's node.
    pub fn constant(&mut self, value: Value) -> NodeId {
        self.add(Op::Const(value))
    }

    /// The value of a constant node.
    pub fn as_constant(&self, id: NodeId) -> Option<&Value> {
        match self.op(id) {
            Op::Const(value) => Some(value),
            _ => None,
        }
    }

    /// What a node computes.
    pub fn op(&self, id: NodeId) -> &Op {
        &self.ops[id.index()]
    }

    /// The node that computes `op`, if it was added.
    pub fn find(&self, op: &Op) -> Option<NodeId> {
        if self.places.is_empty() {
            return None;
        }
        Some(self.places[self.place(op)]).filter(|number| *number != FREE).map(NodeId)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// True before anything was added.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Adds an expression tree; `resolve` gives the node of each name, or none to stop with that name.
    pub fn expression(
        &mut self,
        expr: &Expr,
        resolve: &mut dyn FnMut(&mut Graph, &str) -> Option<NodeId>,
    ) -> Result<NodeId, String> {
        let op = match &expr.kind {
            Kind::Literal(value) => Op::Const(value.clone()),
            Kind::Name(name) => return resolve(self, name).ok_or_else(|| name.to_string()),
            Kind::Unary(op, a) => Op::Unary(*op, self.expression(a, resolve)?),
            Kind::Binary(op, a, b) => {
                let a = self.expression(a, resolve)?;
                Op::Binary(*op, a, self.expression(b, resolve)?)
            }
            Kind::Compare(first, rest) => {
                let mut left = self.expression(first, resolve)?;
                if let [(op, right)] = &rest[..] {
                    let right = self.expression(right, resolve)?;
                    return Ok(self.add(Op::Compare(*op, left, right)));
                }
                let mut links = Vec::with_capacity(rest.len());
                for (op, right) in rest {
                    let right = self.expression(right, resolve)?;
                    links.push(self.add(Op::Compare(*op, left, right)));
                    left = right;
                }
                let Some(mut chain) = links.pop() else { return Ok(left) };
                // Grouped to the right, as evaluated: a later link is only reached when the earlier ones hold.
                while let Some(link) = links.pop() {
                    chain = self.add(Op::And(link, chain));
                }
                return Ok(chain);
            }
            Kind::In(item, negated, list) => {
                let item = self.expression(item, resolve)?;
                let list = list.iter().map(|e| self.expression(e, resolve)).collect::<Result<_, _>>()?;
                let member = self.add(Op::In(item, list));
                return Ok(if *negated { self.add(Op::Unary(UnaryOp::Not, member)) } else { member });
            }
            Kind::And(a, b) => {
                let a = self.expression(a, resolve)?;
                Op::And(a, self.expression(b, resolve)?)
            }
            Kind::Or(a, b) => {
                let a = self.expression(a, resolve)?;
                Op::Or(a, self.expression(b, resolve)?)
            }
            Kind::If { condition, then, otherwise } => {
                let condition = self.expression(condition, resolve)?;
                let then = self.expression(then, resolve)?;
                Op::If(condition, then, self.expression(otherwise, resolve)?)
            }
            Kind::Call(function, arguments) => {
                Op::Call(*function, arguments.iter().map(|e| self.expression(e, resolve)).collect::<Result<_, _>>()?)
            }
        };
        Ok(self.add(op))
    }

    /// The node that `op` reduces to, or `op` itself. An operation on constants that fails is kept: it fails again for
    /// every row, with its own name.
    fn fold(&mut self, op: Op) -> Result<NodeId, Op> {
        let decided = |graph: &Graph, id: NodeId| graph.as_constant(id).map(ops::truth);
        match &op {
            Op::And(a, b) => match decided(self, *a) {
                Some(true) => return Ok(*b),
                Some(false) => return Ok(*a),
                None => {}
            },
            Op::Or(a, b) => match decided(self, *a) {
                Some(true) => return Ok(*a),
                Some(false) => return Ok(*b),
                None => {}
            },
            Op::If(c, a, b) => match decided(self, *c) {
                Some(true) => return Ok(*a),
                Some(false) => return Ok(*b),
                None => {}
            },
            Op::Const(_) | Op::Input(_) => return Err(op),
            _ => {}
        }
        match op.evaluate(&|id| self.as_constant(id)) {
            Some(value) => Ok(self.constant(value)),
            None => Err(op),
        }
    }
}
