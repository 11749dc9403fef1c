//! `[[arguments]]`: what the kernel is called with, in order. In: the tables. Out: arguments with the places later checks
//! point at. Refuses arguments without a role, keys that do not fit the role, and types that do not.

use kiln_core::{Report, Span};

use crate::model::{Argument, ArgumentType, Compare, Dtype, ElementType, Role};
use crate::reading::item::Item;
use crate::reading::log::{Log, expected_one_of};
use crate::reading::naming::{check_identifier, refuse_doubles};
use crate::reading::section::Section;
use crate::tables::argument_type::{Variables, read_type};
use crate::tables::filling::{Filling, read_filling};
use crate::tables::layer::Named;
use crate::tables::slice::read_slices;
use crate::tables::tensormap::{TensorMapDraft, read_tensormap};

/// What an argument may hold, of whatever role.
pub(crate) const KEYS: [&str; 17] = [
    "name",
    "type",
    "role",
    "init",
    "range",
    "value",
    "strides",
    "alignment",
    "layout",
    "symbol",
    "written",
    "compare",
    "tensor",
    "box",
    "swizzle",
    "promotion",
    "when",
];

/// The keys that mean something for a role.
pub(crate) fn fitting(role: Role) -> &'static [&'static str] {
    match role {
        Role::In | Role::Inout => &["name", "type", "role", "init", "range", "strides", "alignment", "layout"],
        Role::Out => &["name", "type", "role", "strides", "alignment", "layout", "written", "compare"],
        Role::Scratch => &["name", "type", "role", "strides", "alignment", "layout"],
        Role::Scalar => &["name", "type", "role", "value", "range"],
        Role::Constant => &["name", "type", "role", "init", "range", "layout", "symbol"],
        Role::Tensormap => &["name", "role", "tensor", "box", "swizzle", "promotion", "when"],
    }
}

/// An argument as read.
pub(crate) struct ArgumentDraft {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    /// What messages call it: `arguments.q`.
    pub(crate) path: String,
    pub(crate) role: Option<Role>,
    /// None when it could not be read.
    pub(crate) body: Option<Argument>,
    pub(crate) tensormap: Option<TensorMapDraft>,
}

pub(crate) fn read_arguments(item: &Item, variants: &[Named<Vec<Dtype>>], incomplete: bool) -> Vec<ArgumentDraft> {
    let variables = Variables { variants, incomplete };
    let tables = item.tables();
    let drafts: Vec<ArgumentDraft> = tables.iter().filter_map(|i| read_argument(i, &variables)).collect();
    refuse_doubles(item.log, "argument", drafts.iter().map(|d| (d.name.as_str(), d.name_span.clone())));
    drafts
}

fn read_argument(item: &Item, variables: &Variables) -> Option<ArgumentDraft> {
    let section = Section::open(item, &KEYS)?;
    let name_item = section.require("name", "name = \"...\"");
    let name = name_item.and_then(Item::string).unwrap_or_default().to_owned();
    let name_span = name_item.map_or(section.span.clone(), Item::span);
    if !name.is_empty() {
        check_identifier(item.log, "argument", &name, name_span.clone());
    }
    let words = Role::ALL.map(|(word, _)| word).join("\", \"");
    let role = section.require("role", &format!("role = one of \"{words}\"")).and_then(read_role);
    let mut draft = ArgumentDraft { name, name_span, path: item.path.clone(), role, body: None, tensormap: None };
    let Some(role) = role else {
        // Without a role nothing else can be judged but the type by itself.
        section.get("type").and_then(|i| read_type(i, variables));
        return Some(draft);
    };
    refuse_unfit(&section, role);
    if role == Role::Tensormap {
        draft.tensormap = read_tensormap(&section);
        return Some(draft);
    }
    let kind = section.require("type", "type = \"f32[N]\"").and_then(|i| Some((i, read_type(i, variables)?)));
    let value = if role == Role::Scalar { section.require("value", "value = ...") } else { None };
    let value = value.and_then(Item::formula);
    let strides = section.get("strides").filter(|_| role != Role::Scalar);
    let alignment = section.get("alignment").and_then(read_alignment);
    let Filling { init, function, range } = read_filling(&section, role);
    let (written, compare) = (section.get("written"), section.get("compare"));
    let Some((type_item, kind)) = kind else { return Some(draft) };
    refuse_shape(type_item, role, &kind);
    draft.body = Some(Argument {
        name: draft.name.as_str().into(),
        role,
        init,
        function,
        range,
        value,
        strides: strides.map(|i| i.formulas(kind.shape.len(), kind.shape.len())).unwrap_or_default(),
        alignment,
        layout: section.get("layout").and_then(Item::string).map(str::to_owned),
        tensormap: None,
        symbol: section.get("symbol").and_then(read_symbol),
        written: written.map(|item| read_slices(item, kind.shape.len())).unwrap_or_default(),
        compare: compare.and_then(|item| item.word(&Compare::ALL)).unwrap_or_default(),
        kind,
    });
    Some(draft)
}

/// A variable, perhaps in namespaces: `filter::weights`.
fn read_symbol(item: &Item) -> Option<String> {
    let name = item.string()?;
    let sound = |part: &str| {
        let letters = part.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        letters && part.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
    };
    if !name.split("::").all(sound) {
        let report = Report::error(format!("{} is {}", item.path, item.spelling()));
        item.error(
            report.label("expected the name of a __constant__ variable").hint("without & and brackets: d_filter"),
        );
        return None;
    }
    Some(name.to_owned())
}

fn read_role(item: &Item) -> Option<Role> {
    let meant = match item.raw().as_str() {
        Some("input" | "const") => "in",
        Some("output") => "out",
        Some("workspace" | "temporary") => "scratch",
        _ => return item.word(&Role::ALL),
    };
    // The nearest word to `input` is `inout`, which would be bad advice.
    let report = Report::error(format!("{} is {}", item.path, item.spelling()));
    item.error(report.label(expected_one_of(Role::ALL.map(|(word, _)| word))).hint(format!("did you mean {meant}?")));
    None
}

fn refuse_unfit(section: &Section, role: Role) {
    for entry in section.entries.iter().filter(|e| KEYS.contains(&e.key) && !fitting(role).contains(&e.key)) {
        let roles = Role::ALL.iter().filter(|(_, r)| fitting(*r).contains(&entry.key)).map(|(word, _)| *word);
        let word = word(role);
        let mut report = Report::error(format!("{} does not fit an argument of role {word}", entry.key))
            .label(format!("only fits role {}", roles.collect::<Vec<_>>().join(", ")));
        if role == Role::Tensormap && entry.key == "type" {
            report = report.hint("a tensormap has the type of the tensor it describes");
        }
        section.log.add(entry.key_span.clone(), report);
    }
}

pub(crate) fn word(role: Role) -> &'static str {
    Role::ALL.iter().find(|(_, r)| *r == role).map_or("", |(word, _)| word)
}

fn refuse_shape(item: &Item, role: Role, kind: &ArgumentType) {
    let name = match &kind.element {
        ElementType::Dtype(dtype) => dtype.name(),
        ElementType::Variable(name) => name,
    };
    let word = word(role);
    if role == Role::Scalar && !kind.shape.is_empty() {
        let report = Report::error(format!("{} has a shape, and its role is scalar", item.path));
        item.error(
            report
                .label(format!("expected {name} alone"))
                .hint("a tensor has role in, out, inout, scratch or constant"),
        );
    } else if role != Role::Scalar && kind.shape.is_empty() {
        let report = Report::error(format!("{} has no shape, and its role is {word}", item.path));
        let hint = match role {
            Role::Constant => format!("a variable that is no array has the type {name}[1]"),
            _ => "a plain number has role scalar".to_owned(),
        };
        item.error(report.label(format!("expected a shape, as in {name}[N]")).hint(hint));
    }
}

fn read_alignment(item: &Item) -> Option<u64> {
    let bytes = item.integer()?;
    match u64::try_from(bytes) {
        Ok(bytes) if bytes.is_power_of_two() => Some(bytes),
        _ => {
            item.error(Report::error(format!("{} is {bytes}", item.path)).label("expected a power of two, in bytes"));
            None
        }
    }
}

/// Logs names under `zero` that are not scratch arguments.
pub(crate) fn check_zeroed(log: &Log, zero: &[(String, Span)], arguments: &[ArgumentDraft]) {
    let scratch = || arguments.iter().filter(|a| a.role == Some(Role::Scratch)).map(|a| a.name.as_str());
    for (name, span) in zero {
        let found = arguments.iter().find(|a| a.name == *name);
        let message = match found.and_then(|a| a.role) {
            Some(Role::Scratch) => continue,
            Some(role) => format!("{name} has role {}, not scratch", word(role)),
            None if found.is_some() => continue,
            None => format!("{name} is not an argument"),
        };
        let known: Vec<&str> = scratch().collect();
        let label = match known.is_empty() {
            true => "expected a scratch argument, but there is none".into(),
            false => expected_one_of(&known),
        };
        log.add(span.clone(), Report::error(message).label(label).maybe_hint(log.did_you_mean(name, known)));
    }
}
