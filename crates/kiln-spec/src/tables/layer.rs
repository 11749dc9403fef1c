//! What a file says for all targets or for one: tunables, default, constraints, derived values. In: a table that may hold
//! them. Out: each with its name and place. Names that cannot be names and expressions that cannot be read are logged;
//! what is defined wrongly still counts as defined, so that its uses are not reported too.

use std::sync::Arc;

use kiln_core::{Span, Value};

use crate::model::Formula;
use crate::reading::item::Item;
use crate::reading::naming::{check_label, check_variable};
use crate::reading::section::Section;
use crate::tables::tunable::ValueReader;

/// What a constraint with a hint holds.
pub(crate) const RULE_KEYS: [&str; 2] = ["expr", "hint"];

/// Something under a name; without a body when that could not be read.
#[derive(Debug, Clone)]
pub(crate) struct Named<T> {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) body: Option<T>,
}

/// A rule and the author's advice.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) formula: Formula,
    pub(crate) hint: Option<String>,
}

/// A value of `[default]` and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct DefaultValue {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// All of it, in file order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    /// `""`, or `"target.cuda."`: what stands before a name in messages.
    pub(crate) prefix: String,
    pub(crate) tunables: Vec<Named<Vec<Value>>>,
    pub(crate) tunables_span: Option<Span>,
    pub(crate) default: Vec<Named<DefaultValue>>,
    pub(crate) default_span: Option<Span>,
    pub(crate) constraints: Vec<Named<Rule>>,
    pub(crate) derived: Vec<Named<Formula>>,
    /// True when a table of names could not be read: names that seem undefined may be in it.
    pub(crate) incomplete: bool,
}

/// Reads the layer's tables out of the document or a target.
pub(crate) fn read_layer(section: &Section) -> Layer {
    let prefix = if section.path.is_empty() { String::new() } else { format!("{}.", section.path) };
    let mut layer = Layer { prefix, ..Layer::default() };
    let mut open = |table: &str| {
        let item = section.get(table);
        let opened = item.and_then(Section::free);
        let names = table == "tunables" || table == "derived";
        layer.incomplete |= names && (section.misspells(table) || item.is_some() != opened.is_some());
        opened
    };
    let (tunables, derived) = (open("tunables"), open("derived"));
    let (default, constraints) = (open("default"), open("constraints"));
    layer.tunables_span = tunables.as_ref().map(|t| t.span.clone());
    layer.default_span = default.as_ref().map(|t| t.span.clone());
    let values = ValueReader::default();
    layer.tunables = named(tunables, Some("tunable"), |item| values.read(item));
    layer.derived = named(derived, Some("derived value"), |item| item.formula());
    layer.default = named(default, None, |item| Some(DefaultValue { value: item.scalar()?, span: item.span() }));
    layer.constraints = named(constraints, None, read_rule);
    for rule in &layer.constraints {
        check_label(section.log, "constraint", &rule.name, rule.span.clone());
    }
    layer
}

fn named<T>(section: Option<Section>, variable: Option<&str>, read: impl Fn(&Item) -> Option<T>) -> Vec<Named<T>> {
    let Some(section) = section else { return vec![] };
    let entry = |entry: &crate::reading::section::Entry| {
        if let Some(what) = variable {
            check_variable(section.log, what, entry.key, entry.key_span.clone());
        }
        Named { name: entry.key.into(), span: entry.key_span.clone(), body: read(&entry.item) }
    };
    section.entries.iter().map(entry).collect()
}

fn read_rule(item: &Item) -> Option<Rule> {
    if !item.raw().is_table() {
        return Some(Rule { formula: item.formula()?, hint: None });
    }
    let section = Section::open(item, &RULE_KEYS)?;
    let hint = section.get("hint").and_then(Item::string).map(str::to_owned);
    let formula = section.require("expr", "expr = \"...\"")?.formula()?;
    Some(Rule { formula, hint })
}
