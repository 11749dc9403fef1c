//! `[default]` against the tunables of a target. In: what the file says for all targets and for this one. Out: the
//! configuration in the order of the tunables. Logs names that are no tunables, values the tunable does not take, and, as
//! a warning, tunables that are left out.

use std::collections::HashMap;
use std::sync::Arc;

use kiln_core::{Report, Value, nearest};

use crate::names::namespace::{layers, merged_tunables};
use crate::reading::draft::Draft;
use crate::reading::log::{Log, shortened};
use crate::tables::layer::{DefaultValue, Layer, Named};
use crate::tables::target::TargetDraft;

/// A list of more values than this is not read to its end by anybody.
const SHOWN_VALUES: usize = 12;

pub(crate) fn check_default(log: &Log, draft: &Draft, target: &TargetDraft) -> Vec<(Arc<str>, Value)> {
    let tunables = merged_tunables(draft, target);
    let by_name: HashMap<&str, _> = tunables.iter().map(|t| (&*t.name, *t)).collect();
    let incomplete = layers(draft, target).any(|layer| layer.incomplete);
    let suffix = match draft.targets.len() {
        1 => String::new(),
        _ => format!(" in {}", target.path()),
    };
    let all: Vec<(usize, &Layer)> = layers(draft, target).enumerate().collect();
    let overridden = |name: &str, depth: usize| {
        all.iter().any(|(later, layer)| *later > depth && layer.default.iter().any(|d| &*d.name == name))
    };
    // Those of the last layer are the target's own, or the implementation's.
    let own = all.len() - 1;
    let mut chosen: HashMap<&str, Value> = HashMap::new();
    for (depth, choice) in all.iter().flat_map(|(depth, layer)| layer.default.iter().map(|choice| (*depth, choice))) {
        let Some(tunable) = by_name.get(&*choice.name) else {
            if !incomplete {
                let known = tunables.iter().map(|t| &*t.name);
                let report = Report::error(format!("{} is not a tunable{suffix}", choice.name))
                    .label("expected the name of a tunable")
                    .maybe_hint(log.did_you_mean(&choice.name, known))
                    .maybe_hint(elsewhere(draft, &choice.name));
                log.add(choice.span.clone(), report);
            }
            continue;
        };
        let (Some(values), Some(body)) = (&tunable.body, &choice.body) else { continue };
        if overridden(&choice.name, depth) {
            continue;
        }
        if let Some(value) = fitting(&body.value, values) {
            chosen.insert(&tunable.name, value);
            continue;
        }
        let mut report = not_a_value(choice, body, values, &suffix);
        let here = |layer: &Layer| layer.tunables.iter().any(|t| t.span == tunable.span);
        if depth < own && all.iter().any(|(later, layer)| *later > depth && here(layer)) {
            report = report.hint(format!("[{}.default] may give it a value of its own", target.path()));
        }
        log.add(body.span.clone(), report);
    }
    let heading = all.iter().rev().find_map(|(_, layer)| layer.default_span.clone());
    let left_out: Vec<&str> = tunables.iter().map(|t| &*t.name).filter(|n| !chosen.contains_key(n)).collect();
    if let Some(heading) = heading.filter(|_| !left_out.is_empty()) {
        let report = Report::warning(format!("the default leaves out {}{suffix}", shortened(&left_out, ", ")));
        log.add(heading, report.label("expected a value for every tunable"));
    }
    tunables.iter().filter_map(|t| Some((t.name.clone(), chosen.remove(&*t.name)?))).collect()
}

/// Where a default belongs whose tunable only one target has.
fn elsewhere(draft: &Draft, name: &str) -> Option<String> {
    let owner = draft.targets.iter().find(|t| t.layers.iter().any(|l| l.tunables.iter().any(|t| &*t.name == name)))?;
    let what = if owner.name.is_some() { "implementation" } else { "target" };
    Some(format!("what holds for one {what} only belongs under [{}.default]", owner.path()))
}

/// The tunable's own value that is meant: 1 means 1.0 where the values are floats.
pub(crate) fn fitting(value: &Value, values: &[Value]) -> Option<Value> {
    let value = match (value, values.first()) {
        (Value::Int(whole), Some(Value::Float(_))) => Value::Float(*whole as f64),
        _ => value.clone(),
    };
    values.contains(&value).then_some(value)
}

fn not_a_value(choice: &Named<DefaultValue>, body: &DefaultValue, values: &[Value], suffix: &str) -> Report {
    let shown: Vec<String> = values.iter().take(SHOWN_VALUES).map(Value::to_string).collect();
    let more = if values.len() > SHOWN_VALUES { format!(", ... ({} in all)", values.len()) } else { String::new() };
    Report::error(format!("{} is not a value of {}{suffix}", body.value, choice.name))
        .label(format!("{}{more}", crate::reading::log::expected_one_of(shown)))
        .maybe_hint(near_value(&body.value, values))
}

fn near_value(value: &Value, values: &[Value]) -> Option<String> {
    let number = |v: &Value| match v {
        Value::Int(v) => Some(*v as f64),
        Value::Float(v) => Some(*v),
        _ => None,
    };
    if let Some(value) = number(value) {
        let distance = |v: &&Value| number(v).map_or(f64::INFINITY, |v| (v - value).abs());
        let near = values.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        return number(near).map(|_| format!("the nearest is {near}"));
    }
    let Value::Str(text) = value else { return None };
    if values.contains(&Value::from_typed(text)) {
        return Some(format!("write {text} without quotes"));
    }
    let words: Vec<&str> =
        values.iter().filter_map(|v| if let Value::Str(v) = v { Some(&**v) } else { None }).collect();
    nearest(text, words).map(|near| format!("did you mean {near}?"))
}
