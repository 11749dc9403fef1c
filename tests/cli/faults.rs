//! What is not the candidate's fault is not blamed on it, and what is wrong is told before anything is run.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::history::json;
use crate::run::{Ran, empty_folder, kiln_in};
use crate::twice;

/// Processes that do not outlive the test.
struct Running(Vec<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A study that takes longer than any test waits, with what it says in a file.
fn long_study(folder: &Path, log: &str) -> Child {
    let log = std::fs::File::create(folder.join(log)).unwrap();
    let words = ["tune", "twice", "--samples", "1000000", "--no-stop"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(words).current_dir(folder).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Waits for something that a working kiln does in seconds.
fn until(what: &str, happened: impl Fn() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what} did not happen in two minutes");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_cache_of_a_running_study_is_not_cleared() {
    let folder = twice::folder("cache_in_use");
    assert_eq!(kiln_in(&folder, &["cache", "--clear"]).code, 0, "there is none yet");
    let running = Running(vec![long_study(&folder, "log")]);
    until("a build", || json(&folder, &["cache", "--json"])["entries"].as_u64().unwrap() > 0);
    let ran = kiln_in(&folder, &["cache", "--clear"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("another kiln is using it"), "{}", ran.err);
    drop(running);
    assert_eq!(kiln_in(&folder, &["cache", "--clear"]).code, 0);
    assert_eq!(json(&folder, &["cache", "--json"])["entries"], 0);
}

#[test]
fn of_two_studies_that_begin_at_once_one_notices_the_other() {
    let folder = twice::folder("at_once");
    let _running = Running(vec![long_study(&folder, "first"), long_study(&folder, "second")]);
    let said = |log: &str| std::fs::read_to_string(folder.join(log)).unwrap().contains("is running study");
    until("a word about the other", || said("first") || said("second"));
}

/// Every library in the build cache.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let inside = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let entries = inside(folder.join(".kiln/cache")).flat_map(inside);
    entries.map(|entry| entry.join("library.so")).filter(|library| library.is_file()).collect()
}

#[test]
fn a_damaged_cache_entry_is_built_again() {
    let folder = twice::folder("cache_damaged");
    assert_eq!(kiln_in(&folder, &["gate", "twice"]).code, 0);
    let found = libraries(&folder);
    assert!(!found.is_empty());
    for library in &found {
        let bytes = std::fs::read(library).unwrap();
        std::fs::write(library, &bytes[..bytes.len() / 2]).unwrap();
    }
    let ran = kiln_in(&folder, &["gate", "twice"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn a_function_that_c_plus_plus_renamed_is_explained_without_a_driver() {
    let folder = twice::folder("mangled");
    twice::rewrite(&folder, "kernel.toml", "twice.c\"", "twice.cpp\"");
    std::fs::rename(folder.join("twice/twice.c"), folder.join("twice/twice.cpp")).unwrap();
    let ran = kiln_in(&folder, &["gate", "twice"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("undefined symbol: twice") && ran.out.contains("extern \"C\""), "{}", ran.out);
    let ran = kiln_in(&folder, &["tune", "twice", "--samples", "25"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let story = kiln_in(&folder, &["show", "last"]).out;
    assert!(story.contains("launch_failed 2: its library cannot be loaded"), "{story}");
    assert!(![&ran.out, &ran.err, &story].iter().any(|text| text.contains("driver")), "{}{}{story}", ran.out, ran.err);
    // As the hint has it.
    let source = format!("extern \"C\" {{\n{}}}\n", twice::SOURCE);
    std::fs::write(folder.join("twice/twice.cpp"), source).unwrap();
    assert_eq!(kiln_in(&folder, &["gate", "twice"]).code, 0);
}

#[test]
fn checks_are_called_as_the_flags_have_it() {
    let folder = twice::folder("check_words");
    let said = |flags: &[&str]| kiln_in(&folder, &[&["check", "twice"], flags].concat()).out;
    assert!(said(&[]).starts_with("twice, target cpu, check, seed "), "{}", said(&[]));
    assert!(said(&["--full"]).starts_with("twice, target cpu, full check, seed "), "{}", said(&["--full"]));
}

#[test]
fn what_means_nothing_is_refused_before_it_is_run() {
    let folder = twice::folder("means_nothing");
    let ran = kiln_in(&folder, &["bench", "twice", "--samples", "3"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("--samples 3") && ran.err.contains("at least 25"), "{}", ran.err);
    let ran = kiln_in(&folder, &["gate", "twice", "--config", "WAY = 2"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    twice::rewrite(&folder, "kernel.toml", "N = 65536", "N = 0");
    for verb in ["tune", "bench", "check", "gate"] {
        let ran = kiln_in(&folder, &[verb, "twice"]);
        assert_eq!(ran.code, 2, "{verb}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("workload only: x has no elements"), "{verb}: {}", ran.err);
    }
}

#[test]
fn init_here_is_called_as_the_folder_is() {
    let folder = empty_folder("init_here").join("rows");
    std::fs::create_dir(&folder).unwrap();
    let ran = kiln_in(&folder, &["init", "."]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(folder.join("rows.c").is_file() && folder.join("kernel.toml").is_file());
    assert_eq!(kiln_in(&folder, &["space", "."]).code, 0);
    let spaced = empty_folder("init_here").join("two words");
    std::fs::create_dir(&spaced).unwrap();
    let ran = kiln_in(spaced.parent().unwrap(), &["init", "two words/rows"]);
    assert!(ran.out.contains("kiln tune 'two words/rows'"), "{}", ran.out);
}

#[test]
fn damage_inside_the_store_is_found_by_doctor() {
    let folder = twice::folder("store_damaged");
    twice::tune(&folder, "twice", &[]);
    let state = || {
        let findings = json(&folder, &["doctor", "--json"])["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["id"] == "store").unwrap()["state"].clone()
    };
    assert_eq!(state(), "ok");
    let file = folder.join(".kiln/kiln.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // The heads of the later half of its pages: what says the version stays readable.
    let half = bytes.len() / 4096 / 2;
    for page in bytes.chunks_mut(4096).skip(half) {
        page[..64].iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 37 + 11) as u8);
    }
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(state(), "fail");
}

/// An interpreter that sees no packages, as one does where none are installed.
fn bare_python(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let script = folder.join("bare_python");
    let python = std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into());
    std::fs::write(&script, format!("#!/bin/sh\nexec {python} -S -s -E \"$@\"\n")).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    script
}

fn with_python(folder: &Path, python: &Path, words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let output = command.args(words).current_dir(folder).env("KILN_PYTHON", python).output().unwrap();
    Ran {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

#[test]
fn a_missing_numpy_is_not_the_functions_fault() {
    let folder = twice::folder("no_numpy");
    twice::rewrite(
        &folder,
        "kernel.toml",
        "[target.cpu]\nsource = \"twice.c\"",
        "[target.python]\nsource = \"twice.py\"",
    );
    let function = "def twice(inputs, scalars, outputs):\n    outputs['y'][:] = 2 * inputs['x']\n";
    std::fs::write(folder.join("twice/twice.py"), function).unwrap();
    let python = bare_python(&folder);
    for words in [["gate", "twice", "--target", "python"], ["check", "twice", "--target", "python"]] {
        let ran = with_python(&folder, &python, &words);
        assert_eq!(ran.code, 1, "{words:?}: {}{}", ran.out, ran.err);
        let why = "has no NumPy, which the kernel on target python needs";
        assert!(ran.err.contains(why) && ran.err.contains("-m pip install numpy"), "{}", ran.err);
    }
}

#[test]
fn a_reference_that_gives_nothing_is_told_so() {
    if !crate::filled::has_numpy() {
        return;
    }
    let folder = twice::folder("no_answer");
    twice::rewrite(
        &folder,
        "kernel.toml",
        "builtin = \"elementwise\"\nexpressions = { y = \"2 * x\" }",
        "python = \"right.py:right\"",
    );
    let function = |body: &str| {
        let text = format!("def right(inputs, scalars, outputs):\n    {body}\n");
        std::fs::write(folder.join("twice/right.py"), text).unwrap();
        kiln_in(&folder, &["check", "twice"])
    };
    let ran = function("return 2 * inputs['x']");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let ran = function("2 * inputs['x']");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("it gave nothing for y"), "{}", ran.err);
    assert_eq!(function("outputs['y'][:] = 2 * inputs['x']").code, 0);
}

/// A reference that takes longer than the study may: what is left of the time is none, and the default alone is proven.
#[test]
fn right_answers_take_of_the_time_that_is_given() {
    if !crate::filled::has_numpy() {
        return;
    }
    let folder = twice::folder("slow_answers");
    twice::rewrite(&folder, "kernel.toml", "WAY = [1, 2]", "WAY = { from = 1, to = 40 }");
    twice::rewrite(
        &folder,
        "kernel.toml",
        "builtin = \"elementwise\"\nexpressions = { y = \"2 * x\" }",
        "python = \"right.py:right\"",
    );
    let text = "import time\ndef right(inputs, scalars, outputs):\n    time.sleep(0.25)\n    return 2 * inputs['x']\n";
    std::fs::write(folder.join("twice/right.py"), text).unwrap();
    let ran = twice::tune(&folder, "twice", &["--minutes", "0.02", "--variant", "T=f32", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert!(summary["seconds"].as_f64().unwrap() >= 2.0, "{summary:#}");
    assert_eq!((&summary["trials"], &summary["config"]["WAY"]), (&1.into(), &1.into()), "{}", ran.err);
    assert!(ran.err.contains("right answers and baselines took "), "{}", ran.err);
}

#[test]
fn a_file_where_the_cache_should_be_is_named() {
    let folder = crate::history::tiny("faults_cache_file");
    std::fs::create_dir_all(folder.join(".kiln")).unwrap();
    std::fs::write(folder.join(".kiln/cache"), "").unwrap();
    for words in [&["cache"][..], &["cache", "--clear"], &["bench", "tiny", "--target", "cpu"]] {
        let ran = crate::run::kiln_in(&folder, words);
        assert!(ran.code == 1 && ran.err.contains("move .kiln/cache away"), "{words:?}: {}{}", ran.out, ran.err);
    }
    // A name that is none, and one that cannot be read.
    let ran = crate::run::kiln_in(&folder, &["init", ""]);
    assert!(ran.code == 2 && ran.err.contains("the kernel has no name"), "{}", ran.err);
    let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"k\xffernel");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kiln"));
    let ended = command.args(["space".as_ref(), odd]).current_dir(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(2) && said.contains("is not UTF-8") && said.contains("ernel"), "{said}");
}
