//! `kiln history --changes`, `--csv`, `--last-good` and `--series`: what is found in runs, in commits and in files.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::run::{empty_folder, kiln_in};
use crate::twice;

fn git(folder: &Path, words: &[&str]) -> String {
    let own = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(folder).args(own).args(words).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

fn json(folder: &Path, words: &[&str]) -> Value {
    let ran = kiln_in(folder, &[words, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.out))
}

#[test]
fn runs_and_checks_make_a_history_of_commits() {
    let folder = twice::folder("changes-history");
    twice::rewrite(&folder, "kernel.toml", "[\"f32\", \"f64\"]", "[\"f32\"]");
    std::fs::write(folder.join(".gitignore"), ".kiln\n").unwrap();
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "right"]);
    let right = git(&folder, &["rev-parse", "HEAD"]);
    let nothing = kiln_in(&folder, &["history", "twice", "--changes"]);
    assert!(nothing.code == 0 && nothing.out.contains("no runs of twice"), "{}{}", nothing.out, nothing.err);
    let bench = ["bench", "twice", "--samples", "25", "--max-samples", "25"];
    assert_eq!(kiln_in(&folder, &bench).code, 0);
    let found = json(&folder, &["history", "twice", "--changes"]);
    let series = &found["series"][0];
    assert_eq!(
        (&found["runs"], &series["workload"], &series["changes"]),
        (&1.into(), &"only".into(), &Value::Array(vec![]))
    );
    let point = &series["points"][0];
    assert_eq!((&point["commit"], &point["dirty"]), (&right.as_str().into(), &false.into()));
    assert!(point["median_ci95"][0].as_f64().unwrap() <= point["median_s"].as_f64().unwrap());
    assert!(point["environment"]["compiler"].is_string(), "{point}");
    let table = kiln_in(&folder, &["history", "twice", "--csv"]);
    let rows: Vec<&str> = table.out.lines().collect();
    assert_eq!(rows.len(), 2, "{}", table.out);
    assert!(rows[0].starts_with("started,run,commit,") && rows[1].contains(&right), "{}", table.out);
    // A wrong commit on top of it: the last correct one is the first, both build.
    twice::rewrite(&folder, "twice.c", "2 * x[i]", "2 * x[i] + (i == n - 1)");
    git(&folder, &["commit", "-qam", "wrong"]);
    let wrong = git(&folder, &["rev-parse", "HEAD"]);
    assert_eq!(kiln_in(&folder, &["check", "twice"]).code, 3);
    let last = |measure: &str| json(&folder, &["history", "twice", "--last-good", measure]);
    assert_eq!(last("check")["commit"]["commit"], right.as_str());
    assert_eq!((&last("check")["behind"], &last("check")["recorded"]), (&1.into(), &1.into()));
    let words = kiln_in(&folder, &["history", "twice", "--last-good"]).out;
    assert!(words.starts_with(&right) && words.contains("recorded as correct for twice: 1 commit ago"), "{words}");
    // A tree with changes is no commit.
    twice::rewrite(&folder, "twice.c", " + (i == n - 1)", "");
    assert_eq!(kiln_in(&folder, &["check", "twice"]).code, 0);
    assert_eq!(last("check")["commit"]["commit"], right.as_str());
    git(&folder, &["commit", "-qam", "right again"]);
    assert_eq!(kiln_in(&folder, &["check", "twice"]).code, 0);
    assert_ne!(last("check")["commit"]["commit"], wrong.as_str());
    assert_eq!(last("check")["behind"], 0);
}

#[test]
fn changes_in_a_file_of_figures_are_found() {
    let folder = empty_folder("changes-series");
    let mut text = String::from("commit,small,large\n");
    for row in 0..40u32 {
        let noise = f64::from((row * 7919) % 17) / 17.0 / 100.0;
        let level = if row < 25 { 1.0 } else { 1.07 };
        text.push_str(&format!("c{row},{},{}\n", 3.0 * (1.0 + noise), 12.0 * level * (1.0 + noise)));
    }
    std::fs::write(folder.join("times.csv"), &text).unwrap();
    let found = json(&folder, &["history", "--series", "times.csv"]);
    assert_eq!(found["series"][0]["changes"], Value::Array(vec![]));
    let change = &found["series"][1]["changes"][0];
    assert_eq!((&change["index"], &change["label"]), (&25.into(), &"c25".into()), "{found:#}");
    assert!((change["ratio"].as_f64().unwrap() - 1.07).abs() < 0.01 && change["p_value"].as_f64().unwrap() <= 0.01);
    let words = kiln_in(&folder, &["history", "--series", "times.csv"]).out;
    assert!(
        words.contains("small: 40 points, 0 changes") && words.contains("at 25") && words.contains("c25"),
        "{words}"
    );
    // From a pipe, as JSON.
    let mut piped = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["history", "--series", "-", "--json", "--min-change", "10"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    piped.stdin.take().unwrap().write_all(b"[1, 1, 1, 1, 1, 2]").unwrap();
    let output = piped.wait_with_output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["series"][0]["points"], output.status.code()), (&6.into(), Some(0)));
    for (words, expected) in [
        (vec!["history", "--series", "none.csv"], "there is no file"),
        (vec!["history", "--last-good", "slow"], "--last-good slow is not understood"),
        (vec!["history", "twice", "--changes", "--since", "tomorrow"], "--since tomorrow is not understood"),
        (vec!["history", "twice", "--changes", "--min-change=-1"], "--min-change -1 is out of range"),
        (vec!["history", "--series", "times.csv", "--min-change=-1"], "--min-change -1 is out of range"),
    ] {
        let ran = kiln_in(&folder, &words);
        assert!(ran.code == 2 && ran.err.contains(expected), "{words:?}: {} {}", ran.code, ran.err);
    }
}
