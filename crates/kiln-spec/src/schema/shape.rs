//! The pieces a schema is made of: texts, words from a list, expressions, tables. In: what a key is for. Out: its schema.

use kiln_expr::Function;
use serde_json::{Map, Value, json};

use crate::reading::naming::RESERVED;

/// What may name something in an expression.
const IDENTIFIER: &str = "[A-Za-z_][A-Za-z0-9_]*";

/// A schema with its description.
pub(crate) fn described(mut schema: Value, about: &str) -> Value {
    schema["description"] = about.into();
    schema
}

/// A table of known keys.
pub(crate) fn table(keys: &[&str], required: &[&str], of: impl Fn(&str) -> Value) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), of(key))).collect();
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["properties"] = Value::Object(properties);
    schema
}

/// A table whose keys the author chooses.
pub(crate) fn free(names: Value, of: Value) -> Value {
    json!({ "type": "object", "propertyNames": names, "additionalProperties": of })
}

/// Names that expressions use.
pub(crate) fn variables() -> Value {
    let functions = Function::ALL.iter().map(|(_, name, ..)| *name);
    let taken: Vec<&str> = RESERVED.into_iter().chain(functions).collect();
    json!({ "pattern": format!("^{IDENTIFIER}$"), "not": { "enum": taken } })
}

/// Names that source code uses.
pub(crate) fn identifier() -> Value {
    json!({ "type": "string", "pattern": format!("^{IDENTIFIER}$") })
}

/// Names that people type.
pub(crate) fn label() -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]+$" })
}

/// A string that says something.
pub(crate) fn text() -> Value {
    json!({ "type": "string", "pattern": "\\S" })
}

pub(crate) fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

pub(crate) fn boolean(default: bool) -> Value {
    json!({ "type": "boolean", "default": default })
}

/// One of a fixed set of words.
pub(crate) fn word<T>(words: &[(&str, T)]) -> Value {
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    json!({ "type": "string", "enum": words })
}

/// A number above zero.
pub(crate) fn positive() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0 })
}

/// A number, a boolean or a string.
pub(crate) fn scalar() -> Value {
    json!({ "type": ["number", "boolean", "string"] })
}

/// An expression in a string; a number or a boolean stands for itself.
pub(crate) fn expression() -> Value {
    json!({ "type": ["string", "number", "boolean"], "pattern": "\\S" })
}

/// An expression that gives a number.
pub(crate) fn numeric() -> Value {
    json!({ "type": ["string", "number"], "pattern": "\\S" })
}

/// An expression that gives an integer.
pub(crate) fn whole() -> Value {
    json!({ "type": ["string", "integer"], "pattern": "\\S" })
}

/// At most `most` expressions of integers in a list, or one alone.
pub(crate) fn extent(most: usize) -> Value {
    json!({ "anyOf": [whole(), { "type": "array", "items": whole(), "minItems": 1, "maxItems": most }] })
}

/// `file:function`, in a file with one of these endings.
pub(crate) fn callable(endings: &[&str]) -> Value {
    let endings = endings.join("|");
    json!({ "type": "string", "pattern": format!("^.+\\.({endings}):{IDENTIFIER}(\\.{IDENTIFIER})*$") })
}
