//! A Python file with a kernel: in Triton, or a plain function. In: what [`crate::source::READER`] printed. Out: the kernels in it, and
//! a [`Found`] for one of them. Both are called through a function with kiln's calling convention, which `launch.py` has.

use std::collections::BTreeMap;

use kiln_core::{Report, Value, nearest};
use serde::Deserialize;

use crate::source::found::{Found, FoundArgument, FoundTarget, FoundTunable};
use crate::source::guess::{around, free_name, is_size, real};
use crate::source::tuner::{TunerCall, json_value, value_list};

/// What a Python file is.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PythonFile {
    /// It is no Python.
    Broken {
        /// What the interpreter says.
        message: String,
        /// Its line, from 1.
        line: usize,
    },
    /// A script of Kernel Tuner.
    KernelTuner {
        /// Its calls in order.
        calls: Vec<TunerCall>,
    },
    /// Kernels in Triton.
    Triton {
        /// Those that no other kernel calls.
        kernels: Vec<TritonKernel>,
    },
    /// Plain functions.
    Functions {
        /// Those of the file.
        functions: Vec<PlainFunction>,
        /// Whether the file imports torch.
        torch: bool,
    },
}

/// A kernel in Triton.
#[derive(Debug, Clone, Deserialize)]
pub struct TritonKernel {
    /// Its name.
    pub name: String,
    /// Its parameters in order.
    pub parameters: Vec<TritonParameter>,
    /// Values in `triton.autotune`, by name.
    pub values: BTreeMap<String, Vec<serde_json::Value>>,
    /// One of its configurations.
    #[serde(default)]
    pub listed: BTreeMap<String, serde_json::Value>,
    /// What could not be read.
    pub questions: Vec<String>,
    /// Axes of its grid.
    pub axes: usize,
    /// Decorators around `triton.jit`, such as `triton.autotune`.
    pub wrappers: usize,
}

/// A parameter of a kernel in Triton.
#[derive(Debug, Clone, Deserialize)]
pub struct TritonParameter {
    /// Its name.
    pub name: String,
    /// Whether it is `tl.constexpr`.
    pub constexpr: bool,
    /// Its default.
    pub default: Option<serde_json::Value>,
    /// Whether `triton.heuristics` computes it at each call.
    #[serde(default)]
    pub computed: bool,
    /// Whether the kernel stores through it.
    pub stored: bool,
    /// Whether the kernel loads through it.
    pub loaded: bool,
}

impl TritonParameter {
    /// Whether whoever calls the kernel gives a number for it.
    fn is_scalar(&self) -> bool {
        !self.constexpr && !self.computed && !self.stored && !self.loaded
    }
}

/// A plain function.
#[derive(Debug, Clone, Deserialize)]
pub struct PlainFunction {
    /// Its name.
    pub name: String,
    /// Parameters before `*`.
    pub positional: Vec<String>,
    /// Parameters behind `*`.
    pub keyword: Vec<String>,
    /// Defaults by name; null where they could not be read.
    pub defaults: BTreeMap<String, Option<serde_json::Value>>,
    /// Texts that names are subscripted with: `inputs["x"]`.
    pub subscripts: BTreeMap<String, Vec<String>>,
    /// Names that elements are assigned to.
    pub written: Vec<String>,
    /// Whether it returns something.
    pub returns: bool,
}

/// Reads what the reader printed.
pub fn read_python(json: &str) -> Result<PythonFile, Report> {
    serde_json::from_str(json).map_err(|e| Report::error(format!("what was read of the Python file is no answer: {e}")))
}

/// The one that is meant. Refuses a file without one, an unknown name and a choice that was not made.
pub fn named<'a, T>(
    file: &str,
    all: &'a [T],
    name: impl Fn(&T) -> &str,
    entry: Option<&str>,
    what: &str,
) -> Result<&'a T, Report> {
    let names = all.iter().map(&name).collect::<Vec<_>>();
    if let Some(entry) = entry {
        return all.iter().find(|one| name(one) == entry).ok_or_else(|| {
            let near = nearest(entry, names.iter().copied()).map(|near| format!("did you mean {near}?"));
            let label = if names.is_empty() {
                "the file has none".into()
            } else {
                format!("expected one of {}", names.join(", "))
            };
            Report::error(format!("{file} has no {what} `{entry}`")).label(label).maybe_hint(near)
        });
    }
    match all {
        [] => Err(Report::error(format!("{file} has no {what}"))
            .label("expected a function with @triton.jit, a plain function, or a script that calls tune_kernel")),
        [only] => Ok(only),
        _ => Err(Report::error(format!("{file} has {} kernels", all.len()))
            .label("expected one, or the name of one")
            .hint(format!("choose with --entry: {}", names.join(", ")))),
    }
}

impl TritonKernel {
    /// Its pointers, in order.
    pub fn pointers(&self) -> impl Iterator<Item = &TritonParameter> {
        self.parameters.iter().filter(|p| !p.constexpr && (p.stored || p.loaded))
    }

    /// The kernel in the terms of a kernel.toml.
    pub fn describe(&self) -> Found {
        let mut tunables: Vec<FoundTunable> = Vec::new();
        for parameter in self.parameters.iter().filter(|p| p.constexpr && !p.computed) {
            tunables.push(self.tunable(&parameter.name, parameter.default.as_ref(), 64));
        }
        tunables.push(self.tunable("num_warps", None, 4));
        tunables.push(self.tunable("num_stages", None, 2));
        let (mut dims, mut arguments) = (Vec::new(), Vec::new());
        let scalars: Vec<&TritonParameter> = self.parameters.iter().filter(|p| p.is_scalar()).collect();
        for scalar in scalars.iter().filter(|p| is_size(&p.name) && !p.name.contains("stride")) {
            let taken = |name: &str| tunables.iter().any(|t| t.name == name) || dims.iter().any(|(d, _)| d == name);
            dims.push((
                free_name(&scalar.name.to_ascii_uppercase(), &taken),
                if scalars.len() > 1 { 1024 } else { 1 << 20 },
            ));
        }
        if dims.is_empty() {
            dims.push(("N".into(), 1 << 20));
        }
        let shape: Vec<String> = dims.iter().take(2).map(|(name, _)| name.clone()).collect();
        for parameter in self.parameters.iter().filter(|p| !p.constexpr && !p.computed) {
            let name = parameter.name.clone();
            if parameter.stored || parameter.loaded {
                let role = match (parameter.loaded, parameter.stored) {
                    (true, true) => "inout",
                    (true, false) => "in",
                    _ => "out",
                };
                let questions = vec![format!("Which dtype and shape does {name} have?")];
                arguments.push(FoundArgument {
                    name,
                    dtype: "f32".into(),
                    shape: shape.clone(),
                    role,
                    value: String::new(),
                    questions,
                });
            } else {
                let upper = name.to_ascii_uppercase();
                let dimension =
                    dims.iter().find(|(d, _)| *d == upper || *d == format!("{upper}_DIM")).map(|(d, _)| d.clone());
                let last = shape.last().cloned().unwrap_or_default();
                let what = || vec![format!("Which type and value does {name} have?")];
                let (dtype, value, questions) = match (dimension, real(&name)) {
                    (Some(d), _) => ("i32", format!("\"{d}\""), vec![]),
                    (None, _) if name.contains("stride") => {
                        ("i32", format!("\"{last}\""), vec![format!("Which stride, in elements, is {name}?")])
                    }
                    (None, Some(usual)) => ("f32", usual.into(), what()),
                    (None, None) => ("i32", "1".into(), what()),
                };
                arguments.push(FoundArgument {
                    name,
                    dtype: dtype.into(),
                    shape: vec![],
                    role: "scalar",
                    value,
                    questions,
                });
            }
        }
        Found {
            name: self.name.clone(),
            entry: "launch.py:launch".into(),
            host: false,
            target: FoundTarget::PythonCuda,
            sources: vec![],
            flags: vec![],
            compiler: None,
            arguments,
            tunables,
            fixed: vec![],
            constraints: vec![],
            launch: None,
            dims,
            constants: vec![],
            kernels: vec![self.name.clone()],
            questions: self.questions.clone(),
        }
    }

    fn tunable(&self, name: &str, default: Option<&serde_json::Value>, usual: i64) -> FoundTunable {
        if let Some(values) = self.values.get(name).and_then(|values| value_list(values)) {
            let listed = self.listed.get(name).and_then(json_value).filter(|value| values.contains(value));
            let default = listed.unwrap_or_else(|| values[values.len() / 2].clone());
            return FoundTunable { name: name.into(), values, default, questions: vec![] };
        }
        keyword_tunable(name, default, usual)
    }
}

fn keyword_tunable(name: &str, default: Option<&serde_json::Value>, usual: i64) -> FoundTunable {
    let question = format!("Which values may {name} have?");
    let (values, default) = match default.and_then(json_value) {
        Some(Value::Int(v)) => (around(name, v), Value::Int(v)),
        Some(Value::Bool(v)) => (vec![Value::Bool(false), Value::Bool(true)], Value::Bool(v)),
        Some(other) => (vec![other.clone()], other),
        None => (around(name, usual), Value::Int(usual)),
    };
    FoundTunable { name: name.into(), values, default, questions: vec![question] }
}

/// kiln's own calling convention.
const CONVENTION: [&str; 3] = ["inputs", "scalars", "outputs"];

impl PlainFunction {
    /// Whether kiln can call it as it is.
    pub fn is_called_by_kiln(&self) -> bool {
        self.positional == CONVENTION
    }

    /// The function in the terms of a kernel.toml.
    pub fn describe(&self, file: &str, torch: bool) -> Found {
        let names = |of: &str| self.subscripts.get(of).cloned().unwrap_or_default();
        let tensor = |name: &String, role: &'static str, question: String| FoundArgument {
            name: name.clone(),
            dtype: "f32".into(),
            shape: vec!["N".into()],
            role,
            value: String::new(),
            questions: vec![question],
        };
        let what = |name: &String| format!("Which dtype and shape does {name} have?");
        let mut arguments: Vec<FoundArgument> = Vec::new();
        if self.is_called_by_kiln() {
            let (inputs, outputs) = (names("inputs"), names("outputs"));
            let both = |name: &String| outputs.contains(name);
            arguments.extend(inputs.iter().map(|n| tensor(n, if both(n) { "inout" } else { "in" }, what(n))));
            arguments.extend(outputs.iter().filter(|n| !inputs.contains(n)).map(|n| tensor(n, "out", what(n))));
            arguments.extend(names("scalars").into_iter().map(|name| FoundArgument {
                questions: vec![format!("Which type and value does {name} have?")],
                name,
                dtype: "f32".into(),
                shape: vec![],
                role: "scalar",
                value: "1.0".into(),
            }));
        } else {
            for name in self.positional.iter().filter(|n| !self.defaults.contains_key(*n)) {
                let role = if self.written.contains(name) { "out" } else { "in" };
                let question = format!("Which dtype and shape does {name} have, and is it read, written or both?");
                arguments.push(tensor(name, role, question));
            }
        }
        if !arguments.iter().any(|a| a.role == "out" || a.role == "inout") {
            let question = "Which dtype and shape does the result have, and what is it called?".to_owned();
            arguments.push(tensor(&"out".to_owned(), "out", question));
        }
        let behind: Vec<&String> =
            self.keyword.iter().chain(self.positional.iter().filter(|n| self.defaults.contains_key(*n))).collect();
        let mut tunables: Vec<FoundTunable> = behind
            .iter()
            .map(|name| keyword_tunable(name, self.defaults.get(*name).and_then(Option::as_ref), 32))
            .collect();
        if tunables.is_empty() {
            tunables.push(FoundTunable {
                name: "VARIANT".into(),
                values: vec![Value::Int(1)],
                default: Value::Int(1),
                questions: vec![
                    "What may be tuned? The function has no keyword arguments: add one, and name it here.".into(),
                ],
            });
        }
        let entry = if self.is_called_by_kiln() && !behind.is_empty() {
            format!("{file}:{}", self.name)
        } else {
            "launch.py:launch".into()
        };
        Found {
            name: self.name.clone(),
            entry,
            host: false,
            target: if torch { FoundTarget::PythonCuda } else { FoundTarget::Python },
            sources: vec![],
            flags: vec![],
            compiler: None,
            arguments,
            tunables,
            fixed: vec![],
            constraints: vec![],
            launch: None,
            dims: vec![("N".into(), 1 << 20)],
            constants: vec![],
            kernels: vec![],
            questions: vec![],
        }
    }
}
