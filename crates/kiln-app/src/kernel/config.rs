//! The configuration that was typed. In: `NAME=VALUE,...` and a selection. Out: a whole configuration, and the names that were
//! taken from the default. Refuses names and values that the file does not list, and gaps without a default.

use std::sync::Arc;

use kiln_core::{Config, Report, Value, nearest};
use kiln_spec::{Selection, Tunable};

use crate::failure::Failure;

/// The given values with the rest from the default, in declaration order, and the names that were filled in.
pub(crate) fn complete(selection: &Selection<'_>, typed: &str) -> Result<(Config, Vec<String>), Failure> {
    let given = Config::parse(typed).map_err(|e| Report::error(format!("--config: {e}")))?;
    let tunables = &selection.target.tunables;
    let mut wrong: Vec<Report> = Vec::new();
    for (name, _) in given.iter().filter(|(n, _)| !tunables.iter().any(|t| t.name == **n)) {
        let known = tunables.iter().map(|t| &*t.name);
        let near = nearest(name, known.clone()).map(|near| format!("did you mean {near}?"));
        let known: Vec<&str> = known.collect();
        let report = Report::error(format!("--config: {name} is not a tunable"));
        wrong.push(report.label(format!("expected one of {}", known.join(", "))).maybe_hint(near));
    }
    let mut entries = Vec::with_capacity(tunables.len());
    let (mut defaulted, mut missing) = (Vec::new(), Vec::new());
    for tunable in tunables {
        match given.get(&tunable.name) {
            Some(value) => match listed(tunable, value) {
                Some(value) => entries.push((tunable.name.clone(), value)),
                None => wrong.push(unlisted(tunable, value)),
            },
            None => match default(selection, tunable) {
                Some(value) => {
                    defaulted.push(tunable.name.to_string());
                    entries.push((tunable.name.clone(), value));
                }
                None => missing.push(tunable),
            },
        }
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|t| &*t.name).collect();
        let example: Vec<String> = missing.iter().map(|t| format!("{}={}", t.name, t.values[0])).collect();
        let report = Report::error(format!("--config lacks {}; the file has no default there", names.join(", ")));
        wrong.push(report.hint(format!("add {}", example.join(","))));
    }
    if wrong.is_empty() { Ok((Config::new(entries), defaulted)) } else { Err(wrong.into()) }
}

fn default<'s>(selection: &'s Selection<'_>, tunable: &Tunable) -> Option<Value> {
    let of = |config: &'s [(Arc<str>, Value)]| config.iter().find(|(n, _)| *n == tunable.name).map(|(_, v)| v);
    let stated = selection.tuned().and_then(|entry| of(&entry.config)).or_else(|| of(&selection.target.default));
    match (&tunable.values[..], stated) {
        (_, Some(value)) => Some(value.clone()),
        ([only], None) => Some(only.clone()),
        _ => None,
    }
}

/// The listed value a typed one means: `2` means `2.0`, `1` means `true` and `64` means `"64"` where that is listed.
fn listed(tunable: &Tunable, typed: &Value) -> Option<Value> {
    let exact = tunable.values.iter().find(|v| *v == typed);
    let alike = || tunable.values.iter().find(|v| kiln_expr::equal(v, typed));
    // A list of strings may hold "64", which is typed like a number.
    let spelt = || tunable.values.iter().find(|v| v.to_string() == typed.to_string());
    exact.or_else(alike).or_else(spelt).cloned()
}

fn unlisted(tunable: &Tunable, value: &Value) -> Report {
    let values: Vec<String> = tunable.values.iter().map(Value::to_string).collect();
    Report::error(format!("--config: {} is not a value of {}", value, tunable.name))
        .label(format!("expected one of {}", values.join(", ")))
}
