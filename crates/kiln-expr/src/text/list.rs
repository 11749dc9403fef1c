//! Python list expressions, as tuning files write their values: `[1, 2] + list(range(32, 1025, 32))`,
//! `[2**i for i in range(0, 6)]`. In: text. Out: the values. Refuses what it does not know, and lists longer than any
//! tunable could use. Looser than Python in that lists and tuples are the same, and `(1)` is one too.

use std::cmp::Ordering;

use kiln_core::{Span, Value};

use crate::arithmetic::ops::{self, truth};
use crate::error::ExprError;
use crate::eval::evaluate;
use crate::text::ast::Expr;
use crate::text::parse::{LONGEST_TEXT, Parsed, Parser};
use crate::text::token::{Mark, Token};

/// A list longer than this is a mistake, not a tunable.
const LONGEST_LIST: usize = 1_000_000;

/// The values of a Python list expression.
pub fn evaluate_list(text: &str) -> Result<Vec<Value>, ExprError> {
    if let Some(values) = plain_integers(text) {
        return Ok(values);
    }
    let values = Parser::new(text).and_then(|parser| {
        let mut lists = Lists { parser, text };
        let values = lists.sum()?;
        lists.parser.expect_end()?;
        Ok(values)
    });
    values.map_err(|error| *error)
}

/// `[1, 2, 4]`, the form nearly every list has, without the detour through tokens and trees; none for any other form.
fn plain_integers(text: &str) -> Option<Vec<Value>> {
    let bytes = text.as_bytes();
    if *bytes.first()? != b'[' {
        return None;
    }
    let mut values = Vec::with_capacity(bytes.iter().filter(|b| **b == b',').count() + 1);
    let mut at = 1;
    loop {
        at = behind_blanks(bytes, at);
        let negative = *bytes.get(at)? == b'-';
        at += usize::from(negative);
        let start = at;
        let mut value = 0;
        while let Some(digit) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
            // 18 digits always fit.
            if at - start == 18 {
                return None;
            }
            value = value * 10 + i64::from(digit - b'0');
            at += 1;
        }
        // A zero in front is a mistake the full parser explains.
        if at == start || (at - start > 1 && bytes[start] == b'0') {
            return None;
        }
        values.push(Value::Int(if negative { -value } else { value }));
        at = behind_blanks(bytes, at);
        match *bytes.get(at)? {
            b',' => at += 1,
            b']' => break,
            _ => return None,
        }
    }
    (at + 1 == bytes.len()).then_some(values)
}

fn behind_blanks(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

struct Lists<'a> {
    parser: Parser<'a>,
    text: &'a str,
}

impl Lists<'_> {
    /// `list + list`.
    fn sum(&mut self) -> Parsed<Vec<Value>> {
        self.parser.enter()?;
        let mut values = self.term()?;
        while self.parser.take(Mark::Plus) {
            let span = self.parser.span();
            values.extend(self.term()?);
            bounded(values.len(), span)?;
        }
        self.parser.leave();
        Ok(values)
    }

    fn term(&mut self) -> Parsed<Vec<Value>> {
        let span = self.parser.span();
        let name = match self.parser.peek().clone() {
            Token::Mark(Mark::OpenSquare) => {
                self.parser.advance();
                return self.display(Mark::CloseSquare);
            }
            Token::Mark(Mark::OpenRound) => {
                self.parser.advance();
                return self.display(Mark::CloseRound);
            }
            Token::Name(name) => name,
            _ => return Err(self.parser.unexpected("a list such as [1, 2] or list(range(1, 9))")),
        };
        self.parser.advance();
        match name {
            "list" | "tuple" | "sorted" => {
                self.parser.expect(Mark::OpenRound)?;
                let values = self.sum()?;
                self.parser.expect(Mark::CloseRound)?;
                if name == "sorted" { sorted(values, span) } else { Ok(values) }
            }
            "range" => {
                self.parser.expect(Mark::OpenRound)?;
                let arguments = self.parser.items(Mark::CloseRound)?;
                self.range(&arguments, span)
            }
            _ => Err(ExprError::new(
                span,
                format!("{name} does not give a list"),
                "expected list(..), range(..) or [..]",
            )
            .into()),
        }
    }

    /// The inside of brackets: items, or a comprehension.
    fn display(&mut self, close: Mark) -> Parsed<Vec<Value>> {
        if self.parser.take(close) {
            return Ok(vec![]);
        }
        // `(` may merely group a list expression: `([1] + [2])`.
        if close == Mark::CloseRound && self.starts_list() {
            let values = self.sum()?;
            self.parser.expect(close)?;
            return Ok(values);
        }
        let first = self.parser.expression()?;
        if self.parser.take(Mark::For) {
            let values = self.comprehension(&first)?;
            self.parser.expect(close)?;
            return Ok(values);
        }
        let mut values = vec![self.value(&first, &[])?];
        if self.parser.take(Mark::Comma) {
            for item in self.parser.items(close)? {
                values.push(self.value(&item, &[])?);
            }
        } else {
            self.parser.expect(close)?;
        }
        Ok(values)
    }

    fn starts_list(&self) -> bool {
        let call = matches!(self.parser.peek_second(), Some(Token::Mark(Mark::OpenRound)));
        match self.parser.peek() {
            Token::Mark(Mark::OpenSquare) => true,
            Token::Name(name) => call && matches!(*name, "list" | "tuple" | "sorted" | "range"),
            _ => false,
        }
    }

    /// `item for NAME in LIST if CONDITION`, from behind the `for`.
    fn comprehension(&mut self, item: &Expr) -> Parsed<Vec<Value>> {
        let Token::Name(name) = self.parser.peek().clone() else {
            return Err(self.parser.unexpected("the loop's name"));
        };
        self.parser.advance();
        self.parser.expect(Mark::In)?;
        let source = self.sum()?;
        let mut conditions = Vec::new();
        while self.parser.take(Mark::If) {
            conditions.push(self.parser.or()?);
        }
        let mut values = Vec::new();
        'next: for element in source {
            let scope = [(name, element)];
            for condition in &conditions {
                if !truth(&self.value(condition, &scope)?) {
                    continue 'next;
                }
            }
            values.push(self.value(item, &scope)?);
        }
        Ok(values)
    }

    fn range(&self, arguments: &[Expr], span: Span) -> Parsed<Vec<Value>> {
        let numbers = arguments
            .iter()
            .map(|argument| match self.value(argument, &[])? {
                Value::Int(v) => Ok(v),
                other => Err(ExprError::new(
                    argument.span.clone(),
                    format!("range of {} {other}", other.kind()),
                    "expected an integer",
                )
                .into()),
            })
            .collect::<Parsed<Vec<i64>>>()?;
        let (start, stop, step) = match numbers[..] {
            [stop] => (0, stop, 1),
            [start, stop] => (start, stop, 1),
            [start, stop, step] if step != 0 => (start, stop, step),
            [_, _, _] => return Err(ExprError::new(span, "range with a step of 0", "expected a step").into()),
            _ => {
                return Err(
                    ExprError::new(span, "range with no or too many arguments", "expected 1 to 3 arguments").into()
                );
            }
        };
        let distance = (i128::from(stop) - i128::from(start)) * i128::from(step.signum());
        let stride = i128::from(step).abs();
        let count = (distance.max(0) + stride - 1) / stride;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        bounded(count, span)?;
        // In 128 bits: the distance between two 64-bit ends may not fit in 64.
        let at = |i: usize| (i128::from(start) + i as i128 * i128::from(step)) as i64;
        Ok((0..count).map(|i| Value::Int(at(i))).collect())
    }

    fn value(&self, expr: &Expr, scope: &[(&str, Value)]) -> Parsed<Value> {
        let env = |name: &str| scope.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
        match evaluate(expr, self.text, &env) {
            // Comprehensions in comprehensions can double a string at every level.
            Ok(Value::Str(v)) if v.len() > LONGEST_TEXT => Err(ExprError::new(
                expr.span.clone(),
                format!("a string of {} bytes", v.len()),
                format!("expected at most {LONGEST_TEXT} bytes"),
            )
            .into()),
            Ok(value) => Ok(value),
            Err(e) => Err(ExprError::new(e.span.clone(), e.to_string(), "expected a value").into()),
        }
    }
}

/// By Python's order, equal values in the order they came; refuses what has no order.
fn sorted(mut values: Vec<Value>, span: Span) -> Parsed<Vec<Value>> {
    let strings = values.iter().filter(|v| matches!(v, Value::Str(_))).count();
    let nan = values.iter().any(|v| matches!(v, Value::Float(f) if f.is_nan()));
    if nan || (strings > 0 && strings < values.len()) {
        return Err(ExprError::new(span, "values without an order", "expected only numbers or only strings").into());
    }
    values.sort_by(|a, b| match (a, b) {
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        _ => match (ops::number(a), ops::number(b)) {
            (Some(a), Some(b)) => ops::order(a, b).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        },
    });
    Ok(values)
}

fn bounded(count: usize, span: Span) -> Parsed<()> {
    if count > LONGEST_LIST {
        return Err(ExprError::new(
            span,
            format!("a list of more than {LONGEST_LIST} values"),
            "expected fewer values",
        )
        .into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(text: &str) -> Vec<i64> {
        evaluate_list(text)
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .into_iter()
            .map(|v| match v {
                Value::Int(v) => v,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn lists_of_the_wild() {
        assert_eq!(ints("[1, 2,]"), [1, 2]);
        assert_eq!(ints("[1,2] + list(range(32, 129, 32))"), [1, 2, 32, 64, 96, 128]);
        assert_eq!(ints("[2**i for i in range(0,6)]"), [1, 2, 4, 8, 16, 32]);
        assert_eq!(ints("[1] + [2 * i for i in range(1, 4)]"), [1, 2, 4, 6]);
        assert_eq!(ints("[i for i in range(10) if i % 3 == 0 if i]"), [3, 6, 9]);
        assert_eq!(ints("range(5, 0, -2)"), [5, 3, 1]);
        assert_eq!(ints("list([x * x for x in [3, 4]])"), [9, 16]);
        assert_eq!(ints("([1] + (2, 3))"), [1, 2, 3]);
        assert_eq!(ints("[]"), [0i64; 0]);
        assert_eq!(evaluate_list("['a', 0.5, True]").unwrap().len(), 3);
        let sorted = evaluate_list("sorted([3, 2.5, True, 1.0, -1])").unwrap();
        assert_eq!(sorted, [Value::Int(-1), Value::Bool(true), Value::Float(1.0), Value::Float(2.5), Value::Int(3)]);
    }

    #[test]
    fn what_is_not_a_list_is_refused() {
        for text in [
            "5",
            "[1",
            "range()",
            "range(1, 2, 0)",
            "range(10**9)",
            "[i for i in 5]",
            "[j for i in [1]]",
            "np.arange(3)",
            "[1] [2]",
            "[1/0]",
            "sorted([1, 'a'])",
            "sorted([1, 1e999 - 1e999])",
        ] {
            assert!(evaluate_list(text).is_err(), "{text}");
        }
    }
}
