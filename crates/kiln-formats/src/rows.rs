//! TOML files that are lists of rows: ratchets and claims. In: a file's text. Out: rows whose keys are read one by one, each
//! mistake with its line. Refuses what is not TOML, other headings, and keys that mean nothing.

use kiln_core::{Place, Report, nearest};
use toml_edit::{Document, Item, Table, Value};

/// A file of rows.
pub(crate) struct Rows<'t> {
    name: &'t str,
    document: Document<&'t str>,
}

/// One row.
pub(crate) struct Row<'r> {
    of: &'r Rows<'r>,
    table: &'r Table,
}

impl<'t> Rows<'t> {
    pub(crate) fn parse(name: &'t str, text: &'t str) -> Result<Rows<'t>, Report> {
        let document = Document::parse(text).map_err(|error| {
            let report = Report::error(format!("{name} is not TOML: {}", error.message().trim()));
            match error.span() {
                Some(span) => report.at(Place::of(name, text, span)),
                None => report,
            }
        })?;
        Ok(Rows { name, document })
    }

    /// The rows under `[[heading]]`; no other heading may be there, and of single keys only these.
    pub(crate) fn under(&'t self, heading: &str, keys: &[&str]) -> Result<Vec<Row<'t>>, Report> {
        let mut rows = Vec::new();
        for (key, item) in self.document.iter() {
            match item {
                Item::ArrayOfTables(tables) if key == heading => {
                    rows.extend(tables.iter().map(|table| Row { of: self, table }));
                }
                Item::Value(_) if keys.contains(&key) => {}
                _ if key == heading => {
                    return Err(self
                        .at(item.span(), format!("`{key}` is not a list of tables"))
                        .label(format!("expected [[{heading}]]")));
                }
                _ => {
                    let known = keys.iter().copied().chain([heading]);
                    let near = nearest(key, known).map(|near| format!("did you mean {near}?"));
                    return Err(self
                        .at(item.span(), format!("`{key}` means nothing here"))
                        .label(format!("expected [[{heading}]]"))
                        .maybe_hint(near));
                }
            }
        }
        Ok(rows)
    }

    /// A whole number at the top of the file.
    pub(crate) fn version(&self, key: &str) -> Option<i64> {
        self.document.get(key).and_then(Item::as_integer)
    }

    /// A text at the top of the file.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.document.get(key).and_then(Item::as_str).map(String::from)
    }

    fn at(&self, span: Option<std::ops::Range<usize>>, message: String) -> Report {
        let report = Report::error(message);
        match span {
            Some(span) => report.at(Place::of(self.name, self.document.raw(), span)),
            None => report,
        }
    }
}

impl Row<'_> {
    /// A mistake in the value of a key, or in the row where it has none.
    pub(crate) fn wrong(&self, key: &str, message: impl Into<String>) -> Report {
        let item = self.table.get(key).and_then(Item::span);
        self.of.at(item.or_else(|| self.table.span()), message.into())
    }

    /// Refuses keys other than these.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Report> {
        match self.table.iter().find(|(key, _)| !known.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let near = nearest(key, known.iter().copied()).map(|near| format!("did you mean {near}?"));
                Err(self.wrong(key, format!("`{key}` means nothing here")).label(expected(known)).maybe_hint(near))
            }
        }
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.table.get(key).and_then(Item::as_value)
    }

    /// The text under a key.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, Report> {
        match self.table.get(key) {
            None => Ok(None),
            Some(item) => match item.as_str() {
                Some(text) => Ok(Some(text.into())),
                None => Err(self.wrong(key, format!("`{key}` is not text")).label("expected a string")),
            },
        }
    }

    /// The same where there must be one.
    pub(crate) fn needed(&self, key: &str) -> Result<String, Report> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(self.wrong(key, format!("`{key}` is empty"))),
            None => Err(self.wrong(key, format!("`{key}` is missing"))),
        }
    }

    /// The positive number under a key.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, Report> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let found = item.as_value().and_then(float).filter(|number| number.is_finite() && *number > 0.0);
        found.map(Some).ok_or_else(|| self.wrong(key, format!("`{key}` is not a positive number")))
    }

    /// The whole number from 0 on that must be there.
    pub(crate) fn whole(&self, key: &str) -> Result<u64, Report> {
        let Some(item) = self.table.get(key) else { return Err(self.wrong(key, format!("`{key}` is missing"))) };
        let whole = item.as_integer().and_then(|number| u64::try_from(number).ok());
        whole.ok_or_else(|| self.wrong(key, format!("`{key}` is not a whole number")).label("expected 0 or more"))
    }

    /// The number that must be there.
    pub(crate) fn needed_number(&self, key: &str) -> Result<f64, Report> {
        self.number(key)?.ok_or_else(|| self.wrong(key, format!("`{key}` is missing")))
    }

    /// Two numbers, the smaller first.
    pub(crate) fn interval(&self, key: &str) -> Result<Option<[f64; 2]>, Report> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let list = value.as_array().map(|list| list.iter().map(float).collect::<Option<Vec<f64>>>());
        match list.flatten().as_deref() {
            Some([low, high]) if *low > 0.0 && low <= high && high.is_finite() => Ok(Some([*low, *high])),
            _ => Err(self.wrong(key, format!("`{key}` is not an interval")).label("expected [low, high]")),
        }
    }

    /// One of something or two of it, each read by `read`; none where the key is not there.
    pub(crate) fn one_or_two(
        &self,
        key: &str,
        what: &str,
        read: impl Fn(&Value) -> Option<f64>,
    ) -> Result<Option<[f64; 2]>, Report> {
        let Some(value) = self.value(key) else {
            return match self.table.get(key) {
                None => Ok(None),
                Some(_) => Err(self.wrong(key, format!("`{key}` is not {what}"))),
            };
        };
        let read = |value: &Value| read(value).filter(|number| number.is_finite() && *number > 0.0);
        let found = match value.as_array() {
            None => read(value).map(|one| [one, one]),
            Some(list) => match list.iter().map(read).collect::<Option<Vec<f64>>>().as_deref() {
                Some([low, high]) => Some([*low, *high]),
                _ => None,
            },
        };
        match found {
            Some([low, high]) if low <= high => Ok(Some([low, high])),
            Some(_) => Err(self.wrong(key, format!("`{key}` ends before it begins")).label("expected [least, most]")),
            None => Err(self
                .wrong(key, format!("`{key}` is not {what}"))
                .label(format!("expected {what}, or [least, most]"))),
        }
    }

    /// The line the row begins at.
    pub(crate) fn line(&self) -> usize {
        let start = self.table.span().map_or(0, |span| span.start);
        self.of.document.raw()[..start].matches('\n').count() + 1
    }
}

/// A number, whole or not.
pub(crate) fn float(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn expected(known: &[&str]) -> String {
    format!("expected one of {}", known.join(", "))
}
