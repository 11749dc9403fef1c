//! A new lesson of the project's own. In: what is known of it, and where there was one the refusal it comes from. Out: its
//! file, to be completed by hand where cause or remedy are missing: such a file is kept, reported and not used. Refuses a
//! name that is taken, and a refusal that cannot be read.

use camino::Utf8PathBuf;
use kiln_core::{Refusal, Report, Severity};
use kiln_diagnose::lessons::{Lesson, is_id, parse, write};
use serde_json::Value;

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
}

/// Writes a new lesson.
pub fn add_lesson(project: &Project, request: &AddLessonRequest) -> Result<AddedLesson, Failure> {
    let refusal = request.from_refusal.as_deref().map(refusal).transpose()?;
    let last = request.from_last.as_deref().map(|kernel| filled(project, kernel, request)).transpose()?;
    let request = last.as_ref().unwrap_or(request);
    let title = request
        .title
        .clone()
        .or_else(|| refusal.as_ref().map(|refusal| first_line(after_the_place(&refusal.measured), 80)));
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
    let file = Shelf::open(project).folder.join(format!("{id}.toml"));
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
        Err(reports) => return Err(reports.into()),
    };
    put(&file, &text)?;
    Ok(AddedLesson { id, file, lacks })
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
        evidence: request.evidence.clone(),
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

pub(super) fn first_line(text: &str, most: usize) -> String {
    text.lines().next().unwrap_or_default().chars().take(most).collect()
}

/// What follows the place of `k.cu(12): error: ...` or `k.c:12:3: error: ...`.
pub(super) fn after_the_place(words: &str) -> &str {
    let marks = ["error: ", "error   : ", "Error: "];
    marks.iter().find_map(|mark| words.split_once(mark)).map_or(words, |(_, rest)| rest)
}

/// Any number: with a sign, decimals, an exponent, or without.
const NUMBER: &str = r"[-+]?\d+(\.\d+)*(e[-+]?\d+)?";

/// An expression for the same words with other numbers and in another file.
pub(super) fn generalised(words: &str) -> String {
    let letters: Vec<char> = after_the_place(words).trim().chars().collect();
    let (mut expression, mut at) = (String::new(), 0);
    while at < letters.len() {
        let before = at.checked_sub(1).map(|place| letters[place]);
        // What is part of a name, such as f32, or a place in a tensor has neither sign nor decimals.
        let in_name = before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let in_brackets = before == Some('[');
        let hex =
            if letters[at..].starts_with(&['0', 'x']) { run(&letters[at + 2..], char::is_ascii_hexdigit) } else { 0 };
        if hex > 0 && !in_name {
            at += 2 + hex;
            expression.push_str("0x[0-9a-f]+");
        } else if let Some(length) = number(&letters[at..]).filter(|_| !(in_name || in_brackets)) {
            at += length;
            expression.push_str(NUMBER);
        } else if letters[at].is_ascii_digit() {
            at += run(&letters[at..], char::is_ascii_digit);
            expression.push_str("\\d+");
        } else {
            if "\\.+*?()|[]{}^$#&-~".contains(letters[at]) {
                expression.push('\\');
            }
            expression.push(letters[at]);
            at += 1;
        }
    }
    expression
}

/// How many letters from the first on are of a kind.
fn run(letters: &[char], of: impl Fn(&char) -> bool) -> usize {
    letters.iter().take_while(|letter| of(letter)).count()
}

/// How many letters the number takes with which these begin; none where they begin with none.
fn number(letters: &[char]) -> Option<usize> {
    let digits = |at: usize| run(letters.get(at..).unwrap_or_default(), char::is_ascii_digit);
    let is = |at: usize, any: &[char]| letters.get(at).is_some_and(|letter| any.contains(letter));
    let mut at = usize::from(is(0, &['-', '+']));
    if digits(at) == 0 {
        return None;
    }
    at += digits(at);
    while is(at, &['.']) && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    let exponent = at + 1 + usize::from(is(at + 1, &['-', '+']));
    if is(at, &['e', 'E']) && digits(exponent) > 0 {
        at = exponent + digits(exponent);
    }
    Some(at)
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
    use kiln_diagnose::lessons::{Library, Origin, Symptoms};

    #[test]
    fn words_are_made_general() {
        let said = "k.cu(12): error: static assertion failed with \"TILE (48)\"";
        assert_eq!(generalised(said), format!("static assertion failed with \"TILE \\({NUMBER}\\)\""));
        assert_eq!(generalised("183296 bytes of shared memory"), format!("{NUMBER} bytes of shared memory"));
        assert_eq!(generalised("f32 at y[12] is 0x7fc00000"), "f32 at y\\[\\d+\\] is 0x[0-9a-f]+");
        assert_eq!(named("16-byte copies need Rows!"), "byte_copies_need_rows");
    }

    #[test]
    fn numbers_with_signs_decimals_and_exponents_are_numbers() {
        let said = |value: &str| format!("y[7] is {value}, expected 2 (16-byte rows, cuda 13.0.1)");
        let file = |value: &str| {
            let text = generalised(&said(value));
            let text = Value::from(vec![text]);
            format!("id = \"n\"\ntitle = \"T\"\n[[symptom]]\ntext = {text}\n[lesson]\ncause = \"c\"\nremedy = \"r\"\n")
        };
        let values = ["3", "-1.5e-3", "2.25", "+4E10", "1e-06", "-0"];
        for value in values {
            let lesson = parse("n.toml", &file(value)).unwrap();
            let library = Library::new(vec![(lesson, Origin::Own)], |_| None);
            for other in values {
                let seen = Symptoms { text: said(other), ..Symptoms::default() };
                let best = library.best(&seen).map(|own| own.lesson.id.clone());
                assert_eq!(best.as_deref(), Some("n"), "{value} {other}: {}", generalised(&said(value)));
            }
            assert!(library.best(&Symptoms { text: said("nan"), ..Symptoms::default() }).is_none());
        }
    }

    #[test]
    fn the_first_refusal_is_found_anywhere() {
        let text = r#"{"passed":false,"ladder":{"refusal":{"gate":"numerics","rule":"y","measured":"y[0] is 3","limit":"2","evidence":""}}}"#;
        assert_eq!(refusal(text).unwrap().gate.name(), "numerics");
        assert!(refusal("{}").unwrap_err().to_string().contains("there is no refusal in it"));
        assert!(refusal("nonsense").unwrap_err().to_string().contains("this is not JSON"));
    }
}
