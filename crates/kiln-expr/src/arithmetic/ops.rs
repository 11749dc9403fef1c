//! Python's arithmetic on single values: exact integers within 64 bits, doubles, booleans as integers, strings.
//! In: operands. Out: the value CPython gives, or why there is none.

use std::cmp::Ordering;

use kiln_core::Value;

use crate::arithmetic::function::Function;
use crate::arithmetic::warp::{bank_conflicts, sectors};
use crate::error::EvalErrorKind as Fail;
use crate::text::ast::{BinaryOp, CompareOp};

/// A number as Python's arithmetic sees it: booleans are integers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

pub(crate) fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Int(v) => Some(Number::Int(*v)),
        Value::Bool(v) => Some(Number::Int(i64::from(*v))),
        Value::Float(v) => Some(Number::Float(*v)),
        Value::Str(_) => None,
    }
}

impl Number {
    pub(crate) fn float(self) -> f64 {
        match self {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        }
    }
}

/// Python's truthiness.
pub fn truth(value: &Value) -> bool {
    match value {
        Value::Int(v) => *v != 0,
        Value::Float(v) => *v != 0.0,
        Value::Bool(v) => *v,
        Value::Str(v) => !v.is_empty(),
    }
}

pub(crate) fn negate(value: &Value) -> Result<Value, Fail> {
    match number(value).ok_or(Fail::Type)? {
        Number::Int(v) => v.checked_neg().map(Value::Int).ok_or(Fail::Overflow),
        Number::Float(v) => Ok(Value::Float(-v)),
    }
}

pub(crate) fn positive(value: &Value) -> Result<Value, Fail> {
    Ok(match number(value).ok_or(Fail::Type)? {
        Number::Int(v) => Value::Int(v),
        Number::Float(v) => Value::Float(v),
    })
}

pub(crate) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, Fail> {
    if let (BinaryOp::Add, Value::Str(a), Value::Str(b)) = (op, a, b) {
        return Ok(Value::Str(format!("{a}{b}").into()));
    }
    let (a, b) = (number(a).ok_or(Fail::Type)?, number(b).ok_or(Fail::Type)?);
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => match op {
            BinaryOp::Div => int_div(a, b).map(Value::Float),
            BinaryOp::Pow if b < 0 => float_pow(a as f64, b as f64).map(Value::Float),
            _ => int_binary(op, a, b).map(Value::Int),
        },
        _ => float_binary(op, a.float(), b.float()).map(Value::Float),
    }
}

/// The operators that keep integers integers; `/` and negative powers are not among them.
pub(crate) fn int_binary(op: BinaryOp, a: i64, b: i64) -> Result<i64, Fail> {
    match op {
        BinaryOp::Add => a.checked_add(b).ok_or(Fail::Overflow),
        BinaryOp::Sub => a.checked_sub(b).ok_or(Fail::Overflow),
        BinaryOp::Mul => a.checked_mul(b).ok_or(Fail::Overflow),
        BinaryOp::FloorDiv if b == 0 => Err(Fail::DivisionByZero),
        BinaryOp::FloorDiv => floor_div(a, b).ok_or(Fail::Overflow),
        BinaryOp::Mod if b == 0 => Err(Fail::DivisionByZero),
        BinaryOp::Mod => Ok(floor_mod(a, b)),
        BinaryOp::Pow => int_pow(a, b),
        BinaryOp::Div => Err(Fail::Type),
    }
}

pub(crate) fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let inexact = a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
    Some(quotient - i64::from(inexact))
}

/// `b` is not zero.
pub(crate) fn floor_mod(a: i64, b: i64) -> i64 {
    // A 32-bit division is several times faster than a 64-bit one, and tile sizes fit in it.
    if let (Ok(a), Ok(b)) = (u32::try_from(a), u32::try_from(b)) {
        return i64::from(a % b);
    }
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

fn int_pow(base: i64, exponent: i64) -> Result<i64, Fail> {
    match (base, exponent) {
        (_, ..0) => Err(Fail::Type),
        (0 | 1, 1..) | (_, 0) => Ok(if exponent == 0 { 1 } else { base }),
        (-1, _) => Ok(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => u32::try_from(exponent).ok().and_then(|e| base.checked_pow(e)).ok_or(Fail::Overflow),
    }
}

/// The quotient of two integers rounded once, as CPython does; converting both to doubles first would round twice.
pub(crate) fn int_div(a: i64, b: i64) -> Result<f64, Fail> {
    if b == 0 {
        return Err(Fail::DivisionByZero);
    }
    const EXACT: u64 = 1 << 53;
    let (x, y) = (a.unsigned_abs(), b.unsigned_abs());
    if x <= EXACT && y <= EXACT {
        return Ok(a as f64 / b as f64);
    }
    // Scale the numerator so that the quotient has at least 60 bits; the lowest remembers a lost remainder, which is
    // enough for one correct rounding to 53.
    let shift = 60 + (64 - y.leading_zeros()) as i32 - (64 - x.leading_zeros()) as i32;
    let shift = shift.max(0);
    let scaled = u128::from(x) << shift;
    let quotient = (scaled / u128::from(y)) | u128::from(!scaled.is_multiple_of(u128::from(y)));
    let magnitude = quotient as f64 * 2f64.powi(-shift);
    Ok(if (a < 0) != (b < 0) { -magnitude } else { magnitude })
}

pub(crate) fn float_binary(op: BinaryOp, a: f64, b: f64) -> Result<f64, Fail> {
    let divides = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod);
    if divides && b == 0.0 {
        return Err(Fail::DivisionByZero);
    }
    match op {
        BinaryOp::Add => Ok(a + b),
        BinaryOp::Sub => Ok(a - b),
        BinaryOp::Mul => Ok(a * b),
        BinaryOp::Div => Ok(a / b),
        BinaryOp::FloorDiv => Ok(float_divmod(a, b).0),
        BinaryOp::Mod => Ok(float_divmod(a, b).1),
        BinaryOp::Pow => float_pow(a, b),
    }
}

/// Quotient rounded down and remainder with the sign of `b`, with CPython's corrections for rounding and signed zeros.
fn float_divmod(a: f64, b: f64) -> (f64, f64) {
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 {
        if (b < 0.0) != (rest < 0.0) {
            rest += b;
            quotient -= 1.0;
        }
    } else {
        rest = 0.0f64.copysign(b);
    }
    let floor = if quotient != 0.0 {
        let floor = quotient.floor();
        if quotient - floor > 0.5 { floor + 1.0 } else { floor }
    } else {
        0.0f64.copysign(a / b)
    };
    (floor, rest)
}

fn float_pow(a: f64, b: f64) -> Result<f64, Fail> {
    // To minus infinity it is infinity in Python, as in C.
    if a == 0.0 && b < 0.0 && b.is_finite() {
        return Err(Fail::DivisionByZero);
    }
    // Python would give a complex number.
    if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
        return Err(Fail::Domain);
    }
    let power = a.powf(b);
    if power.is_infinite() && a.is_finite() && b.is_finite() {
        return Err(Fail::Overflow);
    }
    Ok(power)
}

/// Python's `==`: numbers by value across kinds, strings with strings, never equal across.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => a == b,
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => order(a, b) == Some(Ordering::Equal),
            _ => false,
        },
    }
}

pub(crate) fn compare(op: CompareOp, a: &Value, b: &Value) -> Result<bool, Fail> {
    match op {
        CompareOp::Eq => return Ok(equal(a, b)),
        CompareOp::Ne => return Ok(!equal(a, b)),
        _ => {}
    }
    let order = match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        _ => order(number(a).ok_or(Fail::Type)?, number(b).ok_or(Fail::Type)?),
    };
    Ok(holds(op, order))
}

pub(crate) fn holds(op: CompareOp, order: Option<Ordering>) -> bool {
    match op {
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        CompareOp::Lt => order == Some(Ordering::Less),
        CompareOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Gt => order == Some(Ordering::Greater),
        CompareOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// The exact order; an integer and a double are compared without rounding the integer.
pub(crate) fn order(a: Number, b: Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Int(a), Number::Float(b)) => int_float_order(a, b),
        (Number::Float(a), Number::Int(b)) => int_float_order(b, a).map(Ordering::reverse),
    }
}

fn int_float_order(a: i64, b: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    if b >= LIMIT {
        return Some(Ordering::Less);
    }
    if b < -LIMIT {
        return Some(Ordering::Greater);
    }
    // Within range the integral part converts exactly; the fraction breaks a tie.
    let whole = b.trunc();
    Some(a.cmp(&(whole as i64)).then_with(|| 0.0f64.total_cmp(&(b - whole + 0.0))))
}

pub(crate) fn call(function: Function, arguments: &[Value]) -> Result<Value, Fail> {
    let first = arguments.first().ok_or(Fail::Type)?;
    match function {
        Function::Min | Function::Max => {
            let op = if function == Function::Min { CompareOp::Lt } else { CompareOp::Gt };
            let mut best = first;
            for value in &arguments[1..] {
                if compare(op, value, best)? {
                    best = value;
                }
            }
            Ok(best.clone())
        }
        Function::CeilDiv => {
            let divisor = arguments.get(1).ok_or(Fail::Type)?;
            negate(&binary(BinaryOp::FloorDiv, &negate(first)?, divisor)?)
        }
        Function::Round => round(first, arguments.get(1)),
        Function::BankConflicts | Function::Sectors => {
            let count = if function == Function::Sectors { sectors } else { bank_conflicts };
            match (number(first), arguments.get(1).and_then(number)) {
                (Some(Number::Int(stride)), Some(Number::Int(bytes))) => count(stride, bytes).map(Value::Int),
                _ => Err(Fail::Type),
            }
        }
        _ => match (function, number(first).ok_or(Fail::Type)?) {
            (Function::Abs, Number::Int(v)) => v.checked_abs().map(Value::Int).ok_or(Fail::Overflow),
            (Function::Abs, Number::Float(v)) => Ok(Value::Float(v.abs())),
            (Function::Int, Number::Int(v)) => Ok(Value::Int(v)),
            (Function::Int, Number::Float(v)) => float_to_int(v.trunc()),
            (Function::Float, v) => Ok(Value::Float(v.float())),
            (Function::Sqrt, v) => domain(v.float() >= 0.0 || v.float().is_nan(), v.float().sqrt()),
            (Function::Log2, v) => domain(v.float() > 0.0 || v.float().is_nan(), v.float().log2()),
            _ => Err(Fail::Type),
        },
    }
}

fn domain(inside: bool, value: f64) -> Result<Value, Fail> {
    if inside { Ok(Value::Float(value)) } else { Err(Fail::Domain) }
}

fn round(value: &Value, digits: Option<&Value>) -> Result<Value, Fail> {
    let value = number(value).ok_or(Fail::Type)?;
    let digits = match digits.map(number) {
        None => None,
        Some(Some(Number::Int(d))) => Some(usize::try_from(d).map_err(|_| Fail::Domain)?),
        Some(_) => return Err(Fail::Type),
    };
    match (value, digits) {
        (Number::Int(v), _) => Ok(Value::Int(v)),
        (Number::Float(v), None) => float_to_int(v.round_ties_even()),
        (Number::Float(v), Some(_)) if !v.is_finite() => Ok(Value::Float(v)),
        // A double has no decimals beyond these, and printing them all rounds exactly as Python does.
        (Number::Float(v), Some(d)) if d > 330 => Ok(Value::Float(v)),
        (Number::Float(v), Some(d)) => format!("{v:.d$}").parse().map(Value::Float).map_err(|_| Fail::Domain),
    }
}

fn float_to_int(whole: f64) -> Result<Value, Fail> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if whole.is_nan() {
        Err(Fail::Domain)
    } else if (-LIMIT..LIMIT).contains(&whole) {
        Ok(Value::Int(whole as i64))
    } else {
        Err(Fail::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_of_large_integers_rounds_once() {
        // Figures printed by CPython 3.11.
        assert_eq!(int_div(9007199254740993, 1).unwrap(), 9007199254740992.0);
        assert_eq!(int_div(i64::MAX, 3).unwrap(), 3.0744573456182584e18);
        assert_eq!(int_div(i64::MIN, -1).unwrap(), 9.223372036854776e18);
        assert_eq!(int_div(1, i64::MAX).unwrap(), 1.0842021724855044e-19);
        assert_eq!(int_div(9223372036854775807, 9223372036854775806).unwrap(), 1.0);
    }

    #[test]
    fn integers_and_doubles_compare_exactly() {
        let big = Value::Int(9007199254740993);
        assert!(!equal(&big, &Value::Float(9007199254740992.0)));
        assert!(compare(CompareOp::Gt, &big, &Value::Float(9007199254740992.0)).unwrap());
        assert!(compare(CompareOp::Lt, &Value::Int(-1), &Value::Float(-0.5)).unwrap());
        assert!(compare(CompareOp::Gt, &Value::Int(0), &Value::Float(-0.5)).unwrap());
        assert!(equal(&Value::Int(0), &Value::Float(-0.0)));
        assert!(!equal(&Value::Int(1), &Value::Float(f64::NAN)));
    }
}
