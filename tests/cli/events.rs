//! `--events` of the verbs that are soon over: where the lines go, and that the last of them says how it ended.

use std::path::Path;

use serde_json::Value;

use crate::history::tiny;
use crate::run::{Ran, kiln_in};
use crate::simulate::folder_with_caches;

pub(crate) fn lines(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut off: {text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn file(folder: &Path) -> Vec<Value> {
    lines(&std::fs::read_to_string(folder.join("events.jsonl")).unwrap())
}

/// Runs it with events in a file, and says how they say it ended.
fn ended(folder: &Path, words: &[&str]) -> (Ran, Value) {
    let ran = kiln_in(folder, &[words, &["--events", "events.jsonl"]].concat());
    let lines = file(folder);
    let ends: Vec<usize> = (0..lines.len()).filter(|i| lines[*i]["event"] == "end").collect();
    assert_eq!(ends, [lines.len() - 1], "{words:?}: {}", ran.err);
    (ran, lines.last().unwrap().clone())
}

#[test]
fn on_standard_output_there_is_nothing_but_lines() {
    let folder = folder_with_caches("events_stdout");
    let words = ["simulate", "a.json", "--strategy", "random", "--repeats", "4", "--events", "-"];
    let ran = kiln_in(&folder, &words);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = lines(&ran.out);
    let names: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], &names[names.len() - 2..]), ("phase", &["phase_end", "end"][..]));
    let done: Vec<u64> = lines.iter().filter_map(|line| line["done"].as_u64()).collect();
    assert_eq!(done.iter().max(), Some(&4));
    assert!(lines.iter().all(|line| line["version"] == 1 && line["study"].is_null()));
    assert!(ran.err.contains("optimum/best after so many evaluations"), "{}", ran.err);

    let both = kiln_in(&folder, &[&words[..], &["--json"]].concat());
    assert_eq!(both.code, 2, "{}", both.out);
    assert!(both.err.contains("both want standard output") && both.err.contains("--events FILE"), "{}", both.err);
}

#[test]
fn every_end_is_told() {
    let folder = tiny("events_ends");
    let (ran, end) = ended(&folder, &["check", "tiny"]);
    assert_eq!((ran.code, end["ending"].as_str().unwrap()), (0, "done"), "{}", ran.err);
    let (ran, end) = ended(&folder, &["gate", "tiny", "--config", "LANES=16"]);
    assert_eq!((ran.code, end["ending"].as_str().unwrap()), (3, "refused"), "{}", ran.err);
    let (ran, end) = ended(&folder, &["check", "tiny", "--config", "LANED=4"]);
    assert_eq!((ran.code, end["ending"].as_str().unwrap()), (2, "bad_input"), "{}", ran.err);
    assert!(end["reason"].as_str().unwrap().contains("LANED is not a tunable"), "{end}");
    let (ran, end) = ended(&folder, &["bench", "nowhere"]);
    assert_eq!((ran.code, end["ending"].as_str().unwrap()), (2, "bad_input"), "{}", ran.err);
    let (ran, end) = ended(&folder, &["bench", "tiny", "--study", "last"]);
    assert_eq!((ran.code, end["ending"].as_str().unwrap()), (1, "failed"), "{}", ran.err);
    let (ran, end) = ended(&folder, &["tune", "nowhere"]);
    assert_eq!((ran.code, end["ending"].as_str().unwrap()), (2, "bad_input"), "{}", ran.err);
}

#[test]
fn a_file_that_cannot_be_made_is_a_fault_before_anything_begins() {
    let folder = tiny("events_nowhere");
    let ran = kiln_in(&folder, &["tune", "tiny", "--events", "no/such/folder/events.jsonl"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("making no/such/folder/events.jsonl for events"), "{}", ran.err);
    assert!(!folder.join(".kiln").exists());
}

#[test]
fn a_file_that_takes_no_more_costs_a_note_and_not_the_run() {
    let folder = tiny("events_full");
    let ran = kiln_in(&folder, &["check", "tiny", "--events", "/dev/full"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err.matches("note: events are no longer written").count(), 1, "{}", ran.err);
}
