//! Arguments of role `tensormap`: a TMA descriptor of another argument. In: its keys, then all arguments. Out: a
//! [`TensorMap`] with the type of the tensor it describes. Refuses descriptors of what is not a tensor, and boxes whose
//! rank is not the tensor's.

use kiln_core::{Report, Span};

use crate::model::{Argument, Compare, Init, Role, TensorMap};
use crate::reading::item::Item;
use crate::reading::log::{Log, expected_one_of};
use crate::reading::section::Section;
use crate::tables::argument::{ArgumentDraft, word};

pub(crate) const SWIZZLES: [(&str, &str); 4] = [("none", "none"), ("32B", "32B"), ("64B", "64B"), ("128B", "128B")];
pub(crate) const PROMOTIONS: [(&str, &str); 4] = [("none", "none"), ("64B", "64B"), ("128B", "128B"), ("256B", "256B")];
/// What the hardware can describe.
pub(crate) const MOST_DIMENSIONS: usize = 5;

/// A descriptor as read: its tensor still has to be found.
pub(crate) struct TensorMapDraft {
    map: TensorMap,
    tensor_span: Span,
    box_span: Span,
}

pub(crate) fn read_tensormap(section: &Section) -> Option<TensorMapDraft> {
    let tensor = section.require("tensor", "tensor = \"an argument\"");
    let extent = section.require("box", "box = [...]");
    let choice = |key, words| section.get(key).and_then(|i: &Item| i.word(words)).unwrap_or("none").to_owned();
    let (swizzle, promotion) = (choice("swizzle", &SWIZZLES), choice("promotion", &PROMOTIONS));
    let box_shape = extent.map(|i| i.formulas(1, MOST_DIMENSIONS)).unwrap_or_default();
    let when = section.get("when").and_then(Item::formula);
    let (tensor, extent) = (tensor?, extent?);
    let map = TensorMap { tensor: tensor.string()?.to_owned(), box_shape, swizzle, promotion, when };
    Some(TensorMapDraft { map, tensor_span: tensor.span(), box_span: extent.span() })
}

/// Gives every descriptor the type of its tensor.
pub(crate) fn resolve_tensormaps(log: &Log, arguments: &mut [ArgumentDraft]) {
    for at in 0..arguments.len() {
        let Some(draft) = &arguments[at].tensormap else { continue };
        let body = resolve(log, draft, arguments).map(|kind| Argument {
            name: arguments[at].name.as_str().into(),
            kind,
            role: Role::Tensormap,
            symbol: None,
            written: vec![],
            compare: Compare::Elements,
            init: Init::default(),
            function: None,
            range: None,
            value: None,
            strides: vec![],
            alignment: None,
            layout: None,
            tensormap: Some(draft.map.clone()),
        });
        arguments[at].body = body;
    }
}

fn resolve(log: &Log, draft: &TensorMapDraft, arguments: &[ArgumentDraft]) -> Option<crate::model::ArgumentType> {
    let is_tensor = |a: &&ArgumentDraft| matches!(a.role, Some(Role::In | Role::Out | Role::Inout | Role::Scratch));
    let name = &draft.map.tensor;
    let found = arguments.iter().find(|a| a.name == *name);
    let Some(tensor) = found.filter(is_tensor) else {
        let message = match found.and_then(|a| a.role) {
            Some(role) => format!("{name} has role {}, so it is no tensor", word(role)),
            // Its role was wrong, and that has been said.
            None if found.is_some() => return None,
            None => format!("{name} is not an argument"),
        };
        let known: Vec<&str> = arguments.iter().filter(is_tensor).map(|a| a.name.as_str()).collect();
        let label =
            if known.is_empty() { "expected a tensor, but there is none".into() } else { expected_one_of(&known) };
        let report = Report::error(message).label(label).maybe_hint(log.did_you_mean(name, known));
        log.add(draft.tensor_span.clone(), report);
        return None;
    };
    let kind = tensor.body.as_ref()?.kind.clone();
    let (rank, given) = (kind.shape.len(), draft.map.box_shape.len());
    if rank > MOST_DIMENSIONS {
        let report = Report::error(format!("{name} has {rank} dimensions, too many for a tensormap"));
        log.add(draft.tensor_span.clone(), report.label(format!("expected at most {MOST_DIMENSIONS}")));
    } else if given != rank {
        let report = Report::error(format!("the box has rank {given}, and {name} has rank {rank}"));
        log.add(draft.box_span.clone(), report.label(format!("expected {rank} values")));
    }
    Some(kind)
}
