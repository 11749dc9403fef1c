//! Shared and own parts of each target and its implementations made one. In: the draft and what the checks found. Out: the
//! [`Target`]s. Logs constraints of the same name in two parts, `kernels` where it means nothing, and tunables of one name
//! whose values are of two kinds.

use std::collections::HashMap;
use std::sync::Arc;

use kiln_core::{Report, Value};

use crate::model::{Baseline, Compile, Constraint, Derived, Dtype, Implementation, Target, TargetKind, Tunable};
use crate::names::check::Checked;
use crate::names::namespace::{layers, merged_tunables};
use crate::reading::draft::Draft;
use crate::reading::log::Log;
use crate::tables::default::check_default;
use crate::tables::layer::{Named, Rule};
use crate::tables::target::TargetDraft;
use crate::tables::tuned::TunedTable;

pub(crate) fn merge_targets(log: &Log, draft: &Draft, checked: &Checked) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for (target, order) in draft.targets.iter().zip(&checked.orders) {
        let implementation = implementation(log, draft, target, order);
        match targets.iter_mut().find(|known| known.kind == target.kind) {
            Some(known) => {
                refuse_other_kinds(log, &known.implementations, &implementation);
                known.implementations.push(implementation);
            }
            None => targets.push(Target {
                kind: target.kind,
                on_gpu: target.on_gpu,
                archs: target.archs.clone(),
                variants: merge_variants(log, draft, target),
                tuned: TunedTable { file: target.tuned.clone(), entries: vec![] },
                baselines: merge_baselines(draft, target),
                arguments: target.shared_arguments.clone(),
                implementations: vec![implementation],
            }),
        }
    }
    targets
}

fn implementation(log: &Log, draft: &Draft, target: &TargetDraft, order: &[usize]) -> Implementation {
    refuse_double_rules(log, draft, target);
    let tunables = merged_tunables(draft, target)
        .into_iter()
        .filter_map(|t| Some(Tunable { name: t.name.clone(), values: t.body.clone()?, span: t.span.clone() }));
    let derived: Vec<_> = layers(draft, target).flat_map(|layer| &layer.derived).collect();
    let derived = order.iter().filter_map(|i| {
        let derived = derived.get(*i)?;
        Some(Derived { name: derived.name.clone(), formula: derived.body.clone()? })
    });
    let constraints = layers(draft, target).flat_map(|layer| &layer.constraints).filter_map(|rule| {
        let body = rule.body.clone()?;
        Some(Constraint { name: rule.name.clone(), formula: body.formula, hint: body.hint })
    });
    let taken = target.arguments.as_ref().map(|(_, names)| names.iter().map(|(name, _)| name.clone()).collect());
    Implementation {
        name: target.name.clone(),
        archs: target.ranges.clone(),
        entry: target.entry.clone(),
        host: target.host.unwrap_or(draft.kernel.host),
        sources: target.sources.clone(),
        compile: merge_compile(log, draft, target),
        tunables: tunables.collect(),
        default: check_default(log, draft, target),
        derived: derived.collect(),
        constraints: constraints.collect(),
        launches: target.launches.iter().map(|l| l.launch.clone()).collect(),
        kernels: merge_kernels(log, draft, target),
        arguments: taken,
    }
}

/// Refuses a tunable whose values are of another kind than those it has in another implementation: nothing could be learned
/// from one about the other.
fn refuse_other_kinds(log: &Log, others: &[Implementation], one: &Implementation) {
    let kind = |tunable: &Tunable| match tunable.values.first() {
        Some(Value::Int(_)) => "integers",
        Some(Value::Float(_)) => "floats",
        Some(Value::Bool(_)) => "booleans",
        _ => "strings",
    };
    for tunable in &one.tunables {
        let found = others.iter().find_map(|other| Some((other, other.tunable(&tunable.name)?)));
        let Some((other, known)) = found.filter(|(_, known)| kind(known) != kind(tunable)) else { continue };
        let (name, first) = (other.name.as_deref().unwrap_or_default(), log.line(known.span.start));
        let report =
            Report::error(format!("{} has {} here and {} in {name}", tunable.name, kind(tunable), kind(known)))
                .label(format!("expected {}, as in line {first}", kind(known)))
                .hint("tunables of one name have values of one kind in all implementations: rename one");
        log.add(tunable.span.clone(), report);
    }
}

/// Compiler settings with what is defined. Refuses to define a tunable, which is defined already.
fn merge_compile(log: &Log, draft: &Draft, target: &TargetDraft) -> Compile {
    let tunables = merged_tunables(draft, target);
    for own in target.defines.iter().filter(|own| tunables.iter().any(|tunable| tunable.name == own.name)) {
        let report = Report::error(format!("{} is a tunable", own.name)).label("expected another name");
        log.add(own.span.clone(), report.hint("every tunable is defined as its value already"));
    }
    let defines = target.defines.iter().filter_map(|own| Some((own.name.to_string(), own.body.clone()?)));
    Compile { defines: defines.collect(), ..target.compile.clone() }
}

/// The kernel's type variables, each with the target's own dtypes where it lists some.
fn merge_variants(log: &Log, draft: &Draft, target: &TargetDraft) -> Vec<(Arc<str>, Vec<Dtype>)> {
    let shared = &draft.kernel.variants;
    for own in
        target.variants.iter().filter(|own| !draft.kernel.incomplete && !shared.iter().any(|v| v.name == own.name))
    {
        let known: Vec<&str> = shared.iter().map(|v| &*v.name).collect();
        let report = Report::error(format!("{} is not a variant of the kernel", own.name))
            .label("expected a name from `variants` in [kernel], whose dtypes are replaced here")
            .maybe_hint(log.did_you_mean(&own.name, known));
        log.add(own.span.clone(), report);
    }
    let own = |name: &str| target.variants.iter().find(|v| &*v.name == name)?.body.clone();
    shared.iter().filter_map(|v| Some((v.name.clone(), own(&v.name).or_else(|| v.body.clone())?))).collect()
}

/// The kernels asked for. Refuses to ask where kiln launches by itself, or where nothing runs on a GPU.
fn merge_kernels(log: &Log, draft: &Draft, target: &TargetDraft) -> Vec<String> {
    let Some((span, names)) = &target.kernels else { return vec![] };
    let host = target.host.unwrap_or(draft.kernel.host);
    let unfit = match target.kind {
        TargetKind::Cuda if !host && !draft.kernel.incomplete => Some((
            "the launches name its kernels already",
            "omit it, or write host = true for a function that launches",
        )),
        TargetKind::Python if !target.on_gpu => {
            Some(("the function works on the processor", "write device = \"cuda\" for one that works on a GPU"))
        }
        _ => None,
    };
    if let Some((why, hint)) = unfit {
        let report = Report::error(format!("kernels does not fit this {} target", target.kind.name()));
        log.add(span.clone(), report.label(why).hint(hint));
    }
    names.clone()
}

/// The target's own opponents first: the first of all is the default.
fn merge_baselines(draft: &Draft, target: &TargetDraft) -> Vec<Baseline> {
    let own = &target.baselines;
    let shared = draft.baselines.iter().filter(|s| !own.iter().any(|o| o.name == s.name));
    own.iter().chain(shared).cloned().collect()
}

fn refuse_double_rules(log: &Log, draft: &Draft, target: &TargetDraft) {
    let mut by_name: HashMap<&str, &Named<Rule>> = HashMap::new();
    for own in layers(draft, target).flat_map(|layer| &layer.constraints) {
        let Some(shared) = by_name.insert(&own.name, own) else { continue };
        let (first, second) = if shared.span.start < own.span.start { (shared, own) } else { (own, shared) };
        let report = Report::error(format!("duplicate name {}", own.name))
            .label(format!("already a constraint in line {}", log.line(first.span.start)))
            .hint("both would hold for the target: rename one");
        log.add(second.span.clone(), report);
    }
}
