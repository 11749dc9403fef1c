//! `table.json`: everything the Python module needs to know of the kernel, as data. In: a plan. Out: the object. Expressions stay
//! texts, which the module evaluates; constraints that depend on no dimension were judged here and are left out.

use kiln_core::{Config, Report, Value};
use kiln_expr::{Expr, Function, Kind};
use kiln_spec::{Argument, ElementType, Formula, Implementation, Launch, Role, TargetKind, TensorMap};
use serde_json::{Map, Value as Json, json};

use crate::failure::Failure;
use crate::operation::export::Plan;
use crate::operation::export::builds::Binary;
use crate::operation::export::interface::{dims, identifier, one_line};
use crate::operation::export::rows::Row;

/// What the module refuses another version of.
pub(super) const FORMAT: (&str, u64) = ("kiln-export", 1);

pub(super) fn table(plan: &Plan<'_>) -> Result<Json, Failure> {
    let (spec, target, interface) = (&plan.file.spec, plan.target, &plan.interface);
    let configs = configs(plan);
    let place = |config: &Config| configs.iter().position(|known| *known == config);
    // A row whose configuration was refused everywhere serves nobody.
    let row = |row: &Row| {
        json!({
            "arch": row.arch.map(|arch| arch.name()),
            "variant": words(&row.variant),
            "workload": row.workload,
            "dims": row.dims.as_ref().map(|dims| values(dims.iter().map(|(n, v)| (&**n, v)))),
            "config": place(&row.config),
        })
    };
    Ok(json!({
        "format": FORMAT.0,
        "version": FORMAT.1,
        "kiln": env!("CARGO_PKG_VERSION"),
        "kernel": spec.name,
        "name": interface.name,
        "target": target.kind.name(),
        "variables": target.variants.iter().map(|(name, dtypes)| {
            (name.to_string(), dtypes.iter().map(|d| d.name()).collect::<Vec<_>>().into())
        }).collect::<Map<_, _>>(),
        "arguments": spec.arguments.iter().map(argument).collect::<Vec<_>>(),
        "returns": interface.returns,
        "layouts": interface.layouts.iter().map(|(name, all)| {
            (name.to_string(), all.iter().map(value).collect::<Vec<_>>().into())
        }).collect::<Map<_, _>>(),
        "valid": plan.rules.iter().map(|rule| {
            json!({ "rule": rule.text(), "names": rule.names, "numbers": rule.numbers })
        }).collect::<Vec<_>>(),
        // JSON has no infinities.
        "empty": spec.export.empty.iter().map(|(name, value)| {
            (name.clone(), value.to_string().into())
        }).collect::<Map<String, Json>>(),
        "fixed": values(interface.fixed.iter().map(|(n, v)| (&**n, v))),
        "implementations": plan.parts().into_iter().map(|one| part(plan, one)).collect::<Result<Vec<_>, _>>()?,
        "device": device(plan),
        "stateful": plan.stateful,
        "configs": configs.iter().map(|c| values(c.iter().map(|(n, v)| (&**n, v)))).collect::<Vec<_>>(),
        "rows": plan.rows.iter().filter(|row| place(&row.config).is_some()).map(row).collect::<Vec<_>>(),
        "binaries": binaries(plan, &configs),
    }))
}

/// What an implementation says of itself; a configuration names the one it is of.
fn part(plan: &Plan<'_>, part: &Implementation) -> Result<Json, Failure> {
    let mut object = json!({
        "name": part.name.as_deref(),
        "arguments": plan.taken(part).iter().map(|argument| &*argument.name).collect::<Vec<_>>(),
        "instance": instance_dims(plan, part),
        "derived": part.derived.iter().map(|d| json!([&*d.name, one_line(&d.formula)])).collect::<Vec<_>>(),
        "constraints": constraints(plan, part)?,
        "launches": part.launches.iter().map(|l| launch(plan, part, l)).collect::<Vec<_>>(),
    });
    if plan.target.kind == TargetKind::Python {
        let (file, function) = plan.python_entry(part)?;
        object["source"] = format!("source/{file}").into();
        object["entry"] = function.into();
    }
    Ok(object)
}

/// Every configuration once.
pub(super) fn configs<'p>(plan: &'p Plan<'_>) -> Vec<&'p Config> {
    let mut found: Vec<&Config> = Vec::new();
    for binary in &plan.binaries {
        if !found.contains(&&binary.config) {
            found.push(&binary.config);
        }
    }
    found
}

fn binaries(plan: &Plan<'_>, configs: &[&Config]) -> Vec<Json> {
    let one = |(number, binary): (usize, &Binary)| {
        json!({
            "arch": binary.arch.map(|arch| arch.name()),
            "variant": words(&binary.variant),
            "config": configs.iter().position(|known| **known == binary.config),
            "file": plan.product_name(number),
            "instances": instances(plan, binary),
            "symbols": binary.symbols.iter().map(|(n, s)| (n.clone(), s.clone().into())).collect::<Map<_, _>>(),
        })
    };
    plan.binaries.iter().enumerate().map(one).collect()
}

/// What the kernels of a binary were compiled for, by the dimensions in their names.
fn instances(plan: &Plan<'_>, binary: &Binary) -> Vec<Json> {
    let named = instance_dims(plan, plan.part_of(&binary.config));
    let of = |workload: &kiln_core::Workload| {
        values(named.iter().filter_map(|name| Some((name.as_str(), workload.dim(name)?))))
    };
    if named.is_empty() { Vec::new() } else { binary.instances.iter().map(of).collect() }
}

fn argument(argument: &Argument) -> Json {
    let role = Role::ALL.iter().find(|(_, role)| *role == argument.role).map_or("", |(word, _)| word);
    let element = match &argument.kind.element {
        ElementType::Dtype(dtype) => dtype.name(),
        ElementType::Variable(name) => name,
    };
    let lines = |formulas: &[Formula]| formulas.iter().map(one_line).collect::<Vec<_>>();
    json!({
        "name": &*argument.name,
        "role": role,
        "element": element,
        "shape": lines(&argument.kind.shape),
        "strides": lines(&argument.strides),
        "alignment": argument.alignment,
        "value": argument.value.as_ref().map(one_line),
        "tensormap": argument.tensormap.as_ref().map(|map: &TensorMap| json!({
            "tensor": map.tensor,
            "box": lines(&map.box_shape),
            "swizzle": map.swizzle,
            "promotion": map.promotion,
            "when": map.when.as_ref().map(one_line),
        })),
    })
}

fn launch(plan: &Plan<'_>, part: &Implementation, launch: &Launch) -> Json {
    let lines = |formulas: &[Formula]| formulas.iter().map(one_line).collect::<Vec<_>>();
    json!({
        "entry": plan.entry_of(part, launch),
        "grid": lines(&launch.grid),
        "block": lines(&launch.block),
        "shared": launch.shared.as_ref().map(one_line),
        "cluster": lines(&launch.cluster),
        "cooperative": launch.cooperative,
        "zero": launch.zero,
    })
}

/// Dimensions that stand in the names of kernels.
pub(super) fn instance_dims(plan: &Plan<'_>, part: &Implementation) -> Vec<String> {
    let workloads: Vec<_> = plan.file.spec.workloads.iter().collect();
    let entries: Vec<String> = part.launches.iter().map(|launch| plan.entry_of(part, launch)).collect();
    let named = |name: &str| entries.iter().any(|entry| entry.contains(&format!("{{{name}}}")));
    dims(&workloads).into_iter().map(|(name, _)| name.to_string()).filter(|name| named(name)).collect()
}

/// The constraints that depend on dimensions. Refuses one that only kiln can evaluate.
pub(super) fn constraints(plan: &Plan<'_>, part: &Implementation) -> Result<Vec<String>, Failure> {
    let mut kept = Vec::new();
    for constraint in &part.constraints {
        if !depends(plan, part, &constraint.formula) {
            continue;
        }
        if calls(constraint.formula.expression.root(), &[Function::BankConflicts, Function::Sectors]) {
            return Err(Report::error(format!("constraint {} cannot be exported", constraint.name))
                .label("bank_conflicts and sectors of a dimension are evaluated by kiln alone")
                .into());
        }
        kept.push(one_line(&constraint.formula));
    }
    Ok(kept)
}

/// Whether a value depends on a dimension, itself or through derived values.
fn depends(plan: &Plan<'_>, part: &Implementation, formula: &Formula) -> bool {
    let is_dim = |name: &str| plan.file.spec.workloads.iter().any(|w| w.dims.iter().any(|(n, _)| **n == *name));
    let derived = |name: &str| part.derived.iter().find(|d| *d.name == *name);
    formula
        .expression
        .names()
        .iter()
        .any(|(name, _)| is_dim(name) || derived(name).is_some_and(|derived| depends(plan, part, &derived.formula)))
}

fn calls(expr: &Expr, functions: &[Function]) -> bool {
    let any = |parts: &[&Expr]| parts.iter().any(|part| calls(part, functions));
    match &expr.kind {
        Kind::Literal(_) | Kind::Name(_) => false,
        Kind::Unary(_, a) => any(&[a]),
        Kind::Binary(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) => any(&[a, b]),
        Kind::Compare(a, more) => any(&[a]) || more.iter().any(|(_, b)| calls(b, functions)),
        Kind::In(a, _, list) => any(&[a]) || list.iter().any(|b| calls(b, functions)),
        Kind::If { condition, then, otherwise } => any(&[condition, then, otherwise]),
        Kind::Call(function, parts) => functions.contains(function) || parts.iter().any(|p| calls(p, functions)),
    }
}

/// The limits that expressions ask architectures for.
fn device(plan: &Plan<'_>) -> Json {
    let names = device_names(plan);
    let mut archs = Map::new();
    for arch in plan.binaries.iter().filter_map(|binary| binary.arch) {
        let limits = names.iter().filter_map(|name| Some((name.clone(), arch.get(name)?.into())));
        archs.insert(arch.name().into(), Json::Object(limits.collect()));
    }
    archs.into()
}

/// The names behind `device.`.
pub(super) fn device_names(plan: &Plan<'_>) -> Vec<String> {
    let parts = plan.parts();
    let launches = parts.iter().flat_map(|part| &part.launches);
    let launches = launches.flat_map(|l| l.grid.iter().chain(&l.block).chain(&l.cluster).chain(l.shared.as_ref()));
    let derived = parts.iter().flat_map(|part| &part.derived).map(|d| &d.formula);
    let constraints = parts.iter().flat_map(|part| &part.constraints).map(|c| &c.formula);
    let mut found: Vec<String> = Vec::new();
    for (name, _) in derived.chain(constraints).chain(launches).flat_map(|f| f.expression.names()) {
        if let Some(limit) = name.strip_prefix("device.").filter(|limit| !found.iter().any(|f| f == limit)) {
            found.push(limit.into());
        }
    }
    found
}

fn words(variant: &[(std::sync::Arc<str>, kiln_spec::Dtype)]) -> Map<String, Json> {
    variant.iter().map(|(name, dtype)| (name.to_string(), dtype.name().into())).collect()
}

fn value(value: &Value) -> Json {
    match value {
        Value::Int(v) => json!(v),
        Value::Float(v) => json!(v),
        Value::Bool(v) => json!(v),
        Value::Str(text) => json!(**text),
    }
}

fn values<'v>(pairs: impl Iterator<Item = (&'v str, &'v Value)>) -> Json {
    Json::Object(pairs.map(|(name, chosen)| (name.into(), value(chosen))).collect())
}

impl Plan<'_> {
    /// Where a binary lies in the Python package; none for Python.
    pub(super) fn product_name(&self, number: usize) -> Option<String> {
        let binary = self.binaries.get(number)?;
        let extension = if self.target.kind == TargetKind::Cuda { "cubin" } else { "so" };
        binary.product.as_ref()?;
        let label = identifier(&binary.label());
        let label = if label.is_empty() { String::new() } else { format!("_{label}") };
        Some(format!("bin/{}_{number}{label}.{extension}", self.interface.name))
    }
}
