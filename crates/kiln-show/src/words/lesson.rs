//! The lesson beside a result: one line, and where to read on.

use kiln_app::Taught;
use serde_json::{Value, json};

use crate::words::visible::visible;

/// `lesson: TITLE (kiln lessons show ID)`.
pub fn lesson_line(lesson: &Taught) -> String {
    format!("lesson: {} (kiln lessons show {})\n", visible(&lesson.title), visible(&lesson.id))
}

/// The object with the lesson under `lesson`, where there is one.
pub fn taught(mut object: Value, lesson: Option<&Taught>) -> Value {
    if let (Some(lesson), Some(map)) = (lesson, object.as_object_mut()) {
        map.insert("lesson".into(), json!(lesson));
    }
    object
}

/// A result as it is printed, for machines or for people, with its lesson last.
pub fn with_lesson(for_machines: bool, object: Value, text: String, lesson: Option<&Taught>) -> String {
    match for_machines {
        true => format!("{}\n", taught(object, lesson)),
        false => text + &lesson.map(lesson_line).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_one_line_whatever_it_holds() {
        let lesson =
            Taught { id: "hang".into(), title: "It\u{1b}[31m does not end".into(), remedy: "".into(), action: None };
        assert_eq!(lesson_line(&lesson), "lesson: It\\u{1b}[31m does not end (kiln lessons show hang)\n");
        assert_eq!(taught(json!({ "passed": false }), Some(&lesson))["lesson"]["id"], "hang");
        assert_eq!(with_lesson(true, json!({ "passed": true }), String::new(), None), "{\"passed\":true}\n");
        assert!(with_lesson(false, json!({}), "refused\n".into(), Some(&lesson)).starts_with("refused\nlesson: It"));
    }
}
