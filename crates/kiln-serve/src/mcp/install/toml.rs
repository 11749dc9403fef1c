//! An entry in a TOML file that people write too. In: the text, a section, a name, the entry. Out: the text with the entry, comments and order kept.
//! Refuses what cannot be read, and a section that is no table.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// The text with the entry.
pub(super) fn with_entry(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let sections = document.entry(section).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let sections = sections.as_table_like_mut().ok_or_else(|| format!("{section} is no table"))?;
    let own = sections.entry(name).or_insert_with(|| Item::Table(Table::new()));
    let own = own.as_table_like_mut().ok_or_else(|| format!("{section}.{name} is no table"))?;
    for (key, part) in entry.as_object().into_iter().flatten() {
        let item = match part {
            Value::Array(all) => value(all.iter().filter_map(Value::as_str).collect::<Array>()),
            Value::String(text) => value(text),
            other => return Err(format!("{key}: {other} has no form here")),
        };
        own.insert(key, item);
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_stay_and_the_entry_is_written_once() {
        let old = "# mine\nmodel = \"m\" # why\n\n[mcp_servers.other]\ncommand = \"x\"\nenv = { A = \"1\" }\n";
        let entry = json!({ "command": "kiln", "args": ["mcp"] });
        let new = with_entry(old, "mcp_servers", "kiln", &entry).unwrap();
        assert!(new.starts_with(old), "{new}");
        assert!(new.ends_with("[mcp_servers.kiln]\ncommand = \"kiln\"\nargs = [\"mcp\"]\n"), "{new}");
        assert_eq!(with_entry(&new, "mcp_servers", "kiln", &entry).unwrap(), new);
    }
}
