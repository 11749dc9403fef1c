//! The lesson beside a result: one line, and where to read on.

use kiln_app::{LessonCount, Taught};
use serde_json::{Value, json};

use crate::words::number::stretch;
use crate::words::visible::visible;

/// `lesson: TITLE (kiln lessons show ID)`, and below it how often it was met here.
pub fn lesson_line(lesson: &Taught) -> String {
    let line = format!("lesson: {} (kiln lessons show {})\n", visible(&lesson.title), visible(&lesson.id));
    line + &lesson.here.as_ref().map_or(String::new(), |count| format!("  {}\n", met_here(count)))
}

/// `met 3 times here, put right 2 times, in 12 min 00 s (median)`.
pub(crate) fn met_here(count: &LessonCount) -> String {
    let times = |n: usize| if n == 1 { "once".to_string() } else { format!("{n} times") };
    let met = format!("met {} here", times(count.met));
    match (count.worked, count.median_s) {
        (0, _) | (_, None) => format!("{met}, not put right yet"),
        (1, Some(seconds)) => format!("{met}, put right once, in {}", stretch(seconds)),
        (worked, Some(seconds)) => format!("{met}, put right {}, in {} (median)", times(worked), stretch(seconds)),
    }
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
        let title = "It\u{1b}[31m does not end".to_string();
        let lesson = Taught { id: "hang".into(), title, remedy: "".into(), action: None, here: None };
        assert_eq!(lesson_line(&lesson), "lesson: It\\u{1b}[31m does not end (kiln lessons show hang)\n");
        let count = |met, worked, median_s| Some(LessonCount { met, worked, median_s });
        let said = |here| lesson_line(&Taught { here, ..lesson.clone() }).lines().nth(1).map(String::from);
        assert_eq!(
            said(count(3, 2, Some(720.0))).unwrap(),
            "  met 3 times here, put right 2 times, in 12 min 00 s (median)"
        );
        assert_eq!(said(count(2, 0, None)).unwrap(), "  met 2 times here, not put right yet");
        assert_eq!(said(None), None);
        assert_eq!(taught(json!({ "passed": false }), Some(&lesson))["lesson"]["id"], "hang");
        assert_eq!(with_lesson(true, json!({ "passed": true }), String::new(), None), "{\"passed\":true}\n");
        assert!(with_lesson(false, json!({}), "refused\n".into(), Some(&lesson)).starts_with("refused\nlesson: It"));
    }
}
