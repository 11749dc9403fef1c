//! `lessons_search` and `lessons_show`: what was learned from failures.

use kiln_app::{Failure, RemarkSubject, lesson_count, lessons, remarks_about, show_lesson};
use kiln_show::{LessonView, LessonsView, remarks_json};

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may, must};
use crate::mcp::tool::{Call, Effect, Tool, never};

pub(in crate::mcp) static SEARCH: Tool = Tool {
    name: "lessons_search",
    title: "Find lessons",
    about: "Finds lessons that have all these words, such as part of an error message, the best first; without words it lists all. A lesson is what helped \
            elsewhere: try it, then check and bench as after any change.",
    arguments: &[&[
        may("words", Kind::Texts(20, 200), "words that the lesson has"),
        may("limit", Kind::Whole(1, 200, Some(20)), "lessons at most"),
    ]],
    answers: &["kiln lessons"],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run: search,
};

pub(in crate::mcp) static SHOW: Tool = Tool {
    name: "lessons_show",
    title: "Show one lesson",
    about: "Shows one lesson: cause, remedy, command, evidence, what it matches, and how often it was met and put right here.",
    arguments: &[&[must("id", Kind::Text(200), "the lesson's id, as it stands beside a failure")]],
    answers: &["kiln lessons show"],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run: show,
};

fn search(call: &Call<'_>) -> Result<Answer, Failure> {
    let mut found = lessons(call.project, &call.given.texts("words")).found;
    found.truncate(call.given.whole("limit").unwrap_or(20));
    Ok(Answer::found(LessonsView { found: &found }.json()))
}

fn show(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = call.given.words("id");
    let kept = show_lesson(call.project, &id)?;
    let here = lesson_count(call.project, &id);
    let mut object = LessonView { kept: &kept, here: here.as_ref() }.json();
    object["remarks"] = remarks_json(&remarks_about(call.project, &RemarkSubject::Lesson(id))?);
    Ok(Answer::found(object))
}
