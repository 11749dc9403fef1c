//! A call of Kernel Tuner's `tune_kernel`, as [`crate::source::READER`] reports it.

use kiln_core::Value;
use serde::Deserialize;

use crate::source::found::FoundTunable;

/// One call.
#[derive(Debug, Clone, Deserialize)]
pub struct TunerCall {
    /// Its line, from 1.
    pub line: usize,
    /// The kernel's name, where it could be read.
    pub kernel: Option<String>,
    /// The source files.
    pub sources: Vec<String>,
    /// The problem's size along x, y, z: a number or an expression; none where it could not be read.
    pub problem_size: Option<Vec<Option<serde_json::Value>>>,
    /// The kernel's arguments, where they could be read.
    pub arguments: Option<Vec<TunerArgument>>,
    /// The tunables.
    pub tunables: Vec<TunerTunable>,
    /// What the problem's size is divided by, along each axis; none for what Kernel Tuner does by itself.
    pub grid_div_x: Option<Vec<String>>,
    /// Along y.
    pub grid_div_y: Option<Vec<String>>,
    /// Along z.
    pub grid_div_z: Option<Vec<String>>,
    /// The tunables that are a block's threads along x, y, z.
    pub block_size_names: Vec<String>,
    /// Conditions, in Python.
    pub restrictions: Vec<String>,
    /// Compiler flags.
    pub compiler_options: Vec<String>,
    /// The language, `C` for a host function.
    pub lang: Option<String>,
    /// Arrays in constant memory that the script fills.
    pub constants: Vec<String>,
    /// Whether the kernel has dynamic shared memory.
    pub dynamic_shared: bool,
    /// Which arguments have an answer to compare with.
    pub answers: Option<Vec<bool>>,
    /// What could not be read.
    pub questions: Vec<String>,
}

/// An argument of a call.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct TunerArgument {
    /// Its dtype.
    #[serde(default)]
    pub dtype: Option<String>,
    /// Its shape, for an array.
    #[serde(default)]
    pub shape: Option<Vec<i64>>,
    /// Its value, for a number.
    #[serde(default)]
    pub value: Option<serde_json::Value>,
}

/// A tunable of a call.
#[derive(Debug, Clone, Deserialize)]
pub struct TunerTunable {
    /// Its name.
    pub name: String,
    /// Its values, where they could be read.
    pub values: Option<Vec<serde_json::Value>>,
}

/// A value of JSON as a tunable's.
pub(crate) fn json_value(value: &serde_json::Value) -> Option<Value> {
    match value {
        serde_json::Value::Bool(v) => Some(Value::Bool(*v)),
        serde_json::Value::Number(n) => n.as_i64().map(Value::Int).or_else(|| n.as_f64().map(Value::Float)),
        serde_json::Value::String(text) => Some(Value::Str(text.as_str().into())),
        _ => None,
    }
}

/// Values of one kind without doubles; none where kiln has no such list.
pub(crate) fn value_list(values: &[serde_json::Value]) -> Option<Vec<Value>> {
    let mut list: Vec<Value> = Vec::new();
    let floats = values.iter().any(serde_json::Value::is_f64);
    for value in values {
        let value = match json_value(value)? {
            Value::Int(v) if floats => Value::Float(v as f64),
            value => value,
        };
        if list.first().is_some_and(|first| first.kind() != value.kind()) {
            return None;
        }
        if !list.contains(&value) {
            list.push(value);
        }
    }
    (!list.is_empty()).then_some(list)
}

impl TunerCall {
    /// Its tunables; a question where the values could not be read. `known` gives a value from the source.
    pub fn found_tunables(&self, known: &dyn Fn(&str) -> Option<i64>) -> Vec<FoundTunable> {
        let found = |tunable: &TunerTunable| {
            let values = tunable.values.as_deref().and_then(value_list);
            let from_source = known(&tunable.name).map(Value::Int);
            let mut questions = Vec::new();
            let values = values.unwrap_or_else(|| {
                questions.push(format!("Which values may {} have? The script's could not be read.", tunable.name));
                vec![from_source.clone().unwrap_or(Value::Int(1))]
            });
            let default = from_source.filter(|v| values.contains(v)).unwrap_or_else(|| values[0].clone());
            FoundTunable { name: tunable.name.clone(), values, default, questions }
        };
        self.tunables.iter().map(found).collect()
    }

    /// The divisors along an axis: what the script states, or what Kernel Tuner does by itself along x.
    pub fn divisors(&self, axis: usize) -> Vec<String> {
        let stated = [&self.grid_div_x, &self.grid_div_y, &self.grid_div_z];
        match stated.get(axis).and_then(|d| d.as_ref()) {
            Some(divisors) => divisors.clone(),
            None if axis == 0 && self.grid_div_y.is_none() && self.grid_div_z.is_none() => {
                self.block_size_names.iter().take(1).filter(|name| self.has(name)).cloned().collect()
            }
            None => Vec::new(),
        }
    }

    /// Whether it tunes this name.
    pub fn has(&self, name: &str) -> bool {
        self.tunables.iter().any(|t| t.name == name)
    }
}
