//! Values of the file, read as the type that is wanted; whatever is wrong is collected with its place.

use std::cell::RefCell;

use kiln_core::{Place, Report, Span, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// More errors than this help nobody.
const MOST_ERRORS: usize = 20;

/// The file, and what is wrong with it so far.
pub(super) struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    /// Whether expressions are tried.
    pub(super) try_expressions: bool,
    found: RefCell<Vec<(usize, Report)>>,
}

/// A table and what it is called in messages; the root has no name.
pub(super) struct Table<'a> {
    name: String,
    table: &'a DeTable<'a>,
}

/// A value under a key.
pub(super) struct Entry<'a> {
    pub(super) name: String,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Table<'a> {
    pub(super) fn root(table: &'a DeTable<'a>) -> Table<'a> {
        Table { name: String::new(), table }
    }

    pub(super) fn get(&self, key: &str) -> Option<Entry<'a>> {
        let value = self.table.get(key)?;
        Some(Entry { name: self.called(key), value })
    }

    /// Every entry, in the order of their names.
    pub(super) fn entries(&self) -> impl Iterator<Item = (String, Entry<'a>)> {
        let named = |key: &Spanned<std::borrow::Cow<'_, str>>| key.get_ref().to_string();
        self.table.iter().map(move |(key, value)| (named(key), Entry { name: self.called(key.get_ref()), value }))
    }

    fn called(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_string() } else { format!("{}.{key}", self.name) }
    }
}

impl<'a> Entry<'a> {
    pub(super) fn span(&self) -> Span {
        self.value.span()
    }

    pub(super) fn table(&self) -> Option<Table<'a>> {
        let DeValue::Table(table) = self.value.get_ref() else { return None };
        Some(Table { name: self.name.clone(), table })
    }

    /// The entries of a list.
    pub(super) fn list(&self) -> Option<Vec<Entry<'a>>> {
        let DeValue::Array(items) = self.value.get_ref() else { return None };
        Some(items.iter().map(|value| Entry { name: self.name.clone(), value }).collect())
    }

    /// A finite number.
    pub(super) fn number(&self) -> Option<f64> {
        let digits = match self.value.get_ref() {
            DeValue::Integer(digits) => digits.as_str().to_string(),
            DeValue::Float(digits) => digits.as_str().to_string(),
            _ => return None,
        };
        digits.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite())
    }

    fn kind(&self) -> &'static str {
        match self.value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, text: &'a str, try_expressions: bool) -> Reader<'a> {
        Reader { file, text, try_expressions, found: RefCell::default() }
    }

    /// What is wrong, in the order of the file.
    pub(super) fn reports(self) -> Vec<Report> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(at, _)| *at);
        found.truncate(MOST_ERRORS);
        found.into_iter().map(|(_, report)| report).collect()
    }

    /// The file's name without folder and ending.
    pub(super) fn stem(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".toml").unwrap_or(name)
    }

    /// Something wrong at a place.
    pub(super) fn add(&self, span: Span, report: Report) {
        let at = span.start;
        self.found.borrow_mut().push((at, report.at(Place::of(self.file, self.text, span))));
    }

    pub(super) fn not_toml(&self, error: &Error) {
        let end = self.text.len();
        let report = match error.message().split_once(", expected ") {
            Some((wrong, expected)) => Report::error(wrong).label(format!("expected {expected}")),
            None => Report::error(error.message()).label("expected TOML"),
        };
        self.add(error.span().unwrap_or(end..end), report);
    }

    /// Something that the file does not have.
    pub(super) fn missing(&self, what: &str, expected: &str) {
        let report = Report::error(format!("{} has no {what}", self.file)).label(format!("expected {expected}"));
        let hint = "`kiln lessons add` writes one to begin with, `kiln lessons show ID --toml` shows another";
        self.found.borrow_mut().push((self.text.len(), report.hint(hint)));
    }

    /// A value of the wrong kind.
    pub(super) fn wrong(&self, entry: &Entry<'_>, expected: &str) {
        let report = Report::error(format!("{} is {}", entry.name, entry.kind()));
        self.add(entry.span(), report.label(format!("expected {expected}")));
    }

    /// Reports keys that nobody knows.
    pub(super) fn known(&self, table: &Table<'_>, keys: &[&str]) {
        for (key, value) in table.table.iter() {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let (called, _) = (table.called(name), value);
                let report = Report::error(format!("unknown key {called}"));
                let hint = nearest(name, keys.iter().copied()).map(|near| format!("did you mean {near}?"));
                self.add(key.span(), report.label(format!("expected {}", keys.join(", "))).maybe_hint(hint));
            }
        }
    }

    /// A string that says something.
    pub(super) fn string(&self, entry: &Entry<'_>) -> Option<String> {
        match entry.value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.trim().to_string()),
            DeValue::String(_) => {
                self.add(entry.span(), Report::error(format!("{} is empty", entry.name)).label("expected some text"));
                None
            }
            _ => {
                self.wrong(entry, "a string");
                None
            }
        }
    }

    /// The same under a key that must be there.
    pub(super) fn text(&self, table: &Table<'_>, key: &str) -> Option<String> {
        match table.get(key) {
            Some(entry) => self.string(&entry),
            None => {
                self.missing(&format!("`{}`", table.called(key)), "it as a string");
                None
            }
        }
    }

    /// The strings of a list, each with its entry; none under a key that is not there.
    pub(super) fn strings(&self, table: &Table<'a>, key: &str) -> Vec<(String, Entry<'a>)> {
        let Some(entry) = table.get(key) else { return Vec::new() };
        let Some(items) = entry.list() else {
            self.wrong(&entry, "a list of strings");
            return Vec::new();
        };
        items.into_iter().filter_map(|item| Some((self.string(&item)?, item))).collect()
    }
}
