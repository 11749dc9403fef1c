//! A new lesson of the project's own. In: what is known of it, and where there was one the refusal it comes from. Out: its
//! file, to be completed by hand where cause or remedy are missing: such a file is kept, reported and not used. Refuses a
//! name that is taken, and a refusal that cannot be read.

use camino::Utf8PathBuf;
use kiln_core::{Gate, Refusal, Report, Severity};
use kiln_diagnose::lessons::{Lesson, Origin, is_id, parse, write};
use serde_json::Value;

use super::general::{first_line, generalised, titled};
use super::last::filled;
use super::put;
use crate::failure::Failure;
use crate::lessons::Shelf;
use crate::project::Project;

/// What is known of a new lesson.
#[derive(Debug, Clone, Default)]
pub struct AddLessonRequest {
    /// Its name; made from the title when none.
    pub id: Option<String>,
    /// The lesson in a line.
    pub title: Option<String>,
    /// Why it happens.
    pub cause: Option<String>,
    /// What to do.
    pub remedy: Option<String>,
    /// A command that helps.
    pub action: Option<String>,
    /// Where it was seen.
    pub evidence: Option<String>,
    /// The gate that refuses.
    pub gates: Vec<String>,
    /// Regular expressions of what is said.
    pub texts: Vec<String>,
    /// Causes of diagnoses.
    pub causes: Vec<String>,
    /// Findings of the doctor.
    pub findings: Vec<String>,
    /// What a command with `--json` printed: the first refusal in it is the symptom.
    pub from_refusal: Option<String>,
    /// Fill in from the last failure of this kernel that was put right; empty for the newest of any kernel.
    pub from_last: Option<String>,
    /// Replace a lesson of the same name.
    pub replace: bool,
}

/// A lesson that was written.
#[derive(Debug, Clone)]
pub struct AddedLesson {
    /// Its name.
    pub id: String,
    /// Its file.
    pub file: Utf8PathBuf,
    /// What it lacks before it is used.
    pub lacks: Vec<Report>,
    /// Whose lesson of that name it takes the place of here; none where there was none.
    pub replaces: Option<Origin>,
}

/// Writes a new lesson.
pub fn add_lesson(project: &Project, request: &AddLessonRequest) -> Result<AddedLesson, Failure> {
    let refusal = request.from_refusal.as_deref().map(refusal).transpose()?;
    let last = request.from_last.as_deref().map(|kernel| filled(project, kernel, request)).transpose()?;
    let request = last.as_ref().unwrap_or(request);
    let title = request.title.clone().or_else(|| refusal.as_ref().map(titled));
    let Some(title) = title else {
        return Err(Report::error("a lesson needs --title")
            .hint("or --from-refusal FILE, from what --json printed, or --from-last after a failure was put right")
            .into());
    };
    let id = request.id.clone().unwrap_or_else(|| named(&title));
    if !is_id(&id) {
        let expected = "expected lower-case letters, digits and underscores, beginning with a letter";
        return Err(Report::error(format!("`{id}` is no id")).label(expected).hint("name it with --id").into());
    }
    let shelf = Shelf::open(project);
    let replaces = shelf.library.get(&id).map(|kept| kept.origin).filter(|origin| *origin != Origin::Own);
    let file = shelf.folder.join(format!("{id}.toml"));
    if file.exists() && !request.replace {
        return Err(Report::error(format!("{file} is there already"))
            .hint("--id names another, --replace replaces it")
            .into());
    }
    let text = drafted(&id, &title, request, refusal.as_ref());
    let lacks = match parse(file.as_str(), &text) {
        Ok(_) => Vec::new(),
        // What was typed must be right; what is still missing may be filled in later.
        Err(reports) if reports.iter().all(is_missing) => {
            reports.into_iter().map(|report| Report { severity: Severity::Warning, ..report }).collect()
        }
        Err(reports) => return Err(reports.into_iter().map(typed).collect::<Vec<Report>>().into()),
    };
    put(&file, &text)?;
    Ok(AddedLesson { id, file, lacks, replaces })
}

/// A mistake where it was typed: the file that it would stand in is not written.
fn typed(report: Report) -> Report {
    let key = report.place.as_ref().and_then(|place| place.text.split('=').next()).map(str::trim);
    let flag = match key {
        Some("gate") => "--gate",
        Some("text") => "--text",
        Some("causes") => "--diagnosed",
        Some("findings") => "--finding",
        _ => return Report { place: None, ..report },
    };
    let label = match flag {
        "--gate" => {
            let all: Vec<&str> = Gate::ALL.iter().map(|gate| gate.name()).collect();
            format!("expected one of {}", all.join(", "))
        }
        _ => report.label,
    };
    Report { message: format!("{flag}: {}", report.message), place: None, label, ..report }
}

fn is_missing(report: &Report) -> bool {
    report.message.ends_with(" is empty") || report.message.contains("a symptom that every failure has")
}

/// The file, with empty strings where something is to be filled in.
fn drafted(id: &str, title: &str, request: &AddLessonRequest, refusal: Option<&Refusal>) -> String {
    let words = |text: &Option<String>| text.clone().unwrap_or_default();
    let lesson = Lesson {
        id: id.into(),
        title: title.into(),
        symptoms: Vec::new(),
        cause: words(&request.cause),
        remedy: words(&request.remedy),
        action: request.action.clone(),
        tunable: None,
        flag: None,
        evidence: request.evidence.clone().or_else(|| refusal.map(seen)),
        saves: None,
    };
    let mut gates = request.gates.clone();
    let mut texts = request.texts.clone();
    if let Some(refusal) = refusal {
        gates.push(refusal.gate.name().into());
        texts.push(generalised(&first_line(&refusal.measured, 200)));
    }
    let list = |key: &str, values: &[String]| match values {
        [] => String::new(),
        values => format!("{key} = {}\n", Value::from(values.to_vec())),
    };
    let symptom = [
        list("gate", &gates),
        list("text", &texts),
        list("causes", &request.causes),
        list("findings", &request.findings),
    ];
    let whole = write(&lesson);
    let (head, rest) = whole.split_once("\n[lesson]").unwrap_or((&whole, ""));
    format!("{head}\n[[symptom]]\n{}\n[lesson]{rest}", symptom.concat())
}

/// The one case.
fn seen(refusal: &Refusal) -> String {
    let rule = if refusal.rule.is_empty() { String::new() } else { format!(" ({})", refusal.rule) };
    let limit = if refusal.limit.is_empty() { String::new() } else { format!(", expected {}", refusal.limit) };
    format!("Refused by {}{rule}: {}{limit}.", refusal.gate, first_line(&refusal.measured, 200))
}

/// The first refusal in what a command printed as JSON.
fn refusal(text: &str) -> Result<Refusal, Failure> {
    let wrong = |why: String| {
        Report::error(format!("--from-refusal: {why}"))
            .hint("pass what `kiln gate --json` or `kiln check --json` printed")
    };
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(format!("this is not JSON: {error}")))?;
    Ok(within(&value).ok_or_else(|| wrong("there is no refusal in it".into()))?)
}

fn within(value: &Value) -> Option<Refusal> {
    match value {
        Value::Object(map) if map.contains_key("gate") && map.contains_key("measured") => {
            serde_json::from_value(value.clone()).ok()
        }
        Value::Object(map) => map.values().find_map(within),
        Value::Array(items) => items.iter().find_map(within),
        _ => None,
    }
}

/// A name from a title.
fn named(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let words: String = title.chars().map(plain).collect();
    let words: Vec<&str> =
        words.split_whitespace().skip_while(|word| word.starts_with(|c: char| c.is_ascii_digit())).take(6).collect();
    words.join("_").chars().take(48).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_from_a_title() {
        assert_eq!(named("16-byte copies need Rows!"), "byte_copies_need_rows");
    }

    #[test]
    fn the_first_refusal_is_found_anywhere() {
        let text = r#"{"passed":false,"ladder":{"refusal":{"gate":"numerics","rule":"y","measured":"y[0] is 3","limit":"2","evidence":""}}}"#;
        assert_eq!(refusal(text).unwrap().gate.name(), "numerics");
        assert!(refusal("{}").unwrap_err().to_string().contains("there is no refusal in it"));
        assert!(refusal("nonsense").unwrap_err().to_string().contains("this is not JSON"));
    }

    #[test]
    fn a_mistake_names_the_flag_and_a_lesson_that_is_taken_the_place_of_is_named() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(keep.path().into()).unwrap();
        let project = Project::here(None, crate::project::Stop::never()).in_folder(&folder);
        let words = |text: &str| Some(text.to_string());
        let known = AddLessonRequest {
            id: words("ours"),
            title: words("Ours"),
            cause: words("c"),
            remedy: words("r"),
            texts: vec!["zebra".into()],
            ..AddLessonRequest::default()
        };
        let wrong = AddLessonRequest { gates: vec!["nogate".into()], ..known.clone() };
        let said = add_lesson(&project, &wrong).unwrap_err().to_string();
        assert!(said.contains("error: --gate: there is no gate `nogate`") && !said.contains(".toml"), "{said}");
        assert!(said.contains("expected one of") && said.contains("build_failed"), "{said}");
        assert_eq!(add_lesson(&project, &known).unwrap().replaces, None);
        let shipped = AddLessonRequest { id: words("hang"), ..known };
        assert_eq!(add_lesson(&project, &shipped).unwrap().replaces, Some(Origin::Shipped));
    }
}
