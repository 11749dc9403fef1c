//! `kiln lessons`: what was learned, and how to add to it.

use std::io::Read;

use kiln_app::{
    AddLessonRequest, Ending, Ends, Failure, Fault, Project, RemarkSubject, Report, Utf8Path, add_lesson,
    export_lessons, gain_calibration, import_lessons, lesson_count, lesson_file, lessons, remarks_about, retire_lesson,
    show_lesson,
};
use kiln_show::{GainCalibrationView, LessonView, LessonsView, remarks, remarks_json};
use serde_json::{Value, json};

use crate::args::{AddLessonArgs, LessonsArgs, LessonsVerb};
use crate::output;

pub(crate) fn run(project: &Project, args: &LessonsArgs) -> Result<Ending, Failure> {
    let tell = |object: Value, text: String| output::data(&if args.json { format!("{object}\n") } else { text });
    if args.calibration {
        if args.verb.is_some() {
            let report = Report::error("--calibration is about all outcomes: it takes no subcommand");
            return Err(report.hint("kiln lessons --calibration").into());
        }
        let found = gain_calibration(project)?;
        let view = GainCalibrationView { calibration: &found, leave_out: args.leave_out };
        tell(view.json(), view.to_string())?;
        return Ok(found.ending());
    }
    match args.verb.as_ref().unwrap_or(&LessonsVerb::List) {
        LessonsVerb::List => listed(project, &[], args.json)?,
        LessonsVerb::Search { words } => listed(project, words, args.json)?,
        LessonsVerb::Show { id, toml } => {
            let kept = show_lesson(project, id)?;
            let here = lesson_count(project, id);
            let view = LessonView { kept: &kept, here: here.as_ref() };
            let said = remarks_about(project, &RemarkSubject::Lesson(kept.lesson.id.clone()))?;
            let mut object = view.json();
            object["remarks"] = remarks_json(&said);
            tell(object, if *toml { lesson_file(&kept.lesson) } else { format!("{view}{}", remarks(&said)) })?;
        }
        LessonsVerb::Add(own) => {
            let added = add_lesson(project, &request(own)?)?;
            let replaces = added.replaces.map(|origin| origin.name());
            let object = json!({
                "id": added.id, "file": added.file.as_str(), "lacks": added.lacks, "replaces": replaces,
            });
            let next = if added.lacks.is_empty() { "" } else { "; not used before it is complete:" };
            tell(object, format!("wrote {}{next}\n", added.file))?;
            if let Some(origin) = replaces {
                output::note(&format!("it replaces the {origin} lesson `{}` here; --id names another", added.id));
            }
            if !args.json {
                output::warnings(&added.lacks);
            }
        }
        LessonsVerb::Export { file, ids, force } => {
            let written = export_lessons(project, file, ids, *force)?;
            let noun = if written.ids.len() == 1 { "lesson" } else { "lessons" };
            tell(
                json!({ "file": file.as_str(), "exported": written.ids, "left_out": written.left_out }),
                format!("wrote {} {noun} to {file}\n", written.ids.len()),
            )?;
            output::warnings(&written.left_out);
        }
        LessonsVerb::Import { file, replace } => {
            let taken = import_lessons(project, file, *replace)?;
            let line = |one: &kiln_app::ImportedLesson| {
                format!("{} {}\n", if one.known { "already here:" } else { "imported" }, one.id)
            };
            tell(json!({ "imported": taken }), taken.iter().map(line).collect())?;
        }
        LessonsVerb::Retire { id, because, .. } => {
            let file = retire_lesson(project, id, because.as_deref())?;
            let done = if because.is_some() { "retired" } else { "shown again" };
            tell(json!({ "id": id, "retired": because, "file": file.as_str() }), format!("{done}: {id}\n"))?;
        }
    }
    Ok(Ending::Done)
}

fn listed(project: &Project, words: &[String], json: bool) -> Result<(), Failure> {
    let found = lessons(project, words);
    output::warnings(&found.mistakes);
    let view = LessonsView { found: &found.found };
    output::data(&if json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(())
}

fn request(args: &AddLessonArgs) -> Result<AddLessonRequest, Failure> {
    let read = |file: &Utf8Path| -> Result<String, Failure> {
        let mut text = String::new();
        match file.as_str() {
            "-" => std::io::stdin().lock().read_to_string(&mut text)?,
            _ => {
                let read = std::fs::File::open(file).and_then(|mut open| open.read_to_string(&mut text));
                read.map_err(|error| Fault::new(format!("reading {file} for --from-refusal"), error))?
            }
        };
        Ok(text)
    };
    Ok(AddLessonRequest {
        id: args.id.clone(),
        title: args.title.clone(),
        cause: args.cause.clone(),
        remedy: args.remedy.clone(),
        action: args.action.clone(),
        evidence: args.evidence.clone(),
        gates: args.gates.clone(),
        texts: args.texts.clone(),
        causes: args.causes.clone(),
        findings: args.findings.clone(),
        from_last: args.from_last.clone(),
        from_refusal: args.from_refusal.as_deref().map(read).transpose()?,
        replace: args.replace,
    })
}
