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
use crate::scan::Scan;

#[derive(Debug, Deserialize)]
struct File<'a> {
    #[serde(rename = "General", borrow, default)]
    general: Option<General<'a>>,
    #[serde(rename = "ConfigurationSpace", borrow)]
    space: ConfigurationSpace<'a>,
    #[serde(rename = "KernelSpecification", borrow, default)]
    kernel: Option<Kernel<'a>>,
}

#[derive(Debug, Deserialize)]
struct General<'a> {
    #[serde(rename = "BenchmarkName", borrow, default)]
    name: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
struct ConfigurationSpace<'a> {
    #[serde(rename = "TuningParameters", borrow)]
    parameters: Vec<Parameter<'a>>,
    #[serde(rename = "Conditions", borrow, default)]
    conditions: Vec<Condition<'a>>,
}

#[derive(Debug, Deserialize)]
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

#[derive(Debug)]
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

#[derive(Debug, Deserialize)]
struct Condition<'a> {
    #[serde(rename = "Expression", borrow)]
    expression: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct Kernel<'a> {
    #[serde(rename = "Language", borrow, default)]
    language: Option<Cow<'a, str>>,
    #[serde(rename = "KernelName", borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(rename = "KernelFile", borrow, default)]
    file: Option<Cow<'a, str>>,
}

/// A file in its plain form; none for any other, which the full parser reads, or refuses with its reason.
fn plain(text: &str) -> Option<File<'_>> {
    let (mut general, mut space, mut kernel) = (None, None, None);
    let mut scan = Scan::new(text);
    scan.object()?;
    while let Some(key) = scan.member()? {
        match key {
            "General" => once(&mut general, plain_general(&mut scan)?)?,
            "ConfigurationSpace" => once(&mut space, plain_space(&mut scan)?)?,
            "KernelSpecification" => once(&mut kernel, plain_kernel(&mut scan)?)?,
            _ => scan.skip()?,
        }
    }
    scan.end()?;
    Some(File { general, space: space?, kernel })
}

/// Sets a field; a key that comes twice is a mistake for the full parser to explain.
#[inline]
fn once<T>(field: &mut Option<T>, value: T) -> Option<()> {
    if field.is_some() {
        return None;
    }
    *field = Some(value);
    Some(())
}

/// Sets a field to the string that comes next.
fn string<'a>(scan: &mut Scan<'a>, field: &mut Option<Cow<'a, str>>) -> Option<()> {
    once(field, Cow::Borrowed(scan.string()?))
}

fn plain_general<'a>(scan: &mut Scan<'a>) -> Option<General<'a>> {
    let mut name = None;
    scan.object()?;
    while let Some(key) = scan.member()? {
        match key {
            "BenchmarkName" => string(scan, &mut name)?,
            _ => scan.skip()?,
        }
    }
    Some(General { name })
}

fn plain_space<'a>(scan: &mut Scan<'a>) -> Option<ConfigurationSpace<'a>> {
    let (mut parameters, mut conditions) = (None, None);
    scan.object()?;
    while let Some(key) = scan.member()? {
        match key {
            "TuningParameters" => {
                let mut list = Vec::with_capacity(32);
                scan.list()?;
                while scan.item()? {
                    list.push(plain_parameter(scan)?);
                }
                once(&mut parameters, list)?;
            }
            "Conditions" => {
                let mut list = Vec::with_capacity(32);
                scan.list()?;
                while scan.item()? {
                    list.push(plain_condition(scan)?);
                }
                once(&mut conditions, list)?;
            }
            _ => scan.skip()?,
        }
    }
    Some(ConfigurationSpace { parameters: parameters?, conditions: conditions.unwrap_or_default() })
}

fn plain_parameter<'a>(scan: &mut Scan<'a>) -> Option<Parameter<'a>> {
    let (mut name, mut kind, mut values, mut default) = (None, None, None, None);
    scan.object()?;
    while let Some(key) = scan.member()? {
        match key {
            "Name" => string(scan, &mut name)?,
            "Type" => string(scan, &mut kind)?,
            "Values" => string(scan, &mut values)?,
            "Default" => once(&mut default, scan.integer()?)?,
            _ => scan.skip()?,
        }
    }
    let default = default.map(serde_json::Value::from);
    Some(Parameter { name: name?, kind, values: Values::Python(values?), default })
}

fn plain_condition<'a>(scan: &mut Scan<'a>) -> Option<Condition<'a>> {
    let mut expression = None;
    scan.object()?;
    while let Some(key) = scan.member()? {
        match key {
            "Expression" => string(scan, &mut expression)?,
            _ => scan.skip()?,
        }
    }
    Some(Condition { expression: expression? })
}

fn plain_kernel<'a>(scan: &mut Scan<'a>) -> Option<Kernel<'a>> {
    let (mut language, mut name, mut file) = (None, None, None);
    scan.object()?;
    while let Some(key) = scan.member()? {
        match key {
            "Language" => string(scan, &mut language)?,
            "KernelName" => string(scan, &mut name)?,
            "KernelFile" => string(scan, &mut file)?,
            _ => scan.skip()?,
        }
    }
    Some(Kernel { language, name, file })
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Imported, Vec<Report>> {
    let mut builder = Builder::new(name, bytes)?;
    let text = builder.text();
    let file: File<'_> = match plain(&text) {
        Some(file) => file,
        None => serde_json::from_str(&text).map_err(|e| vec![json::report(name, bytes, &e)])?,
    };
    builder.reserve(file.space.parameters.len(), file.space.conditions.len());
    for parameter in &file.space.parameters {
        let float = parameter.kind.as_deref() == Some("float");
        match values(&mut builder, parameter) {
            Some(mut values) => {
                values.iter_mut().for_each(|v| retype(v, float));
                builder.tunable(&parameter.name, values);
            }
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
        if let Some(mut default) = default.and_then(json::scalar) {
            retype(&mut default, float);
            builder.default(&parameter.name, default);
        }
    }
    let mut name_of_condition = String::with_capacity(32);
    for (i, condition) in file.space.conditions.iter().enumerate() {
        name_of_condition.clear();
        name_of_condition.push_str("condition_");
        push_number(&mut name_of_condition, i + 1);
        builder.condition(&name_of_condition, &condition.expression);
    }
    let mut title = file.general.and_then(|g| g.name).map(Cow::into_owned);
    if let Some(kernel) = file.kernel {
        if let Some("C" | "CPP" | "C++") = kernel.language.as_deref() {
            builder.kind = TargetKind::Cpu;
        }
        let target = builder.target();
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

/// Appends a number in decimal, without the machinery that fits numbers into columns.
fn push_number(text: &mut String, number: usize) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// A parameter declared float keeps floats even where its list is written in integers.
fn retype(value: &mut Value, float: bool) {
    if let (Value::Int(v), true) = (&*value, float) {
        *value = Value::Float(*v as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../../fixtures/spaces/dedispersion.json");

    /// What the short way accepts, the full parser must read alike.
    fn agrees(text: &str) {
        if let Some(file) = plain(text) {
            let full: File<'_> = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in\n{text}"));
            assert_eq!(format!("{file:?}"), format!("{full:?}"), "{text}");
        }
    }

    #[test]
    fn the_short_way_reads_what_the_full_parser_reads() {
        assert!(plain(FILE).is_some());
        agrees(FILE);
        for at in (0..FILE.len()).filter(|at| FILE.is_char_boundary(*at)) {
            let (before, behind) = FILE.split_at(at);
            assert!(plain(before).is_none(), "{before}");
            for put in ["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\n", "\u{0}", "\u{e9}", "null"] {
                agrees(&format!("{before}{put}{behind}"));
                let rest = behind.char_indices().nth(1).map_or("", |(next, _)| &behind[next..]);
                agrees(&format!("{before}{put}{rest}"));
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_full_parser() {
        let with = |parameter: &str| format!("{{\"ConfigurationSpace\": {{\"TuningParameters\": [{{{parameter}}}]}}}}");
        assert!(plain(&with("\"Name\": \"A\", \"Values\": \"[1]\", \"Default\": -12")).is_some());
        for parameter in [
            "\"Name\": \"A\", \"Values\": [1]",
            "\"Name\": \"A\", \"Values\": \"[1]\", \"Default\": 1.5",
            "\"Name\": \"A\", \"Values\": \"[1]\", \"Default\": -0",
            "\"Name\": \"A\", \"Values\": \"[1]\", \"Default\": 9223372036854775808",
            "\"Name\": \"A\", \"Name\": \"B\", \"Values\": \"[1]\"",
            "\"Name\": \"\\u0041\", \"Values\": \"[1]\"",
            "\"Name\": \"A\"",
        ] {
            assert!(plain(&with(parameter)).is_none(), "{parameter}");
            agrees(&with(parameter));
        }
    }

    #[test]
    fn conditions_are_numbered_from_one() {
        let conditions: Vec<String> = (0..101).map(|i| format!("{{\"Expression\": \"A > {i}\"}}")).collect();
        let text = format!(
            "{{\"ConfigurationSpace\": {{\"TuningParameters\": [{{\"Name\": \"A\", \"Values\": \"[1, 200]\"}}], \
             \"Conditions\": [{}]}}}}",
            conditions.join(", ")
        );
        let imported = read("k", text.as_bytes()).unwrap();
        let names: Vec<&str> =
            imported.spec.targets[0].implementations[0].constraints.iter().map(|c| &*c.name).collect();
        let wanted: Vec<String> = (1..=101).map(|i| format!("condition_{i}")).collect();
        assert_eq!(names, wanted);
    }
}
