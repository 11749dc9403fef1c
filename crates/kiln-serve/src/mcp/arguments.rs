//! What a tool takes. In: a table of arguments, each with its kind and bounds. Out: the JSON Schema a client sees, and values read by
//! the same table, so that what the schema promises is what is enforced. Refuses names that are not in the table, other types, and
//! what is out of bounds: all mistakes at once.

use std::collections::BTreeMap;

use kiln_app::{Report, Utf8PathBuf};
use serde_json::{Map, Value, json};

use super::place::Place;

/// The largest whole number that every reader of JSON holds exactly.
pub(super) const LARGEST: i64 = (1 << 53) - 1;
/// Mistakes told at once.
const MISTAKES: usize = 20;

/// What an argument may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Words, at most so many characters.
    Text(usize),
    /// A file or folder inside the project.
    File,
    /// A name, or a file or folder inside the project.
    Named,
    /// A whole number: least, most, default.
    Whole(i64, i64, Option<i64>),
    /// A number: least, most, default.
    Real(f64, f64, Option<f64>),
    /// True or false; false by default.
    Flag,
    /// One of these; the first by default.
    OneOf(&'static [&'static str]),
    /// Words: how many, and how long each.
    Texts(usize, usize),
    /// Files inside the project: how many.
    Files(usize),
}

/// One argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
    pub(super) required: bool,
}

/// An argument that may be left out.
pub(super) const fn may(name: &'static str, kind: Kind, about: &'static str) -> Argument {
    Argument { name, kind, about, required: false }
}

/// An argument that must be given.
pub(super) const fn must(name: &'static str, kind: Kind, about: &'static str) -> Argument {
    Argument { name, kind, about, required: true }
}

/// The schema of a table of arguments.
pub(super) fn schema(arguments: &[&[Argument]]) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in arguments.iter().copied().flatten() {
        let mut one = argument.kind.schema();
        one.insert("description".into(), argument.about.into());
        properties.insert(argument.name.into(), one.into());
        if argument.required {
            required.push(argument.name);
        }
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    schema.as_object().cloned().unwrap_or_default()
}

impl Kind {
    fn schema(self) -> Map<String, Value> {
        let file = json!({ "type": "string", "minLength": 1, "maxLength": Place::LONGEST });
        let schema = match self {
            Kind::Text(longest) => json!({ "type": "string", "maxLength": longest }),
            Kind::File | Kind::Named => file,
            Kind::Whole(least, most, usual) => {
                let mut schema = json!({ "type": "integer", "minimum": least, "maximum": most });
                usual.into_iter().for_each(|usual| schema["default"] = usual.into());
                schema
            }
            Kind::Real(least, most, usual) => {
                let mut schema = json!({ "type": "number", "minimum": least, "maximum": most });
                usual.into_iter().for_each(|usual| schema["default"] = usual.into());
                schema
            }
            Kind::Flag => json!({ "type": "boolean", "default": false }),
            Kind::OneOf(all) => json!({ "type": "string", "enum": all, "default": all.first() }),
            Kind::Texts(most, longest) => {
                json!({ "type": "array", "maxItems": most, "items": { "type": "string", "maxLength": longest } })
            }
            Kind::Files(most) => json!({ "type": "array", "maxItems": most, "items": file }),
        };
        schema.as_object().cloned().unwrap_or_default()
    }

    /// What is expected, in words.
    fn expected(self) -> String {
        match self {
            Kind::Text(longest) => format!("expected a string of at most {longest} characters without NUL"),
            Kind::File => "expected the path of a file or folder inside the project".into(),
            Kind::Named => "expected a name, or a path inside the project".into(),
            Kind::Whole(least, most, _) => format!("expected a whole number from {least} to {most}"),
            Kind::Real(least, most, _) => format!("expected a number from {least} to {most}"),
            Kind::Flag => "expected true or false".into(),
            Kind::OneOf(all) => format!("expected one of {}", all.join(", ")),
            Kind::Texts(most, longest) => {
                format!("expected a list of at most {most} strings of at most {longest} characters without NUL")
            }
            Kind::Files(most) => format!("expected a list of at most {most} paths inside the project"),
        }
    }

    /// The value as it is used: `3.0` is the whole number 3, as JSON Schema has it; paths are those inside the project.
    fn read(self, value: &Value, place: &Place) -> Result<Value, Option<Report>> {
        let short = |text: &str, longest: usize| text.len() <= 4 * longest && text.chars().count() <= longest;
        let inside = |value: &Value| match value.as_str() {
            Some(text) => place.inside(text).map(|path| Value::from(path.as_str())).map_err(Some),
            None => Err(None),
        };
        let fits = match self {
            Kind::Text(longest) => value.as_str().is_some_and(|text| short(text, longest) && !text.contains('\0')),
            Kind::File => return inside(value),
            Kind::Named => match value.as_str() {
                Some(text) if place.is_path(text) => return inside(value),
                found => found.is_some_and(|text| short(text, 200) && !text.is_empty() && !text.contains('\0')),
            },
            Kind::Whole(least, most, _) => {
                let found = whole(value).filter(|whole| (least..=most).contains(whole));
                return found.map(Value::from).ok_or(None);
            }
            Kind::Real(least, most, _) => value.as_f64().is_some_and(|real| (least..=most).contains(&real)),
            Kind::Flag => value.is_boolean(),
            Kind::OneOf(all) => value.as_str().is_some_and(|text| all.contains(&text)),
            Kind::Texts(most, longest) => value.as_array().is_some_and(|all| {
                all.len() <= most
                    && all
                        .iter()
                        .all(|one| one.as_str().is_some_and(|text| short(text, longest) && !text.contains('\0')))
            }),
            Kind::Files(most) => {
                let all = value.as_array().filter(|all| all.len() <= most).ok_or(None)?;
                return all.iter().map(inside).collect::<Result<Vec<_>, _>>().map(Value::from);
            }
        };
        if fits { Ok(value.clone()) } else { Err(None) }
    }

    fn usual(self) -> Option<Value> {
        match self {
            Kind::Whole(_, _, usual) => usual.map(Value::from),
            Kind::Real(_, _, usual) => usual.map(Value::from),
            Kind::OneOf(all) => all.first().map(|first| (*first).into()),
            _ => None,
        }
    }
}

/// Arguments as they were given, defaults included.
#[derive(Debug, Clone, Default)]
pub(super) struct Given(BTreeMap<&'static str, Value>);

impl Given {
    /// Reads what a client sent.
    pub(super) fn read(tables: &[&[Argument]], sent: &Map<String, Value>, place: &Place) -> Result<Given, Vec<Report>> {
        let known: Vec<&Argument> = tables.iter().copied().flatten().collect();
        let mut mistakes = Vec::new();
        let mut given = BTreeMap::new();
        for name in sent.keys().filter(|name| known.iter().all(|own| own.name != name.as_str())) {
            let names: Vec<&str> = known.iter().map(|own| own.name).collect();
            let report = Report::error(format!("unknown argument `{}`", shown(name)));
            mistakes.push(report.hint(format!("this tool takes {}", names.join(", "))));
        }
        for argument in known {
            match sent.get(argument.name).filter(|value| !value.is_null()) {
                Some(value) => match argument.kind.read(value, place) {
                    Ok(value) => drop(given.insert(argument.name, value)),
                    Err(Some(report)) => mistakes.push(report),
                    Err(None) => {
                        let report = Report::error(format!("{}: {}", argument.name, found(value)));
                        mistakes.push(report.label(argument.kind.expected()).hint(argument.about));
                    }
                },
                None if argument.required => {
                    let report = Report::error(format!("the argument `{}` is missing", argument.name));
                    mistakes.push(report.label(argument.kind.expected()).hint(argument.about));
                }
                None => given.extend(argument.kind.usual().map(|usual| (argument.name, usual))),
            }
        }
        mistakes.truncate(MISTAKES);
        if mistakes.is_empty() { Ok(Given(given)) } else { Err(mistakes) }
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(String::from)
    }

    /// The same where nothing given means nothing.
    pub(super) fn words(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    pub(super) fn path(&self, name: &str) -> Option<Utf8PathBuf> {
        self.text(name).map(Utf8PathBuf::from)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn whole<N: TryFrom<i64>>(&self, name: &str) -> Option<N> {
        self.0.get(name).and_then(Value::as_i64).and_then(|whole| N::try_from(whole).ok())
    }

    pub(super) fn real(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let all = self.0.get(name).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect()
    }

    pub(super) fn paths(&self, name: &str) -> Vec<Utf8PathBuf> {
        self.texts(name).into_iter().map(Utf8PathBuf::from).collect()
    }
}

/// A whole number, however it is written; none beyond what a double holds exactly.
fn whole(value: &Value) -> Option<i64> {
    let written = |real: &f64| real.fract() == 0.0 && real.abs() <= LARGEST as f64;
    value.as_i64().or_else(|| value.as_f64().filter(written).map(|real| real as i64))
}

/// What was found, never longer than a line.
fn found(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() > 60 => format!("found a string of {} bytes", text.len()),
        Value::Array(all) => format!("found a list of {}", all.len()),
        Value::Object(_) => "found an object".into(),
        other => format!("found {}", shown(&other.to_string())),
    }
}

/// At most so much of what was sent comes back.
fn shown(text: &str) -> String {
    if text.chars().count() <= 60 { text.into() } else { text.chars().take(60).chain("...".chars()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Argument] = &[
        must("path", Kind::File, "a kernel"),
        may("trials", Kind::Whole(0, 100, Some(7)), "how many"),
        may("width", Kind::Real(0.1, 50.0, None), "how wide"),
        may("full", Kind::Flag, "all of it"),
        may("level", Kind::OneOf(&["quick", "full"]), "how much"),
        may("tags", Kind::Texts(2, 5), "tags"),
        may("config", Kind::Text(10), "values"),
    ];

    fn read(sent: Value) -> Result<Given, Vec<String>> {
        let place = Place::here().unwrap();
        let read = Given::read(&[TABLE], sent.as_object().unwrap(), &place);
        read.map_err(|all| all.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn defaults_are_those_of_the_schema() {
        let given = read(json!({ "path": "src" })).unwrap();
        assert_eq!((given.whole("trials"), given.real("width"), given.flag("full")), (Some(7_usize), None, false));
        assert_eq!((given.words("level"), given.words("config")), ("quick".into(), String::new()));
        let whole = read(json!({ "path": "src", "trials": 3.0 })).unwrap();
        assert_eq!(whole.whole("trials"), Some(3_usize));
        let schema = schema(&[TABLE]);
        assert_eq!(schema["properties"]["trials"]["default"], 7);
        assert_eq!(schema["required"], json!(["path"]));
    }

    #[test]
    fn whatever_does_not_fit_is_refused_with_what_was_expected() {
        let long = "x".repeat(10_000_000);
        let deep = (0..90).fold(json!(1), |inner, _| json!([inner]));
        for (sent, words) in [
            (json!({}), "the argument `path` is missing"),
            (json!({ "path": 3 }), "expected the path of a file or folder inside the project"),
            (json!({ "path": "src", "trials": 1e300 }), "expected a whole number from 0 to 100"),
            (json!({ "path": "src", "trials": -1 }), "expected a whole number from 0 to 100"),
            (json!({ "path": "src", "trials": "7" }), "found \"7\""),
            (json!({ "path": "src", "width": 0.0 }), "expected a number from 0.1 to 50"),
            (json!({ "path": "src", "full": "yes" }), "expected true or false"),
            (json!({ "path": "src", "level": "all" }), "expected one of quick, full"),
            (json!({ "path": "src", "tags": ["a", "b", "c"] }), "found a list of 3"),
            (json!({ "path": "src", "tags": ["a\0b"] }), "without NUL"),
            (json!({ "path": "src", "config": "a\0b" }), "without NUL"),
            (json!({ "path": "src", "trials": 3.5 }), "expected a whole number from 0 to 100"),
            (json!({ "path": "src", "config": long }), "found a string of 10000000 bytes"),
            (json!({ "path": "src", "config": deep }), "found a list of 1"),
            (json!({ "path": "src", "command": "rm" }), "unknown argument `command`"),
        ] {
            let mistakes = read(sent).unwrap_err().join("\n");
            assert!(mistakes.contains(words) && mistakes.len() < 2000, "{words}: {mistakes}");
        }
    }
}
