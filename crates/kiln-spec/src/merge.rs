//! Shared and own parts of each target made one. In: the draft and what the checks found. Out: the [`Target`]s. Logs
//! constraints of the same name in both parts.

use std::collections::HashMap;

use kiln_core::Report;

use crate::check::Checked;
use crate::default::check_default;
use crate::draft::Draft;
use crate::log::Log;
use crate::model::{Constraint, Derived, Target, Tunable};
use crate::namespace::merged_tunables;
use crate::target::TargetDraft;

pub(crate) fn merge_targets(log: &Log, draft: &Draft, checked: &Checked) -> Vec<Target> {
    let with_order = draft.targets.iter().zip(&checked.orders);
    with_order.map(|(target, order)| merge(log, draft, target, order)).collect()
}

fn merge(log: &Log, draft: &Draft, target: &TargetDraft, order: &[usize]) -> Target {
    refuse_double_rules(log, draft, target);
    let shared = &draft.shared;
    let tunables = merged_tunables(shared, &target.layer)
        .into_iter()
        .filter_map(|t| Some(Tunable { name: t.name.clone(), values: t.body.clone()?, span: t.span.clone() }));
    let derived: Vec<_> = shared.derived.iter().chain(&target.layer.derived).collect();
    let derived = order.iter().filter_map(|i| {
        let derived = derived.get(*i)?;
        Some(Derived { name: derived.name.clone(), formula: derived.body.clone()? })
    });
    let constraints = shared.constraints.iter().chain(&target.layer.constraints).filter_map(|rule| {
        let body = rule.body.clone()?;
        Some(Constraint { name: rule.name.clone(), formula: body.formula, hint: body.hint })
    });
    Target {
        kind: target.kind,
        entry: target.entry.clone(),
        host: target.host.unwrap_or(draft.kernel.host),
        sources: target.sources.clone(),
        compile: target.compile.clone(),
        archs: target.archs.clone(),
        tunables: tunables.collect(),
        default: check_default(log, draft, target),
        derived: derived.collect(),
        constraints: constraints.collect(),
        launches: target.launches.iter().map(|l| l.launch.clone()).collect(),
    }
}

fn refuse_double_rules(log: &Log, draft: &Draft, target: &TargetDraft) {
    let by_name: HashMap<&str, _> = draft.shared.constraints.iter().map(|c| (&*c.name, c)).collect();
    for own in &target.layer.constraints {
        let Some(shared) = by_name.get(&*own.name).copied() else { continue };
        let (first, second) = if shared.span.start < own.span.start { (shared, own) } else { (own, shared) };
        let report = Report::error(format!("duplicate name {}", own.name))
            .label(format!("already a constraint in line {}", log.line(first.span.start)))
            .hint("both would hold for the target: rename one");
        log.add(second.span.clone(), report);
    }
}
