//! What is said about wrong files: every file of tests/bad_specs against the messages it should give, and the files that
//! cannot lie there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;

use kiln_core::{Report, Severity};
use kiln_spec::{LARGEST_FILE, parse, too_large};

fn rendered(reports: &[Report]) -> String {
    reports.iter().map(Report::to_string).collect::<Vec<_>>().join("\n\n")
}

fn errors(bytes: &[u8]) -> Vec<Report> {
    parse("kernel.toml", bytes).expect_err("a wrong file is refused")
}

#[test]
fn wrong_files_are_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/bad_specs");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20);
    for path in files {
        let file = path.file_name().unwrap().to_str().unwrap();
        let reports = parse(file, &fs::read(&path).unwrap()).expect_err(file);
        assert!(reports.iter().all(|r| r.severity == Severity::Error), "{file}");
        let name = path.file_stem().unwrap().to_str().unwrap();
        // No expression or metadata: the snapshot is the message and nothing that differs between machines.
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, format!("{file}\n\n{}", rendered(&reports)));
        });
    }
}

#[test]
fn a_file_that_is_not_utf8_is_refused_with_offset_and_line() {
    let reports = errors(b"[kernel]\nname = \"k\xFFx\"\n");
    let expected = "error: kernel.toml is not UTF-8: byte 0xFF at offset 18, line 2
  --> kernel.toml:2:10
  |
2 | name = \"k\u{FFFD}x\"
  |          ^ expected UTF-8
  = hint: save the file as UTF-8";
    assert_eq!(rendered(&reports), expected);
    let reports = errors(b"\xFF\xFE[\0k\0");
    assert_eq!(reports[0].hint.as_deref(), Some("it looks like UTF-16: save it as UTF-8"));
}

#[test]
fn a_file_cut_inside_a_character_is_refused() {
    let reports = errors("name = \"é".as_bytes().split_last().unwrap().1);
    assert_eq!(reports[0].place.as_ref().unwrap().column, 9);
}

#[test]
fn a_huge_file_is_refused_before_it_is_looked_at() {
    let reports = errors(&vec![b'#'; 100_000_000]);
    assert_eq!(rendered(&reports), "error: kernel.toml of 100 MB\n  = expected at most 1 MiB");
    assert_eq!(too_large("kernel.toml", 100_000_000).as_ref(), reports.first());
    assert_eq!(too_large("kernel.toml", LARGEST_FILE), None);
    assert_eq!(too_large("k", LARGEST_FILE + 50_000).unwrap().message, "k of 1.1 MB");
}

#[test]
fn a_short_file_cannot_ask_for_more_values_than_fit_in_memory() {
    let ranges: String = (0..20_000).map(|i| format!("A{i} = {{ from = 1, to = 100_000 }}\n")).collect();
    let reports = errors(format!("kernel.name = 'k'\ntarget.cuda = {{}}\n[tunables]\n{ranges}").as_bytes());
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].message, "more than 1000000 values up to tunables.A10");
}

#[test]
fn long_and_broken_words_of_the_file_do_not_spoil_a_message() {
    let text =
        format!("kernel.name = 'k'\ntarget.cuda = {{}}\ntunables.A = [1]\ngates.spills = \"a\\n{}\"", "b".repeat(5000));
    let reports = errors(text.as_bytes());
    assert!(reports[0].message.starts_with("gates.spills is \"a bbb"));
    assert!(reports[0].message.len() < 500);
}
