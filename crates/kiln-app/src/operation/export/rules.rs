//! Which calls are valid, as the package checks and says it. In: `[fuzz] valid`, `[export] valid` and the constraints of the kernel
//! file, the exported function, what was compiled. Out: rules with the names they are about, lines for whoever calls, the check in C++. Refuses a rule
//! about something that no caller gives.

use kiln_core::{Report, Value, Workload};
use kiln_spec::{Formula, KernelSpec, Role, Target};

use crate::failure::Failure;
use crate::operation::export::Plan;
use crate::operation::export::expression::{Names, cpp, variable};
use crate::operation::export::header::given_dims;
use crate::operation::export::interface::{Interface, dims, one_line};
use crate::operation::export::served::served;
use crate::operation::export::table::instance_dims;

/// A condition that every call meets.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) formula: Formula,
    /// What it is about, in order.
    pub(super) names: Vec<String>,
    /// Whether it is about a number, which may differ between calls of the same shapes.
    pub(super) numbers: bool,
}

impl Rule {
    pub(super) fn text(&self) -> String {
        one_line(&self.formula)
    }

    pub(super) fn names(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// The rules of the kernel file.
pub(super) fn rules(spec: &KernelSpec, target: &Target, interface: &Interface) -> Result<Vec<Rule>, Failure> {
    let workloads: Vec<&Workload> = spec.workloads.iter().filter(|w| w.is_for(target.kind.name())).collect();
    let dims = dims(&workloads);
    let stated = [("fuzz", &spec.fuzz.valid), ("export", &spec.export.valid)];
    let mut found = Vec::new();
    for (table, formula) in stated.into_iter().filter_map(|(table, formula)| Some((table, formula.as_ref()?))) {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in formula.expression.names() {
            let word = name.split('.').next().unwrap_or_default();
            let known = dims.iter().any(|(dim, _)| **dim == *word)
                || target.variants.iter().any(|(variable, _)| **variable == *word)
                || interface.numbers().contains(&word);
            if !known {
                let report = Report::error(format!("[{table}] valid is about {word}, which no caller gives"));
                let label = "expected dimensions, variants and numbers that are parameters of the function";
                return Err(report.label(label).hint("write what it follows from instead").into());
            }
            if !names.iter().any(|other| other == word) {
                names.push(word.into());
            }
        }
        let numbers = names.iter().any(|name| interface.numbers().contains(&name.as_str()));
        found.push(Rule { formula: formula.clone(), names, numbers });
    }
    Ok(found)
}

/// What a caller must know, a line each.
pub(super) fn limits(plan: &Plan<'_>) -> Vec<String> {
    let mut lines: Vec<String> = plan.rules.iter().map(|rule| format!("Valid where `{}`.", rule.text())).collect();
    lines.extend(served(plan));
    lines.extend(compiled_for(plan));
    let empty: Vec<String> =
        plan.file.spec.export.empty.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !empty.is_empty() {
        lines.push(format!("Where an input has no elements: {}.", empty.join(", ")));
    }
    lines
}

/// The values of dimensions that kernels were compiled for; apart for each architecture where they differ.
pub(super) fn compiled_for(plan: &Plan<'_>) -> Vec<String> {
    let mut archs: Vec<(String, String)> = Vec::new();
    for binary in &plan.binaries {
        let arch = binary.arch.map_or(String::new(), |arch| format!(" on {arch}"));
        if !archs.iter().any(|(known, _)| *known == arch) {
            archs.push((arch, String::new()));
        }
    }
    let mut names: Vec<String> = Vec::new();
    for name in plan.parts().into_iter().flat_map(|part| instance_dims(plan, part)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for (arch, words) in &mut archs {
        let own = |b: &&super::builds::Binary| b.arch.map_or(String::new(), |arch| format!(" on {arch}")) == *arch;
        let of = |name: &String| {
            let mut values: Vec<&Value> = Vec::new();
            let instances = plan.binaries.iter().filter(own).flat_map(|binary| &binary.instances);
            for value in instances.filter_map(|instance| instance.dim(name)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values.sort();
            let values: Vec<String> = values.into_iter().map(ToString::to_string).collect();
            format!("{name} = {}", values.join(", "))
        };
        *words = names.iter().map(of).collect::<Vec<_>>().join(" and ");
    }
    if names.is_empty() {
        return Vec::new();
    }
    if archs.iter().all(|(_, words)| *words == archs[0].1) {
        archs.truncate(1);
        archs[0].0.clear();
    }
    archs.into_iter().map(|(arch, words)| format!("Compiled for {words}{arch}.")).collect()
}

/// The functions of the launcher that refuse calls: by their dimensions, by their numbers, and those without elements.
pub(super) fn checks(plan: &Plan<'_>) -> Result<String, Failure> {
    let numbers = plan.interface.numbers();
    let given: String = numbers.iter().map(|name| format!(", double {}", variable(name))).collect();
    let bound = bound(plan);
    let mut text = String::new();
    for (name, of_numbers, given) in [("valid", false, ""), ("valid_numbers", true, given.as_str())] {
        text += &format!(
            "/* Refuses what breaks a rule of the kernel file. */\n[[maybe_unused]] void {name}(const Dims &dims, const Variant &variant{given}) {{\n{bound}"
        );
        if !of_numbers {
            text += &known_words(plan);
        }
        for rule in plan.rules.iter().filter(|rule| rule.numbers == of_numbers) {
            let told = rule.names.iter().enumerate();
            let told =
                told.map(|(at, n)| format!(" + \"{}{n}=\" + said({})", if at == 0 { " " } else { ", " }, variable(n)));
            let told: String = told.collect();
            let holds = cpp(&rule.formula, &Names { derived: Vec::new(), flags: Vec::new() })?;
            let words = format!("{} takes no such call: `{}` does not hold for", plan.interface.name, rule.text());
            text +=
                &format!("    if (!meets([&] {{ return truth({holds}); }})) invalid(std::string({words:?}){told});\n");
        }
        for name in numbers.iter().filter(|_| of_numbers) {
            text += &format!("    (void){};\n", variable(name));
        }
        text += "}\n\n";
    }
    text += &format!(
        "/* Where an input has no elements, outputs get what the kernel file says and nothing is launched. */\n\
         bool without(const Dims &dims, const Variant &variant, const {}_call *call, CUstream stream) {{\n{bound}    (void)call, (void)stream;\n",
        plan.interface.name
    );
    let buffers = plan.buffers();
    let names: Vec<String> = given_dims(plan).iter().map(|(name, _)| name.to_string()).collect();
    let known = |formula: &Formula| {
        formula.expression.names().iter().all(|(name, _)| {
            let word = name.split('.').next().unwrap_or_default();
            names.iter().any(|known| known == word)
                || plan.interface.fixed.iter().any(|(known, _)| **known == *word)
                || plan.target.variants.iter().any(|(known, _)| **known == *word)
        })
    };
    let print = |formulas: &[Formula]| -> Result<Vec<String>, Failure> {
        let none = Names { derived: Vec::new(), flags: Vec::new() };
        formulas.iter().map(|f| Ok(format!("int64_t({})", cpp(f, &none)?))).collect()
    };
    let inputs = buffers.iter().filter(|a| matches!(a.role, Role::In | Role::Inout));
    let mut all = Vec::new();
    for input in inputs.clone() {
        all.extend(print(&input.kind.shape)?);
    }
    text +=
        &format!("    if (!least(INT64_C(1){})) {{\n", all.iter().map(|side| format!(", {side}")).collect::<String>());
    for output in buffers.iter().filter(|a| matches!(a.role, Role::Out | Role::Inout)) {
        let value =
            plan.file.spec.export.empty.iter().find(|(name, _)| **name == *output.name).map(|(_, value)| *value);
        let nullable = plan.is_nullable(&output.name);
        let sides = match output.kind.shape.iter().all(known) {
            true => print(&output.kind.shape)?.join(", "),
            // A shape that only a configuration has: never without elements.
            false => "INT64_C(1)".into(),
        };
        let strides = match output.kind.shape.iter().chain(&output.strides).all(known) {
            true => print(&output.strides)?.join(", "),
            false => String::new(),
        };
        let value = match value {
            Some(value) if value.is_infinite() => format!("{}HUGE_VAL", if value < 0.0 { "-" } else { "" }),
            Some(value) if value.is_nan() => "NAN".into(),
            Some(value) => format!("{value:?}"),
            None => "0.0".into(),
        };
        text += &format!(
            "        fill({:?}, call->{}, {{{sides}}}, {{{strides}}}, {}, {}, {value}, {nullable}, stream);\n",
            &*output.name,
            output.name,
            super::launcher::kind(output),
            plan.file.spec.export.empty.iter().any(|(name, _)| **name == *output.name),
        );
    }
    text += "        return true;\n    }\n    return false;\n}\n";
    Ok(text)
}

/// Dimensions and dtypes under their names.
fn bound(plan: &Plan<'_>) -> String {
    let mut text = String::new();
    for (dim, kind) in given_dims(plan) {
        let kind = if kind == "const char *" { "std::string_view" } else { kind };
        text += &format!("    [[maybe_unused]] const {kind} {0} = dims.{0};\n", variable(&dim));
    }
    for (dim, value) in &plan.interface.fixed {
        let (kind, value) = match value {
            Value::Str(text) => ("std::string_view", format!("{:?}", &**text)),
            Value::Float(v) => ("double", format!("{v:?}")),
            Value::Bool(v) => ("bool", v.to_string()),
            Value::Int(v) => ("int64_t", v.to_string()),
        };
        text += &format!("    [[maybe_unused]] const {kind} {} = {value};\n", variable(dim));
    }
    for (name, _) in &plan.target.variants {
        text += &format!(
            "    [[maybe_unused]] const std::string_view {name} = variant.{name}_name;\n    \
             [[maybe_unused]] const int64_t {name}_bytes = int64_t(bytes_of(variant.{name}));\n"
        );
    }
    text + "    (void)dims, (void)variant;\n"
}

/// Sizes below nothing, and layouts that the kernel does not know.
fn known_words(plan: &Plan<'_>) -> String {
    let mut text = String::new();
    let sides: Vec<&str> = plan
        .buffers()
        .into_iter()
        .filter(|a| matches!(a.role, Role::In | Role::Inout))
        .flat_map(|a| &a.kind.shape)
        .filter_map(super::interface::plain)
        .collect();
    for (dim, kind) in given_dims(plan) {
        let name = variable(&dim);
        if kind == "int64_t" && sides.contains(&&*dim) {
            text += &format!("    if ({name} < 0) invalid(\"{dim} is \" + said({name}) + \", expected 0 or more\");\n");
        }
    }
    for (dim, values) in &plan.interface.layouts {
        if !values.iter().all(|value| matches!(value, Value::Str(_))) {
            continue;
        }
        let (name, words): (String, Vec<String>) = (variable(dim), values.iter().map(ToString::to_string).collect());
        let known: Vec<String> = words.iter().map(|word| format!("{name} != {word:?}")).collect();
        text += &format!(
            "    if ({}) invalid(\"{dim} is \\\"\" + said({name}) + \"\\\", expected {}\");\n",
            known.join(" && "),
            words.join(" or ")
        );
    }
    text
}
