//! The tree an expression is parsed into, every part with its span in the text.

use std::fmt;
use std::sync::Arc;

use kiln_core::{Span, Value};

use crate::arithmetic::function::Function;

/// A parsed expression together with its text.
#[derive(Debug, Clone)]
pub struct Expression {
    pub(crate) text: Arc<str>,
    pub(crate) root: Arc<Expr>,
}

impl Expression {
    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tree.
    pub fn root(&self) -> &Expr {
        &self.root
    }

    /// The text of one part.
    pub fn part(&self, part: &Expr) -> &str {
        self.text.get(part.span.clone()).unwrap_or(&self.text)
    }

    /// Every name used, in order of first use, with the span of that use.
    pub fn names(&self) -> Vec<(Arc<str>, Span)> {
        self.root.names()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A part of an expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Where it stands in the text.
    pub span: Span,
    /// How deep the tree below it is: bounded, so that walking it cannot exhaust the stack.
    pub(crate) height: usize,
}

/// The kinds of parts.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A number, a boolean or a string as written.
    Literal(Value),
    /// A name, dots included.
    Name(Arc<str>),
    /// `-a`, `+a`, `not a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b` and its like.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`: the first operand, then each comparison with its right side.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `a in [b, c]`; true in the flag for `not in`. `a < b in [..]` nests as `And`.
    In(Box<Expr>, bool, Vec<Expr>),
    /// `a and b`.
    And(Box<Expr>, Box<Expr>),
    /// `a or b`.
    Or(Box<Expr>, Box<Expr>),
    /// `then if condition else otherwise`.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// The value when it is true.
        then: Box<Expr>,
        /// The value when it is not.
        otherwise: Box<Expr>,
    },
    /// A function call.
    Call(Function, Vec<Expr>),
}

/// Operators of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`
    Neg,
    /// `+a`
    Pos,
    /// `not a`
    Not,
}

/// Arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, always a float
    Div,
    /// `//`, rounded down
    FloorDiv,
    /// `%`, with the sign of the divisor
    Mod,
    /// `**`
    Pow,
}

impl BinaryOp {
    /// As written.
    pub fn sign(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::FloorDiv => "//",
            BinaryOp::Mod => "%",
            BinaryOp::Pow => "**",
        }
    }
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// As written.
    pub fn sign(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

impl Kind {
    /// Visits the parts directly below, left to right.
    pub(crate) fn each_child<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match self {
            Kind::Literal(_) | Kind::Name(_) => {}
            Kind::Unary(_, a) => visit(a),
            Kind::Binary(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) => {
                visit(a);
                visit(b);
            }
            Kind::Compare(first, rest) => {
                visit(first);
                rest.iter().for_each(|(_, side)| visit(side));
            }
            Kind::In(item, _, list) => {
                visit(item);
                list.iter().for_each(visit);
            }
            Kind::If { condition, then, otherwise } => {
                visit(then);
                visit(condition);
                visit(otherwise);
            }
            Kind::Call(_, arguments) => arguments.iter().for_each(visit),
        }
    }
}

impl Expr {
    /// The parts directly below this one, left to right.
    pub fn children(&self) -> Vec<&Expr> {
        let mut children = Vec::new();
        self.kind.each_child(|child| children.push(child));
        children
    }

    /// How many parts it has, itself included.
    pub(crate) fn parts(&self) -> usize {
        let mut parts = 1;
        self.kind.each_child(|child| parts += child.parts());
        parts
    }

    /// Every name below, in order of first use.
    pub fn names(&self) -> Vec<(Arc<str>, Span)> {
        let mut names: Vec<(Arc<str>, Span)> = Vec::new();
        self.collect_names(&mut names);
        names
    }

    fn collect_names(&self, names: &mut Vec<(Arc<str>, Span)>) {
        if let Kind::Name(name) = &self.kind
            && !names.iter().any(|(n, _)| n == name)
        {
            names.push((name.clone(), self.span.clone()));
        }
        self.kind.each_child(|child| child.collect_names(names));
    }
}
