//! `kiln history` and `kiln show`: studies really run, then read back.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln_in};

/// A folder with a kernel so small that a study takes a moment, of which four configurations do not compile.
pub(crate) fn tiny(name: &str) -> std::path::PathBuf {
    let folder = empty_folder(name);
    assert_eq!(kiln_in(&folder, &["init", "tiny"]).code, 0);
    let rewrite = |file: &str, change: &dyn Fn(String) -> String| {
        let path = folder.join("tiny").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let changed = change(text.clone());
        assert_ne!(text, changed, "{file}");
        std::fs::write(&path, changed).unwrap();
    };
    rewrite("kernel.toml", &|text| {
        let small = text.replace("ROWS = 64, COLS = 600", "ROWS = 2, COLS = 64");
        small.replace("ROWS = 256, COLS = 1024", "ROWS = 4, COLS = 64")
    });
    rewrite("tiny.c", &|text| format!("#if LANES == 16\n#error too many lanes\n#endif\n{text}"));
    folder
}

pub(crate) fn tune(folder: &Path, more: &[&str]) -> Ran {
    let few = ["tune", "tiny", "--trials", "5", "--samples", "25", "--no-ablation", "--no-stop"];
    kiln_in(folder, &[&few[..], more].concat())
}

pub(crate) fn json(folder: &Path, words: &[&str]) -> Value {
    let ran = kiln_in(folder, words);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{words:?}: {e}\n{}{}", ran.out, ran.err))
}

/// What differs from run to run and from machine to machine.
fn redacted() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d", "[when]");
    settings.add_filter(r"\b[0-9a-f]{8}\b", "[short]");
    settings.add_filter(r"(not_)?reached +\d.*", "[verdict] [figures] [device]");
    settings.add_filter(r"  +", "  ");
    settings.set_prepend_module_to_snapshot(false);
    settings
}

#[test]
fn without_a_store_history_says_what_to_type_and_makes_none() {
    let folder = empty_folder("history_none");
    let ran = kiln_in(&folder, &["history"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("no studies yet") && ran.out.contains("kiln tune my_kernel"), "{}", ran.out);
    assert_eq!(json(&folder, &["history", "--json"])["studies"], serde_json::json!([]));
    let show = kiln_in(&folder, &["show", "last"]);
    assert_eq!(show.code, 1);
    assert!(show.err.contains("there is no .kiln/kiln.db here"), "{}", show.err);
    assert!(!folder.join(".kiln").exists());
}

#[test]
fn a_study_is_listed_and_its_story_told() {
    let folder = tiny("history_story");
    let ran = tune(&folder, &["--seed", "7"]);
    assert!([0, 4].contains(&ran.code), "{}{}", ran.out, ran.err);
    let history = kiln_in(&folder, &["history"]);
    redacted().bind(|| insta::assert_snapshot!("history_of_one", history.out));

    let listed = &json(&folder, &["history", "tiny", "--json"])["studies"][0];
    let (id, trials) = (listed["id"].as_str().unwrap(), listed["trials"].as_u64().unwrap());
    assert_eq!((listed["state"].as_str(), listed["seed"].as_u64(), trials), (Some("finished"), Some(7), 6));
    let none = kiln_in(&folder, &["history", "other"]);
    assert_eq!(none.out, "no studies of other in .kiln/kiln.db\nkernels that have some: tiny\n");

    // A filter counts for the list, and one that leaves nothing is named.
    let filtered = kiln_in(&folder, &["history", "tiny", "--target", "cuda", "--since", "30d"]);
    let words = "nothing to show: --target cuda leaves none of 1 record: without it 1 would be left (there is cpu)\n";
    assert_eq!(filtered.out, words);
    assert_eq!(kiln_in(&folder, &["history", "tiny", "--target", "cpu", "--since", "30d"]).out, history.out);
    let refused = |words: &[&str], why: &str| {
        let ran = kiln_in(&folder, &[&["history"], words].concat());
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(why), "{words:?}: {}{}", ran.out, ran.err);
    };
    refused(&["tiny", "--since", "tomorrow"], "--since tomorrow is not understood");
    refused(&["--by-time"], "--by-time says nothing about a list of all kernels");
    refused(&["tiny", "--last-good", "--target", "cpu"], "--target says nothing about --last-good");

    // By name, by the end of its id, as the last: the same story.
    let story = kiln_in(&folder, &["show", "tiny"]);
    assert_eq!(story.code, 0, "{}", story.err);
    for name in ["last", &id[id.len() - 8..], id] {
        assert_eq!(kiln_in(&folder, &["show", name]).out, story.out, "{name}");
    }
    let repeat = "kiln tune tiny --target cpu --seed 7 --trials 5 --samples 25 --no-prior --no-stop --no-ablation";
    for words in [repeat, "how the best improved", "fastest while searching", "confirm", "95 % interval", "default 0"] {
        assert!(story.out.contains(words), "{words}\n{}", story.out);
    }
    // What `kiln tune` said at the end stands there word for word.
    let end = ran.out.split("\n\n6 configurations tried").next().unwrap();
    assert!(story.out.contains(end), "{end}\n---\n{}", story.out);

    let every = kiln_in(&folder, &["show", "last", "--trials"]);
    let object = json(&folder, &["show", "last", "--json"]);
    let trials = object["trials"].as_array().unwrap();
    assert_eq!(every.out.lines().count(), trials.len() + 3, "{}", every.out);
    assert_eq!(object["study"]["id"], id);
    let refused: Vec<_> = trials.iter().filter(|t| t["state"] == "refused").collect();
    let refusals = kiln_in(&folder, &["show", "last", "--refusals"]).out;
    assert_eq!(refusals.matches("build_failed").count(), refused.len(), "{refusals}");
    if !refused.is_empty() {
        assert!(refusals.contains("too many lanes") && story.out.contains("refused, by gate"), "{}", story.out);
    }
    let doctor = kiln_in(&folder, &["doctor"]);
    assert!(doctor.out.contains(".kiln/kiln.db opens, version "), "{}", doctor.out);
    let unknown = kiln_in(&folder, &["show", "tinny"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("did you mean `tiny`?"), "{}", unknown.err);
}

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_killed_study_is_interrupted_and_can_be_shown() {
    let folder = tiny("history_killed");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command
        .args(["tune", "tiny", "--samples", "2000"])
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let running = Running(command.spawn().unwrap());
    let first = || json(&folder, &["history", "--json"])["studies"][0].clone();
    let begun = Instant::now();
    while first()["trials"].as_u64().unwrap_or(0) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no trial in a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(first()["state"], "running");
    assert!(kiln_in(&folder, &["show", "last"]).out.contains("still running, as process"));
    let refused = kiln_in(&folder, &["studies", "delete", "last", "--yes"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("is running, as process"), "{}", refused.err);
    drop(running);
    assert_eq!(first()["state"], "interrupted");
    let story = kiln_in(&folder, &["show", "last"]);
    assert_eq!(story.code, 0, "{}", story.err);
    assert!(story.out.contains("continue with: kiln tune tiny --target cpu --resume"), "{}", story.out);
    // What is over can be deleted.
    assert_eq!(kiln_in(&folder, &["studies", "delete", "last", "--yes"]).code, 0);
}
