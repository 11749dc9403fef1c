//! What a tool answers. In: the object that the same verb prints with `--json`, how it ended, what supports it. Out: one envelope for
//! all tools, its schema, and what a client shows. A failure has the same envelope with `errors` in place of a result.

use kiln_app::{Ending, Ends, Event, Failure, Report, What};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::schema;

/// A result.
pub(super) struct Answer {
    pub(super) ending: Ending,
    pub(super) result: Value,
    /// What supports the verdict, where there is one.
    pub(super) evidence: Option<Value>,
}

/// What was said on the way.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) warnings: Vec<Report>,
    pub(super) notes: Vec<String>,
}

/// Remarks kept of one call.
const KEPT: usize = 100;

impl Said {
    /// Keeps what a reader of the result should know.
    pub(super) fn hear(&mut self, event: &Event) {
        match &event.what {
            What::Warning { report } if self.warnings.len() < KEPT => self.warnings.push(report.clone()),
            What::Note { text } if self.notes.len() < KEPT => self.notes.push(text.clone()),
            _ => {}
        }
    }
}

/// What the client gets.
pub(super) fn envelope(answered: Result<Answer, Failure>, said: Said) -> CallToolResult {
    let Said { warnings, notes } = said;
    match answered {
        Ok(Answer { ending, result, evidence }) => CallToolResult::structured(json!({
            "ending": ending, "result": result, "evidence": evidence, "warnings": warnings, "notes": notes,
        })),
        Err(failure) => {
            let object = json!({
                "ending": failure.ending(), "errors": failure.reports(), "warnings": warnings, "notes": notes,
            });
            let mut result = CallToolResult::structured_error(object.clone());
            // Words first: that is what most clients show of an error.
            result.content = vec![ContentBlock::text(failure.to_string()), ContentBlock::text(object.to_string())];
            result
        }
    }
}

/// The schema of the envelope around the objects of these verbs, or around `own`.
pub(super) fn output_schema(verbs: &[&str], own: Option<Value>) -> Map<String, Value> {
    let mut results: Vec<Value> = verbs.iter().map(|verb| schema::of(verb)).chain(own).collect();
    let result = if results.len() == 1 { results.remove(0) } else { json!({ "anyOf": results }) };
    let endings =
        ["done", "refused", "not_reached", "regressed", "refuted", "unfit", "interrupted", "failed", "bad_input"];
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let objects = json!({ "type": "array", "items": { "type": "object" } });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "ending": { "type": "string", "enum": endings, "description": "how it ended; `refused` is a result about the candidate, `failed` a fault of the environment" },
            "result": result,
            "evidence": {
                "type": ["object", "null"],
                "description": "what supports the verdict, and what was not checked; null where nothing is judged",
                "properties": {
                    "verdict": { "type": "string" },
                    "intervals": objects,
                    "n": { "type": ["integer", "null"] },
                    "refusals": objects,
                    "environment": { "type": "object" },
                    "not_checked": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                    "may_claim": { "type": "string" },
                },
                "required": ["verdict", "intervals", "n", "refusals", "environment", "not_checked", "may_claim"],
            },
            "errors": objects,
            "warnings": objects,
            "notes": strings,
        },
        "required": ["ending", "warnings", "notes"],
        "oneOf": [{ "required": ["result", "evidence"] }, { "required": ["errors"] }],
    });
    schema.as_object().cloned().unwrap_or_default()
}
