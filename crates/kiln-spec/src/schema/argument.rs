//! The schema of an argument: all keys, and for each role those that fit it.

use serde_json::{Value, json};

use crate::model::{Compare, Init, Role};
use crate::schema::shape::{callable, described, expression, extent, identifier, table, text, word};
use crate::tables::argument::{KEYS, fitting};
use crate::tables::callable::PYTHON;
use crate::tables::tensormap::{MOST_DIMENSIONS, PROMOTIONS, SWIZZLES};

pub(crate) fn argument() -> Value {
    let mut schema = table(&KEYS, &["name", "role"], key);
    schema["allOf"] = Role::ALL.iter().map(|(word, role)| rule(word, *role)).collect();
    schema
}

/// What holds for a role: the keys that fit it, those it needs, and whether its type has a shape.
fn rule(word: &str, role: Role) -> Value {
    let keys = fitting(role);
    let needed: Vec<&str> = match role {
        Role::Tensormap => vec!["tensor", "box"],
        Role::Scalar => vec!["type", "value"],
        _ => vec!["type"],
    };
    let mut then = json!({ "propertyNames": { "enum": keys }, "required": needed });
    if keys.contains(&"type") {
        let shape =
            if keys.contains(&"value") { json!({ "not": { "pattern": "\\[" } }) } else { json!({ "pattern": "\\[" }) };
        then["properties"] = json!({ "type": shape });
    }
    json!({ "if": { "properties": { "role": { "const": word } }, "required": ["role"] }, "then": then })
}

fn key(key: &str) -> Value {
    match key {
        "name" => described(identifier(), "Its name: letters, digits and _."),
        "role" => described(
            word(&Role::ALL),
            "What it is for: in (read), out (written whole), inout (both), scratch (working space), scalar (a number by value), constant (in a __constant__ variable) or tensormap (a TMA descriptor).",
        ),
        "type" => described(
            json!({ "type": "string", "pattern": "^\\s*[A-Za-z_][A-Za-z0-9_]*\\s*(\\[[\\s\\S]*\\S[\\s\\S]*\\]\\s*)?$" }),
            "\"f32\" for a scalar, else a dtype or variant with a shape of expressions: \"T[B, H, S, D]\"; \"f32x2[N]\" is an array of float2.",
        ),
        "init" => described(
            json!({ "anyOf": [word(&Init::ALL), callable(PYTHON)], "default": "normal" }),
            "How an input is filled: normal, uniform (0 to 1), zeros, ones, arange, or a Python function \"file.py:function\".",
        ),
        "range" => described(
            json!({ "type": "array", "items": expression(), "minItems": 2, "maxItems": 2 }),
            "The lowest and the highest number, both included: numbers are drawn uniformly from it.",
        ),
        "value" => described(expression(), "A scalar's value, an expression of dimensions: \"1 / sqrt(D)\"."),
        "strides" => described(extent(64), "Strides in elements, one for each dimension; row-major by default."),
        "alignment" => described(
            json!({ "type": "integer", "minimum": 1 }),
            "Bytes the buffer's start is aligned to, a power of two.",
        ),
        "layout" => described(text(), "The name of a layout, passed on to references and baselines."),
        "written" => {
            let slice = json!({ "type": "string", "pattern": "^[^:]*:[^:]*$" });
            described(
                json!({ "anyOf": [slice, { "type": "array", "items": slice, "minItems": 1 }] }),
                "The part of an output that calls write, one slice for each dimension: [\"1 : H - 1\", \":\"]; all by default.",
            )
        }
        "compare" => described(
            word(&Compare::ALL),
            "What is held against the reference: elements, or sum if only the sum of all elements is right or wrong.",
        ),
        "symbol" => described(
            json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$" }),
            "The __constant__ variable of the source; the argument's name by default.",
        ),
        "tensor" => described(text(), "The in, out, inout or scratch argument that the descriptor describes."),
        "box" => described(extent(MOST_DIMENSIONS), "The box copied at a time, one expression for each dimension."),
        "swizzle" => described(word(&SWIZZLES), "Swizzling of the box in shared memory; none by default."),
        "promotion" => described(word(&PROMOTIONS), "L2 promotion; none by default."),
        "when" => described(expression(), "The shapes that have a descriptor, such as \"K % 8 == 0\"; all by default."),
        _ => json!({}),
    }
}
