//! One value of the file, read as the type that is wanted. In: a TOML value with its span and path. Out: the value, or
//! none and an entry in the log that says what was found and what was expected.

use kiln_core::{Report, Span, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::reading::log::Log;

/// A value, where it stands and what it is called in messages (`kernel.name`).
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) log: &'a Log,
    pub(crate) path: String,
    node: &'a Spanned<DeValue<'a>>,
}

impl<'a> Item<'a> {
    pub(crate) fn new(log: &'a Log, path: String, node: &'a Spanned<DeValue<'a>>) -> Item<'a> {
        Item { log, path, node }
    }

    pub(crate) fn span(&self) -> Span {
        self.node.span()
    }

    pub(crate) fn raw(&self) -> &'a DeValue<'a> {
        self.node.get_ref()
    }

    /// As the file spells it.
    pub(crate) fn spelling(&self) -> &'a str {
        self.log.text().get(self.span()).unwrap_or_default()
    }

    /// Logs an error about this value.
    pub(crate) fn error(&self, report: Report) {
        self.log.add(self.span(), report);
    }

    /// Logs that the value is of the wrong kind.
    pub(crate) fn wrong(&self, expected: &str) {
        let found = match self.raw() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let mut report = Report::error(format!("{} is {found}", self.path)).label(format!("expected {expected}"));
        if let DeValue::String(text) = self.raw()
            && !expected.contains("string")
            && !matches!(Value::from_typed(text), Value::Str(_))
        {
            report = report.hint(format!("write {} without quotes", text.trim()));
        }
        self.error(report);
    }

    /// A string that says something.
    pub(crate) fn string(&self) -> Option<&'a str> {
        match self.raw() {
            DeValue::String(text) if text.trim().is_empty() => {
                self.error(Report::error(format!("{} is empty", self.path)).label("expected some text"));
                None
            }
            DeValue::String(text) => Some(text),
            _ => {
                self.wrong("a string");
                None
            }
        }
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.raw() {
            DeValue::Boolean(value) => Some(*value),
            _ => {
                self.wrong("true or false");
                None
            }
        }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        match self.raw() {
            DeValue::Integer(_) => match self.scalar() {
                Some(Value::Int(value)) => Some(value),
                _ => None,
            },
            _ => {
                self.wrong("an integer");
                None
            }
        }
    }

    /// A finite number; an integer will do.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.raw() {
            DeValue::Integer(_) | DeValue::Float(_) => match self.scalar() {
                Some(Value::Int(value)) => Some(value as f64),
                Some(Value::Float(value)) => Some(value),
                _ => None,
            },
            _ => {
                self.wrong("a number");
                None
            }
        }
    }

    /// A finite number, a boolean or a string.
    pub(crate) fn scalar(&self) -> Option<Value> {
        match self.raw() {
            DeValue::String(text) => Some(Value::Str((**text).into())),
            DeValue::Boolean(value) => Some(Value::Bool(*value)),
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(value) => Some(Value::Int(value)),
                Err(_) => {
                    let message = format!("{} does not fit in 64 bits", self.spelling());
                    self.error(Report::error(message).label("expected a number below 2**63"));
                    None
                }
            },
            DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
                // Adding zero makes -0.0 the same value as 0.0.
                Ok(value) if value.is_finite() => Some(Value::Float(value + 0.0)),
                _ => {
                    let message = format!("{} is not a finite number", self.spelling());
                    self.error(Report::error(message).label("expected a finite number"));
                    None
                }
            },
            _ => {
                self.wrong("a number, a boolean or a string");
                None
            }
        }
    }

    pub(crate) fn list(&self) -> Option<Vec<Item<'a>>> {
        match self.raw() {
            DeValue::Array(nodes) => Some(nodes.iter().map(|n| Item::new(self.log, self.path.clone(), n)).collect()),
            _ => {
                self.wrong("a list");
                None
            }
        }
    }

    /// A list of strings; what is not one is logged and left out.
    pub(crate) fn strings(&self) -> Vec<String> {
        self.list().unwrap_or_default().iter().filter_map(|i| i.string()).map(str::to_owned).collect()
    }

    pub(crate) fn table(&self) -> Option<&'a DeTable<'a>> {
        match self.raw() {
            DeValue::Table(table) => Some(table),
            _ => {
                self.wrong("a table");
                None
            }
        }
    }

    /// The tables of `[[path]]`; those with a name carry it in their path.
    pub(crate) fn tables(&self) -> Vec<Item<'a>> {
        let heading = format!("[[{}]]", self.path);
        let DeValue::Array(nodes) = self.raw() else {
            self.wrong(&format!("a list of tables, each under {heading}"));
            return vec![];
        };
        let mut items = Vec::new();
        for node in nodes {
            let mut item = Item::new(self.log, self.path.clone(), node);
            match node.get_ref().as_table() {
                Some(table) => {
                    if let Some(name) = table.get("name").and_then(|n| n.get_ref().as_str()) {
                        item.path = format!("{}.{name}", self.path);
                    }
                    items.push(item);
                }
                None => item.wrong(&format!("a table under {heading}")),
            }
        }
        items
    }

    /// One of a fixed set of words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.string()?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word);
            self.error(
                Report::error(format!("{} is \"{text}\"", self.path))
                    .label(crate::reading::log::expected_one_of(known.clone()))
                    .maybe_hint(self.log.did_you_mean(text, known)),
            );
        }
        found.map(|(_, value)| *value)
    }
}
