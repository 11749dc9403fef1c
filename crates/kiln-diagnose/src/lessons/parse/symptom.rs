//! The symptoms of a file: `[[symptom]]`, alternatives.

use std::collections::BTreeMap;

use kiln_core::{Gate, Report, nearest};

use super::reader::{Entry, Reader, Table};
use crate::Cause;
use crate::coarse::CodeCause;
use crate::lessons::{FINDINGS, Habit, Pattern, Range, Words};
use crate::profile::Bottleneck;

const KEYS: &[&str] = &["gate", "rule", "text", "causes", "findings", "habits", "arch", "kinds", "metrics"];

/// Every symptom of a file, which has at least one.
pub(super) fn all<'a>(reader: &Reader<'a>, root: &Table<'a>) -> Vec<Pattern> {
    let Some(entry) = root.get("symptom") else {
        reader.missing("[[symptom]]", "at least one");
        return Vec::new();
    };
    let tables: Option<Vec<(Entry<'_>, Table<'_>)>> = entry
        .list()
        .and_then(|items| items.into_iter().map(|item| item.table().map(|table| (item, table))).collect())
        .filter(|tables: &Vec<_>| !tables.is_empty());
    let Some(tables) = tables else {
        reader.wrong(&entry, "tables: [[symptom]], in double brackets");
        return Vec::new();
    };
    tables.iter().map(|(item, table)| one(reader, item, table)).collect()
}

fn one<'a>(reader: &Reader<'a>, item: &Entry<'a>, table: &Table<'a>) -> Pattern {
    reader.known(table, KEYS);
    let plain = |key: &str| reader.strings(table, key).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
    let causes = || Cause::ALL.iter().map(|cause| cause.id());
    let causes: Vec<&str> = causes()
        .chain(Bottleneck::ALL.iter().map(|cause| cause.id()))
        .chain(CodeCause::ALL.iter().map(|cause| cause.id()))
        .collect();
    let gates: Vec<&str> = Gate::ALL.iter().map(|gate| gate.name()).collect();
    let habits: Vec<&str> = Habit::ALL.iter().map(|habit| habit.id()).collect();
    let pattern = Pattern {
        gate: listed(reader, table, ("gate", "gate"), &gates).into_iter().map(|at| Gate::ALL[at]).collect(),
        rule: expressions(reader, table, "rule"),
        text: expressions(reader, table, "text"),
        causes: listed(reader, table, ("causes", "cause"), &causes).into_iter().map(|at| causes[at].into()).collect(),
        findings: listed(reader, table, ("findings", "finding of kiln doctor"), &FINDINGS)
            .into_iter()
            .map(|at| FINDINGS[at].into())
            .collect(),
        habits: listed(reader, table, ("habits", "habit"), &habits).into_iter().map(|at| Habit::ALL[at]).collect(),
        arch: plain("arch"),
        kinds: plain("kinds"),
        metrics: metrics(reader, table),
    };
    if !pattern.says_something() && KEYS[..6].iter().chain(&["metrics"]).all(|key| table.get(key).is_none()) {
        let report = Report::error("a symptom that every failure has");
        let expected = "expected at least one of gate, rule, text, causes, findings, habits, metrics";
        reader.add(item.span(), report.label(expected));
    }
    pattern
}

/// The positions of a list's entries among the names it may have.
fn listed<'a>(reader: &Reader<'a>, table: &Table<'a>, (key, noun): (&str, &str), names: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    for (text, entry) in reader.strings(table, key) {
        match names.iter().position(|name| *name == text) {
            Some(at) => found.push(at),
            None => {
                let hint = nearest(&text, names.iter().copied()).map(|near| format!("did you mean {near}?"));
                let report = Report::error(format!("there is no {noun} `{text}`")).label(format!("expected a {noun}"));
                reader.add(entry.span(), report.maybe_hint(hint));
            }
        }
    }
    found
}

fn expressions<'a>(reader: &Reader<'a>, table: &Table<'a>, key: &str) -> Vec<Words> {
    let all = reader.strings(table, key).into_iter();
    let read = |(text, entry): (String, Entry<'a>)| {
        let words = Words::new(text);
        let mistake = if reader.try_expressions { words.mistake() } else { None };
        if let Some(mistake) = mistake {
            let report = Report::error(format!("`{}` is no regular expression: {mistake}", words.source()));
            let hint = "a backslash before ( [ * + ? . | makes it an ordinary character; '...' keeps backslashes";
            reader.add(entry.span(), report.label("expected a regular expression").hint(hint));
        }
        words
    };
    all.map(read).collect()
}

fn metrics<'a>(reader: &Reader<'a>, table: &Table<'a>) -> BTreeMap<String, Range> {
    let Some(entry) = table.get("metrics") else { return BTreeMap::new() };
    let Some(metrics) = entry.table() else {
        reader.wrong(&entry, "a table of ranges");
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for (name, entry) in metrics.entries() {
        let Some(range) = entry.table() else {
            reader.wrong(&entry, "a range such as { below = 0.7 }");
            continue;
        };
        reader.known(&range, &["above", "below"]);
        let end = |key: &str| {
            let end = range.get(key)?;
            let number = end.number();
            if number.is_none() {
                reader.wrong(&end, "a finite number");
            }
            number
        };
        let (above, below) = (end("above"), end("below"));
        let empty = above.is_none() && below.is_none();
        if empty && range.get("above").or(range.get("below")).is_none() {
            let report = Report::error(format!("{} has neither end", entry.name));
            reader.add(entry.span(), report.label("expected above, below or both"));
        } else if above.zip(below).is_some_and(|(above, below)| above >= below) {
            let report = Report::error(format!("no number is within {}", entry.name));
            reader.add(entry.span(), report.label("expected above to be less than below"));
        }
        found.insert(name, Range { above, below });
    }
    found
}
