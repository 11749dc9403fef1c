//! A table of the file with a fixed set of keys, or with keys of the author's own. In: a TOML table. Out: its entries in
//! file order. Logs every key that is not known, with the near one and the list, and every required key that is missing.

use kiln_core::{Report, Span, nearest};
use toml::de::DeTable;

use crate::reading::item::Item;
use crate::reading::log::{Log, expected_one_of};

/// A key, where it stands, and its value.
pub(crate) struct Entry<'a> {
    pub(crate) key: &'a str,
    pub(crate) key_span: Span,
    pub(crate) item: Item<'a>,
}

/// A table being read.
pub(crate) struct Section<'a> {
    pub(crate) log: &'a Log,
    pub(crate) path: String,
    /// Its heading, or the inline table.
    pub(crate) span: Span,
    pub(crate) entries: Vec<Entry<'a>>,
    /// Known keys an unknown one was probably meant to be: their absence is no further error.
    misspelt: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// The whole document.
    pub(crate) fn root(log: &'a Log, table: &'a DeTable<'a>, known: &'static [&'static str]) -> Section<'a> {
        Section::new(log, String::new(), 0..0, table).only(known)
    }

    /// A table of known keys.
    pub(crate) fn open(item: &Item<'a>, known: &'static [&'static str]) -> Option<Section<'a>> {
        Section::free(item).map(|section| section.only(known))
    }

    /// A table whose keys are names the author chose.
    pub(crate) fn free(item: &Item<'a>) -> Option<Section<'a>> {
        item.table().map(|table| Section::new(item.log, item.path.clone(), item.span(), table))
    }

    fn new(log: &'a Log, path: String, span: Span, table: &'a DeTable<'a>) -> Section<'a> {
        let mut entries: Vec<Entry<'a>> = table
            .iter()
            .map(|(key, node)| {
                let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
                Entry { key: key.get_ref(), key_span: key.span(), item: Item::new(log, path, node) }
            })
            .collect();
        // The parser sorts by key; declaration order is part of what the file says.
        entries.sort_by_key(|e| e.key_span.start);
        Section { log, path, span, entries, misspelt: vec![] }
    }

    fn only(mut self, known: &'static [&'static str]) -> Section<'a> {
        for entry in self.entries.iter().filter(|e| !known.contains(&e.key)) {
            let place = if self.path.is_empty() { String::new() } else { format!(" in {}", self.path) };
            let report = Report::error(format!("unknown key {}{place}", entry.key))
                .label(expected_one_of(known))
                .maybe_hint(self.log.did_you_mean(entry.key, known.iter().copied()));
            self.log.add(entry.key_span.clone(), report);
            self.misspelt.extend(nearest(entry.key, known.iter().copied()));
        }
        self
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Item<'a>> {
        self.entry(key).map(|e| &e.item)
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|e| e.key == key)
    }

    /// True when the key is there under a misspelt name.
    pub(crate) fn misspells(&self, key: &str) -> bool {
        self.misspelt.contains(&key)
    }

    /// The value of a key that must be there; `expected` shows how to write it.
    pub(crate) fn require(&self, key: &str, expected: &str) -> Option<&Item<'a>> {
        let found = self.get(key);
        if found.is_none() && !self.misspells(key) {
            let report = Report::error(format!("{} lacks {key}", self.path)).label(format!("expected {expected}"));
            self.log.add(self.span.clone(), report);
        }
        found
    }
}
