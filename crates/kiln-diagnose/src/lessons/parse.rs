//! A lesson file to a [`Lesson`]. In: the file's name and text. Out: the lesson. Refuses a file with mistakes and reports all
//! of them, each at its line with what was expected: text that is not TOML, unknown keys, names that are in no list, words
//! that are no regular expression, a symptom that says nothing, a lesson without cause or remedy.

mod reader;
mod symptom;

use kiln_core::Report;
use toml::de::DeTable;

use super::{Lesson, is_id};
use reader::{Entry, Reader, Table};

/// The keys of a file, and those of `[lesson]`.
const KEYS: &[&str] = &["id", "title", "symptom", "lesson"];
const LESSON_KEYS: &[&str] = &["cause", "remedy", "action", "tunable", "flag", "evidence", "saves"];

/// Reads a lesson. The file's name without `.toml` must be the lesson's `id`.
pub fn parse(file: &str, text: &str) -> Result<Lesson, Vec<Report>> {
    read(file, text, true)
}

/// The same; where the lesson is known to be good, its expressions are not tried.
pub(super) fn read(file: &str, text: &str, try_expressions: bool) -> Result<Lesson, Vec<Report>> {
    let reader = Reader::new(file, text, try_expressions);
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        reader.not_toml(error);
    }
    let lesson = errors.is_empty().then(|| of_file(&reader, &Table::root(document.get_ref()))).flatten();
    let reports = reader.reports();
    match lesson {
        Some(lesson) if reports.is_empty() => Ok(lesson),
        _ => Err(reports),
    }
}

fn of_file(reader: &Reader<'_>, root: &Table<'_>) -> Option<Lesson> {
    reader.known(root, KEYS);
    let id = reader.text(root, "id");
    if let (Some(id), Some(entry)) = (&id, root.get("id")) {
        named(reader, id, &entry);
    }
    let title = reader.text(root, "title");
    let cut = title.as_ref().is_some_and(|title| title.chars().any(char::is_control));
    if let Some(entry) = root.get("title").filter(|_| cut) {
        let report = Report::error("the title has more than one line").label("expected the lesson in a line");
        reader.add(entry.span(), report.hint("the rest belongs to `cause` or `remedy`"));
    }
    let symptoms = symptom::all(reader, root);
    let Some(entry) = root.get("lesson") else {
        reader.missing("[lesson]", "the table [lesson] with `cause` and `remedy`");
        return None;
    };
    let Some(own) = entry.table() else {
        reader.wrong(&entry, "a table");
        return None;
    };
    reader.known(&own, LESSON_KEYS);
    let optional = |key: &str| own.get(key).and_then(|entry| reader.string(&entry));
    // Both are read before either is missed, so that all mistakes are reported.
    let (cause, remedy) = (reader.text(&own, "cause"), reader.text(&own, "remedy"));
    Some(Lesson {
        id: id?,
        title: title?,
        symptoms,
        cause: cause?,
        remedy: remedy?,
        action: optional("action"),
        tunable: optional("tunable"),
        flag: optional("flag"),
        evidence: optional("evidence"),
        saves: optional("saves"),
    })
}

/// An id that is none, or another than the file's name.
fn named(reader: &Reader<'_>, id: &str, entry: &Entry<'_>) {
    if !is_id(id) {
        let expected = "lower-case letters, digits and underscores, at most 64, beginning with a letter";
        reader.add(entry.span(), Report::error(format!("`{id}` is no id")).label(format!("expected {expected}")));
    } else if reader.stem() != id {
        let report = Report::error(format!("the lesson `{id}` in a file of another name"));
        reader.add(
            entry.span(),
            report.label(format!("expected \"{}\"", reader.stem())).hint("rename the file or the lesson"),
        );
    }
}

#[cfg(test)]
mod tests;
