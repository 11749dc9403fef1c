//! Names and kinds, before any value is known. In: an expression and the scope its names come from. Out: the kind of its
//! result, or every mistake: a name that is not defined (with a near one), a string in arithmetic, a comparison that can
//! only have one answer because its sides are of different kinds.

use std::fmt;

use kiln_core::{Value, nearest};

use crate::arithmetic::function::Function;
use crate::error::ExprError;
use crate::text::ast::{BinaryOp, Expr, Expression, Kind, UnaryOp};

/// The kind of a value as far as it is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// An integer.
    Int,
    /// A double.
    Float,
    /// A boolean.
    Bool,
    /// A string.
    Str,
    /// One or another, depending on values.
    Any,
}

impl Type {
    /// The type of a value.
    pub fn of(value: &Value) -> Type {
        match value {
            Value::Int(_) => Type::Int,
            Value::Float(_) => Type::Float,
            Value::Bool(_) => Type::Bool,
            Value::Str(_) => Type::Str,
        }
    }

    /// The type that covers both.
    pub fn join(self, other: Type) -> Type {
        if self == other { self } else { Type::Any }
    }

    /// The type that covers all the values of a list.
    pub fn of_all<'a>(values: impl IntoIterator<Item = &'a Value>) -> Type {
        values.into_iter().map(Type::of).reduce(Type::join).unwrap_or(Type::Any)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Int => "an integer",
            Type::Float => "a float",
            Type::Bool => "a boolean",
            Type::Str => "a string",
            Type::Any => "a value",
        })
    }
}

/// Where names get their types.
pub trait Scope {
    /// The type of `name`; none when it is not defined.
    fn type_of(&self, name: &str) -> Option<Type>;
    /// Every defined name, for near misses.
    fn names(&self) -> Vec<String>;
    /// What a name may stand for here, for the message.
    fn expected(&self) -> String {
        "expected a defined name".into()
    }
}

impl Expression {
    /// Checks names and kinds; all mistakes at once.
    pub fn check(&self, scope: &dyn Scope) -> Result<Type, Vec<ExprError>> {
        let mut checker = Checker { scope, source: self, errors: Vec::new() };
        let kind = checker.visit(&self.root);
        if checker.errors.is_empty() { Ok(kind) } else { Err(checker.errors) }
    }
}

struct Checker<'a> {
    scope: &'a dyn Scope,
    source: &'a Expression,
    errors: Vec<ExprError>,
}

impl Checker<'_> {
    fn visit(&mut self, expr: &Expr) -> Type {
        match &expr.kind {
            Kind::Literal(value) => Type::of(value),
            Kind::Name(name) => self.name(name, expr),
            Kind::Unary(UnaryOp::Not, operand) => {
                self.visit(operand);
                Type::Bool
            }
            Kind::Unary(_, operand) => {
                let kind = self.visit(operand);
                self.number(operand, kind, format_args!("a sign"))
            }
            Kind::Binary(op, a, b) => self.binary(*op, a, b),
            Kind::Compare(first, rest) => {
                let (mut left, mut left_type) = (&**first, self.visit(first));
                for (op, right) in rest {
                    let right_type = self.visit(right);
                    self.comparable(left, left_type, op.sign(), right, right_type);
                    (left, left_type) = (right, right_type);
                }
                Type::Bool
            }
            Kind::In(item, _, list) => {
                let kind = self.visit(item);
                for candidate in list {
                    let candidate_type = self.visit(candidate);
                    self.comparable(item, kind, "in", candidate, candidate_type);
                }
                Type::Bool
            }
            Kind::And(a, b) | Kind::Or(a, b) => {
                let a = self.visit(a);
                a.join(self.visit(b))
            }
            Kind::If { condition, then, otherwise } => {
                self.visit(condition);
                let then = self.visit(then);
                then.join(self.visit(otherwise))
            }
            Kind::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn name(&mut self, name: &str, expr: &Expr) -> Type {
        if let Some(kind) = self.scope.type_of(name) {
            return kind;
        }
        let mut error = ExprError::new(expr.span.clone(), format!("{name} is not defined"), self.scope.expected());
        let known = self.scope.names();
        if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            error = error.hint(format!("did you mean {near}?"));
        }
        // One report a name is enough, however often it stands there.
        if !self.errors.iter().any(|e| e.message == error.message) {
            self.errors.push(error);
        }
        Type::Any
    }

    /// The type of an operand that must be a number, reported when it is not.
    fn number(&mut self, operand: &Expr, kind: Type, what: fmt::Arguments<'_>) -> Type {
        match kind {
            Type::Str => {
                let part = self.source.part(operand);
                self.errors.push(ExprError::new(
                    operand.span.clone(),
                    format!("{part} is a string; {what} needs a number"),
                    "expected a number",
                ));
                Type::Any
            }
            Type::Bool => Type::Int,
            kind => kind,
        }
    }

    /// Reports a number of digits that is not an integer.
    fn whole(&mut self, function: Function, argument: &Expr, kind: Type) {
        if kind == Type::Float {
            let part = self.source.part(argument);
            let needed = match function {
                Function::Round => "a whole number of digits",
                _ => "whole numbers of bytes",
            };
            self.errors.push(ExprError::new(
                argument.span.clone(),
                format!("{part} is a float; {function} needs {needed}"),
                "expected an integer",
            ));
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Type {
        let kinds = (self.visit(a), self.visit(b));
        if op == BinaryOp::Add && kinds == (Type::Str, Type::Str) {
            return Type::Str;
        }
        // Formatted only if it must be shown.
        let sign = op.sign();
        let a_type = self.number(a, kinds.0, format_args!("`{sign}`"));
        match (op, a_type, self.number(b, kinds.1, format_args!("`{sign}`"))) {
            (BinaryOp::Div, ..) | (_, Type::Float, _) | (_, _, Type::Float) => Type::Float,
            // A negative exponent makes a float, and that may depend on values.
            (BinaryOp::Pow, Type::Int, Type::Int) => match &b.kind {
                Kind::Literal(Value::Int(0..)) => Type::Int,
                _ => Type::Any,
            },
            (_, Type::Int, Type::Int) => Type::Int,
            _ => Type::Any,
        }
    }

    fn comparable(&mut self, a: &Expr, a_type: Type, sign: &str, b: &Expr, b_type: Type) {
        let mixed = (a_type == Type::Str) != (b_type == Type::Str) && a_type != Type::Any && b_type != Type::Any;
        if mixed {
            let (left, right) = (self.source.part(a), self.source.part(b));
            self.errors.push(ExprError::new(
                a.span.start.min(b.span.start)..a.span.end.max(b.span.end),
                match sign {
                    "==" | "!=" | "in" => {
                        format!("{left} is {a_type} and {right} is {b_type}: `{sign}` between them has only one answer")
                    }
                    _ => format!("{left} is {a_type} and {right} is {b_type}: they cannot be compared with `{sign}`"),
                },
                format!("expected {a_type} on both sides"),
            ));
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> Type {
        let name = function.name();
        let kinds: Vec<Type> = arguments.iter().map(|a| self.visit(a)).collect();
        if matches!(function, Function::Min | Function::Max) && kinds.iter().all(|k| *k == Type::Str) {
            return Type::Str;
        }
        let numbers: Vec<Type> =
            arguments.iter().zip(&kinds).map(|(a, kind)| self.number(a, *kind, format_args!("{name}"))).collect();
        let join = |kinds: Vec<Type>| kinds.into_iter().reduce(Type::join).unwrap_or(Type::Any);
        match function {
            // One of the arguments as it is: a boolean stays one.
            Function::Min | Function::Max => join(kinds),
            Function::Abs | Function::CeilDiv => join(numbers),
            Function::Round if arguments.len() == 2 => {
                self.whole(function, &arguments[1], numbers[1]);
                numbers[0]
            }
            Function::BankConflicts | Function::Sectors => {
                arguments.iter().zip(&numbers).for_each(|(argument, kind)| self.whole(function, argument, *kind));
                Type::Int
            }
            Function::Round | Function::Int => Type::Int,
            Function::Float | Function::Sqrt | Function::Log2 => Type::Float,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names;

    impl Scope for Names {
        fn type_of(&self, name: &str) -> Option<Type> {
            match name {
                "BLOCK_M" | "WARPS" => Some(Type::Int),
                "SWIZZLE" => Some(Type::Str),
                _ => None,
            }
        }

        fn names(&self) -> Vec<String> {
            vec!["BLOCK_M".into(), "WARPS".into(), "SWIZZLE".into()]
        }
    }

    #[test]
    fn types_of_results() {
        for (text, expected) in [
            ("BLOCK_M * 2", Type::Int),
            ("BLOCK_M / 2", Type::Float),
            ("BLOCK_M ** 2", Type::Int),
            ("BLOCK_M ** WARPS", Type::Any),
            ("SWIZZLE == 'xor'", Type::Bool),
            ("'a' + SWIZZLE", Type::Str),
            ("(WARPS > 2) + 1", Type::Int),
            ("1 if WARPS else 2.0", Type::Any),
            ("round(1.5, 1)", Type::Float),
            ("max('a', SWIZZLE)", Type::Str),
            ("min(WARPS > 2, True)", Type::Bool),
            ("min(WARPS > 2, WARPS)", Type::Any),
        ] {
            assert_eq!(Expression::parse(text).unwrap().check(&Names), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_all_reported() {
        let text = "BLOK_M % WRAPS == 0 and SWIZZLE * 2 > 1 and SWIZZLE == 1 and BLOCK_M in [16, 'x'] and BLOK_M";
        let reports: Vec<String> = Expression::parse(text)
            .unwrap()
            .check(&Names)
            .unwrap_err()
            .iter()
            .map(|e| e.report("k", text).to_string())
            .collect();
        insta::assert_snapshot!(reports.join("\n\n"));
    }

    #[test]
    fn a_float_is_refused_in_the_name_of_the_function_that_got_it() {
        for (text, words) in [
            ("sectors(1.5, 4)", "1.5 is a float; sectors needs whole numbers of bytes"),
            ("round(1.5, 0.5)", "0.5 is a float; round needs a whole number of digits"),
        ] {
            let errors = Expression::parse(text).unwrap().check(&Names).unwrap_err();
            let report = errors[0].report("k", text).to_string();
            assert!(report.contains(words), "{report}");
        }
    }
}
