//! Python-form expressions over integers, floats, booleans and strings. In: text. Out: a parsed expression that can be
//! type-checked, evaluated, or compiled into a graph that evaluates whole columns and bounds its own results.
//! Refuses what Python refuses, plus integers beyond 64 bits; every refusal carries the span it is about.
//!
//! What is accepted means what CPython makes of it, to the bit and to the kind of failure; `tests/cpython.rs` holds
//! this. The differences, all of them:
//!
//! - An integer beyond 64 bits, intermediate or final, fails with [`EvalErrorKind::Overflow`]. `ceildiv(a, b)` is
//!   `-(-a // b)`, so its intermediates count too.
//! - A power that Python answers with a complex number fails with [`EvalErrorKind::Domain`].
//! - `round(x, n)` fails with [`EvalErrorKind::Domain`] for a negative `n`.
//! - Strings know `+`, comparisons, `min`, `max` and `in` a list. Repetition (`'a' * 3`), formatting (`'%d' % x`) and
//!   `int` or `float` of a string fail with [`EvalErrorKind::Type`]; `in` a string is not read at all.
//! - NaN is in no list. Python finds the very same NaN object, by identity.
//! - Not read: everything else of Python (calls of other functions, indexing, attributes of values, bit operations,
//!   `is`, `lambda`, complex and prefixed literals, strings side by side), a comparison that goes on behind `in [..]`,
//!   string escapes other than `\n \t \\ \' \"`, a number that touches a word (`1if x else 2`), more than 64 KiB of
//!   text, 100 levels of nesting or 500 operators in a row.
//! - Read although Python does not: line breaks and other blank characters between tokens, without brackets around.

mod arithmetic;
mod check;
mod column;
mod error;
mod eval;
mod graph;
mod text;

pub use arithmetic::function::Function;
pub use arithmetic::ops::{equal, truth};
pub use arithmetic::range::Range;
pub use check::{Scope, Type};
pub use column::{Column, Evaluator};
pub use error::{EvalError, EvalErrorKind, ExprError};
pub use eval::Env;
pub use graph::{Graph, NodeId, Op};
pub use text::ast::{BinaryOp, CompareOp, Expr, Expression, Kind, UnaryOp};
pub use text::list::evaluate_list;
