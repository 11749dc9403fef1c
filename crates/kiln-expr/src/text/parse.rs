//! Tokens to a tree, by precedence climbing. In: text. Out: an [`Expression`]. Refuses with the token that was found,
//! what was expected in its place, and the span; refuses nesting so deep that walking the tree could exhaust the stack.

use std::sync::Arc;

use kiln_core::{Span, Value};

use crate::arithmetic::function::Function;
use crate::error::ExprError;
use crate::text::ast::{BinaryOp, CompareOp, Expr, Expression, Kind, UnaryOp};
use crate::text::token::{Mark, Token, tokenize};

/// Brackets, unary signs and conditionals may nest this deep.
const DEEPEST_NESTING: usize = 100;
/// The tree may be this high (a sum of 500 terms is a tree 500 high).
const HIGHEST_TREE: usize = 500;
/// Longer text is not an expression but a mistake.
pub(crate) const LONGEST_TEXT: usize = 64 * 1024;
/// `a < b in [..]` needs `b` twice; nested in itself it would double at every level, so copies are counted.
const MOST_COPIED_PARTS: usize = 10_000;

impl Expression {
    /// Parses one expression.
    pub fn parse(text: &str) -> Result<Expression, ExprError> {
        let root = Parser::new(text).and_then(|mut parser| {
            let root = parser.expression()?;
            parser.expect_end()?;
            Ok(root)
        });
        root.map(|root| Expression { text: text.into(), root: Arc::from(root) }).map_err(|error| *error)
    }
}

/// Boxed on both sides: the parser recurses through a dozen functions for every bracket, and what each of them returns
/// lies on the stack.
pub(crate) type Parsed<T> = Result<T, Box<ExprError>>;

pub(crate) struct Parser<'a> {
    tokens: Vec<(Token<'a>, Span)>,
    at: usize,
    nesting: usize,
    /// Parts copied so far.
    copied: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Parsed<Parser<'a>> {
        if text.len() > LONGEST_TEXT {
            return Err(ExprError::new(
                0..text.chars().next().map_or(0, char::len_utf8),
                format!("an expression of {} bytes", text.len()),
                format!("expected at most {LONGEST_TEXT} bytes"),
            )
            .into());
        }
        Ok(Parser { tokens: tokenize(text)?, at: 0, nesting: 0, copied: 0 })
    }

    pub(crate) fn peek(&self) -> &Token<'a> {
        &self.tokens[self.at].0
    }

    pub(crate) fn peek_second(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at + 1).map(|(t, _)| t)
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].1.clone()
    }

    pub(crate) fn advance(&mut self) {
        // The last token is `End`; nothing lies behind it.
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(crate) fn take(&mut self, mark: Mark) -> bool {
        let found = matches!(self.peek(), Token::Mark(m) if *m == mark);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect(&mut self, mark: Mark) -> Parsed<()> {
        if self.take(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    pub(crate) fn expect_end(&self) -> Parsed<()> {
        match self.peek() {
            Token::End => Ok(()),
            _ => Err(self.unexpected("an operator or the end of the expression")),
        }
    }

    pub(crate) fn unexpected(&self, expected: &str) -> Box<ExprError> {
        let found = match self.peek() {
            Token::Literal(value) => format!("{} {value}", value.kind()),
            Token::MinMagnitude => "a number beyond 64 bits".into(),
            Token::Name(name) => format!("name {name}"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => {
                return ExprError::new(self.span(), "the expression ends too early", format!("expected {expected}"))
                    .into();
            }
        };
        ExprError::new(self.span(), format!("unexpected {found}"), format!("expected {expected}")).into()
    }

    pub(crate) fn enter(&mut self) -> Parsed<()> {
        self.nesting += 1;
        if self.nesting > DEEPEST_NESTING {
            return Err(ExprError::new(
                self.span(),
                "nested too deeply",
                format!("expected at most {DEEPEST_NESTING} levels"),
            )
            .into());
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.nesting -= 1;
    }

    fn node(&self, kind: Kind, span: Span) -> Parsed<Box<Expr>> {
        let mut below = 0;
        kind.each_child(|child| below = below.max(child.height));
        let expr = Box::new(Expr { kind, span, height: below + 1 });
        if expr.height > HIGHEST_TREE {
            return Err(ExprError::new(
                expr.span,
                "an expression of too many parts",
                format!("expected at most {HIGHEST_TREE} operators in a row"),
            )
            .hint("name a part of it under [derived]")
            .into());
        }
        Ok(expr)
    }

    /// `a if c else b`, the loosest form.
    pub(crate) fn expression(&mut self) -> Parsed<Box<Expr>> {
        self.enter()?;
        let then = self.or()?;
        let expr = if self.take(Mark::If) {
            let condition = self.or()?;
            self.expect(Mark::Else)?;
            let otherwise = self.expression()?;
            let span = then.span.start..otherwise.span.end;
            let kind = Kind::If { condition, then, otherwise };
            self.node(kind, span)?
        } else {
            then
        };
        self.leave();
        Ok(expr)
    }

    pub(crate) fn or(&mut self) -> Parsed<Box<Expr>> {
        let mut left = self.and()?;
        while self.take(Mark::Or) {
            let right = self.and()?;
            let span = left.span.start..right.span.end;
            left = self.node(Kind::Or(left, right), span)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Box<Expr>> {
        let mut left = self.not()?;
        while self.take(Mark::And) {
            let right = self.not()?;
            let span = left.span.start..right.span.end;
            left = self.node(Kind::And(left, right), span)?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Box<Expr>> {
        let start = self.span().start;
        if self.take(Mark::Not) {
            self.enter()?;
            let operand = self.not()?;
            self.leave();
            let span = start..operand.span.end;
            return self.node(Kind::Unary(UnaryOp::Not, operand), span);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed<Box<Expr>> {
        let first = self.binary(0)?;
        let start = first.span.start;
        let mut rest: Vec<(CompareOp, Expr)> = Vec::new();
        loop {
            let op = match self.peek() {
                Token::Mark(Mark::EqualEqual) => CompareOp::Eq,
                Token::Mark(Mark::NotEqual) => CompareOp::Ne,
                Token::Mark(Mark::Less) => CompareOp::Lt,
                Token::Mark(Mark::LessEqual) => CompareOp::Le,
                Token::Mark(Mark::Greater) => CompareOp::Gt,
                Token::Mark(Mark::GreaterEqual) => CompareOp::Ge,
                Token::Mark(Mark::In) | Token::Mark(Mark::Not) => return self.membership(first, rest),
                _ => break,
            };
            self.advance();
            let right = *self.binary(0)?;
            // Nearly always there is just one.
            rest.reserve_exact(1);
            rest.push((op, right));
        }
        match rest.last() {
            None => Ok(first),
            Some((_, last)) => {
                let span = start..last.span.end;
                self.node(Kind::Compare(first, rest), span)
            }
        }
    }

    /// `item in [..]` or `item not in (..)`, with the comparisons of a chain that led to `item`.
    fn membership(&mut self, first: Box<Expr>, rest: Vec<(CompareOp, Expr)>) -> Parsed<Box<Expr>> {
        let negated = self.take(Mark::Not);
        self.expect(Mark::In)?;
        let open = self.span().start;
        let close = if self.take(Mark::OpenSquare) {
            Mark::CloseSquare
        } else if self.take(Mark::OpenRound) {
            Mark::CloseRound
        } else {
            return Err(self.unexpected("a list such as [16, 32]"));
        };
        let items = self.items(close)?;
        let end = self.tokens[self.at.saturating_sub(1)].1.end;
        let comma = matches!(self.tokens[self.at.saturating_sub(2)].0, Token::Mark(Mark::Comma));
        if close == Mark::CloseRound && items.len() == 1 && !comma {
            // Python reads a value in brackets, and looks for a string inside a string.
            return Err(ExprError::new(open..end, "one value in round brackets is not a list", "expected a list")
                .hint("write [..], or (..,) with a comma")
                .into());
        }
        let Some((_, last)) = rest.last() else {
            let span = first.span.start..end;
            return self.node(Kind::In(first, negated, items), span);
        };
        self.copied += last.parts();
        if self.copied > MOST_COPIED_PARTS {
            return Err(ExprError::new(
                last.span.clone(),
                "an expression of too many parts",
                "expected a simpler chain",
            )
            .hint("write `and` instead of one of the comparisons in the chain")
            .into());
        }
        let (item, start) = (Box::new(last.clone()), first.span.start);
        let span = item.span.start..end;
        let member = self.node(Kind::In(item, negated, items), span)?;
        let chain = self.node(Kind::Compare(first, rest), start..end)?;
        self.node(Kind::And(chain, member), start..end)
    }

    /// Expressions between commas up to `close`, which is taken; a trailing comma is allowed.
    pub(crate) fn items(&mut self, close: Mark) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(*self.expression()?);
            if !self.take(Mark::Comma) {
                self.expect_or_comma(close)?;
                break;
            }
        }
        Ok(items)
    }

    fn expect_or_comma(&mut self, close: Mark) -> Parsed<()> {
        if self.take(close) { Ok(()) } else { Err(self.unexpected(&format!("`,` or `{close}`"))) }
    }

    /// Operators of at least this level: `+ -` at level 0, `* / // %` at level 1; unary and power bind tighter.
    fn binary(&mut self, least: usize) -> Parsed<Box<Expr>> {
        let mut left = self.unary()?;
        loop {
            let (level, op) = match self.peek() {
                Token::Mark(Mark::Plus) => (0, BinaryOp::Add),
                Token::Mark(Mark::Minus) => (0, BinaryOp::Sub),
                Token::Mark(Mark::Star) => (1, BinaryOp::Mul),
                Token::Mark(Mark::Slash) => (1, BinaryOp::Div),
                Token::Mark(Mark::DoubleSlash) => (1, BinaryOp::FloorDiv),
                Token::Mark(Mark::Percent) => (1, BinaryOp::Mod),
                _ => return Ok(left),
            };
            if level < least {
                return Ok(left);
            }
            self.advance();
            let right = self.binary(level + 1)?;
            let span = left.span.start..right.span.end;
            left = self.node(Kind::Binary(op, left, right), span)?;
        }
    }

    fn unary(&mut self) -> Parsed<Box<Expr>> {
        let start = self.span().start;
        let op = match self.peek() {
            Token::Mark(Mark::Minus) => UnaryOp::Neg,
            Token::Mark(Mark::Plus) => UnaryOp::Pos,
            _ => return self.power(),
        };
        self.advance();
        // -2**63 is the one integer whose magnitude does not fit.
        if op == UnaryOp::Neg && *self.peek() == Token::MinMagnitude {
            let span = start..self.span().end;
            self.advance();
            return self.node(Kind::Literal(Value::Int(i64::MIN)), span);
        }
        self.enter()?;
        let operand = self.unary()?;
        self.leave();
        let span = start..operand.span.end;
        self.node(Kind::Unary(op, operand), span)
    }

    /// `a ** b`: binds tighter than a sign on its left, looser than one on its right, and to the right.
    fn power(&mut self) -> Parsed<Box<Expr>> {
        let base = self.atom()?;
        if !self.take(Mark::Power) {
            return Ok(base);
        }
        self.enter()?;
        let exponent = self.unary()?;
        self.leave();
        let span = base.span.start..exponent.span.end;
        self.node(Kind::Binary(BinaryOp::Pow, base, exponent), span)
    }

    fn atom(&mut self) -> Parsed<Box<Expr>> {
        let span = self.span();
        match self.peek() {
            Token::Literal(value) => {
                let value = value.clone();
                self.advance();
                self.node(Kind::Literal(value), span)
            }
            Token::MinMagnitude => Err(ExprError::new(
                span,
                "`9223372036854775808` does not fit in 64 bits",
                "expected a number below 2**63",
            )
            .into()),
            Token::Name(name) => {
                let name: &'a str = name;
                self.advance();
                if self.take(Mark::OpenRound) { self.call(name, span) } else { self.name(name, span) }
            }
            Token::Mark(Mark::OpenRound) => {
                self.advance();
                let mut inner = self.expression()?;
                if matches!(self.peek(), Token::Mark(Mark::Comma)) {
                    return Err(self.unexpected("`)`; a tuple may only follow `in`"));
                }
                self.expect(Mark::CloseRound)?;
                // The brackets belong to the part, so that its text reads whole in messages.
                inner.span = span.start..self.tokens[self.at.saturating_sub(1)].1.end;
                Ok(inner)
            }
            Token::Mark(Mark::OpenSquare) => Err(self.unexpected("a value; a list may only follow `in`")),
            _ => Err(self.unexpected("a name, a number or `(`")),
        }
    }

    fn name(&self, name: &str, span: Span) -> Parsed<Box<Expr>> {
        match Function::named(name) {
            Some(function) => {
                Err(ExprError::new(span, format!("{function} is a function"), format!("expected `{function}(...)`"))
                    .into())
            }
            None => self.node(Kind::Name(name.into()), span),
        }
    }

    fn call(&mut self, name: &str, span: Span) -> Parsed<Box<Expr>> {
        let Some(function) = Function::named(name) else {
            let known: Vec<_> = Function::ALL.iter().map(|(_, n, ..)| *n).collect();
            // `math.sqrt(x)` means what `sqrt(x)` means.
            let bare = name.rsplit('.').next().unwrap_or(name);
            let error = ExprError::new(
                span,
                format!("{name} is not a function"),
                format!("expected one of {}", known.join(", ")),
            );
            return Err(Box::new(match kiln_core::nearest(bare, known) {
                Some(near) => error.hint(format!("did you mean {near}?")),
                None => error,
            }));
        };
        let arguments = self.items(Mark::CloseRound)?;
        let end = self.tokens[self.at.saturating_sub(1)].1.end;
        let (least, most) = function.arity();
        if arguments.len() < least || arguments.len() > most {
            let expected = match (least, most) {
                (1, 1) => "expected 1 argument".into(),
                (a, b) if a == b => format!("expected {a} arguments"),
                (a, usize::MAX) => format!("expected at least {a} arguments"),
                (a, b) => format!("expected {a} to {b} arguments"),
            };
            return Err(ExprError::new(
                span.start..end,
                match arguments.len() {
                    1 => format!("{function} with 1 argument"),
                    count => format!("{function} with {count} arguments"),
                },
                expected,
            )
            .into());
        }
        self.node(Kind::Call(function, arguments), span.start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Expression::parse(text).unwrap_err().report("k", text).to_string()
    }

    #[test]
    fn mistakes_are_shown_with_caret_found_and_expected() {
        insta::assert_snapshot!(
            [
                "A % (16 * B == 0",
                "A && B",
                "A = 4",
                "min(A)",
                "sqr(A)",
                "A in 4",
                "A in (4)",
                "4 +",
                "A B",
                "07",
                "'x",
                "A ? 1 : 2",
                "99999999999999999999",
                "min + 1",
                "(A, B)",
                "true and A",
                "A in [1, 2",
                "math.sqrt(A)",
                "é + $"
            ]
            .map(error)
            .join("\n\n")
        );
    }

    #[test]
    fn python_forms_parse() {
        for text in [
            "BLOCK_M % (16 * WARPS) == 0",
            "32 <= x * y <= 1024",
            "not (a == 1 and b == 2) or c",
            "x in [1, 2, 3,] and y not in (4, 5)",
            "0 < x in (1, 2)",
            "-2**-3**2",
            "a if b else c if d else e",
            "device.smem_per_block // 2 - 1_000",
            "0x10 + 0b11 + 0o7 + .5 + 1. + 1e-3",
            "min(a, b, c) + round(x, 2)",
            "-9223372036854775808",
            "'a' == \"b\"",
        ] {
            Expression::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        }
    }

    #[test]
    fn nesting_is_bounded_without_touching_the_stack() {
        for text in
            ["(".repeat(50_000), "-".repeat(50_000), "not ".repeat(10_000), "1+".repeat(20_000), "1**".repeat(9_000)]
        {
            assert!(Expression::parse(&text).is_err());
        }
        assert!(Expression::parse(&"x".repeat(70_000)).is_err());
    }
}
