//! The JSON Schema of kernel.toml, for editors: which keys a table has, what each means, and which values it takes. Made from the
//! lists that the reader itself uses, so that both know the same keys and words. In: nothing. Out: a schema of draft 7, which
//! Taplo and other editors read. What one key says about another (a name that is not defined, a default that is not among a
//! tunable's values) no schema can check: `kiln space` does.

mod argument;
mod shape;
mod tables;
mod target;

use serde_json::{Value, json};

use crate::reading::draft::TABLES;
use crate::schema::shape::{described, table};

/// The schema.
pub fn schema() -> Value {
    let mut root = table(&TABLES, &["kernel", "target"], top);
    let head = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "kernel.toml",
        "description": "One kernel for kiln: what can be tuned, what is allowed, how it is built and launched, what it computes and on which problems.",
    });
    // Every target needs a tunable: a shared one, or one of its own.
    let own = json!({ "properties": { "tunables": { "minProperties": 1 } }, "required": ["tunables"] });
    // Where implementations compete, which of them is the choice.
    let chosen = json!({ "anyOf": [own.clone(), { "required": ["implementation"] }] });
    root["anyOf"] = json!([
        own,
        { "properties": { "target": { "additionalProperties": chosen } } },
    ]);
    match (head, root) {
        (Value::Object(mut head), Value::Object(root)) => {
            head.extend(root);
            Value::Object(head)
        }
        (_, root) => root,
    }
}

/// The tables of the file.
fn top(key: &str) -> Value {
    match key {
        "kernel" => tables::kernel(),
        "tunables" => tables::tunables(
            "What may be tuned, for all targets. A C source gets each value as -DNAME=value, a Python function as a keyword argument.",
        ),
        "default" => tables::default("The configuration known to be good, tried first: a value for each tunable."),
        "constraints" => tables::constraints("What every configuration must satisfy, by name."),
        "derived" => tables::derived("Names for values computed from tunables, dimensions and device limits."),
        "target" => target::targets(),
        "arguments" => described(
            json!({ "type": "array", "items": argument::argument() }),
            "The kernel's arguments, one [[arguments]] table for each, in order.",
        ),
        "cost" => tables::cost(),
        "workloads" => tables::workloads(),
        "objective" => tables::objective(),
        "reference" => tables::reference(),
        "baselines" => {
            tables::baselines("What to beat: NAME = \"file:function\". The first that can run is the default.")
        }
        "gates" => tables::gates(),
        "environment" => tables::environment(),
        "fuzz" => tables::fuzz(),
        "export" => tables::export(),
        "sweep" => tables::sweep(),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `visit` with every property of every table of known keys.
    fn properties(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
        match schema {
            Value::Object(map) => {
                let closed = map.get("additionalProperties") == Some(&json!(false));
                for (key, inner) in map {
                    let named = key == "properties" && closed;
                    for (name, property) in inner.as_object().filter(|_| named).into_iter().flatten() {
                        visit(&format!("{path}.{name}"), property);
                    }
                    properties(inner, &format!("{path}.{key}"), visit);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| properties(item, path, visit)),
            _ => {}
        }
    }

    #[test]
    fn every_key_is_described() {
        let mut count = 0;
        properties(&schema(), "", &mut |path, property| {
            let words = property["description"].as_str().unwrap_or_default();
            assert!(words.len() > 10 && words.ends_with(['.', ':']), "{path}: {words:?}");
            count += 1;
        });
        assert!(count > 100, "{count}");
    }

    #[test]
    fn every_table_of_known_keys_refuses_others() {
        let closed = |schema: &Value| schema["additionalProperties"] == json!(false);
        let schema = schema();
        let at = |pointer: &str| schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
        for pointer in [
            "",
            "/properties/kernel",
            "/properties/target",
            "/properties/target/properties/cuda",
            "/properties/target/properties/cpu/properties/compile",
            "/properties/target/properties/cuda/properties/launches/items",
            "/properties/target/properties/cuda/properties/implementation/additionalProperties",
            "/properties/arguments/items",
            "/properties/workloads/items",
            "/properties/cost",
            "/properties/objective",
            "/properties/reference",
            "/properties/gates",
            "/properties/environment",
            "/properties/fuzz",
            "/properties/export",
            "/properties/sweep",
        ] {
            assert!(closed(at(pointer)), "{pointer}");
        }
    }
}
