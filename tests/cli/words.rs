//! What helps at the prompt: explanations of printed names, completions, man pages, and words that may be left out.

use serde_json::Value;

use crate::history::{json, tiny, tune};
use crate::run::{empty_folder, kiln_in};

#[test]
fn every_gate_and_verdict_is_explained() {
    let folder = empty_folder("explain");
    let all = json(&folder, &["explain", "--json"]);
    let names: Vec<&str> = all["explained"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    let listed = kiln_in(&folder, &["explain"]).out;
    for gate in kiln_core::Gate::ALL {
        assert!(names.contains(&gate.name()) && listed.contains(gate.name()), "{gate}");
    }
    for name in names {
        let ran = kiln_in(&folder, &["explain", name]);
        assert!(ran.code == 0 && ran.out.starts_with(name) && ran.out.lines().all(|line| line.len() <= 110), "{name}");
    }
    let ran = kiln_in(&folder, &["explain", "unwriten_output"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean unwritten_output?"), "{}", ran.err);
}

#[test]
fn shells_and_man_know_every_verb_that_is_shown() {
    let folder = empty_folder("completions");
    let help = kiln_in(&folder, &["--help"]).out;
    let verbs: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.len() > 12, "{help}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = kiln_in(&folder, &["completions", shell]);
        assert!(ran.code == 0 && verbs.iter().all(|verb| ran.out.contains(verb)), "{shell}");
    }
    assert_eq!(kiln_in(&folder, &["completions", "basic"]).code, 2);
    assert!(kiln_in(&folder, &["man"]).out.contains(".SH NAME"));
    assert_eq!(kiln_in(&folder, &["man", "--out", "pages/man1"]).code, 0);
    for verb in verbs {
        let page = std::fs::read_to_string(folder.join(format!("pages/man1/kiln-{verb}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{verb}");
    }
    assert!(!folder.join("pages/man1/kiln-worker.1").exists());
}

#[test]
fn this_folder_and_the_last_study_need_not_be_named() {
    let folder = tiny("unnamed");
    let inside = folder.join("tiny");
    let counted = |words: &[&str]| json(&inside, words)["valid"].clone();
    assert_eq!(counted(&["space", "--json"]), counted(&["space", ".", "--json"]));
    assert!(kiln_in(&folder, &["space"]).err.contains("has no kernel.toml"));
    assert!([0, 4].contains(&tune(&folder, &[]).code));
    let shown = |words: &[&str]| -> Value { json(&folder, words)["study"]["id"].clone() };
    assert_eq!(shown(&["show", "--json"]), shown(&["show", "last", "--json"]));
    // Its winner is checked as `bench` measures it.
    let checked = json(&folder, &["check", "tiny", "--study", "last", "--json"]);
    assert_eq!(checked["config"], json(&folder, &["show", "--json"])["study"]["summary"]["config"]);
    assert_eq!(checked["passed"], true, "{checked:#}");
}
