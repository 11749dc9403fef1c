//! T1, the community's description of a tuning problem. Its values are Python list expressions in a string (or a plain
//! JSON list), its conditions Python expressions. Keys outside the schema are common in the wild and passed over.

use std::borrow::Cow;
use std::fmt;

use kiln_core::{Report, Value};
use kiln_expr::evaluate_list;
use kiln_spec::TargetKind;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::Imported;
use crate::build::Builder;
use crate::json;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(rename = "General", borrow, default)]
    general: Option<General<'a>>,
    #[serde(rename = "ConfigurationSpace", borrow)]
    space: ConfigurationSpace<'a>,
    #[serde(rename = "KernelSpecification", borrow, default)]
    kernel: Option<Kernel<'a>>,
}

#[derive(Deserialize)]
struct General<'a> {
    #[serde(rename = "BenchmarkName", borrow, default)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct ConfigurationSpace<'a> {
    #[serde(rename = "TuningParameters", borrow)]
    parameters: Vec<Parameter<'a>>,
    #[serde(rename = "Conditions", borrow, default)]
    conditions: Vec<Condition<'a>>,
}

#[derive(Deserialize)]
struct Parameter<'a> {
    #[serde(rename = "Name", borrow)]
    name: Cow<'a, str>,
    #[serde(rename = "Type", borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(rename = "Values", borrow)]
    values: Values<'a>,
    #[serde(rename = "Default", default)]
    default: Option<serde_json::Value>,
}

enum Values<'a> {
    Python(Cow<'a, str>),
    List(Vec<serde_json::Value>),
}

// By hand: serde's untagged form reads everything twice.
impl<'de: 'a, 'a> Deserialize<'de> for Values<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Values<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values, or a string holding one in Python")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Values<'de>, E> {
                Ok(Values::Python(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Values<'de>, E> {
                Ok(Values::Python(Cow::Owned(text.into())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Values<'de>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Values::List(list))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[derive(Deserialize)]
struct Condition<'a> {
    #[serde(rename = "Expression", borrow)]
    expression: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Kernel<'a> {
    #[serde(rename = "Language", borrow, default)]
    language: Option<Cow<'a, str>>,
    #[serde(rename = "KernelName", borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(rename = "KernelFile", borrow, default)]
    file: Option<Cow<'a, str>>,
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Imported, Vec<Report>> {
    let mut builder = Builder::new(name, bytes)?;
    let text = builder.text();
    let file: File<'_> = serde_json::from_str(&text).map_err(|e| vec![json::report(name, bytes, &e)])?;
    for parameter in &file.space.parameters {
        let float = parameter.kind.as_deref() == Some("float");
        match values(&mut builder, parameter) {
            Some(values) => builder.tunable(&parameter.name, values.into_iter().map(|v| typed(v, float)).collect()),
            None => {
                builder.broken(&parameter.name);
                continue;
            }
        }
        let default = parameter.default.as_ref().map(|d| match d {
            // Some files wrap the default in a list.
            serde_json::Value::Array(items) => items.first().unwrap_or(d),
            other => other,
        });
        if let Some(default) = default.and_then(json::scalar) {
            builder.default(&parameter.name, typed(default, float));
        }
    }
    for (i, condition) in file.space.conditions.iter().enumerate() {
        builder.condition(format!("condition_{}", i + 1), &condition.expression);
    }
    let mut title = file.general.and_then(|g| g.name).map(Cow::into_owned);
    if let Some(kernel) = file.kernel {
        let target = builder.target();
        if let Some("C" | "CPP" | "C++") = kernel.language.as_deref() {
            target.kind = TargetKind::Cpu;
        }
        target.entry = kernel.name.map(Cow::into_owned).filter(|n| !n.is_empty());
        target.sources = kernel.file.into_iter().map(Cow::into_owned).filter(|f| !f.is_empty()).collect();
        title = title.or_else(|| target.entry.clone());
    }
    let (spec, warnings) = builder.finish(title.unwrap_or_else(|| name.into()))?;
    Ok(Imported { spec, recorded: None, warnings })
}

fn values(builder: &mut Builder, parameter: &Parameter<'_>) -> Option<Vec<Value>> {
    match &parameter.values {
        Values::Python(text) => match evaluate_list(text) {
            Ok(values) => Some(values),
            Err(e) => {
                let report = e.report(&format!("{}.Values", parameter.name), text);
                builder.errors.push(report);
                None
            }
        },
        Values::List(items) => {
            let values: Option<Vec<Value>> = items.iter().map(json::scalar).collect();
            if values.is_none() {
                let message = format!("{} has a value that is no number, boolean or string", parameter.name);
                builder.errors.push(builder.report(message, &parameter.name));
            }
            values
        }
    }
}

/// A parameter declared float keeps floats even where its list is written in integers.
fn typed(value: Value, float: bool) -> Value {
    match value {
        Value::Int(v) if float => Value::Float(v as f64),
        other => other,
    }
}
