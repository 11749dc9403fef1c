//! `[fuzz]`: the shapes and numbers a kernel is made for, beyond its workloads, and suites of shapes by name. In: the table, the
//! arguments and the dimensions of the workloads. Out: a [`Fuzz`]. Refuses dimensions that no workload has, scalars that are no
//! argument or vary anyway, ranges without a value in them, and suites without a shape.

use std::sync::Arc;

use kiln_core::{Report, Value};
use toml::de::DeValue;

use crate::model::{ElementType, Formula, Role, ValueRange};
use crate::reading::item::Item;
use crate::reading::log::expected_one_of;
use crate::reading::naming::check_label;
use crate::reading::section::{Entry, Section};
use crate::tables::argument::ArgumentDraft;
use crate::tables::filling::{is_whole, read_range};

/// What the table may hold, a dimension's values, and a suite.
pub(crate) const KEYS: [&str; 4] = ["dims", "scalars", "valid", "suites"];
pub(crate) const ROOM_KEYS: [&str; 1] = ["values"];
pub(crate) const SUITE_KEYS: [&str; 1] = ["shapes"];

/// What `kiln fuzz` may ask about.
#[derive(Debug, Clone, Default)]
pub struct Fuzz {
    /// What dimensions may be, by name; of others the workloads show it.
    pub dims: Vec<(Arc<str>, DimRoom)>,
    /// What scalars may be, by name; others have the value that the file gives them.
    pub scalars: Vec<(Arc<str>, ValueRange)>,
    /// What must be true of every shape.
    pub valid: Option<Formula>,
    /// Shapes by name.
    pub suites: Vec<FuzzSuite>,
}

/// What a dimension may be.
#[derive(Debug, Clone, PartialEq)]
pub enum DimRoom {
    /// Any integer from the first to the second, both included.
    Range(i64, i64),
    /// One of these.
    Values(Vec<Value>),
}

/// Shapes under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct FuzzSuite {
    /// What users select it by.
    pub name: String,
    /// Tables of shapes; each stands for every combination of its values.
    pub shapes: Vec<Vec<(Arc<str>, SuiteDim)>>,
}

/// A dimension of a suite's shapes.
#[derive(Debug, Clone, PartialEq)]
pub enum SuiteDim {
    /// Each of these in turn.
    Each(Vec<Value>),
    /// What this dimension is.
    Like(Arc<str>),
}

pub(crate) fn read_fuzz(item: &Item, arguments: &[ArgumentDraft], dims: &[&str]) -> Fuzz {
    let Some(section) = Section::open(item, &KEYS) else { return Fuzz::default() };
    let rooms = section.get("dims").and_then(Section::free);
    let scalars = section.get("scalars").and_then(Section::free);
    let suites = section.get("suites").and_then(Section::free);
    Fuzz {
        dims: entries(&rooms).filter(|e| known(e, dims)).filter_map(|e| Some((e.key.into(), room(&e.item)?))).collect(),
        scalars: entries(&scalars)
            .filter(|e| varies(e, arguments))
            .filter_map(|e| Some((e.key.into(), read_range(&e.item)?)))
            .collect(),
        valid: section.get("valid").and_then(Item::formula),
        suites: entries(&suites).filter_map(|e| suite(e, dims)).collect(),
    }
}

pub(crate) fn entries<'s, 'a>(section: &'s Option<Section<'a>>) -> impl Iterator<Item = &'s Entry<'a>> {
    section.iter().flat_map(|section| &section.entries)
}

/// Whether a workload has the dimension; logged where none has.
pub(crate) fn known(entry: &Entry, dims: &[&str]) -> bool {
    if dims.contains(&entry.key) {
        return true;
    }
    let log = entry.item.log;
    let mut all = dims.to_vec();
    all.sort_unstable();
    all.dedup();
    let report = Report::error(format!("no workload has the dimension {}", entry.key));
    let report = match all.is_empty() {
        true => report.label("the file has no [[workloads]] with dimensions"),
        false => report.label(expected_one_of(all.iter().copied())),
    };
    log.add(entry.key_span.clone(), report.maybe_hint(log.did_you_mean(entry.key, all.iter().copied())));
    false
}

/// Whether it is a scalar that the table can let vary: one with fractions, and with a value instead of a range of its own.
fn varies(entry: &Entry, arguments: &[ArgumentDraft]) -> bool {
    let log = entry.item.log;
    let refuse = |report: Report| {
        log.add(entry.key_span.clone(), report);
        false
    };
    let scalars = || arguments.iter().filter(|argument| argument.role == Some(Role::Scalar));
    let Some(argument) = scalars().find(|argument| argument.name == entry.key) else {
        let report = Report::error(format!("no scalar argument is called {}", entry.key));
        let report = match scalars().next() {
            None => report.label("the file has no [[arguments]] with role = \"scalar\""),
            Some(_) => report.label(expected_one_of(scalars().map(|argument| argument.name.as_str()))),
        };
        return refuse(
            report.maybe_hint(log.did_you_mean(entry.key, scalars().map(|argument| argument.name.as_str()))),
        );
    };
    let Some(body) = &argument.body else { return false };
    if matches!(&body.kind.element, ElementType::Dtype(dtype) if is_whole(*dtype)) {
        let report = Report::error(format!("{} is an integer", entry.key)).label("expected a scalar with fractions");
        return refuse(
            report.hint("an integer that may vary has a range of its own: range = [0, 8] in its [[arguments]]"),
        );
    }
    if body.range.is_some() {
        let report = Report::error(format!("{} has a range of its own", entry.key)).label("expected only one of them");
        return refuse(report.hint("with a range it varies in every question; omit it here, or there"));
    }
    true
}

/// `[lowest, highest]`, or `{ values = [...] }`.
fn room(item: &Item) -> Option<DimRoom> {
    match item.raw() {
        DeValue::Array(_) => range(item),
        DeValue::Table(_) => {
            let section = Section::open(item, &ROOM_KEYS)?;
            let values = section.require("values", "values = [64, 128]")?;
            each(values).map(DimRoom::Values)
        }
        _ => {
            item.wrong("a range [lowest, highest], or { values = [...] }");
            None
        }
    }
}

fn range(item: &Item) -> Option<DimRoom> {
    let items = item.list()?;
    let [low, high] = items.as_slice() else {
        let report = Report::error(format!("{} has {} values", item.path, items.len()));
        item.error(report.label("expected two, [lowest, highest]").hint("single values: { values = [...] }"));
        return None;
    };
    let (low, high) = (low.integer()?, high.integer()?);
    if low < 1 {
        let report = Report::error(format!("{} begins at {low}", item.path));
        item.error(report.label("expected at least 1: there is nothing to compute below"));
        return None;
    }
    if low > high {
        let report = Report::error(format!("{} is empty: it goes from {low} to {high}", item.path));
        item.error(report.label("expected the lowest first").hint(format!("write [{high}, {low}]")));
        return None;
    }
    Some(DimRoom::Range(low, high))
}

/// A list of values with at least one in it.
pub(crate) fn each(item: &Item) -> Option<Vec<Value>> {
    let values: Vec<Value> = item.list()?.iter().map(Item::scalar).collect::<Option<_>>()?;
    if values.is_empty() {
        item.error(Report::error(format!("{} is empty", item.path)).label("expected at least one value"));
        return None;
    }
    Some(values)
}

fn suite(entry: &Entry, dims: &[&str]) -> Option<FuzzSuite> {
    check_label(entry.item.log, "suite", entry.key, entry.key_span.clone());
    let section = Section::open(&entry.item, &SUITE_KEYS)?;
    let list = section.require("shapes", "shapes = [{ S = [64, 65] }]")?;
    let tables = list.list()?;
    if tables.is_empty() {
        list.error(Report::error(format!("{} is empty", list.path)).label("expected at least one table of dimensions"));
    }
    let shapes = tables.iter().filter_map(|table| shape(table, dims)).collect();
    Some(FuzzSuite { name: entry.key.into(), shapes })
}

fn shape(item: &Item, dims: &[&str]) -> Option<Vec<(Arc<str>, SuiteDim)>> {
    let section = Some(Section::free(item)?);
    let dim = |entry: &Entry| -> Option<(Arc<str>, SuiteDim)> {
        let value = match entry.item.raw() {
            DeValue::Array(_) => SuiteDim::Each(each(&entry.item)?),
            // A word that names a dimension means what that one is.
            DeValue::String(text) if dims.contains(&text.as_ref()) && text.as_ref() != entry.key => {
                SuiteDim::Like(text.as_ref().into())
            }
            _ => SuiteDim::Each(vec![entry.item.scalar()?]),
        };
        Some((entry.key.into(), value))
    };
    let shape: Vec<(Arc<str>, SuiteDim)> =
        entries(&section).filter(|entry| known(entry, dims)).filter_map(dim).collect();
    let is_like = |name: &str| shape.iter().any(|(n, dim)| **n == *name && matches!(dim, SuiteDim::Like(_)));
    for (name, like) in shape.iter().filter_map(|(name, dim)| match dim {
        SuiteDim::Like(like) if is_like(like) => Some((name, like)),
        _ => None,
    }) {
        let report =
            Report::error(format!("{name} takes its value from {like}, which takes its own from another dimension"));
        item.error(report.label("expected a dimension with values of its own"));
    }
    Some(shape)
}
