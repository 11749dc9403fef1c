//! Which calls a configuration serves, in words. In: a plan. Out: the constraints of the kernel file that are about what a call gives,
//! with each configuration's values put in; those that all configurations share first. What the names of kernels fix is left to
//! "Compiled for".

use kiln_core::{Config, Value};
use kiln_expr::Expression;
use kiln_spec::TargetKind;

use crate::operation::export::Plan;
use crate::operation::export::builds::Binary;
use crate::operation::export::filled::Known;
use crate::operation::export::table::instance_dims;

/// Binaries of one configuration that serve the same calls.
struct Served<'p> {
    config: &'p Config,
    /// Their files, or what else they are for.
    files: Vec<String>,
    labels: Vec<String>,
    rules: Vec<String>,
}

/// A line for what every call must meet, and one for each configuration that asks for more.
pub(super) fn served(plan: &Plan<'_>) -> Vec<String> {
    let mut all: Vec<Served<'_>> = Vec::new();
    for (number, binary) in plan.binaries.iter().enumerate() {
        let (rules, label) = (rules(plan, binary), label(binary));
        let file = plan.product_name(number).map(|file| file.trim_start_matches("bin/").to_string());
        let at = all.iter().position(|one| *one.config == binary.config && one.rules == rules).unwrap_or_else(|| {
            all.push(Served { config: &binary.config, files: Vec::new(), labels: Vec::new(), rules });
            all.len() - 1
        });
        all[at].files.extend(file.map(|file| format!("`{file}`")));
        all[at].labels.push(label);
    }
    let shared: Vec<String> = all.first().map_or_else(Vec::new, |first| {
        first.rules.iter().filter(|rule| all.iter().all(|one| one.rules.contains(rule))).cloned().collect()
    });
    let mut lines: Vec<String> = shared.iter().map(|rule| format!("Valid where `{rule}`.")).collect();
    for one in &all {
        let own: Vec<String> =
            one.rules.iter().filter(|rule| !shared.contains(rule)).map(|rule| format!("`{rule}`")).collect();
        if own.is_empty() {
            continue;
        }
        let own = own.join(" and ");
        let alone = all.iter().filter(|other| other.config == one.config).count() == 1;
        lines.push(match plan.target.kind {
            TargetKind::Cpu => format!("{} ({}): valid where {own}.", one.files.join(" and "), one.config),
            _ if alone => format!("{} serves calls where {own}.", one.config),
            _ => format!("{} ({}) serves calls where {own}.", one.config, one.labels.join(", ")),
        });
    }
    lines
}

/// What a binary is for, beside its configuration.
fn label(binary: &Binary) -> String {
    let words = [binary.variant_words(), binary.arch.map_or(String::new(), |arch| arch.name().into())];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What is left of the constraints for a binary.
fn rules(plan: &Plan<'_>, binary: &Binary) -> Vec<String> {
    let part = plan.part_of(&binary.config);
    let named = instance_dims(plan, part);
    let value = |name: &str| -> Option<Value> {
        let dtype =
            |word: &str| binary.variant.iter().find(|(variable, _)| **variable == *word).map(|(_, dtype)| *dtype);
        let fixed = || plan.interface.fixed.iter().find(|(dim, _)| **dim == *name).map(|(_, value)| value.clone());
        match name.split_once('.') {
            Some(("device", limit)) => Some(Value::Int(binary.arch?.get(limit)?)),
            Some((variable, "bytes")) => Some(Value::Int(dtype(variable)?.bytes() as i64)),
            Some(_) => None,
            None => {
                let chosen = binary.config.get(name).cloned();
                chosen.or_else(|| Some(dtype(name)?.name().into())).or_else(fixed)
            }
        }
    };
    let known = Known { value: &value, derived: &part.derived };
    let instance = |rule: &String| {
        Expression::parse(rule)
            .is_ok_and(|rule| rule.names().iter().all(|(name, _)| named.iter().any(|n| **n == **name)))
    };
    let left = part.constraints.iter().filter_map(|one| known.left(&one.formula.expression));
    left.filter(|rule| !instance(rule)).collect()
}
