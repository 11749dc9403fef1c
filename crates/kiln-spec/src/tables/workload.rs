//! `[[workloads]]`: the problem sizes the kernel is run on. In: the tables. Out: workloads with the places later checks
//! point at. Refuses doubles among their names, dimensions that are not single values, and weights that weigh nothing.

use std::sync::Arc;

use kiln_core::{Report, Span, Use, Value, Workload};

use crate::model::TargetKind;
use crate::reading::item::Item;
use crate::reading::naming::{check_label, check_variable, refuse_doubles};
use crate::reading::section::Section;

/// What users type to select every workload, so that none can be called so.
pub(crate) const EVERY: &str = "all";

/// What a workload may hold.
pub(crate) const KEYS: [&str; 5] = ["name", "dims", "use", "weight", "targets"];

/// A workload as read.
pub(crate) struct WorkloadDraft {
    pub(crate) workload: Workload,
    /// Where its dimensions stand, or its heading when it has none.
    pub(crate) dims_span: Span,
    /// The names of its dimensions, those with a wrong value too.
    pub(crate) dims: Vec<(Arc<str>, Span)>,
    /// True when its dimensions could not be read at all.
    pub(crate) incomplete: bool,
    name_span: Span,
}

pub(crate) fn read_workloads(item: &Item) -> Vec<WorkloadDraft> {
    let tables = item.tables();
    let drafts: Vec<WorkloadDraft> = tables.iter().filter_map(read_workload).collect();
    refuse_doubles(item.log, "workload", drafts.iter().map(|d| (&*d.workload.name, d.name_span.clone())));
    drafts
}

fn read_workload(item: &Item) -> Option<WorkloadDraft> {
    let section = Section::open(item, &KEYS)?;
    let name_item = section.require("name", "name = \"...\"");
    let name = name_item.and_then(Item::string).unwrap_or_default();
    let name_span = name_item.map_or(section.span.clone(), Item::span);
    if !name.is_empty() {
        check_label(item.log, "workload", name, name_span.clone());
    }
    if name == EVERY {
        let report = Report::error(format!("{EVERY} cannot name a workload"));
        item.log.add(name_span.clone(), report.label("expected another name: this one selects every workload"));
    }
    let dims_item = section.get("dims");
    let dims_section = dims_item.and_then(Section::free);
    let incomplete = dims_item.is_some() != dims_section.is_some() || section.misspells("dims");
    let mut dims: Vec<(Arc<str>, Value)> = Vec::new();
    let mut spans = Vec::new();
    for entry in dims_section.iter().flat_map(|s| &s.entries) {
        check_variable(item.log, "dimension", entry.key, entry.key_span.clone());
        spans.push((Arc::from(entry.key), entry.key_span.clone()));
        dims.extend(entry.item.scalar().map(|value| (entry.key.into(), value)));
    }
    let use_for = section.get("use").and_then(|i| i.word(&Use::ALL)).unwrap_or(Use::Tune);
    let kinds = section.get("targets").and_then(Item::list).unwrap_or_default();
    let targets = kinds.iter().filter_map(|i| i.word(&TargetKind::ALL)).map(TargetKind::name).collect();
    let weight = section.get("weight").and_then(read_positive).unwrap_or(1.0);
    Some(WorkloadDraft {
        workload: Workload { name: name.into(), dims, use_for, targets, weight },
        dims_span: dims_section.map_or(section.span.clone(), |s| s.span.clone()),
        dims: spans,
        incomplete,
        name_span,
    })
}

/// A number above zero.
pub(crate) fn read_positive(item: &Item) -> Option<f64> {
    let value = item.number()?;
    if value > 0.0 {
        return Some(value);
    }
    item.error(Report::error(format!("{} is {}", item.path, item.spelling())).label("expected a number above 0"));
    None
}
