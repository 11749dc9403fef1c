//! A condition with everything put in that does not change from call to call. In: an expression, what is known of its names, derived
//! values. Out: what is left of it in the kernel file's own words, `COLS % 16 == 0` of `COLS % LANES == 0`; or its value, where
//! nothing is left open.

use kiln_core::Value;
use kiln_expr::{Expr, Expression, Kind, UnaryOp, truth};
use kiln_spec::Derived;

use crate::operation::export::interface::python;

/// What names stand for.
pub(super) struct Known<'a> {
    /// The value of a name; none where a call gives it.
    pub(super) value: &'a dyn Fn(&str) -> Option<Value>,
    pub(super) derived: &'a [Derived],
}

/// What a part came to.
enum Part {
    Closed(Value),
    Open(String),
}

impl Part {
    fn text(self) -> String {
        match self {
            Part::Closed(value) => {
                let text = python(&value);
                if text.starts_with('-') { format!("({text})") } else { text }
            }
            Part::Open(text) => text,
        }
    }
}

impl Known<'_> {
    /// What is left of a condition; none where it holds whatever the call.
    pub(super) fn left(&self, condition: &Expression) -> Option<String> {
        match self.part(condition, condition.root(), true) {
            Part::Closed(value) if truth(&value) => None,
            part => Some(unbracketed(&part.text()).split_whitespace().collect::<Vec<_>>().join(" ")),
        }
    }

    fn value_of(&self, name: &str) -> Option<Value> {
        let derived = || self.derived.iter().find(|one| *one.name == *name);
        (self.value)(name).or_else(|| derived()?.formula.expression.eval(&|inner: &str| self.value_of(inner)).ok())
    }

    /// `condition` says that nothing but the truth of the part matters.
    fn part(&self, expression: &Expression, expr: &Expr, condition: bool) -> Part {
        if let Ok(value) = expression.eval_part(expr, &|name: &str| self.value_of(name)) {
            return Part::Closed(value);
        }
        match &expr.kind {
            Kind::Name(name) => match self.derived.iter().find(|one| one.name == *name) {
                Some(one) => {
                    let own = &one.formula.expression;
                    Part::Open(bracketed(own.root(), self.part(own, own.root(), condition).text()))
                }
                None => Part::Open(name.to_string()),
            },
            Kind::And(a, b) if condition => self.either(expression, expr, (a, b), true),
            Kind::Or(a, b) if condition => self.either(expression, expr, (a, b), false),
            Kind::If { condition: asked, then, otherwise } => match self.part(expression, asked, true) {
                Part::Closed(value) => {
                    let chosen = if truth(&value) { then } else { otherwise };
                    self.in_place_of(expression, expr, chosen, condition)
                }
                Part::Open(_) => self.spliced(expression, expr, condition),
            },
            _ => self.spliced(expression, expr, condition),
        }
    }

    /// Of `a and b` the side that is open where the other one is true; of `a or b`, where it is false.
    fn either(&self, expression: &Expression, whole: &Expr, (a, b): (&Expr, &Expr), neutral: bool) -> Part {
        let sides = (self.part(expression, a, true), self.part(expression, b, true));
        match sides {
            (Part::Closed(value), _) if truth(&value) == neutral => self.in_place_of(expression, whole, b, true),
            (_, Part::Closed(value)) if truth(&value) == neutral => self.in_place_of(expression, whole, a, true),
            (_, Part::Closed(value)) => Part::Closed(value),
            _ => self.spliced(expression, whole, true),
        }
    }

    /// A part in place of the one that it is left of, within the brackets of that.
    fn in_place_of(&self, expression: &Expression, whole: &Expr, left: &Expr, condition: bool) -> Part {
        match self.part(expression, left, condition) {
            Part::Open(text) if expression.part(whole).starts_with('(') => Part::Open(bracketed(left, text)),
            part => part,
        }
    }

    /// The text of a part with what its own parts came to.
    fn spliced(&self, expression: &Expression, expr: &Expr, condition: bool) -> Part {
        let within = condition && matches!(expr.kind, Kind::And(..) | Kind::Or(..) | Kind::Unary(UnaryOp::Not, _));
        let asked = |child: &Expr| match &expr.kind {
            Kind::If { condition: asked, .. } => std::ptr::eq(child, &**asked) || condition,
            _ => within,
        };
        let (mut text, mut at) = (String::new(), expr.span.start);
        for child in expr.children() {
            // `a < b in [..]` shares its middle: such a part stays as it is written.
            let Some(between) = expression.text().get(at..child.span.start) else {
                return Part::Open(expression.part(expr).into());
            };
            text += between;
            match &child.kind {
                Kind::Literal(_) => text += expression.part(child),
                _ => text += &self.part(expression, child, asked(child)).text(),
            }
            at = child.span.end;
        }
        text += expression.text().get(at..expr.span.end).unwrap_or_default();
        Part::Open(text)
    }
}

/// In brackets, unless nothing could be torn apart.
fn bracketed(expr: &Expr, text: String) -> String {
    let whole = matches!(expr.kind, Kind::Name(_) | Kind::Literal(_) | Kind::Call(..)) || unbracketed(&text) != text;
    if whole { text } else { format!("({text})") }
}

/// Without brackets around the whole.
fn unbracketed(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut depth = 0_i32;
    let closes_early = inner.chars().any(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    });
    if closes_early { text } else { inner }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nLANES = [1, 4]\nWAY = [\"plain\", \"turned\"]\nDEEP = [false, true]\n\
        [target.cpu]\nsource = \"k.c\"\n\
        [derived]\nwide = \"LANES * 4\"\nrest = \"N % wide\"\nroom = \"64 * N if DEEP else 0\"\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 96, M = 8 }\n";

    fn left(condition: &str, config: &str) -> Option<String> {
        let (spec, _) = kiln_spec::parse("kernel.toml", FILE.as_bytes()).unwrap();
        let selection = spec.select(Choice::default()).unwrap();
        let config = kiln_core::Config::parse(config).unwrap();
        let value = |name: &str| config.get(name).cloned();
        let known = Known { value: &value, derived: &selection.first().derived };
        known.left(&Expression::parse(condition).unwrap())
    }

    #[test]
    fn what_a_configuration_fixes_is_put_in() {
        let plain = "LANES=4,WAY=plain,DEEP=true";
        for (condition, expected) in [
            ("N % LANES == 0", Some("N % 4 == 0")),
            ("rest == 0", Some("(N % 16) == 0")),
            ("room <= 1024", Some("(64 * N) <= 1024")),
            ("N % LANES == 0 or WAY == 'turned'", Some("N % 4 == 0")),
            ("N % LANES == 0 or WAY == 'plain'", None),
            ("LANES > 1 and (N > 8 or M > 8)", Some("N > 8 or M > 8")),
            ("N > M and (LANES > 1 and (N > 8 or M > 8))", Some("N > M and (N > 8 or M > 8)")),
            ("not (DEEP and N > 8)", Some("not (N > 8)")),
            ("N % (LANES if DEEP else M) == 0", Some("N % 4 == 0")),
            ("N % (LANES if M > 4 else 1) == 0", Some("N % (4 if M > 4 else 1) == 0")),
            ("LANES < N <= max(LANES, M)", Some("4 < N <= max(4, M)")),
            ("WAY in ['plain', 'odd'] and N in [8, LANES]", Some("N in [8, 4]")),
            ("N == LANES or M == 'bnd'", Some("N == 4 or M == 'bnd'")),
        ] {
            assert_eq!(left(condition, plain).as_deref(), expected, "{condition}");
        }
        assert_eq!(left("room <= 1024", "LANES=4,WAY=plain,DEEP=false"), None);
    }
}
