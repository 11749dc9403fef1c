//! `kiln next` as it is typed: text, the drawn tree, checklists, JSON, and a mistake in the settings.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::{empty_folder, kiln_in};

/// The node that `kiln next` ends at, and its command.
fn step(folder: &Path) -> (String, String) {
    let ran = kiln_in(folder, &["next", "mine", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    (found["node"].as_str().unwrap().into(), found["command"].as_str().unwrap().into())
}

#[test]
fn a_new_project_is_led_to_its_first_step() {
    let folder = empty_folder("next-new");
    let nothing = kiln_in(&folder, &["next"]);
    assert_eq!(nothing.code, 0, "{}", nothing.err);
    assert!(nothing.out.starts_with("Write a kernel file\n  kiln init\n"), "{}", nothing.out);
    assert_eq!(kiln_in(&folder, &["init", "mine"]).code, 0);
    let first = kiln_in(&folder, &["next", "mine"]);
    assert!(first.out.starts_with("mine: Examine this machine\n  kiln doctor mine\n"), "{}", first.out);
    for words in ["\ngain     not known\n", "\nthen     kiln check mine\n", "Is anything recorded of this kernel?  "] {
        assert!(first.out.contains(words), "{words}\n{}", first.out);
    }
    // Looking makes no store.
    assert!(!folder.join(".kiln/kiln.db").exists());
    let tree = kiln_in(&folder, &["next", "mine", "--tree"]).out;
    assert_eq!(tree.lines().filter(|line| line.starts_with('>')).count(), 1, "{tree}");
    assert!(tree.contains("\n>     no: Examine this machine\n"), "{tree}");
    assert!(tree.starts_with("* Is there a kernel? yes (mine)\n    no: Write a kernel file\n"), "{tree}");
    assert!(tree.contains("Is it below 0.5x of the baseline?"), "{tree}");
    let list = kiln_in(&folder, &["next", "mine", "--checklist"]).out;
    assert!(list.contains("pre-flight\n  [x] Nothing is broken on this machine\n"), "{list}");
    assert!(list.contains("  [x] The smallest workload is known: small\n"), "{list}");
    assert!(list.contains("\nclosing\n") && list.contains("  [?] The GPU is stopped\n"), "{list}");
    let elsewhere = kiln_in(&folder, &["--store", "other.db", "next", "mine", "--json"]);
    let found: Value = serde_json::from_str(&elsewhere.out).unwrap();
    assert_eq!((&found["node"], &found["gain"]), (&"assess".into(), &Value::Null));
    assert_eq!(found["command"], "kiln --store other.db doctor mine");
    assert_eq!(found["facts"]["recorded"], false);
}

#[test]
fn a_mistake_in_the_thresholds_is_shown_at_its_line() {
    let folder = empty_folder("next-config");
    std::fs::create_dir(folder.join(".kiln")).unwrap();
    std::fs::write(folder.join(".kiln/config.toml"), "[thresholds]\nprofile_bellow = 0.7\n").unwrap();
    let ran = kiln_in(&folder, &["next"]);
    assert_eq!(ran.code, 2);
    for words in ["unknown key thresholds.profile_bellow", ".kiln/config.toml:2", "did you mean profile_below?"] {
        assert!(ran.err.contains(words), "{words}\n{}", ran.err);
    }
}

#[test]
fn what_broke_without_a_commit_is_not_looked_for_among_commits() {
    let folder = empty_folder("next-uncommitted");
    assert_eq!(kiln_in(&folder, &["init", "mine"]).code, 0);
    let git = |words: &[&str]| {
        let own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        assert!(Command::new("git").current_dir(&folder).args(own).args(words).status().unwrap().success());
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "sample"]);
    let build = ["gate", "mine", "--target", "cpu", "--until", "build"];
    assert_eq!(kiln_in(&folder, &["check", "mine", "--target", "cpu"]).code, 0);
    let file = folder.join("mine/mine.c");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("#error no\n{right}")).unwrap();
    assert!((0..3).all(|_| kiln_in(&folder, &build).code == 3));
    assert_eq!(step(&folder), ("look_at_changes".into(), "git -C mine diff HEAD -- .".into()));
    git(&["commit", "-q", "-a", "-m", "broken"]);
    assert_eq!(step(&folder).0, "bisect", "now a commit has it");
}

#[test]
fn nothing_ends_with_a_result_that_is_wrong() {
    let folder = empty_folder("next-broken");
    assert_eq!(kiln_in(&folder, &["init", "mine"]).code, 0);
    assert_eq!(kiln_in(&folder, &["session", "start", "mine", "--goal", "0.01x"]).code, 0);
    let bench = ["bench", "mine", "--target", "cpu", "--workload", "small", "--samples", "25", "--max-samples", "25"];
    let timed = kiln_in(&folder, &bench);
    assert!(timed.code == 0 && timed.err.contains("the goal is reached"), "{}{}", timed.out, timed.err);
    assert_eq!(step(&folder).0, "stop");
    let file = folder.join("mine/mine.c");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, right.replace("expf(", "1.5f * expf(0.5f * ")).unwrap();
    let wrong = kiln_in(&folder, &["check", "mine", "--target", "cpu"]);
    assert_eq!(wrong.code, 3, "{}{}", wrong.out, wrong.err);
    assert_eq!(step(&folder).0, "shrink", "the goal was reached by what is gone");
    let status = kiln_in(&folder, &["session", "status"]).out;
    assert!(status.contains("fix what broke since (numerics): kiln next mine"), "{status}");
    std::fs::write(&file, &right).unwrap();
    assert_eq!(kiln_in(&folder, &["check", "mine", "--target", "cpu"]).code, 0);
    assert_eq!(step(&folder).0, "stop");
}
