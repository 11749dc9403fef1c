//! TOML files that kiln writes into: what others wrote there stays as it is, remarks included. In: a file's text and values.
//! Out: a document to change, and values as TOML has them.

use kiln_core::{Fault, Value};
use toml_edit::{DocumentMut, InlineTable, Item, Table};

/// What to do about a file that kiln cannot write into.
pub(crate) const MOVE: &str = "correct it, or move it away: kiln writes a new one";

/// The document that a text is. Refuses what is not TOML: it would be lost.
pub(crate) fn parse(file: &str, text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let fault = Fault::new(format!("reading {file}"), error.message());
        fault.hint(MOVE)
    })
}

/// A tunable's or dimension's value.
pub(crate) fn value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Int(v) => (*v).into(),
        Value::Float(v) => (*v).into(),
        Value::Bool(v) => (*v).into(),
        Value::Str(text) => text.as_ref().into(),
    }
}

/// Pairs in one line.
pub(crate) fn inline<'p>(pairs: impl IntoIterator<Item = (&'p str, toml_edit::Value)>) -> Item {
    Item::Value(InlineTable::from_iter(pairs).into())
}

/// With so many digits behind the point: more are not known.
pub(crate) fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (number * scale).round() / scale
}

/// A table below another, made where there is none. Refuses what is there but is no table.
pub(crate) fn below<'t>(table: &'t mut Table, name: &str, file: &str) -> Result<&'t mut Table, Fault> {
    let item = table.entry(name).or_insert_with(|| {
        let mut new = Table::new();
        // One that holds nothing but others has no heading of its own.
        new.set_implicit(true);
        Item::Table(new)
    });
    let fault = || Fault::new(format!("writing into {file}"), format!("{name} is no table")).hint("move the file away");
    item.as_table_mut().ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_texts_are_read_back_as_they_were() {
        for text in ["plain", "a \"b\" \\c", "tab\tbell\u{7}", "z\u{200B}w", "del\u{7f}", "\u{85}", "line\nline"] {
            let shown = value(&Value::Str(text.into()));
            let file = format!("[kernel]\nname = \"k\"\n[target.cpu]\n[tunables]\nX = [{shown}]\n");
            let (spec, _) = kiln_spec::parse("k", file.as_bytes()).unwrap();
            assert_eq!(spec.targets[0].implementations[0].tunables[0].values, [Value::Str(text.into())]);
        }
        assert_eq!(value(&Value::Float(2.0)).to_string(), "2.0");
        assert_eq!(rounded(1.23456, 4), 1.2346);
    }

    #[test]
    fn what_is_no_toml_is_not_written_over() {
        let fault = parse("best.toml", "not toml [").unwrap_err();
        assert!(fault.what == "reading best.toml" && fault.hint.is_some(), "{fault}");
        let mut document = parse("best.toml", "cpu = 3\n").unwrap();
        assert!(below(&mut document, "cpu", "best.toml").is_err());
    }
}
