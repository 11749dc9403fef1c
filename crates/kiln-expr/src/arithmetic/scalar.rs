//! One node, one value at a time. In: an operation and the values of what it reads, none where one failed. Out: its value,
//! or none where Python would fail. Constants are folded with it, and few assignments are quicker tried this way than
//! as columns.

use kiln_core::Value;

use crate::arithmetic::ops::{self, truth};
use crate::graph::{NodeId, Op};
use crate::text::ast::UnaryOp;

impl Op {
    /// The value of this operation; none where it fails. An input has no value of its own.
    pub fn evaluate<'a>(&'a self, value: &dyn Fn(NodeId) -> Option<&'a Value>) -> Option<Value> {
        match self {
            Op::Const(constant) => Some(constant.clone()),
            Op::Input(_) => None,
            Op::Unary(op, a) => {
                let a = value(*a)?;
                match op {
                    UnaryOp::Neg => ops::negate(a).ok(),
                    UnaryOp::Pos => ops::positive(a).ok(),
                    UnaryOp::Not => Some(Value::Bool(!truth(a))),
                }
            }
            Op::Binary(op, a, b) => ops::binary(*op, value(*a)?, value(*b)?).ok(),
            Op::Compare(op, a, b) => ops::compare(*op, value(*a)?, value(*b)?).ok().map(Value::Bool),
            Op::In(item, list) => {
                let item = value(*item)?;
                let mut found = false;
                // Python builds the whole list before it looks, so a failing item fails it all.
                for candidate in list {
                    found |= ops::equal(item, value(*candidate)?);
                }
                Some(Value::Bool(found))
            }
            // The side that is not chosen is not evaluated, and may fail.
            Op::And(a, b) => {
                let left = value(*a)?;
                if truth(left) { value(*b).cloned() } else { Some(left.clone()) }
            }
            Op::Or(a, b) => {
                let left = value(*a)?;
                if truth(left) { Some(left.clone()) } else { value(*b).cloned() }
            }
            Op::If(condition, then, otherwise) => {
                value(if truth(value(*condition)?) { *then } else { *otherwise }).cloned()
            }
            Op::Call(function, arguments) => {
                let values = arguments.iter().map(|a| value(*a).cloned()).collect::<Option<Vec<_>>>()?;
                ops::call(*function, &values).ok()
            }
        }
    }
}
