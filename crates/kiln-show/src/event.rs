//! Events as text: a line of JSON for machines, and where nothing but remarks is shown, those for people.

use kiln_app::{Event, What};

/// One line of JSON, without its end. docs/json.md describes it.
pub fn event_line(event: &Event) -> String {
    serde_json::json!(event).to_string()
}

/// What a warning, a note or a sign of life says; nothing for all other events.
pub fn remark(event: &Event) -> Option<String> {
    match &event.what {
        // A blank line after each: it may have several lines itself.
        What::Warning { report } => Some(format!("{report}\n")),
        What::Note { text } => Some(format!("note: {text}")),
        What::Silence { doing, seconds } => Some(format!("still {doing} after {seconds:.0} s")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_says_what_is_being_done() {
        let what = What::Silence { doing: "compiling LANES=8".into(), seconds: 60.2 };
        let event = Event { at_ms: 0, study: None, what };
        assert_eq!(remark(&event).as_deref(), Some("still compiling LANES=8 after 60 s"));
    }
}
