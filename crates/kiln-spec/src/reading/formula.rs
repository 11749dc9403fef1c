//! A string of the file as text whose parts can be pointed at, and as an expression. In: a TOML value. Out: a
//! [`Formula`]. Refuses what is no expression, with the caret on the wrong part of it.

use kiln_core::{Report, Span};
use kiln_expr::{ExprError, Expression};
use toml::de::DeValue;

use crate::model::Formula;
use crate::reading::item::Item;
use crate::reading::log::Log;

/// What a string says, and where.
pub(crate) struct Text<'a> {
    pub(crate) content: &'a str,
    /// The span of the content in the file, without quotes.
    pub(crate) span: Span,
    /// Whether the file holds the content as it is: offsets in it are then offsets in the file.
    pub(crate) verbatim: bool,
}

impl<'a> Text<'a> {
    /// The text of a string value.
    pub(crate) fn of(item: &Item<'a>) -> Option<Text<'a>> {
        let content = item.string()?;
        let (spelling, span) = (item.spelling(), item.span());
        let quote = if spelling.starts_with("\"\"\"") || spelling.starts_with("'''") { 3 } else { 1 };
        let mut start = span.start + quote;
        let mut inner = spelling.get(quote..spelling.len().saturating_sub(quote)).unwrap_or_default();
        // TOML drops a line break right behind three quotes.
        for line_break in ["\n", "\r\n"] {
            if quote == 3
                && let Some(rest) = inner.strip_prefix(line_break)
            {
                start += line_break.len();
                inner = rest;
                break;
            }
        }
        let verbatim = inner == content;
        let end = (start + inner.len()).max(start);
        Some(Text { content, span: start..end, verbatim })
    }

    /// Where a part of the content stands in the file; all of it where parts cannot be told.
    pub(crate) fn part(&self, part: Span) -> Span {
        if self.verbatim { self.span.start + part.start..self.span.start + part.end } else { self.span.clone() }
    }

    /// A part of the content as an expression.
    pub(crate) fn formula(&self, part: Span, log: &Log) -> Option<Formula> {
        let content = self.content.get(part.clone()).unwrap_or_default();
        let span = self.part(part.clone());
        match Expression::parse(content) {
            Ok(expression) => Some(Formula { expression, span, verbatim: self.verbatim }),
            Err(error) => {
                let wrong = self.part(part.start + error.span.start..part.start + error.span.end);
                log.add(wrong, report(&error));
                None
            }
        }
    }
}

/// An expression's error as a report without a place.
pub(crate) fn report(error: &ExprError) -> Report {
    Report::error(&error.message).label(&error.label).maybe_hint(error.hint.clone())
}

impl<'a> Item<'a> {
    /// An expression in a string; a number or a boolean stands for itself.
    pub(crate) fn formula(&self) -> Option<Formula> {
        let (content, verbatim) = match self.raw() {
            DeValue::String(text) if text.trim().is_empty() => {
                self.error(Report::error(format!("{} is empty", self.path)).label("expected an expression"));
                return None;
            }
            DeValue::String(_) => {
                let text = Text::of(self)?;
                return text.formula(0..text.content.len(), self.log);
            }
            DeValue::Boolean(true) => ("True", false),
            DeValue::Boolean(false) => ("False", false),
            DeValue::Integer(_) | DeValue::Float(_) => {
                self.scalar()?;
                (self.spelling(), true)
            }
            _ => {
                self.wrong("an expression in quotes, or a number");
                return None;
            }
        };
        let text = Text { content, span: self.span(), verbatim };
        text.formula(0..content.len(), self.log)
    }

    /// `least` to `most` expressions in a list, or one alone.
    pub(crate) fn formulas(&self, least: usize, most: usize) -> Vec<Formula> {
        let items = match self.raw() {
            DeValue::Array(_) => self.list().unwrap_or_default(),
            _ => vec![self.clone()],
        };
        if items.len() < least || items.len() > most {
            let plural = if items.len() == 1 { "" } else { "s" };
            let report = Report::error(format!("{} has {} value{plural}", self.path, items.len()));
            let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
            self.error(report.label(format!("expected {expected}")));
        }
        items.iter().filter_map(Item::formula).collect()
    }
}
