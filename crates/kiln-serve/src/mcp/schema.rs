//! The schema of what a tool answers. In: the tables of docs/json.md, which a test holds against what kiln prints. Out: a JSON Schema
//! for each verb's object. One list serves people, scripts and assistants.

use serde_json::{Map, Value, json};

/// The page with the tables.
const PAGE: &str = include_str!("../../../../docs/json.md");

/// The schema of one verb's object: `kiln bench`.
pub(super) fn of(verb: &str) -> Value {
    let mut root = Node { kind: "object".into(), ..Node::default() };
    for (key, kind) in rows(verb) {
        let parts: Vec<&str> = key.split('.').collect();
        let node = parts.iter().fold(&mut root, |node, part| node.child(part.trim_end_matches("[]")));
        node.optional = kind.contains("optional");
        node.kind = kind;
    }
    let required: Vec<&str> =
        root.children.iter().filter(|(_, node)| !node.optional).map(|(name, _)| name.as_str()).collect();
    let mut schema = root.object();
    schema["required"] = required.into();
    schema
}

/// Keys with what their values are, in the order of the page.
fn rows(verb: &str) -> Vec<(String, String)> {
    let title = format!("## {verb}");
    let own = PAGE.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.starts_with("## "));
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let key = cells.next()?.trim().trim_end_matches('`').to_string();
        Some((key, cells.next()?.trim().replace('`', "")))
    };
    own.filter_map(row).collect()
}

/// A key with the keys below it.
#[derive(Debug, Default)]
struct Node {
    kind: String,
    optional: bool,
    children: Vec<(String, Node)>,
}

impl Node {
    fn child(&mut self, name: &str) -> &mut Node {
        let at = self.children.iter().position(|(own, _)| own == name).unwrap_or_else(|| {
            self.children.push((name.into(), Node::default()));
            self.children.len() - 1
        });
        &mut self.children[at].1
    }

    fn object(&self) -> Value {
        let properties: Map<String, Value> =
            self.children.iter().map(|(name, node)| (name.clone(), node.schema())).collect();
        if properties.is_empty() {
            json!({ "type": "object" })
        } else {
            json!({ "type": "object", "properties": properties })
        }
    }

    /// Null is always allowed: it means unknown or absent.
    fn schema(&self) -> Value {
        let kind = self.kind.split(',').next().unwrap_or_default().trim();
        let kind = kind.strip_suffix(" or null").unwrap_or(kind);
        let list = |items: Value| json!({ "type": ["array", "null"], "items": items });
        let typed = |name: &str| json!({ "type": [name, "null"] });
        match kind {
            "list" if self.children.is_empty() => typed("array"),
            "list" => list(self.object()),
            "list of strings" => list(json!({ "type": "string" })),
            "list of objects" | "list of configurations" => list(json!({ "type": "object" })),
            "list of pairs" => list(json!({ "type": "array" })),
            "interval" => list(typed("number")),
            "object" | "object of counts" | "configuration" | "refusal" => {
                let mut object = self.object();
                object["type"] = json!(["object", "null"]);
                object
            }
            "string" => typed("string"),
            "boolean" => typed("boolean"),
            // One too large for a double is a string of digits.
            "count" | "integer" => json!({ "type": ["integer", "string", "null"] }),
            "" => json!({}),
            // Everything else is a number with its unit.
            _ => typed("number"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_a_schema_with_its_nesting() {
        let bench = of("kiln bench");
        let workload = &bench["properties"]["workloads"]["items"]["properties"];
        assert_eq!(workload["times"]["properties"]["n"]["type"], json!(["integer", "string", "null"]));
        assert_eq!(
            workload["baselines"]["items"]["properties"]["speedup_ci95"]["items"]["type"],
            json!(["number", "null"])
        );
        assert!(bench["required"].as_array().unwrap().contains(&"workloads".into()));
    }

    #[test]
    fn every_verb_that_a_tool_answers_with_has_a_table() {
        for tool in super::super::tool::ALL {
            for verb in tool.answers {
                assert!(!rows(verb).is_empty(), "{}: {verb}", tool.name);
            }
        }
    }

    /// A unit that is not known would be taken for a number.
    #[test]
    fn every_value_of_the_page_is_one_of_a_known_kind() {
        const NUMBERS: [&str; 22] = [
            "number",
            "ratio",
            "s",
            "ms",
            "share",
            "bytes",
            "bytes/s",
            "1/s",
            "0 to 1",
            "-1 to 1",
            "microseconds",
            "moment",
            "ms since 1970",
            "s or ratio",
            "MB",
            "ms or null",
            "W",
            "MHz",
            "us",
            "C",
            "GB/s",
            "flop/s",
        ];
        const OTHERS: [&str; 15] = [
            "list",
            "list of strings",
            "list of objects",
            "list of configurations",
            "list of pairs",
            "interval",
            "object",
            "object of counts",
            "configuration",
            "refusal",
            "string",
            "boolean",
            "count",
            "integer",
            "",
        ];
        for tool in super::super::tool::ALL {
            for (key, kind) in tool.answers.iter().flat_map(|verb| rows(verb)) {
                let kind = kind.split(',').next().unwrap_or_default().trim();
                let kind = kind.strip_suffix(" or null").unwrap_or(kind);
                assert!(NUMBERS.contains(&kind) || OTHERS.contains(&kind), "{key}: {kind}");
            }
        }
    }
}
