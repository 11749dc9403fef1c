//! `[reference]`: where right answers come from, and how near is near enough. Refuses a reference with no origin or
//! several, unknown builtin operations, and tolerances of what is no output.

use kiln_core::Report;

use crate::model::{Formula, Origin, Reference, Role, Tolerance};
use crate::names::usage::each_name;
use crate::reading::item::Item;
use crate::reading::log::expected_one_of;
use crate::reading::section::Section;
use crate::tables::argument::{ArgumentDraft, word};
use crate::tables::callable::{PYTHON, read_callable};

/// The operations kiln knows itself.
pub const BUILTINS: [&str; 5] = ["attention", "matmul", "softmax", "reduction", "elementwise"];

/// What the table may hold.
pub(crate) const KEYS: [&str; 6] = ["builtin", "python", "kernel", "expressions", "tolerance", "deterministic"];
/// Where correct answers come from: exactly one of them.
pub(crate) const ORIGINS: [&str; 3] = ["builtin", "python", "kernel"];
/// What a tolerance may hold.
pub(crate) const TOLERANCE_KEYS: [&str; 2] = ["abs", "rel"];

pub(crate) fn read_reference(item: &Item, arguments: &[ArgumentDraft]) -> Option<Reference> {
    let section = Section::open(item, &KEYS)?;
    let deterministic = section.get("deterministic").and_then(Item::boolean).unwrap_or(true);
    let tolerance = section.get("tolerance").map(|i| read_tolerances(i, arguments)).unwrap_or_default();
    let origins: Vec<_> = section.entries.iter().filter(|e| ORIGINS.contains(&e.key)).collect();
    let misspelt = ORIGINS.iter().any(|key| section.misspells(key));
    match origins.as_slice() {
        [] if misspelt => None,
        [] => {
            let report = Report::error("reference has no origin");
            section.log.add(section.span.clone(), report.label("expected builtin, python or kernel"));
            None
        }
        [first, rest @ ..] => {
            for second in rest {
                let report = Report::error(format!("reference has both {} and {}", first.key, second.key));
                section.log.add(second.key_span.clone(), report.label("expected only one of them"));
            }
            let origin = match first.key {
                "builtin" => Origin::Builtin(read_builtin(&first.item)?),
                "python" => Origin::Python(read_callable(&first.item, PYTHON)?),
                _ => Origin::Kernel(first.item.string()?.to_owned()),
            };
            let expressions = read_expressions(&section, &origin, arguments);
            Some(Reference { origin, tolerance, deterministic, expressions })
        }
    }
}

fn read_builtin(item: &Item) -> Option<String> {
    item.word(&BUILTINS.map(|name| (name, name))).map(str::to_owned)
}

/// The expressions of `elementwise`: one for each output, in the names of inputs and scalars.
fn read_expressions(section: &Section, origin: &Origin, arguments: &[ArgumentDraft]) -> Vec<(String, Formula)> {
    let elementwise = matches!(origin, Origin::Builtin(name) if name == "elementwise");
    let with = |roles: &[Role]| -> Vec<&str> {
        let fits = |a: &&ArgumentDraft| a.role.is_some_and(|role| roles.contains(&role));
        arguments.iter().filter(fits).map(|a| a.name.as_str()).collect()
    };
    let (known, outputs) =
        (with(&[Role::In, Role::Inout, Role::Constant, Role::Scalar]), with(&[Role::Out, Role::Inout]));
    let Some(item) = section.get("expressions") else {
        if elementwise {
            let report = Report::error("elementwise does not say what is computed");
            let example = outputs.first().copied().unwrap_or("y");
            let report = report.label("expected expressions, one for each output");
            let hint = format!("add expressions = {{ {example} = \"max({}, 0)\" }}", known.first().unwrap_or(&"x"));
            section.log.add(section.span.clone(), report.hint(hint));
        }
        return Vec::new();
    };
    if !elementwise {
        item.error(Report::error("expressions belong to builtin = \"elementwise\"").label("expected only with it"));
    }
    let mut expressions = Vec::new();
    for entry in Section::free(item).iter().flat_map(|s| &s.entries) {
        if !outputs.contains(&entry.key) {
            let report = Report::error(format!("{} is no output", entry.key)).label(expected_one_of(&outputs));
            let near = item.log.did_you_mean(entry.key, outputs.clone());
            item.log.add(entry.key_span.clone(), report.maybe_hint(near));
        }
        let Some(formula) = entry.item.formula() else { continue };
        each_name(formula.expression.root(), &mut |name, span| {
            if !known.contains(&&**name) {
                let report = Report::error(format!("{name} is neither an input nor a scalar"));
                let near = item.log.did_you_mean(name, known.clone());
                item.log.add(formula.part(span.clone()), report.label(expected_one_of(&known)).maybe_hint(near));
            }
        });
        expressions.push((entry.key.to_owned(), formula));
    }
    for output in outputs.iter().filter(|o| elementwise && !expressions.iter().any(|(name, _)| name == *o)) {
        item.error(Report::error(format!("expressions lack {output}")).label("expected one for each output"));
    }
    expressions
}

fn read_tolerances(item: &Item, arguments: &[ArgumentDraft]) -> Vec<(String, Tolerance)> {
    let mut tolerances = Vec::new();
    for entry in Section::free(item).iter().flat_map(|s| &s.entries) {
        let found = arguments.iter().find(|a| a.name == entry.key);
        let message = match found.and_then(|a| a.role) {
            Some(Role::Out | Role::Inout) => None,
            Some(role) => Some(format!("{} has role {}, so it is no output", entry.key, word(role))),
            // Its role was wrong, and that has been said.
            None if found.is_some() => None,
            None => Some(format!("{} is not an argument", entry.key)),
        };
        if let Some(message) = message {
            let is_output = |a: &&ArgumentDraft| matches!(a.role, Some(Role::Out | Role::Inout));
            let outputs: Vec<&str> = arguments.iter().filter(is_output).map(|a| a.name.as_str()).collect();
            let label = if outputs.is_empty() {
                "expected an output, but no argument is one".into()
            } else {
                expected_one_of(&outputs)
            };
            let report = Report::error(message).label(label).maybe_hint(item.log.did_you_mean(entry.key, outputs));
            item.log.add(entry.key_span.clone(), report);
        }
        tolerances.extend(read_tolerance(&entry.item).map(|t| (entry.key.to_owned(), t)));
    }
    tolerances
}

fn read_tolerance(item: &Item) -> Option<Tolerance> {
    let section = Section::open(item, &TOLERANCE_KEYS)?;
    if section.entries.is_empty() {
        item.error(Report::error(format!("{} says nothing", item.path)).label("expected abs, rel or both"));
    }
    let part = |key| {
        let Some(item) = section.get(key) else { return Some(0.0) };
        let value = item.number()?;
        if value < 0.0 {
            let report = Report::error(format!("{} is {}", item.path, item.spelling()));
            item.error(report.label("expected a number of at least 0"));
        }
        Some(value)
    };
    let (abs, rel) = (part("abs"), part("rel"));
    Some(Tolerance { abs: abs?, rel: rel? })
}
