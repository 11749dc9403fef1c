//! Where expressions stand in a file, and what each is for. In: the draft. Out: a [`Site`] for each expression.

use crate::model::{Compare, ElementType, Formula, Role, Slice, TargetKind};
use crate::names::namespace::layers;
use crate::names::usage::{Reach, Site, Wants};
use crate::reading::draft::Draft;
use crate::tables::argument::ArgumentDraft;
use crate::tables::launch::LaunchDraft;
use crate::tables::target::TargetDraft;

fn site(formula: &Formula, path: String, reach: Reach, wants: Wants) -> Site<'_> {
    Site { formula, path, reach, wants, table: None }
}

fn counts<'a>(formulas: &'a [Formula], path: &str, reach: Reach) -> impl Iterator<Item = Site<'a>> {
    formulas.iter().map(move |f| site(f, path.to_owned(), reach, Wants::Count))
}

/// The derived value with this index among the shared ones and then the target's own.
pub(crate) fn of_derived<'a>(draft: &'a Draft, target: &'a TargetDraft, index: usize) -> Option<Site<'a>> {
    let mut all = layers(draft, target).flat_map(|layer| layer.derived.iter().map(move |derived| (layer, derived)));
    let (layer, derived) = all.nth(index)?;
    let path = format!("{}derived.{}", layer.prefix, derived.name);
    let table = Some("derived");
    derived.body.as_ref().map(|f| Site { table, ..site(f, path, Reach::Configuration, Wants::Value) })
}

/// The expressions that may depend on a configuration of this target, derived values aside.
pub(crate) fn of_target<'a>(draft: &'a Draft, target: &'a TargetDraft) -> Vec<Site<'a>> {
    let mut sites = Vec::new();
    for layer in layers(draft, target) {
        for rule in &layer.constraints {
            let path = format!("{}constraints.{}", layer.prefix, rule.name);
            let table = Some("constraints");
            sites.extend(
                rule.body
                    .as_ref()
                    .map(|rule| Site { table, ..site(&rule.formula, path, Reach::Configuration, Wants::Condition) }),
            );
        }
    }
    for LaunchDraft { launch, path, .. } in &target.launches {
        let path = |key: &str| format!("{path}.{key}");
        sites.extend(counts(&launch.grid, &path("grid"), Reach::Configuration));
        sites.extend(counts(&launch.block, &path("block"), Reach::Configuration));
        sites.extend(counts(&launch.cluster, &path("cluster"), Reach::Configuration));
        sites.extend(counts(launch.shared.as_slice(), &path("shared"), Reach::Configuration));
    }
    // Only there is an occupancy; names that nothing defines are a mistake in any file.
    let without = draft.targets.iter().all(|other| other.kind != TargetKind::Cuda);
    if let Some(asked) = draft.gates.occupancy.as_ref().filter(|_| without || target.kind == TargetKind::Cuda) {
        sites.push(site(&asked.least, "gates.occupancy".into(), Reach::Configuration, Wants::Number));
    }
    for argument in draft.arguments.iter().filter(|argument| target.takes(&argument.name)) {
        sites.extend(storage(argument, Reach::Configuration));
        if let Some(map) = argument.body.as_ref().and_then(|a| a.tensormap.as_ref()) {
            sites.extend(counts(&map.box_shape, &format!("{}.box", argument.path), Reach::Configuration));
        }
    }
    sites
}

/// The expressions that say what is to be done.
pub(crate) fn of_problem(draft: &Draft) -> Vec<Site<'_>> {
    let mut sites = Vec::new();
    for argument in &draft.arguments {
        sites.extend(storage(argument, Reach::Problem));
        let Some(body) = &argument.body else { continue };
        let dtype = match &body.kind.element {
            ElementType::Dtype(dtype) => Some(*dtype),
            ElementType::Variable(_) => None,
        };
        for limit in body.range.iter().flat_map(|range| [&range.low, &range.high]) {
            sites.push(site(limit, format!("{}.range", argument.path), Reach::Problem, Wants::Scalar(dtype)));
        }
        if let Some(value) = &body.value {
            sites.push(site(value, format!("{}.value", argument.path), Reach::Problem, Wants::Scalar(dtype)));
        }
        if let Some(when) = body.tensormap.as_ref().and_then(|map| map.when.as_ref()) {
            sites.push(site(when, format!("{}.when", argument.path), Reach::Problem, Wants::Condition));
        }
    }
    for (name, range) in &draft.fuzz.scalars {
        let of = |formula| site(formula, format!("fuzz.scalars.{name}"), Reach::Problem, Wants::Scalar(None));
        sites.extend([of(&range.low), of(&range.high)]);
    }
    sites.extend(draft.fuzz.valid.iter().map(|f| site(f, "fuzz.valid".into(), Reach::Problem, Wants::Condition)));
    sites.extend(draft.export.valid.iter().map(|f| site(f, "export.valid".into(), Reach::Call, Wants::Condition)));
    let cost = [("cost.flops", &draft.cost.flops), ("cost.bytes", &draft.cost.bytes)];
    for (path, formula) in cost {
        sites.extend(formula.as_ref().map(|f| site(f, path.to_owned(), Reach::Problem, Wants::Number)));
    }
    sites
}

/// Shape and strides of an argument whose storage has this reach, and what of it is written. Only scratch may depend on the
/// configuration, and outputs of which only the sum counts.
fn storage(argument: &ArgumentDraft, reach: Reach) -> Vec<Site<'_>> {
    let summed = argument.body.as_ref().is_some_and(|body| body.compare == Compare::Sum);
    let of_role = match argument.role {
        Some(Role::Scratch) => Reach::Configuration,
        Some(Role::Out) if summed => Reach::Configuration,
        // A tensormap's shape is its tensor's.
        Some(Role::Tensormap) | None => return vec![],
        Some(_) => Reach::Problem,
    };
    let Some(body) = argument.body.as_ref().filter(|_| of_role == reach) else { return vec![] };
    let shape = counts(&body.kind.shape, &format!("{}.type", argument.path), reach).collect::<Vec<_>>();
    let strides = counts(&body.strides, &format!("{}.strides", argument.path), reach).collect::<Vec<_>>();
    let ends = body.written.iter().flat_map(|Slice { from, to }| from.iter().chain(to));
    let written = ends.map(|f| site(f, format!("{}.written", argument.path), reach, Wants::Count));
    shape.into_iter().chain(strides).chain(written).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_unknown_name_in_a_gate_is_a_mistake_also_without_a_cuda_target() {
        let file = |least: &str| {
            format!(
                "[kernel]\nname = \"k\"\n[target.cpu]\nsource = \"k.c\"\n[tunables]\nX = [1, 2]\n[gates]\noccupancy = \"{least}\"\n"
            )
        };
        assert!(crate::parse("k", file("0.1 * X").as_bytes()).is_ok());
        let reports = crate::parse("k", file("0.1 * Z").as_bytes()).unwrap_err();
        assert!(reports.iter().any(|report| report.message.contains('Z')), "{reports:?}");
    }
}
