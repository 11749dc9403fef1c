//! A C, C++ or CUDA kernel in the terms of a kernel.toml. In: the source, the kernel chosen in it, and a script's call if there is
//! one. Out: a [`Found`]. Refuses a signature that kiln cannot call.

use kiln_core::{Place, Report, Value};
use kiln_expr::Expression;

use crate::source::c_file::{CFile, CFunction, Parameter};
use crate::source::found::{Fixed, Found, FoundTarget, FoundTunable};
use crate::source::guess::around;
use crate::source::launch;
use crate::source::shapes::{Dims, arguments};
use crate::source::tuner::TunerCall;

/// What is described.
pub struct CKernel<'a> {
    /// The source's name, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What was read of it.
    pub file: &'a CFile,
    /// The kernel.
    pub function: &'a CFunction,
    /// Its source files as the kernel.toml names them.
    pub sources: Vec<String>,
    /// The call of a script.
    pub script: Option<&'a TunerCall>,
}

/// Describes a kernel. `target` is cuda for a kernel with `__global__` and for a host function in a `.cu` file.
pub fn describe_c(kernel: &CKernel<'_>, target: FoundTarget) -> Result<Found, Report> {
    let CKernel { file, function, script, .. } = kernel;
    let mut parameters = function.parameters.clone().map_err(|why| at_function(kernel, why))?;
    let host = target == FoundTarget::Cuda && !function.global;
    if host && parameters.last().is_some_and(|p| p.written == "cudaStream_t") {
        parameters.pop();
    }
    if let Some(odd) = parameters.iter().find(|p| !p.pointer && p.kind.is_none()) {
        let why =
            format!("the parameter {} has the type {}, which is neither a pointer nor a number", odd.name, odd.written);
        return Err(at_function(kernel, why));
    }
    let number = |name: &str| file.macros.iter().find(|(m, _)| m.name == name).map(|(_, v)| *v);
    let mut tunables = match script {
        Some(call) => call.found_tunables(&number),
        None => defined(file),
    };
    let entry = instance(function, file, &mut tunables);
    let mut fixed = fixed(file, &tunables);
    let mut questions: Vec<String> = script.map(|s| s.questions.clone()).unwrap_or_default();
    for (name, line) in file.free.iter().filter(|(name, _)| !tunables.iter().any(|t| t.name == *name)) {
        questions.push(format!("{name} is asked for in line {line} and not defined: is it a tunable?"));
    }
    let taken = |name: &str| tunables.iter().any(|t| t.name == name);
    let (problem, dims) = problem(*script, &taken, &mut questions);
    let (arguments, dims) = arguments(function, &parameters, *script, dims, &taken);
    let launch = match (target, script) {
        (FoundTarget::Cuda, _) if host => None,
        (FoundTarget::Cuda, Some(call)) => Some(launch::scripted(call, &problem)),
        (FoundTarget::Cuda, None) => Some(launch::guessed(function, &mut tunables, &dims, &|name| {
            !file.words.contains(name) && !dims.iter().any(|(d, _)| d == name)
        })),
        _ => None,
    };
    let mut flags: Vec<String> = Vec::new();
    if tunables.is_empty() {
        flags.push("-O{LEVEL}".into());
        tunables.push(FoundTunable {
            name: "LEVEL".into(),
            values: vec![Value::Int(2), Value::Int(3)],
            default: Value::Int(3),
            questions: vec!["What may be tuned? The source has no number behind `#ifndef NAME`, so only the compiler's level is here.".into()],
        });
    }
    if let Some(call) = script {
        flags.extend(call.compiler_options.iter().filter(|o| !o.contains("arch")).cloned());
        fixed.clear();
    }
    let constraints = constraints(*script, &mut questions);
    Ok(Found {
        name: function.name.rsplit("::").next().unwrap_or_default().to_owned(),
        entry,
        host,
        target,
        sources: kernel.sources.clone(),
        flags,
        compiler: None,
        arguments,
        tunables,
        fixed,
        constraints,
        launch,
        dims,
        constants: file.constants.clone(),
        kernels: Vec::new(),
        questions,
    })
}

fn at_function(kernel: &CKernel<'_>, why: String) -> Report {
    let line = kernel.function.line.saturating_sub(1);
    let start: usize = kernel.text.lines().take(line).map(|l| l.len() + 1).sum();
    let width = kernel.text.lines().nth(line).map_or(0, str::len);
    Report::error(format!("cannot read the signature of {}: {why}", kernel.function.name))
        .at(Place::of(kernel.name, kernel.text, start..start + width))
        .label("expected pointers to numbers, and numbers")
        .hint("give the kernel such a signature, or a launcher that has one (host = true in docs/kernel-toml.md)")
}

/// Numbers behind `#ifndef NAME`.
fn defined(file: &CFile) -> Vec<FoundTunable> {
    let mut found: Vec<FoundTunable> = Vec::new();
    let header = |name: &str| ["_H", "_H_", "_HPP", "_CUH", "_CUH_", "_INCLUDED"].iter().any(|end| name.ends_with(end));
    let guarded = file.macros.iter().filter(|(m, _)| m.guarded && !header(&m.name));
    for (define, value) in guarded.filter(|(m, _)| m.text.chars().any(|c| c.is_ascii_digit())) {
        if found.iter().any(|t| t.name == define.name) {
            continue;
        }
        found.push(FoundTunable {
            name: define.name.clone(),
            values: around(&define.name, *value),
            default: Value::Int(*value),
            questions: vec![format!("Which values may {} have? The source says {value}.", define.name)],
        });
    }
    found
}

/// The kernel by name, or an instance of its template: a tunable for each number, float for each type.
fn instance(function: &CFunction, file: &CFile, tunables: &mut Vec<FoundTunable>) -> String {
    if function.template.is_empty() {
        return function.name.clone();
    }
    let mut parts = Vec::new();
    for parameter in &function.template {
        if parameter.is_type {
            parts.push("float".to_owned());
            continue;
        }
        // A define of the parameter's own name would break the template.
        let name = format!("TUNE_{}", parameter.name.to_ascii_uppercase());
        parts.push(format!("{{{name}}}"));
        let number = |text: &String| match text.as_str() {
            "true" => Some(1),
            "false" => Some(0),
            _ => {
                text.parse::<i64>().ok().or_else(|| file.macros.iter().find(|(m, _)| m.name == *text).map(|(_, v)| *v))
            }
        };
        let stated = parameter.default.as_ref().and_then(number);
        let default = stated.unwrap_or(if parameter.is_bool { 0 } else { 32 });
        let values =
            if parameter.is_bool { vec![Value::Int(0), Value::Int(1)] } else { around(&parameter.name, default) };
        let says = stated.map_or("The source has no default.".into(), |v| format!("The source says {v}."));
        let question = format!("Which values may the template's {} have? {says}", parameter.name);
        tunables.push(FoundTunable { name, values, default: Value::Int(default), questions: vec![question] });
    }
    format!("{}<{}>", function.name, parts.join(", "))
}

/// Numbers that could be tuned if the source let it.
fn fixed(file: &CFile, tunables: &[FoundTunable]) -> Vec<Fixed> {
    let plain = file.macros.iter().filter(|(m, _)| !m.guarded && m.text.parse::<i64>().is_ok());
    let defines = plain.map(|(m, value)| Fixed { name: m.name.clone(), value: *value, line: m.line, how: "#define" });
    let all = defines.chain(file.fixed.iter().cloned());
    all.filter(|f| f.value > 1 && !tunables.iter().any(|t| t.name == f.name)).collect()
}

/// The problem's size along x, y, z, and dimensions for its numbers.
fn problem(
    script: Option<&TunerCall>,
    taken: &dyn Fn(&str) -> bool,
    questions: &mut Vec<String>,
) -> (Vec<String>, Dims) {
    let Some(call) = script else { return (Vec::new(), Vec::new()) };
    let (mut sizes, mut dims): (Vec<String>, Dims) = (Vec::new(), Vec::new());
    let stated = call.problem_size.clone().unwrap_or_else(|| vec![None]);
    let single = stated.iter().filter(|s| !matches!(s, Some(v) if v.as_i64() == Some(1))).count() == 1;
    for (size, axis) in stated.iter().zip(["X", "Y", "Z"]) {
        let name = if single { "SIZE".to_owned() } else { format!("SIZE_{axis}") };
        let name = if taken(&name) { format!("PROBLEM_{axis}") } else { name };
        match size {
            Some(serde_json::Value::String(text)) => sizes.push(text.clone()),
            Some(value) if value.as_i64() == Some(1) => sizes.push("1".into()),
            Some(value) if value.as_i64().is_some() => {
                dims.push((name.clone(), value.as_i64().unwrap_or(1)));
                sizes.push(name);
            }
            _ => {
                questions.push(format!(
                    "How large is the problem along {}? The script's size could not be read.",
                    axis.to_ascii_lowercase()
                ));
                dims.push((name.clone(), 1024));
                sizes.push(name);
            }
        }
    }
    (sizes, dims)
}

/// The script's restrictions that are expressions of kiln too; a question for each other one.
fn constraints(script: Option<&TunerCall>, questions: &mut Vec<String>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, text) in script.iter().flat_map(|s| &s.restrictions).enumerate() {
        match Expression::parse(text) {
            Ok(_) => found.push((format!("restriction_{}", at + 1), text.clone())),
            Err(_) => questions
                .push(format!("The restriction `{text}` is no expression of kiln: how is it written as a constraint?")),
        }
    }
    found
}

/// The parameters' types as a compiler checks them, `float *, const float *, int`; none where a type is not known.
pub fn signature(function: &CFunction, parameters: &[Parameter]) -> Option<String> {
    let one = |p: &Parameter| {
        let is_template = function.template.iter().any(|t| t.is_type && t.name == p.written);
        let spelled = match &p.kind {
            Some(kind) => kind.spelled.replace(" :: ", "::"),
            None if is_template => "float".into(),
            None => return None,
        };
        Some(if p.pointer { format!("{}{spelled} *", if p.constant { "const " } else { "" }) } else { spelled })
    };
    parameters.iter().map(one).collect::<Option<Vec<_>>>().map(|types| types.join(", "))
}
