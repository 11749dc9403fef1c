//! Remarks of reviewers in words: who said what about what.

use jiff::tz::TimeZone;
use kiln_store::{Remark, RemarkSubject};
use serde_json::{Value, json};

use crate::words::time::{moment, stamp};
use crate::words::visible::visible;

/// Remarks under a heading; nothing where there are none.
pub fn remarks(all: &[Remark]) -> String {
    remarks_in(all, &TimeZone::system())
}

pub(crate) fn remarks_in(all: &[Remark], zone: &TimeZone) -> String {
    let one = |own: &Remark| {
        let about = match own.about {
            RemarkSubject::Lesson(_) => String::new(),
            _ => format!(" on {}", about(&own.about)),
        };
        let words = visible(&own.text).replace('\n', "\n    ");
        format!("  {}, {}{about}:\n    {words}\n", visible(&own.reviewer), moment(own.at_ms, zone))
    };
    let list: String = all.iter().map(one).collect();
    if list.is_empty() { list } else { format!("\nremarks\n{list}") }
}

/// `trial search 12`, `the decision`, a cause.
pub(crate) fn about(about: &RemarkSubject) -> String {
    match about {
        RemarkSubject::Trial(..) => format!("trial {}", about.part()),
        RemarkSubject::Decision(_) => "the decision".into(),
        RemarkSubject::Lesson(lesson) => format!("lesson {lesson}"),
        RemarkSubject::Cause(_, cause) => cause.clone(),
    }
}

/// Remarks for machines.
pub fn remarks_json(all: &[Remark]) -> Value {
    let one = |own: &Remark| {
        let (phase, number) = match &own.about {
            RemarkSubject::Trial(_, phase, number) => (Some(phase), Some(number)),
            _ => (None, None),
        };
        let cause = match &own.about {
            RemarkSubject::Cause(_, cause) => Some(cause),
            _ => None,
        };
        json!({
            "about": own.about.name(), "subject": own.about.subject(), "phase": phase, "number": number, "cause": cause,
            "reviewer": own.reviewer, "at": stamp(own.at_ms), "text": own.text,
        })
    };
    all.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_said_what_about_what() {
        let remark = |about: RemarkSubject| Remark {
            id: "r".into(),
            at_ms: 1_772_373_909_000,
            about,
            reviewer: "Ada".into(),
            text: "look\nagain \u{1b}[31m".into(),
            kiln_version: "0".into(),
        };
        let all = [
            remark(RemarkSubject::Trial("s".into(), "search".into(), 12)),
            remark(RemarkSubject::Decision("s".into())),
            remark(RemarkSubject::Lesson("hang".into())),
        ];
        assert_eq!(
            remarks_in(&all, &TimeZone::UTC),
            "\nremarks\n  Ada, 2026-03-01 14:05 on trial search 12:\n    look\n    again \\u{1b}[31m\n  Ada, 2026-03-01 14:05 on the \
             decision:\n    look\n    again \\u{1b}[31m\n  Ada, 2026-03-01 14:05:\n    look\n    again \\u{1b}[31m\n"
        );
        assert_eq!(remarks_in(&[], &TimeZone::UTC), "");
        assert_eq!(remarks_json(&all)[0]["number"], 12);
        assert_eq!(remarks_json(&all)[2]["phase"], Value::Null);
    }
}
