//! The arguments of a C function: dtypes from its types, roles from its body, shapes and values from a script or by guess.

use crate::source::body::uses;
use crate::source::c_file::{CFunction, Parameter};
use crate::source::found::FoundArgument;
use crate::source::guess::{free_name, is_size};
use crate::source::tuner::{TunerArgument, TunerCall, json_value};

/// Dimensions by name.
pub(crate) type Dims = Vec<(String, i64)>;

/// The arguments, and the dimensions they are made of. `taken` are names that no dimension can have.
pub(crate) fn arguments(
    function: &CFunction,
    parameters: &[Parameter],
    script: Option<&TunerCall>,
    mut dims: Dims,
    taken: &dyn Fn(&str) -> bool,
) -> (Vec<FoundArgument>, Dims) {
    let given = |at: usize| script.and_then(|s| s.arguments.as_ref()?.get(at));
    let sizes: Vec<&Parameter> = parameters.iter().filter(|p| is_whole(p) && is_size(&p.name)).collect();
    let guessed = match sizes.len() {
        0 | 1 => 1 << 20,
        2 => 1024,
        _ => 256,
    };
    let mut shared = Vec::new();
    for (at, parameter) in parameters.iter().enumerate().filter(|(_, p)| is_whole(p)) {
        let stated = given(at).and_then(|a| a.value.as_ref()).and_then(serde_json::Value::as_i64);
        if script.is_none() && is_size(&parameter.name) {
            let known = |name: &str| taken(name) || dims.iter().any(|(n, _)| n == name);
            let name = free_name(&parameter.name.to_ascii_uppercase(), &known);
            dims.push((name.clone(), guessed));
            shared.push((at, name));
        } else if let Some(name) = stated.and_then(|v| dims.iter().find(|(_, d)| *d == v)) {
            shared.push((at, name.0.clone()));
        } else if let Some(value) = stated.filter(|v| *v > 0) {
            let known = |name: &str| taken(name) || dims.iter().any(|(n, _)| n == name);
            let name = free_name(&parameter.name.to_ascii_uppercase(), &known);
            dims.push((name.clone(), value));
            shared.push((at, name));
        }
    }
    if dims.is_empty() && parameters.iter().any(|p| p.pointer) && script.is_none() {
        dims.push((free_name("N", taken), guessed));
    }
    let written = |at: usize| script.and_then(|s| s.answers.as_ref()).and_then(|a| a.get(at).copied());
    let argument = |(at, parameter): (usize, &Parameter)| {
        let shared = shared.iter().find(|(i, _)| *i == at).map(|(_, name)| name.as_str());
        match parameter.pointer {
            true => tensor(function, parameter, parameters, given(at), written(at), &dims),
            false => {
                let mut found = scalar(parameter, given(at), shared);
                let stated = given(at).and_then(|a| a.value.as_ref()).and_then(serde_json::Value::as_i64);
                found.questions.extend(ambiguous(&parameter.name, stated.as_slice(), &dims));
                found
            }
        }
    };
    (parameters.iter().enumerate().map(argument).collect(), dims.clone())
}

fn is_whole(parameter: &Parameter) -> bool {
    !parameter.pointer && parameter.kind.as_ref().is_some_and(|k| k.dtype.starts_with(['i', 'u']))
}

fn scalar(parameter: &Parameter, given: Option<&TunerArgument>, dimension: Option<&str>) -> FoundArgument {
    let dtype = parameter.kind.as_ref().map_or("f32", |k| k.dtype);
    let mut questions = Vec::new();
    let stated = given.and_then(|a| a.value.as_ref()).and_then(json_value);
    let value = match (dimension, stated) {
        (Some(name), _) => format!("\"{name}\""),
        (None, Some(value)) => value.to_string().to_ascii_lowercase(),
        (None, None) => {
            questions.push(format!("Which value does {} have?", parameter.name));
            if dtype == "bool" {
                "true".into()
            } else if dtype.contains('f') {
                "1.0".into()
            } else {
                "1".into()
            }
        }
    };
    FoundArgument { name: parameter.name.clone(), dtype: dtype.into(), shape: vec![], role: "scalar", value, questions }
}

fn tensor(
    function: &CFunction,
    parameter: &Parameter,
    parameters: &[Parameter],
    given: Option<&TunerArgument>,
    answered: Option<bool>,
    dims: &Dims,
) -> FoundArgument {
    let name = &parameter.name;
    let mut questions = Vec::new();
    let kind = parameter.kind.as_ref();
    let is_template = function.template.iter().any(|t| t.is_type && t.name == parameter.written);
    let dtype = kind.map_or("f32", |k| k.dtype);
    if is_template {
        questions.push(format!("{name} has the template's type {}: f32 here, as in the entry.", parameter.written));
    } else if kind.is_none() {
        questions.push(format!("Which dtype does {name} have? kiln does not know the type {}.", parameter.written));
    } else if let Some(other) = given.and_then(|a| a.dtype.as_deref()).filter(|d| *d != dtype) {
        questions.push(format!("{name} is {dtype} in the source, and {other} in the script."));
    }
    let found = uses(name, &function.body);
    let role = match (parameter.constant, answered, found.written, found.read) {
        (true, ..) => "in",
        (_, Some(true), ..) => {
            if found.read {
                "inout"
            } else {
                "out"
            }
        }
        (_, _, true, true) => "inout",
        (_, _, true, false) => "out",
        (_, _, false, true) => "in",
        // Handed on or not used: an output if the kernel would have none without it.
        (_, _, false, false) if !found.passed => "in",
        (_, _, false, false) => {
            let writes = |p: &Parameter| p.pointer && p.name != *name && uses(&p.name, &function.body).written;
            let last = parameters.iter().rfind(|p| p.pointer && !p.constant).is_some_and(|p| p.name == *name);
            if !parameters.iter().any(writes) && last { "out" } else { "in" }
        }
    };
    if !parameter.constant && answered != Some(true) {
        if found.passed && !found.written {
            questions.push(format!("Is {name} read, written or both? Another function gets it."));
        } else if !found.read && !found.written {
            questions.push(format!("Is {name} read, written or both? The kernel does not use it."));
        } else if role == "inout" {
            questions.push(format!(
                "{name} is read and written: does its content before the call matter (inout), or is it an output (out)?"
            ));
        }
    }
    let lanes = kind.map_or(1, |k| k.lanes);
    let shape = match given.and_then(|a| a.shape.as_ref()) {
        Some(shape) => {
            let named = named_shape(shape, dims);
            for (size, named) in shape.iter().zip(&named).filter(|(_, named)| !dims.iter().any(|(n, _)| n == *named)) {
                questions.push(match named.parse::<i64>() {
                    Ok(_) => format!("Does the {size} of {name} depend on a dimension?"),
                    Err(_) => format!("The script has {size} for {name}: is that {named}?"),
                });
            }
            questions.extend(ambiguous(name, shape, dims));
            named
        }
        None => {
            let mut shape = guessed_shape(name, parameters, dims);
            if lanes > 1 {
                shape.push(lanes.to_string());
            }
            questions.push(format!("Which shape does {name} have?"));
            shape
        }
    };
    if role.starts_with("in") && dtype.starts_with(['i', 'u']) {
        questions.push(format!("Which integers does {name} hold? Add range = [lowest, highest] or init = \"file.py:function\"; without, all of {dtype}."));
    }
    FoundArgument { name: name.clone(), dtype: dtype.into(), shape, role, value: String::new(), questions }
}

/// A question where several dimensions have the same value.
fn ambiguous(name: &str, sizes: &[i64], dims: &Dims) -> Option<String> {
    let same = |size: &i64| dims.iter().filter(|(_, value)| value == size).map(|(n, _)| n.as_str()).collect::<Vec<_>>();
    let found = sizes.iter().map(same).find(|names| names.len() > 1)?;
    Some(format!("{} are equal in the script: which of them does {name} have?", found.join(" and ")))
}

/// A shape in the terms of dimensions: rows are along y.
fn named_shape(shape: &[i64], dims: &Dims) -> Vec<String> {
    match (shape, dims.as_slice()) {
        ([rows, cols], [(x, across), (y, down), ..]) if rows == down && cols == across => vec![y.clone(), x.clone()],
        _ => shape.iter().map(|size| named_size(*size, dims)).collect(),
    }
}

/// A size in the terms of dimensions, where it is one of them, their product or a multiple of one.
fn named_size(size: i64, dims: &Dims) -> String {
    if let Some((name, _)) = dims.iter().find(|(_, value)| *value == size && size > 1) {
        return name.clone();
    }
    for (at, (a, x)) in dims.iter().enumerate() {
        for (b, y) in dims.iter().skip(at + 1) {
            if *x > 1 && *y > 1 && x.checked_mul(*y) == Some(size) {
                return format!("{b} * {a}");
            }
        }
    }
    let multiple = |(_, value): &&(String, i64)| *value > 16 && size % value == 0 && (2..=4).contains(&(size / value));
    match dims.iter().find(multiple) {
        Some((name, value)) => format!("{} * {name}", size / value),
        None => size.to_string(),
    }
}

/// A shape from the names of sizes: those of a product of matrices, else all of them.
fn guessed_shape(name: &str, parameters: &[Parameter], dims: &Dims) -> Vec<String> {
    let names: Vec<&str> = dims.iter().map(|(n, _)| n.as_str()).collect();
    let pointers = parameters.iter().filter(|p| p.pointer).count();
    if pointers == 3 && ["M", "N", "K"].iter().all(|d| names.contains(d)) {
        let shape = match name.to_ascii_lowercase().trim_start_matches("d_") {
            "a" => Some(["M", "K"]),
            "b" => Some(["K", "N"]),
            "c" => Some(["M", "N"]),
            _ => None,
        };
        if let Some(shape) = shape {
            return shape.map(str::to_owned).to_vec();
        }
    }
    names.iter().take(2).map(|n| (*n).to_owned()).collect()
}
