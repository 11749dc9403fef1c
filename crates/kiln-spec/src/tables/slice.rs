//! The part of an output that calls write: one slice for each dimension, as in Python. In: a list of strings, or one alone
//! (`"1 : N - 1"`, `":"`). Out: slices of expressions. Refuses another number of them than there are dimensions, and strings
//! that are no slice.

use kiln_core::{Report, Span};
use toml::de::DeValue;

use crate::model::{Formula, Slice};
use crate::reading::formula::Text;
use crate::reading::item::Item;

pub(crate) fn read_slices(item: &Item, dimensions: usize) -> Vec<Slice> {
    let items = match item.raw() {
        DeValue::Array(_) => item.list().unwrap_or_default(),
        _ => vec![item.clone()],
    };
    if items.len() != dimensions {
        let report = Report::error(format!("{} has {} for {dimensions} dimensions", item.path, count(items.len())));
        item.error(report.label("expected one slice for each dimension, as in [\"1 : H - 1\", \":\"]"));
        return vec![];
    }
    items.iter().filter_map(read_slice).collect()
}

fn count(slices: usize) -> String {
    if slices == 1 { "1 slice".into() } else { format!("{slices} slices") }
}

fn read_slice(item: &Item) -> Option<Slice> {
    let text = Text::of(item)?;
    let Some(colon) = colon(text.content) else {
        let report = Report::error(format!("{} is {}", item.path, item.spelling()));
        item.error(report.label("expected a slice, as in \"1 : N - 1\"").hint("\":\" is all of a dimension"));
        return None;
    };
    let end = |part: Span| -> Option<Option<Formula>> {
        match text.content.get(part.clone()).unwrap_or_default().trim().is_empty() {
            true => Some(None),
            false => text.formula(part, item.log).map(Some),
        }
    };
    let (from, to) = (end(0..colon), end(colon + 1..text.content.len()));
    Some(Slice { from: from?, to: to? })
}

/// The colon of a slice; none when there is none, or several.
fn colon(content: &str) -> Option<usize> {
    let mut found = content.char_indices().filter(|(_, c)| *c == ':').map(|(at, _)| at);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
