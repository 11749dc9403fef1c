//! A lesson as the file it is read from.

use super::{Lesson, Pattern, Range, Words};

/// The text of its file.
pub fn write(lesson: &Lesson) -> String {
    let mut text = format!("id = {}\ntitle = {}\n", quoted(&lesson.id), quoted(&lesson.title));
    lesson.symptoms.iter().for_each(|pattern| text.push_str(&symptom(pattern)));
    text.push_str("\n[lesson]\n");
    let mut line = |key: &str, value: Option<&String>| {
        if let Some(value) = value {
            text.push_str(&format!("{key} = {}\n", quoted(value)));
        }
    };
    line("cause", Some(&lesson.cause));
    line("remedy", Some(&lesson.remedy));
    line("action", lesson.action.as_ref());
    line("tunable", lesson.tunable.as_ref());
    line("flag", lesson.flag.as_ref());
    line("evidence", lesson.evidence.as_ref());
    line("saves", lesson.saves.as_ref());
    text
}

fn symptom(pattern: &Pattern) -> String {
    let mut text = String::from("\n[[symptom]]\n");
    let mut list = |key: &str, values: Vec<&str>| {
        if !values.is_empty() {
            let values: Vec<String> = values.into_iter().map(quoted).collect();
            text.push_str(&format!("{key} = [{}]\n", values.join(", ")));
        }
    };
    list("gate", pattern.gate.iter().map(|gate| gate.name()).collect());
    list("rule", pattern.rule.iter().map(Words::source).collect());
    list("text", pattern.text.iter().map(Words::source).collect());
    list("causes", pattern.causes.iter().map(String::as_str).collect());
    list("findings", pattern.findings.iter().map(String::as_str).collect());
    list("habits", pattern.habits.iter().map(|habit| habit.id()).collect());
    list("arch", pattern.arch.iter().map(String::as_str).collect());
    list("kinds", pattern.kinds.iter().map(String::as_str).collect());
    if !pattern.metrics.is_empty() {
        text.push_str("[symptom.metrics]\n");
    }
    for (name, Range { above, below }) in &pattern.metrics {
        let ends = [("above", above), ("below", below)];
        let ends: Vec<String> = ends.iter().filter_map(|(key, end)| Some(format!("{key} = {:?}", (**end)?))).collect();
        text.push_str(&format!("{} = {{ {} }}\n", quoted(name), ends.join(", ")));
    }
    text
}

/// A TOML string. Expressions read better between apostrophes, which keep backslashes.
fn quoted(text: &str) -> String {
    let plain = |c: char| !c.is_control() && c != '\'';
    if text.contains(['\\', '"']) && text.chars().all(plain) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
