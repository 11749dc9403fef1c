//! Expressions of a kernel file in C++. In: an expression in Python's form. Out: the same in C++, with the helpers of
//! `kiln_launch.hpp` for what C++ does otherwise: division, remainders, powers. Derived values are functions without arguments
//! there, so that one which fails matters only to those that need it.

use kiln_core::{Report, Value};
use kiln_expr::{BinaryOp, CompareOp, Expr, Function, Kind, UnaryOp};
use kiln_spec::Formula;

use crate::failure::Failure;

/// Names that stand for something other than a variable of the same name.
pub(super) struct Names<'a> {
    /// Derived values.
    pub(super) derived: Vec<&'a str>,
    /// Names that are true or false.
    pub(super) flags: Vec<&'a str>,
}

/// The expression in C++. Refuses functions that only kiln has.
pub(super) fn cpp(formula: &Formula, names: &Names<'_>) -> Result<String, Failure> {
    print(formula.expression.root(), names).map_err(|function| {
        let report = Report::error(format!("`{}` cannot be exported", formula.expression.text()));
        report.label(format!("{function} is evaluated by kiln alone")).into()
    })
}

/// A name of an expression as a variable of C++: `T.bytes` is `T_bytes`.
pub(super) fn variable(name: &str) -> String {
    let name = name.replace('.', "_");
    if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
}

fn print(expr: &Expr, names: &Names<'_>) -> Result<String, &'static str> {
    let p = |expr: &Expr| print(expr, names);
    Ok(match &expr.kind {
        Kind::Literal(value) => literal(value),
        Kind::Name(name) if names.derived.contains(&&**name) => format!("{}()", variable(name)),
        Kind::Name(name) => variable(name),
        Kind::Unary(UnaryOp::Neg, a) => format!("(-{})", p(a)?),
        Kind::Unary(UnaryOp::Pos, a) => format!("(+{})", p(a)?),
        Kind::Unary(UnaryOp::Not, a) => format!("(!truth({}))", p(a)?),
        Kind::Binary(op, a, b) => binary(*op, &p(a)?, &p(b)?),
        Kind::Compare(first, more) => {
            let (mut parts, mut left) = (Vec::new(), p(first)?);
            for (op, right) in more {
                let right = p(right)?;
                parts.push(format!("{left} {} {right}", sign(*op)));
                left = right;
            }
            format!("({})", parts.join(" && "))
        }
        Kind::In(a, not, list) => {
            let a = p(a)?;
            let parts = list.iter().map(|b| Ok(format!("{a} == {}", p(b)?))).collect::<Result<Vec<_>, &str>>()?;
            let any = if parts.is_empty() { "false".into() } else { parts.join(" || ") };
            if *not { format!("(!({any}))") } else { format!("({any})") }
        }
        Kind::And(a, b) if is_flag(a, names) && is_flag(b, names) => format!("({} && {})", p(a)?, p(b)?),
        Kind::Or(a, b) if is_flag(a, names) && is_flag(b, names) => format!("({} || {})", p(a)?, p(b)?),
        // The value of one side, as in Python.
        Kind::And(a, b) => format!("(truth({0}) ? {1} : {0})", p(a)?, p(b)?),
        Kind::Or(a, b) => format!("(truth({0}) ? {0} : {1})", p(a)?, p(b)?),
        Kind::If { condition, then, otherwise } => {
            format!("(truth({}) ? {} : {})", p(condition)?, p(then)?, p(otherwise)?)
        }
        Kind::Call(function, parts) => {
            let parts = parts.iter().map(p).collect::<Result<Vec<_>, _>>()?;
            format!("{}({})", called(*function)?, parts.join(", "))
        }
    })
}

fn literal(value: &Value) -> String {
    match value {
        Value::Int(v) => format!("INT64_C({v})"),
        Value::Float(v) => format!("{v:?}"),
        Value::Bool(v) => v.to_string(),
        Value::Str(text) => format!("std::string_view({:?})", &**text),
    }
}

fn binary(op: BinaryOp, a: &str, b: &str) -> String {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => format!("({a} {} {b})", op.sign()),
        BinaryOp::Div => format!("divide({a}, {b})"),
        BinaryOp::FloorDiv => format!("floordiv({a}, {b})"),
        BinaryOp::Mod => format!("floormod({a}, {b})"),
        BinaryOp::Pow => format!("power({a}, {b})"),
    }
}

fn sign(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

fn called(function: Function) -> Result<&'static str, &'static str> {
    Ok(match function {
        Function::Min => "least",
        Function::Max => "greatest",
        Function::Abs => "magnitude",
        Function::CeilDiv => "ceildiv",
        Function::Round => "rounded",
        Function::Int => "whole",
        Function::Float => "real",
        Function::Sqrt => "root",
        Function::Log2 => "binary_log",
        Function::BankConflicts | Function::Sectors => return Err(function.name()),
    })
}

/// Whether an expression is true or false, whatever its names are.
fn is_flag(expr: &Expr, names: &Names<'_>) -> bool {
    match &expr.kind {
        Kind::Literal(Value::Bool(_)) | Kind::Compare(..) | Kind::In(..) | Kind::Unary(UnaryOp::Not, _) => true,
        Kind::Name(name) => names.flags.contains(&&**name),
        Kind::And(a, b) | Kind::Or(a, b) => is_flag(a, names) && is_flag(b, names),
        _ => false,
    }
}

/// Words of C++ that a kernel file may use as names.
const KEYWORDS: [&str; 36] = [
    "alignas", "auto", "bool", "break", "case", "char", "const", "continue", "default", "delete", "do", "double",
    "else", "enum", "explicit", "export", "float", "for", "friend", "goto", "inline", "int", "long", "new", "operator",
    "private", "public", "register", "short", "signed", "static", "switch", "this", "union", "unsigned", "void",
];

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_expr::Expression;

    #[test]
    fn python_becomes_cpp() {
        let names = Names { derived: vec!["tiles"], flags: vec!["FAST"] };
        let of = |text: &str| cpp(&Formula::unplaced(Expression::parse(text).unwrap()), &names).unwrap();
        assert_eq!(of("ceildiv(S, B) * tiles"), "(ceildiv(S, B) * tiles())");
        assert_eq!(of("1 / sqrt(D)"), "divide(INT64_C(1), root(D))");
        assert_eq!(of("D if L == 'bshd' else S"), "(truth((L == std::string_view(\"bshd\"))) ? D : S)");
        assert_eq!(of("1 <= A < 4 and FAST"), "((INT64_C(1) <= A && A < INT64_C(4)) && FAST)");
        assert_eq!(of("A or 4"), "(truth(A) ? A : INT64_C(4))");
        assert_eq!(of("A not in [1, 2]"), "(!(A == INT64_C(1) || A == INT64_C(2)))");
        assert_eq!(
            of("T.bytes * device.warp_size - 2.0 // 1"),
            "((T_bytes * device_warp_size) - floordiv(2.0, INT64_C(1)))"
        );
        let banks = Formula::unplaced(Expression::parse("bank_conflicts(A, 4)").unwrap());
        assert!(cpp(&banks, &names).is_err());
    }
}
