//! An entry in a TOML file that people write too. In: the text, a section, a name, the entry. Out: the text with the entry, comments and order kept.
//! Refuses what cannot be read, and a section that is no table.

use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// The entries of a section by name: of each, strings and lists of strings; none where there is no section.
pub(super) fn entries(text: &str, section: &str) -> Result<Map<String, Value>, String> {
    let document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let Some(found) = document.get(section) else { return Ok(Map::new()) };
    let table = found.as_table_like().ok_or_else(|| format!("{section} is no table"))?;
    let entry = |item: &Item| match item.as_table_like() {
        Some(own) => own.iter().map(|(key, item)| (key.to_string(), plain(item))).collect::<Map<_, _>>().into(),
        None => Value::Null,
    };
    Ok(table.iter().map(|(name, item)| (name.to_string(), entry(item))).collect())
}

/// A string, or a list of strings; null for anything else.
fn plain(item: &Item) -> Value {
    match item.as_array() {
        Some(all) => all.iter().filter_map(|one| one.as_str()).collect(),
        None => json!(item.as_str()),
    }
}

/// The text with the entry. What the entry has already and kiln does not write stays, unless it is to be `replaced` as a whole.
pub(super) fn with_entry(
    text: &str,
    section: &str,
    name: &str,
    entry: &Value,
    replaced: bool,
) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let sections = document.entry(section).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let sections = sections.as_table_like_mut().ok_or_else(|| format!("{section} is no table"))?;
    if replaced {
        sections.remove(name);
    }
    let own = sections.entry(name).or_insert_with(|| Item::Table(Table::new()));
    let own = own.as_table_like_mut().ok_or_else(|| format!("{section}.{name} is no table"))?;
    for (key, part) in entry.as_object().into_iter().flatten() {
        // One that is so already keeps its comments.
        let same = own.get(key).is_some_and(|there| plain(there) == *part);
        if same {
            continue;
        }
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

    #[test]
    fn comments_stay_and_the_entry_is_written_once() {
        let old = "# mine\nmodel = \"m\" # why\n\n[mcp_servers.other]\ncommand = \"x\"\nenv = { A = \"1\" }\n";
        let entry = json!({ "command": "kiln", "args": ["mcp"] });
        let new = with_entry(old, "mcp_servers", "kiln", &entry, false).unwrap();
        assert!(new.starts_with(old), "{new}");
        assert!(new.ends_with("[mcp_servers.kiln]\ncommand = \"kiln\"\nargs = [\"mcp\"]\n"), "{new}");
        assert_eq!(with_entry(&new, "mcp_servers", "kiln", &entry, false).unwrap(), new);
        let own = "[mcp_servers.kiln]\ncommand = \"kiln\" # mine\nargs = [\"old\"]\nenv = { A = \"1\" }\n";
        let new = with_entry(own, "mcp_servers", "kiln", &entry, false).unwrap();
        assert_eq!(new, own.replace("old", "mcp"));
        assert_eq!(entries(&new, "mcp_servers").unwrap()["kiln"]["args"], json!(["mcp"]));
    }
}
