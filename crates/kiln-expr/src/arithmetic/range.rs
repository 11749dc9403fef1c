//! Bounds on results before all operands are known. In: a range for every operand. Out: a range that holds every value
//! the operation can give, and whether it can fail. Where nothing useful is known the answer is [`Range::Unknown`];
//! a bound is never wrong, only wide.

use kiln_core::Value;

use crate::arithmetic::function::Function;
use crate::arithmetic::ops;
use crate::graph::{NodeId, Op};
use crate::text::ast::{BinaryOp, CompareOp, UnaryOp};

/// A set of values, from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Integers from the first to the second, both included.
    Int(i64, i64),
    /// Doubles from the first to the second, both included, none of them NaN.
    Float(f64, f64),
    /// Booleans: can it be false, can it be true.
    Bool(bool, bool),
    /// Anything, a failure included.
    Unknown,
}

impl Range {
    /// The range of exactly one value.
    pub fn point(value: &Value) -> Range {
        match value {
            Value::Int(v) => Range::Int(*v, *v),
            Value::Float(v) if !v.is_nan() => Range::Float(*v, *v),
            Value::Bool(v) => Range::Bool(!v, *v),
            _ => Range::Unknown,
        }
    }

    /// The range that holds both.
    pub fn join(self, other: Range) -> Range {
        match (self, other) {
            (Range::Int(a, b), Range::Int(c, d)) => Range::Int(a.min(c), b.max(d)),
            (Range::Float(a, b), Range::Float(c, d)) => Range::Float(a.min(c), b.max(d)),
            (Range::Bool(a, b), Range::Bool(c, d)) => Range::Bool(a || c, b || d),
            _ => Range::Unknown,
        }
    }

    /// The range of a list of values.
    pub fn of_all<'a>(values: impl IntoIterator<Item = &'a Value>) -> Range {
        values.into_iter().map(Range::point).reduce(Range::join).unwrap_or(Range::Unknown)
    }

    /// Whether every value counts as true, as false, or neither is sure.
    pub fn truth(self) -> Option<bool> {
        match self {
            Range::Bool(true, false) | Range::Int(0, 0) => Some(false),
            Range::Bool(false, true) => Some(true),
            Range::Int(a, b) if a > 0 || b < 0 => Some(true),
            Range::Float(a, b) if a > 0.0 || b < 0.0 => Some(true),
            Range::Float(a, b) if a == 0.0 && b == 0.0 => Some(false),
            _ => None,
        }
    }

    /// True when an operation on these operands cannot fail, because its range is known.
    pub fn is_known(self) -> bool {
        self != Range::Unknown
    }

    /// Booleans in arithmetic are integers.
    fn numeric(self) -> Range {
        match self {
            Range::Bool(f, t) => Range::Int(i64::from(!f), i64::from(t)),
            other => other,
        }
    }

    fn floats(self) -> Option<(f64, f64)> {
        match self.numeric() {
            Range::Int(a, b) => Some((a as f64, b as f64)),
            Range::Float(a, b) => Some((a, b)),
            _ => None,
        }
    }

    /// The range of `op`, given the ranges of its operands.
    pub fn of_op(op: &Op, range: &dyn Fn(NodeId) -> Range) -> Range {
        match op {
            Op::Const(value) => Range::point(value),
            Op::Input(_) => Range::Unknown,
            Op::Unary(UnaryOp::Not, a) => not(range(*a)),
            Op::Unary(UnaryOp::Pos, a) => range(*a).numeric(),
            Op::Unary(UnaryOp::Neg, a) => negate(range(*a)),
            Op::Binary(op, a, b) => binary(*op, range(*a), range(*b)),
            Op::Compare(op, a, b) => compare(*op, range(*a), range(*b)),
            // Even of an empty list the item is evaluated, and may fail.
            Op::In(item, _) if !range(*item).is_known() => Range::Unknown,
            Op::In(item, list) => {
                let mut result = Range::Bool(true, false);
                for candidate in list {
                    result = or(result, compare(CompareOp::Eq, range(*item), range(*candidate)));
                }
                result
            }
            Op::And(a, b) => {
                let a = range(*a);
                match a.truth() {
                    Some(false) => a,
                    Some(true) => range(*b),
                    None => and(a, range(*b)),
                }
            }
            Op::Or(a, b) => {
                let a = range(*a);
                match a.truth() {
                    Some(true) => a,
                    Some(false) => range(*b),
                    None => or(a, range(*b)),
                }
            }
            Op::If(c, a, b) => match range(*c).truth() {
                Some(true) => range(*a),
                Some(false) => range(*b),
                None if range(*c).is_known() => range(*a).join(range(*b)),
                None => Range::Unknown,
            },
            Op::Call(function, arguments) => {
                let ranges: Vec<Range> = arguments.iter().map(|a| range(*a)).collect();
                call(*function, &ranges)
            }
        }
    }
}

fn not(a: Range) -> Range {
    match a.truth() {
        Some(v) => Range::Bool(v, !v),
        None if a.is_known() => Range::Bool(true, true),
        None => Range::Unknown,
    }
}

/// Of two booleans whose left side is undecided. Mixed kinds keep Python's operands, so they join.
fn and(a: Range, b: Range) -> Range {
    match (a, b) {
        (Range::Bool(af, at), Range::Bool(bf, bt)) => Range::Bool(af || bf, at && bt),
        _ => a.join(b),
    }
}

fn or(a: Range, b: Range) -> Range {
    match (a, b) {
        (Range::Bool(af, at), Range::Bool(bf, bt)) => Range::Bool(af && bf, at || bt),
        _ => a.join(b),
    }
}

fn negate(a: Range) -> Range {
    match a.numeric() {
        Range::Int(a, b) if a > i64::MIN => Range::Int(-b, -a),
        Range::Float(a, b) => Range::Float(-b, -a),
        _ => Range::Unknown,
    }
}

/// The least and greatest of an operation at the corners of its operands: right for operations that are monotone in
/// each operand. None when a corner fails.
fn int_corners(op: BinaryOp, (a, b): (i64, i64), (c, d): (i64, i64)) -> Range {
    let mut result: Option<(i64, i64)> = None;
    for (x, y) in [(a, c), (a, d), (b, c), (b, d)] {
        let Ok(value) = ops::int_binary(op, x, y) else { return Range::Unknown };
        result = Some(result.map_or((value, value), |(lo, hi)| (lo.min(value), hi.max(value))));
    }
    result.map_or(Range::Unknown, |(lo, hi)| Range::Int(lo, hi))
}

/// The same for doubles. Rounding to nearest is monotone, so rounded corners still bound rounded results.
fn float_corners(op: BinaryOp, (a, b): (f64, f64), (c, d): (f64, f64)) -> Range {
    let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, y) in [(a, c), (a, d), (b, c), (b, d)] {
        match ops::float_binary(op, x, y) {
            Ok(value) if !value.is_nan() => (lo, hi) = (lo.min(value), hi.max(value)),
            _ => return Range::Unknown,
        }
    }
    Range::Float(lo, hi)
}

fn endless((lo, hi): (f64, f64)) -> bool {
    lo.is_infinite() || hi.is_infinite()
}

fn zero((lo, hi): (f64, f64)) -> bool {
    lo <= 0.0 && hi >= 0.0
}

fn binary(op: BinaryOp, a: Range, b: Range) -> Range {
    match (op, a.numeric(), b.numeric()) {
        (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Range::Int(a, b), Range::Int(c, d)) => {
            int_corners(op, (a, b), (c, d))
        }
        (BinaryOp::FloorDiv, Range::Int(a, b), Range::Int(c, d)) if c > 0 || d < 0 => int_corners(op, (a, b), (c, d)),
        (BinaryOp::Mod, Range::Int(a, b), Range::Int(c, d)) if c > 0 => match (a, b, c, d) {
            (a, b, c, d) if a == b && c == d => {
                let rest = ops::floor_mod(a, c);
                Range::Int(rest, rest)
            }
            // Smaller than every divisor: unchanged.
            (0.., b, c, _) if b < c => Range::Int(a, b),
            (0.., b, _, d) => Range::Int(0, b.min(d - 1)),
            (_, _, _, d) => Range::Int(0, d - 1),
        },
        // 0 ** 0 is 1 and the other powers of 0 are 0: not monotone, but the corners show both.
        (BinaryOp::Pow, Range::Int(a @ 0.., b), Range::Int(c @ 0.., d)) => int_corners(op, (a, b), (c, d)),
        (BinaryOp::Div, a, b) => match (a.floats(), b.floats()) {
            (Some(a), Some((c, d))) if c > 0.0 || d < 0.0 => {
                // An integer quotient is rounded once, two conversions and a division up to three times: near the
                // limit of a double's integers the two differ, so nothing is claimed there.
                let exact = |(lo, hi): (f64, f64)| lo.abs() < 9e15 && hi.abs() < 9e15;
                if exact(a) && exact((c, d)) { float_corners(op, a, (c, d)) } else { Range::Unknown }
            }
            _ => Range::Unknown,
        },
        (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => match (a.floats(), b.floats()) {
            // Zero may lie inside a range, where no corner shows the NaN that it makes of infinity.
            (Some(a), Some(b)) if op == BinaryOp::Mul && (endless(a) && zero(b) || zero(a) && endless(b)) => {
                Range::Unknown
            }
            (Some(a), Some(b)) => float_corners(op, a, b),
            _ => Range::Unknown,
        },
        _ => Range::Unknown,
    }
}

fn compare(op: CompareOp, a: Range, b: Range) -> Range {
    let (less, equal, greater) = match (a.numeric(), b.numeric()) {
        (Range::Int(a, b), Range::Int(c, d)) => (a < d, a <= d && c <= b, b > c),
        (a, b) => match (a.floats(), b.floats()) {
            // Conversions of huge integers round, so the ends may touch: widen to "may be equal".
            (Some((a, b)), Some((c, d))) => (a <= d, a <= d && c <= b, b >= c),
            _ => return Range::Unknown,
        },
    };
    let single = match (a.numeric(), b.numeric()) {
        (Range::Int(a, b), Range::Int(c, d)) => a == b && c == d && a == c,
        (Range::Float(a, b), Range::Float(c, d)) => a == b && c == d && a == c,
        _ => false,
    };
    let (can_true, can_false) = match op {
        CompareOp::Eq => (equal, !single),
        CompareOp::Ne => (!single, equal),
        CompareOp::Lt => (less && !single, equal || greater),
        CompareOp::Le => (less || equal, greater && !single),
        CompareOp::Gt => (greater && !single, equal || less),
        CompareOp::Ge => (greater || equal, less && !single),
    };
    Range::Bool(can_false, can_true)
}

fn call(function: Function, arguments: &[Range]) -> Range {
    let pairwise = |least: bool| {
        arguments.iter().map(|r| r.numeric()).reduce(|a, b| match (a, b) {
            (Range::Int(a, b), Range::Int(c, d)) if least => Range::Int(a.min(c), b.min(d)),
            (Range::Int(a, b), Range::Int(c, d)) => Range::Int(a.max(c), b.max(d)),
            (Range::Float(a, b), Range::Float(c, d)) if least => Range::Float(a.min(c), b.min(d)),
            (Range::Float(a, b), Range::Float(c, d)) => Range::Float(a.max(c), b.max(d)),
            _ => Range::Unknown,
        })
    };
    let monotone = |a: Range| match a.floats() {
        Some((lo, hi)) => match (at(function, lo), at(function, hi)) {
            (Some(lo), Some(hi)) => lo.join(hi),
            _ => Range::Unknown,
        },
        None => Range::Unknown,
    };
    match (function, arguments) {
        // A boolean among the arguments may be the result, and it is not an integer then.
        (Function::Min | Function::Max, _) if arguments.iter().any(|a| matches!(a, Range::Bool(..))) => Range::Unknown,
        (Function::Min, _) => pairwise(true).unwrap_or(Range::Unknown),
        (Function::Max, _) => pairwise(false).unwrap_or(Range::Unknown),
        (Function::Abs, [a]) => match a.numeric() {
            Range::Int(a, b) if a > i64::MIN => {
                let low = if a <= 0 && b >= 0 { 0 } else { a.abs().min(b.abs()) };
                Range::Int(low, a.abs().max(b.abs()))
            }
            _ => Range::Unknown,
        },
        (Function::CeilDiv, [a, b]) => negate(binary(BinaryOp::FloorDiv, negate(*a), *b)),
        (Function::Int | Function::Round, [a]) if matches!(a.numeric(), Range::Int(..)) => a.numeric(),
        (Function::Int | Function::Round | Function::Float | Function::Sqrt, [a]) => monotone(*a),
        (Function::Log2, [a]) => match monotone(*a) {
            // The C library's logarithm is within a unit in the last place but not correctly rounded, so it may step
            // back by as much; at a power of two it is exact.
            Range::Float(lo, hi) if lo < hi => {
                let exact = |v: f64| v.fract() == 0.0;
                let lo = if exact(lo) { lo } else { lo.next_down().next_down() };
                Range::Float(lo, if exact(hi) { hi } else { hi.next_up().next_up() })
            }
            other => other,
        },
        _ => Range::Unknown,
    }
}

fn at(function: Function, value: f64) -> Option<Range> {
    ops::call(function, &[Value::Float(value)]).ok().map(|v| Range::point(&v)).filter(|r| r.is_known())
}
