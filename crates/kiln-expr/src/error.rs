//! What can go wrong: before evaluation ([`ExprError`], about the text) and during it ([`EvalError`], about values).

use std::fmt;

use kiln_core::{Place, Report, Span, Value};

/// A mistake in the text of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// The part of the text it is about.
    pub span: Span,
    /// What is wrong, in one line.
    pub message: String,
    /// What was expected instead, for beside the caret.
    pub label: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ExprError {
    pub(crate) fn new(span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        ExprError { span, message: message.into(), label: label.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The finding with its line and caret; `file` names where `text` came from.
    pub fn report(&self, file: &str, text: &str) -> Report {
        Report::error(&self.message)
            .at(Place::of(file, text, self.span.clone()))
            .label(&self.label)
            .maybe_hint(self.hint.clone())
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExprError {}

/// The ways an evaluation can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalErrorKind {
    /// `/`, `//`, `%` or `ceildiv` by zero, or zero to a negative power.
    DivisionByZero,
    /// An integer beyond 64 bits, `int` of infinity among them, or a float power beyond the largest double.
    Overflow,
    /// A function outside its domain: `sqrt(-1)`, `log2(0)`, `int` of NaN, a complex power.
    Domain,
    /// Operands of a kind the operation does not take.
    Type,
    /// A name without a value.
    Name,
}

impl EvalErrorKind {
    /// In words, to begin a sentence with.
    pub fn words(self) -> &'static str {
        match self {
            EvalErrorKind::DivisionByZero => "division by zero",
            EvalErrorKind::Overflow => "a result beyond 64 bits",
            EvalErrorKind::Domain => "a function outside its domain",
            EvalErrorKind::Type => "operands of the wrong kind",
            EvalErrorKind::Name => "a name without a value",
        }
    }
}

/// A failed evaluation: where in the expression, and with which values.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalError {
    /// What happened.
    pub kind: EvalErrorKind,
    /// The failing part of the expression's text.
    pub span: Span,
    /// That part, as written.
    pub part: String,
    /// The names in that part and their values.
    pub values: Vec<(String, Value)>,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in `{}`", self.kind.words(), self.part)?;
        for (i, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{}{name} = {value}", if i == 0 { " with " } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for EvalError {}
