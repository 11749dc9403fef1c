//! What an argument's numbers are drawn from: `init` and `range`. In: the keys of an argument. Out: a word or a Python
//! function, and a range. Refuses a range of what is not drawn, of the wrong length, and one that ends before it begins.

use kiln_core::{Report, Span};

use crate::model::{Callable, Dtype, ElementType, Formula, Init, Role, ValueRange};
use crate::names::usage::each_name;
use crate::reading::item::Item;
use crate::reading::log::Log;
use crate::reading::section::Section;
use crate::tables::argument::ArgumentDraft;
use crate::tables::callable::{PYTHON, read_callable};

/// What `init` and `range` say.
pub(crate) struct Filling {
    pub(crate) init: Init,
    pub(crate) function: Option<Callable>,
    pub(crate) range: Option<ValueRange>,
}

pub(crate) fn read_filling(section: &Section, role: Role) -> Filling {
    let item = section.get("init").filter(|_| role != Role::Scalar);
    // A word has no colon and no dot.
    let is_call = |i: &&Item| i.raw().as_str().is_some_and(|text| text.contains([':', '.']));
    let function = item.filter(is_call).and_then(|i| read_callable(i, PYTHON));
    let init = item.filter(|i| !is_call(i)).and_then(|i| i.word(&Init::ALL));
    let range = section.get("range").filter(|_| matches!(role, Role::In | Role::Inout | Role::Constant | Role::Scalar));
    if let (Some(range), Some(item)) = (range, item)
        && (is_call(&item) || !matches!(init, None | Some(Init::Uniform)))
    {
        let report = Report::error(format!("{} has both a range and init = {}", parent(item), item.spelling()));
        let report = report.label("expected only one of them");
        range.error(report.hint("numbers with a range are drawn evenly from it: omit init, or write \"uniform\""));
    }
    Filling { init: init.unwrap_or_default(), function, range: range.and_then(read_range) }
}

/// `arguments.x.init` is a part of `arguments.x`.
fn parent<'a>(item: &'a Item) -> &'a str {
    item.path.rsplit_once('.').map_or(&item.path, |(parent, _)| parent)
}

pub(crate) fn read_range(item: &Item) -> Option<ValueRange> {
    let Some(items) = item.raw().as_array().and_then(|_| item.list()) else {
        item.wrong("a list of two numbers, [lowest, highest]");
        return None;
    };
    let [low, high] = items.as_slice() else {
        let report = Report::error(format!("{} has {} values", item.path, items.len()));
        item.error(report.label("expected two, [lowest, highest]"));
        return None;
    };
    let (low, high) = (low.formula()?, high.formula()?);
    let number = |f: &Formula| f.expression.text().parse::<f64>().ok();
    if let (Some(from), Some(to)) = (number(&low), number(&high))
        && from > to
    {
        let report = Report::error(format!("{} ends before it begins", item.path));
        let swapped = format!("write [{}, {}]", high.expression.text(), low.expression.text());
        item.error(report.label("expected the lowest number first").hint(swapped));
        return None;
    }
    Some(ValueRange { low, high, span: item.span() })
}

/// Logs ranges of scalars that say how large something is: their value is not the question's to choose.
pub(crate) fn check_ranges(log: &Log, arguments: &[ArgumentDraft], dimensions: &[&str]) {
    for body in arguments.iter().filter_map(|a| a.body.as_ref()).filter(|b| b.role == Role::Scalar) {
        let (Some(range), Some(value)) = (&body.range, &body.value) else { continue };
        let whole = match &body.kind.element {
            ElementType::Dtype(dtype) => is_whole(*dtype),
            ElementType::Variable(_) => false,
        };
        let mut named: Option<String> = None;
        each_name(value.expression.root(), &mut |name, _: Span| {
            if named.is_none() && dimensions.contains(&&**name) {
                named = Some(name.to_string());
            }
        });
        if let Some(name) = named.filter(|_| whole) {
            let report =
                Report::error(format!("{} has a range, but its value depends on the dimension {name}", body.name));
            let report = report.label("expected no range");
            log.add(range.span.clone(), report.hint("a dimension is what the workload says, in every question"));
        }
    }
}

pub(crate) fn is_whole(dtype: Dtype) -> bool {
    !dtype.name().contains('f') && dtype != Dtype::Bool
}
