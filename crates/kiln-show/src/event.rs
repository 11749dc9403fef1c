//! Events as text: a line of JSON for machines, and where nothing but remarks is shown, those for people.

use kiln_app::{Event, What};

/// One line of JSON, without its end. docs/json.md describes it.
pub fn event_line(event: &Event) -> String {
    serde_json::json!(event).to_string()
}

/// What a warning or a note says; nothing for all other events.
pub fn remark(event: &Event) -> Option<String> {
    match &event.what {
        // A blank line after each: it may have several lines itself.
        What::Warning { report } => Some(format!("{report}\n")),
        What::Note { text } => Some(format!("note: {text}")),
        _ => None,
    }
}
