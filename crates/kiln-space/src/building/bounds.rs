//! Looking ahead from a state. In: the values it carries and the ranges of what is still open. Out: whether some clause can
//! no longer hold, and which can no longer fail.

use kiln_expr::{NodeId, Op, Range};

use crate::building::state::Carried;
use crate::rules::clause::{Clauses, Mask};

/// A plan that bounds the unfinished clauses.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// Ranges of all nodes involved; carried and open ones are overwritten for each state.
    ranges: Vec<Range>,
    /// Node number to position in `ranges`.
    position: Vec<u32>,
    /// Open nodes, children first.
    open: Vec<(Op, usize)>,
    carried: Vec<usize>,
    /// The tunable about to be bound, when a range of its values is looked at.
    input: Option<usize>,
    clauses: Vec<(usize, u64)>,
}

/// What the bounds say of a state.
pub(crate) enum Outlook {
    /// Some clause can no longer hold.
    Hopeless,
    /// The clauses of these bits hold whatever comes.
    Settled(u64),
}

impl Bounds {
    /// A plan for `pending` clauses (with their settled-bits), from `carried` values and perhaps an `input`. What
    /// `touched` does not touch keeps the range it has anyway.
    pub(crate) fn new(
        all: &Clauses,
        pending: &[(NodeId, u64)],
        carried: &[Carried],
        touched: Mask,
        input: Option<NodeId>,
    ) -> Option<Bounds> {
        if pending.is_empty() {
            return None;
        }
        let mut bounds = Bounds {
            ranges: Vec::new(),
            position: vec![u32::MAX; all.graph.len()],
            open: Vec::new(),
            carried: Vec::new(),
            input: None,
            clauses: Vec::new(),
        };
        for slot in carried {
            let position = bounds.place(all, slot.node);
            bounds.carried.push(position);
        }
        bounds.input = input.map(|node| bounds.place(all, node));
        for (node, bit) in pending {
            bounds.visit(all, *node, touched);
            let position = bounds.place(all, *node);
            bounds.clauses.push((position, *bit));
        }
        Some(bounds)
    }

    fn place(&mut self, all: &Clauses, node: NodeId) -> usize {
        let position = &mut self.position[node.index()];
        if *position == u32::MAX {
            *position = self.ranges.len() as u32;
            self.ranges.push(all.ranges[node.index()]);
        }
        *position as usize
    }

    /// Places `node` and everything it rests on, down to carried values and parts that nothing touches.
    fn visit(&mut self, all: &Clauses, node: NodeId, touched: Mask) {
        if self.position[node.index()] != u32::MAX {
            return;
        }
        if all.masks[node.index()] & touched == 0 {
            self.place(all, node);
            return;
        }
        let op = all.graph.op(node).clone();
        op.each_child(|child| self.visit(all, child, touched));
        let position = self.place(all, node);
        self.open.push((op, position));
    }

    /// Sets the ranges of a state's carried values.
    pub(crate) fn carry(&mut self, carried: impl Iterator<Item = Range>) {
        for (position, range) in self.carried.iter().zip(carried) {
            self.ranges[*position] = range;
        }
    }

    /// Looks ahead with the tunable about to be bound somewhere in a range.
    pub(crate) fn outlook_within(&mut self, input: Range, settled: u64) -> Outlook {
        if let Some(position) = self.input {
            self.ranges[position] = input;
        }
        self.outlook(settled)
    }

    /// Looks ahead from the carried values.
    pub(crate) fn outlook(&mut self, settled: u64) -> Outlook {
        for (op, position) in &self.open {
            let range = Range::of_op(op, &|id| self.ranges[self.position[id.index()] as usize]);
            self.ranges[*position] = range;
        }
        let mut now_settled = settled;
        for (position, bit) in &self.clauses {
            if settled & bit != 0 {
                continue;
            }
            match self.ranges[*position].truth() {
                Some(false) => return Outlook::Hopeless,
                Some(true) => now_settled |= bit,
                None => {}
            }
        }
        Outlook::Settled(now_settled)
    }
}
