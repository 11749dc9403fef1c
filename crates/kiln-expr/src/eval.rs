//! Evaluation of one expression with one set of values: the plain, slow, obviously right form. The columnar form is
//! held against it by tests.

use kiln_core::Value;

use crate::arithmetic::ops;
use crate::error::{EvalError, EvalErrorKind};
use crate::text::ast::{Expr, Expression, Kind, UnaryOp};

/// Where names get their values.
pub trait Env {
    /// The value of `name`, if it has one.
    fn value(&self, name: &str) -> Option<Value>;
}

impl<F: Fn(&str) -> Option<Value>> Env for F {
    fn value(&self, name: &str) -> Option<Value> {
        self(name)
    }
}

impl Expression {
    /// The value under `env`.
    pub fn eval(&self, env: &dyn Env) -> Result<Value, EvalError> {
        self.eval_part(&self.root, env)
    }

    /// The value of one part under `env`.
    pub fn eval_part(&self, part: &Expr, env: &dyn Env) -> Result<Value, EvalError> {
        evaluate(part, &self.text, env)
    }
}

/// The value of a part of `text` under `env`.
pub(crate) fn evaluate(part: &Expr, text: &str, env: &dyn Env) -> Result<Value, EvalError> {
    eval(part, env).map_err(|(kind, at)| EvalError {
        kind,
        span: at.span.clone(),
        part: text.get(at.span.clone()).unwrap_or(text).into(),
        values: at.names().into_iter().filter_map(|(n, _)| Some((n.to_string(), env.value(&n)?))).collect(),
    })
}

type Failed<'a> = (EvalErrorKind, &'a Expr);

fn eval<'a>(expr: &'a Expr, env: &dyn Env) -> Result<Value, Failed<'a>> {
    let here = |kind| (kind, expr);
    match &expr.kind {
        Kind::Literal(value) => Ok(value.clone()),
        Kind::Name(name) => env.value(name).ok_or(here(EvalErrorKind::Name)),
        Kind::Unary(op, operand) => {
            let value = eval(operand, env)?;
            match op {
                UnaryOp::Neg => ops::negate(&value).map_err(here),
                UnaryOp::Pos => ops::positive(&value).map_err(here),
                UnaryOp::Not => Ok(Value::Bool(!ops::truth(&value))),
            }
        }
        Kind::Binary(op, a, b) => {
            let (a, b) = (eval(a, env)?, eval(b, env)?);
            ops::binary(*op, &a, &b).map_err(here)
        }
        Kind::Compare(first, rest) => {
            let mut left = eval(first, env)?;
            for (op, right) in rest {
                let right = eval(right, env)?;
                if !ops::compare(*op, &left, &right).map_err(here)? {
                    return Ok(Value::Bool(false));
                }
                left = right;
            }
            Ok(Value::Bool(true))
        }
        Kind::In(item, negated, list) => {
            let item = eval(item, env)?;
            let mut found = false;
            // Python builds the whole list before it looks, so every item is evaluated.
            for candidate in list {
                found |= ops::equal(&item, &eval(candidate, env)?);
            }
            Ok(Value::Bool(found != *negated))
        }
        Kind::And(a, b) => {
            let left = eval(a, env)?;
            if ops::truth(&left) { eval(b, env) } else { Ok(left) }
        }
        Kind::Or(a, b) => {
            let left = eval(a, env)?;
            if ops::truth(&left) { Ok(left) } else { eval(b, env) }
        }
        Kind::If { condition, then, otherwise } => {
            if ops::truth(&eval(condition, env)?) {
                eval(then, env)
            } else {
                eval(otherwise, env)
            }
        }
        Kind::Call(function, arguments) => {
            let values = arguments.iter().map(|a| eval(a, env)).collect::<Result<Vec<_>, _>>()?;
            ops::call(*function, &values).map_err(here)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> Result<Value, EvalError> {
        let env = |name: &str| match name {
            "x" => Some(Value::Int(-7)),
            "n" => Some(Value::Int(0)),
            "s" => Some(Value::from("xor")),
            "device.smem" => Some(Value::Int(101_376)),
            _ => None,
        };
        Expression::parse(text).unwrap().eval(&env)
    }

    #[test]
    fn python_results() {
        for (text, expected) in [
            ("x // 2", Value::Int(-4)),
            ("x % 3", Value::Int(2)),
            ("x % -3", Value::Int(-1)),
            ("7 / 2", Value::Float(3.5)),
            ("-2 ** 2", Value::Int(-4)),
            ("2 ** -1", Value::Float(0.5)),
            ("n and 1 // n", Value::Int(0)),
            ("x or 1 // n", Value::Int(-7)),
            ("1 < 2 < 3", Value::Bool(true)),
            ("3 > 2 > 2", Value::Bool(false)),
            ("s in ['pad', 'xor']", Value::Bool(true)),
            ("s not in ('pad',)", Value::Bool(true)),
            ("round(2.5) + round(3.5)", Value::Int(6)),
            ("round(2.675, 2)", Value::Float(2.67)),
            ("True + True", Value::Int(2)),
            ("ceildiv(7, 2)", Value::Int(4)),
            ("ceildiv(x, 2)", Value::Int(-3)),
            ("min(3, 1.0, True)", Value::Float(1.0)),
            ("1 // n if n else 5", Value::Int(5)),
            ("device.smem // 2", Value::Int(50_688)),
            ("-5.5 // 2", Value::Float(-3.0)),
            ("-5.5 % 2", Value::Float(0.5)),
            ("int(-3.9)", Value::Int(-3)),
            ("log2(1024)", Value::Float(10.0)),
            ("'a' == 1", Value::Bool(false)),
            ("'a' < 'b'", Value::Bool(true)),
        ] {
            assert_eq!(eval(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn failures_name_the_part_and_its_values() {
        let error = eval("1 + x % n == 0").unwrap_err();
        assert_eq!(error.to_string(), "division by zero in `x % n` with x = -7, n = 0");
        assert_eq!(eval("x * 9223372036854775807").unwrap_err().kind, EvalErrorKind::Overflow);
        assert_eq!(eval("2 ** 63").unwrap_err().kind, EvalErrorKind::Overflow);
        assert_eq!(eval("sqrt(x)").unwrap_err().kind, EvalErrorKind::Domain);
        assert_eq!(eval("(-8) ** 0.5").unwrap_err().kind, EvalErrorKind::Domain);
        assert_eq!(eval("s + 1").unwrap_err().kind, EvalErrorKind::Type);
        assert_eq!(eval("missing").unwrap_err().kind, EvalErrorKind::Name);
    }
}
