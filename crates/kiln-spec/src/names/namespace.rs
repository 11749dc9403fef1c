//! The names expressions may use: tunables, derived values, dimensions and variants, in one flat space for each target.
//! In: everything that defines a name. Out: its kind and type. Logs a name with two meanings at the second of them.

use std::collections::HashMap;
use std::sync::Arc;

use kiln_core::{Report, Span};
use kiln_expr::{Scope, Type};

use crate::model::TargetKind;
use crate::names::constants::device_limit;
use crate::reading::draft::Draft;
use crate::reading::log::Log;
use crate::tables::layer::{Layer, Named};
use crate::tables::target::TargetDraft;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Tunable,
    Derived,
    Dimension,
    Variant,
}

impl NameKind {
    pub(crate) fn words(self) -> &'static str {
        match self {
            NameKind::Tunable => "a tunable",
            NameKind::Derived => "a derived value",
            NameKind::Dimension => "a dimension",
            NameKind::Variant => "a variant",
        }
    }
}

/// The names of one target.
#[derive(Debug, Clone)]
pub(crate) struct Namespace {
    pub(crate) target: TargetKind,
    /// What messages call it.
    pub(crate) path: String,
    /// True when some definitions could not be read: an unknown name may be one of them.
    pub(crate) incomplete: bool,
    names: HashMap<Arc<str>, (NameKind, Type)>,
}

impl Namespace {
    /// The names of one target; derived values have no type yet.
    pub(crate) fn of(log: &Log, draft: &Draft, target: &TargetDraft) -> Namespace {
        let mut definitions: Vec<(Arc<str>, Span, NameKind, Type)> = Vec::new();
        for variant in &draft.kernel.variants {
            definitions.push((variant.name.clone(), variant.span.clone(), NameKind::Variant, Type::Str));
        }
        for tunable in merged_tunables(draft, target) {
            let kind = tunable.body.as_ref().map_or(Type::Any, Type::of_all);
            definitions.push((tunable.name.clone(), tunable.span.clone(), NameKind::Tunable, kind));
        }
        for derived in layers(draft, target).flat_map(|layer| &layer.derived) {
            definitions.push((derived.name.clone(), derived.span.clone(), NameKind::Derived, Type::Any));
        }
        definitions.extend(dimensions(draft));
        definitions.sort_by_key(|(_, span, ..)| span.start);

        let mut firsts: HashMap<Arc<str>, Span> = HashMap::new();
        let mut names = HashMap::new();
        for (name, span, kind, of) in definitions {
            if let Some(first) = firsts.get(&name) {
                let Some((kind, _)) = names.get(&name).copied() else { continue };
                let kind: NameKind = kind;
                let line = log.line(first.start);
                let report = Report::error(format!("duplicate name {name}"))
                    .label(format!("already {} in line {line}", kind.words()))
                    .hint("tunables, derived values, dimensions and variants share one set of names");
                log.add(span, report);
                continue;
            }
            if kind == NameKind::Variant {
                names.insert(format!("{name}.bytes").into(), (kind, Type::Int));
            }
            firsts.insert(name.clone(), span);
            names.insert(name, (kind, of));
        }
        let incomplete = draft.kernel.incomplete
            || layers(draft, target).any(|layer| layer.incomplete)
            || draft.workloads_incomplete
            || draft.workloads.iter().any(|w| w.incomplete);
        Namespace { target: target.kind, path: target.path(), incomplete, names }
    }

    /// All names of several targets, for expressions that belong to none.
    pub(crate) fn union(spaces: &[Namespace]) -> Namespace {
        let names = spaces.iter().rev().flat_map(|s| s.names.clone()).collect();
        let incomplete = spaces.iter().any(|s| s.incomplete);
        Namespace { target: TargetKind::Cuda, path: String::new(), incomplete, names }
    }

    pub(crate) fn get(&self, name: &str) -> Option<(NameKind, Type)> {
        self.names.get(name).copied()
    }

    /// Gives a derived value its type, once its expression is checked.
    pub(crate) fn set_type(&mut self, name: &str, of: Type) {
        if let Some((NameKind::Derived, known)) = self.names.get_mut(name) {
            *known = of;
        }
    }

    /// The names of some kinds, in alphabetic order: hints must not depend on chance.
    pub(crate) fn names_of(&self, kinds: &[NameKind]) -> Vec<&str> {
        let of_kind = |(_, (kind, _)): &(&Arc<str>, &(NameKind, Type))| kinds.contains(kind);
        let mut names: Vec<&str> = self.names.iter().filter(of_kind).map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names
    }
}

/// For types only: names nobody defined are reported elsewhere and may be anything.
impl Scope for Namespace {
    fn type_of(&self, name: &str) -> Option<Type> {
        let device = if device_limit(name).is_some() { Type::Int } else { Type::Any };
        Some(self.get(name).map_or(device, |(_, of)| of))
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }
}

/// What the file says for all targets, then what the target says, then what its implementation says.
pub(crate) fn layers<'a>(draft: &'a Draft, target: &'a TargetDraft) -> impl Iterator<Item = &'a Layer> {
    std::iter::once(&draft.shared).chain(&target.layers)
}

/// The tunables of a target: the shared ones first, with the values that the last layer gives.
pub(crate) fn merged_tunables<'a>(draft: &'a Draft, target: &'a TargetDraft) -> Vec<&'a Named<Vec<kiln_core::Value>>> {
    let mut merged: Vec<&Named<Vec<kiln_core::Value>>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for layer in layers(draft, target) {
        for tunable in &layer.tunables {
            match places.get(&*tunable.name) {
                // The same name twice in one table is an error of TOML.
                Some(place) => merged[*place] = tunable,
                None => {
                    places.insert(&tunable.name, merged.len());
                    merged.push(tunable);
                }
            }
        }
    }
    merged
}

/// Every dimension with the place where it is first named and a type that covers its values.
fn dimensions(draft: &Draft) -> Vec<(Arc<str>, Span, NameKind, Type)> {
    let mut found: HashMap<Arc<str>, (Span, Option<Type>)> = HashMap::new();
    for workload in &draft.workloads {
        for (name, span) in &workload.dims {
            let of = workload.workload.dim(name).map_or(Type::Any, Type::of);
            let entry = found.entry(name.clone()).or_insert((span.clone(), None));
            entry.1 = Some(entry.1.map_or(of, |known| known.join(of)));
        }
    }
    found.into_iter().map(|(n, (span, of))| (n, span, NameKind::Dimension, of.unwrap_or(Type::Any))).collect()
}
