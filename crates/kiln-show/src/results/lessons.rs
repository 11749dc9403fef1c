//! Lessons in words and as JSON: a list of them, or one with everything it says.

use std::fmt;

use kiln_app::{KeptLesson, Lesson, LessonCount, LessonPattern, LessonRange};
use serde_json::{Value, json};

use crate::words::lesson::met_here;
use crate::words::table::{Align, lines};
use crate::words::visible::visible;

/// Everything `kiln lessons` lists.
pub struct LessonsView<'a> {
    /// The lessons.
    pub found: &'a [KeptLesson],
}

/// Everything `kiln lessons show` says.
pub struct LessonView<'a> {
    /// The lesson.
    pub kept: &'a KeptLesson,
    /// How often it was met in this project; none where it never was, and in a list.
    pub here: Option<&'a LessonCount>,
}

impl LessonsView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!({ "lessons": self.found.iter().map(|kept| LessonView { kept, here: None }.json()).collect::<Vec<_>>() })
    }
}

impl LessonView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let KeptLesson { lesson, origin, retired } = self.kept;
        let mut object = json!({
            "id": lesson.id,
            "title": lesson.title,
            "origin": origin,
            "retired": retired,
            "symptoms": lesson.symptoms.iter().map(pattern).collect::<Vec<_>>(),
            "cause": lesson.cause,
            "remedy": lesson.remedy,
            "action": lesson.action,
            "tunable": lesson.tunable,
            "flag": lesson.flag,
            "evidence": lesson.evidence,
            "saves": lesson.saves,
        });
        if let Some(here) = self.here {
            object["here"] = json!(here);
        }
        object
    }
}

/// What a symptom states, without what it does not.
fn pattern(own: &LessonPattern) -> Value {
    let words = |all: &[_]| all.iter().map(kiln_app::LessonWords::source).map(Value::from).collect::<Vec<_>>();
    let ends = |range: &LessonRange| json!({ "above": range.above, "below": range.below });
    let metrics: serde_json::Map<String, Value> =
        own.metrics.iter().map(|(name, range)| (name.clone(), ends(range))).collect();
    let all = json!({
        "gate": own.gate,
        "rule": words(&own.rule),
        "text": words(&own.text),
        "causes": own.causes,
        "findings": own.findings,
        "habits": own.habits,
        "arch": own.arch,
        "kinds": own.kinds,
        "metrics": metrics,
    });
    let stated = |value: &Value| {
        value.as_array().is_some_and(|list| !list.is_empty()) || value.as_object().is_some_and(|map| !map.is_empty())
    };
    let Value::Object(all) = all else { return Value::Null };
    Value::Object(all.into_iter().filter(|(_, value)| stated(value)).collect())
}

impl fmt::Display for LessonsView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            return writeln!(f, "no lesson has all these words; `kiln lessons` lists them all");
        }
        let row = |kept: &KeptLesson| {
            let state = if kept.retired.is_some() { "retired" } else { kept.origin.name() };
            vec![kept.lesson.id.clone(), state.to_string(), visible(&kept.lesson.title).into_owned()]
        };
        let rows: Vec<Vec<String>> = self.found.iter().map(row).collect();
        f.write_str(&lines(&rows, &[Align::Left; 3]))?;
        let noun = if rows.len() == 1 { "lesson" } else { "lessons" };
        writeln!(f, "\n{} {noun}; `kiln lessons show ID` shows one", rows.len())
    }
}

impl fmt::Display for LessonView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KeptLesson { lesson, origin, retired } = self.kept;
        writeln!(f, "{}\n  {} ({})", visible(&lesson.title), lesson.id, origin.name())?;
        if let Some(reason) = retired {
            writeln!(f, "  retired: {}", visible(reason))?;
        }
        let Lesson { cause, remedy, action, tunable, flag, evidence, saves, .. } = lesson;
        let parts = [
            ("cause", Some(cause)),
            ("remedy", Some(remedy)),
            ("command", action.as_ref()),
            ("tunable", tunable.as_ref()),
            ("flag", flag.as_ref()),
            ("evidence", evidence.as_ref()),
            ("saves", saves.as_ref()),
        ];
        for (name, words) in parts {
            if let Some(words) = words {
                writeln!(f, "\n{name}\n  {}", visible(words))?;
            }
        }
        if let Some(here) = self.here {
            writeln!(f, "\nhere\n  {}", met_here(here))?;
        }
        writeln!(f, "\nmatches")?;
        for own in &lesson.symptoms {
            let Value::Object(stated) = pattern(own) else { continue };
            let parts: Vec<String> = stated.iter().map(|(key, value)| format!("{key} {}", in_words(value))).collect();
            writeln!(f, "  {}", visible(&parts.join("; ")))?;
        }
        Ok(())
    }
}

/// A list's entries behind each other, a range's ends with their signs.
fn in_words(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join(" | "),
        Value::Object(map) => {
            let range = |(name, range): (&String, &Value)| {
                let end =
                    |key: &str, sign: &str| range[key].as_f64().map(|end| format!(" {sign} {end}")).unwrap_or_default();
                format!("{name}{}{}", end("above", ">"), end("below", "<"))
            };
            map.iter().map(range).collect::<Vec<_>>().join(", ")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
