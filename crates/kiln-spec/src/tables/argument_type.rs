//! The type of an argument: `f32`, `T[B, H, S, D]`, or `f32x2[N]` for elements of two numbers. In: the string. Out: element type and shape, every dimension an
//! expression that can be pointed at. Refuses unknown dtypes, brackets that do not match, and empty dimensions.

use kiln_core::{Report, Span};

use crate::model::{ArgumentType, Dtype, ElementType};
use crate::reading::formula::Text;
use crate::reading::item::Item;
use crate::tables::dtype::{dtype, unknown_dtype};
use crate::tables::layer::Named;

/// The variants a type may name.
pub(crate) struct Variables<'a> {
    pub(crate) variants: &'a [Named<Vec<Dtype>>],
    /// True when there may be more that could not be read.
    pub(crate) incomplete: bool,
}

pub(crate) fn read_type(item: &Item, variables: &Variables) -> Option<ArgumentType> {
    let text = Text::of(item)?;
    let content = text.content;
    let open = content.find('[').unwrap_or(content.len());
    let (name, lanes) = vector(content, trimmed(content, 0..open), variables);
    let element = read_element(item, &text, name, variables);
    let dimensions = match split(content, open) {
        Ok(dimensions) => dimensions,
        Err((at, message, label)) => {
            item.log.add(text.part(at), Report::error(message).label(label));
            return None;
        }
    };
    // Elements of several numbers are a last dimension of that many.
    let parts = dimensions.iter().cloned().chain(lanes);
    let shape: Vec<_> = parts.map(|part| text.formula(part, item.log)).collect();
    Some(ArgumentType { element: element?, shape: shape.into_iter().collect::<Option<_>>()? })
}

/// `f32x4` is `f32` and four of them: the part with the type, and that with the number.
fn vector(content: &str, name: Span, variables: &Variables) -> (Span, Option<Span>) {
    let whole = content.get(name.clone()).unwrap_or_default();
    let known = variables.variants.iter().any(|variant| &*variant.name == whole);
    let split = whole.rfind('x').filter(|at| !known && *at > 0);
    let lanes = split.map(|at| (at, &whole[at + 1..])).filter(|(_, lanes)| LANES.contains(lanes));
    match lanes {
        Some((at, _)) => (name.start..name.start + at, Some(name.start + at + 1..name.end)),
        None => (name, None),
    }
}

/// How many numbers an element may have.
const LANES: [&str; 5] = ["2", "3", "4", "8", "16"];

fn read_element(item: &Item, text: &Text, part: Span, variables: &Variables) -> Option<ElementType> {
    let name = text.content.get(part.clone()).unwrap_or_default();
    if let Some(dtype) = dtype(name) {
        return Some(ElementType::Dtype(dtype));
    }
    if let Some(variant) = variables.variants.iter().find(|v| &*v.name == name) {
        return Some(ElementType::Variable(variant.name.clone()));
    }
    let known: Vec<&str> = variables.variants.iter().map(|v| &*v.name).collect();
    if name.is_empty() {
        let report = Report::error(format!("{} has no element type", item.path));
        item.log.add(text.part(part), report.label("expected a dtype, as in f32[N]"));
    } else if !variables.incomplete {
        item.log.add(text.part(part), unknown_dtype(name, item, &known));
    }
    None
}

/// The parts between the brackets that begin at `open`, none when it is the end. The error is a span with what is wrong
/// and what was expected.
fn split(content: &str, open: usize) -> Result<Vec<Span>, (Span, &'static str, &'static str)> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quote) = (open + 1, 0usize, None);
    for (at, c) in content.char_indices().skip_while(|(at, _)| *at < open) {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '(') => depth += 1,
            (None, ',') if depth == 1 => {
                parts.push(trimmed(content, start..at));
                start = at + 1;
            }
            (None, ']' | ')') => {
                depth -= 1;
                if depth > 0 {
                    continue;
                }
                parts.push(trimmed(content, start..at));
                let rest = trimmed(content, at + 1..content.len());
                if c == ')' {
                    return Err((at..at + 1, "unexpected `)` in a shape", "expected `]`"));
                } else if !rest.is_empty() {
                    return Err((rest, "unexpected text behind a type", "expected the end"));
                } else if let Some(empty) = parts.iter().find(|p| p.is_empty()) {
                    return Err((empty.clone(), "a shape with an empty dimension", "expected a dimension"));
                }
                return Ok(parts);
            }
            (None, _) => {}
        }
    }
    if open == content.len() {
        return Ok(vec![]);
    }
    Err((content.len()..content.len(), "a shape that is never closed", "expected `]`"))
}

/// The same part without blanks around it.
fn trimmed(content: &str, part: Span) -> Span {
    let inner = content.get(part.clone()).unwrap_or_default();
    let start = part.start + (inner.len() - inner.trim_start().len());
    start..start + inner.trim().len()
}
