//! `kiln ci` on scratch repositories: a slowdown, an equal change, a broken kernel, the ratchet, and what it refuses.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln_in};
use crate::twice;

/// The same answer, a hundred times as slowly: no noise of any machine comes near that.
const SLOW: &str = "for (int again = 0; again < 100; ++again) { __asm__ volatile(\"\" ::: \"memory\");\n\
                    for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }";
const FAST: &str = "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];";

fn git(folder: &Path, words: &[&str]) -> String {
    let own = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(folder).args(own).args(words).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with the kernel committed.
fn repository(name: &str) -> PathBuf {
    let folder = twice::folder(name);
    twice::rewrite(&folder, "kernel.toml", "[\"f32\", \"f64\"]", "[\"f32\"]");
    std::fs::write(folder.join(".gitignore"), ".kiln\n").unwrap();
    git(&folder, &["init", "-q", "-b", "main"]);
    commit(&folder);
    folder
}

fn commit(folder: &Path) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "change"]);
}

fn ci(folder: &Path, rest: &[&str]) -> Ran {
    kiln_in(folder, &[&["ci", "twice", "--samples", "25", "--max-samples", "25"], rest].concat())
}

/// What `--json` says of the only kernel.
fn kernel(ran: &Ran) -> Value {
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    found["kernels"][0].clone()
}

fn ratchet(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("twice/kiln-ratchet.toml")).unwrap()
}

#[test]
fn a_slowdown_fails_with_a_comment_that_names_it() {
    let folder = repository("ci-slow");
    twice::rewrite(&folder, "twice.c", FAST, SLOW);
    let ran = ci(&folder, &["--base", "HEAD", "--format", "markdown", "--summary", "summary.md"]);
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    for part in
        ["<!-- kiln(start): ci -->", "twice: regression on only", "| only | ", " regression |", "confirmed by a second"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(std::fs::read_to_string(folder.join("summary.md")).unwrap(), ran.out);
    // Nothing is left behind, and the change is committed as any other.
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
    commit(&folder);
    let ran = ci(&folder, &["--base", "HEAD~1", "--json"]);
    assert_eq!((ran.code, kernel(&ran)["workloads"][0]["measured"].as_u64()), (5, Some(2)), "{}{}", ran.out, ran.err);
    for (format, part) in
        [("junit", "<failure message=\"regression: "), ("sarif", "\"ruleId\": \"performance-regression\"")]
    {
        let ran = ci(&folder, &["--base", "HEAD~1", "--format", format]);
        assert!(ran.code == 5 && ran.out.contains(part), "{format}: {}", ran.out);
    }
    // GitHub Actions names the file of the summary.
    let output = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["ci", "twice", "--quiet"])
        .env("GITHUB_STEP_SUMMARY", folder.join("step.md"))
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(std::fs::read_to_string(folder.join("step.md")).unwrap().contains("kiln: twice: nothing to compare with"));
}

#[test]
fn what_did_not_change_passes() {
    let folder = repository("ci-same");
    let verdict = |ran: &Ran| kernel(ran)["verdict"].as_str().unwrap_or_default().to_string();
    let ran = ci(&folder, &["--base", "main", "--json"]);
    assert_eq!((ran.code, verdict(&ran).as_str()), (0, "identical"), "{}", ran.err);
    // A comment and other names make the same code.
    twice::rewrite(&folder, "twice.c", "for (int64_t i = 0;", "/* each element */\nfor (int64_t i = 0;");
    let ran = ci(&folder, &["--base", "main", "--json"]);
    assert_eq!((ran.code, verdict(&ran).as_str()), (0, "identical"), "{}", ran.err);
    assert!(kernel(&ran)["notes"].to_string().contains("files differ from the last commit"), "{}", ran.out);
    assert!(kernel(&ran)["notes"].to_string().contains("changed since the base: twice.c"), "{}", ran.out);
    // Other code that takes the same time is measured; no noise makes it ten times as slow.
    twice::rewrite(
        &folder,
        "twice.c",
        "void twice",
        "__attribute__((used)) static int unused(int a) { return 3 * a; }\nvoid twice",
    );
    let ran = ci(&folder, &["--base", "main", "--json", "--regression", "900"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(!["identical", "regression"].contains(&verdict(&ran).as_str()), "{}", ran.out);
    // A kernel that the base does not have is new.
    twice::written(&folder.join("other"));
    let ran = kiln_in(&folder, &["ci", "other", "--base", "main", "--json", "--variant", "T=f32"]);
    assert_eq!((ran.code, verdict(&ran).as_str()), (0, "new"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the base does not have this kernel"), "{}", ran.out);
}

#[test]
fn a_broken_kernel_fails_at_its_step_and_the_next_one_is_still_looked_at() {
    let folder = repository("ci-broken");
    twice::rewrite(&folder, "twice.c", "2 * x[i]", "3 * x[i]");
    let ran = ci(&folder, &["--base", "HEAD"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("twice: refused at check: numerics on only"), "{}", ran.out);
    // A change of what is correct is seen by whoever reviews it.
    twice::rewrite(&folder, "twice.c", "3 * x[i]", "2 * x[i]");
    twice::rewrite(
        &folder,
        "kernel.toml",
        "\"2 * x\" }",
        "\"2 * x\" }\ntolerance = { y = { abs = 0.01, rel = 0.01 } }",
    );
    let ran = ci(&folder, &["--base", "HEAD", "--no-fuzz"]);
    assert!(ran.code == 0 && ran.out.contains("the kernel file's reference changed"), "{}{}", ran.out, ran.err);
    twice::rewrite(&folder, "kernel.toml", "\ntolerance = { y = { abs = 0.01, rel = 0.01 } }", "");
    twice::rewrite(&folder, "twice.c", "2 * x[i]", "3 * x[i]");
    twice::written(&folder.join("fine"));
    let both = kiln_in(&folder, &["ci", "twice", "fine", "--variant", "T=f32", "--json"]);
    let found: Value = serde_json::from_str(&both.out).unwrap();
    let endings: Vec<&Value> = found["kernels"].as_array().unwrap().iter().map(|k| &k["ending"]).collect();
    assert_eq!((both.code, endings), (3, vec![&Value::from("refused"), &Value::from("done")]), "{}", both.out);
    twice::rewrite(&folder, "twice.c", "3 * x[i]", "3 * x[i");
    let ran = ci(&folder, &[]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.out.starts_with("twice: refused at build") && ran.out.contains("error:"), "{}", ran.out);
}

#[test]
fn shapes_that_nobody_listed_and_memory_that_nobody_may_touch_are_looked_at() {
    // Wrong on odd lengths, of which no workload has one.
    let folder = repository("ci-fuzz");
    twice::rewrite(&folder, "twice.c", FAST, "for (int64_t i = 0; i < n; ++i) y[i] = (n & 1 ? 3 : 2) * x[i];");
    let ran = ci(&folder, &["--json"]);
    let steps = kernel(&ran)["steps"].clone();
    assert_eq!((ran.code, &steps[3]["step"], &steps[3]["state"]), (3, &"fuzz".into(), &"refused".into()), "{steps:#}");
    assert!(steps[3]["words"].as_str().unwrap().contains("numerics on N=1;"), "{steps:#}");
    let skipped = ci(&folder, &["--no-fuzz", "--json"]);
    let steps = kernel(&skipped)["steps"].clone();
    assert_eq!(
        (skipped.code, &steps[3]["state"], &steps[4]["state"]),
        (0, &"skipped".into(), &"skipped".into()),
        "{steps:#}"
    );
    // Reads behind the end, which no answer shows.
    let reads = "volatile T end = x[n]; (void)end;\nfor (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];";
    twice::rewrite(&folder, "twice.c", "for (int64_t i = 0; i < n; ++i) y[i] = (n & 1 ? 3 : 2) * x[i];", reads);
    twice::rewrite(&folder, "kernel.toml", "[[workloads]]", "[fuzz]\ndims = { N = [1, 70] }\n[[workloads]]");
    let examined = kiln_in(&folder, &["sanitize", "twice", "--json"]);
    assert_eq!(examined.code, 3, "{}{}", examined.out, examined.err);
}

#[test]
fn the_ratchet_moves_on_a_confirmed_improvement_and_only_when_told() {
    let folder = repository("ci-ratchet");
    twice::rewrite(&folder, "twice.c", FAST, SLOW);
    let first = ci(&folder, &["--update"]);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    let slow = ratchet(&folder);
    for part in ["workload = \"only\"", "baseline = \"plain\"", "median_ms = ", "ratio_ci95 = ", "config = \"WAY=1\""] {
        assert!(slow.contains(part), "{part}: {slow}");
    }
    let again = ci(&folder, &["--json"]);
    assert_eq!((again.code, &kernel(&again)["verdict"]), (0, &Value::from("identical")), "{}", again.err);
    // Comments stay with what they are about.
    let remarked = slow
        .replace("median_ms = ", "# measured at night\nmedian_ms = ")
        .replace("cache = \"warm\"", "cache = \"warm\" # as always");
    std::fs::write(folder.join("twice/kiln-ratchet.toml"), &remarked).unwrap();
    let slow = remarked;
    // Faster: said, and written when told.
    twice::rewrite(&folder, "twice.c", SLOW, FAST);
    let faster = ci(&folder, &[]);
    assert_eq!(faster.code, 0, "{}{}", faster.out, faster.err);
    assert!(faster.out.contains("improvement on only") && faster.out.contains("kiln ci --update"), "{}", faster.out);
    assert_eq!(ratchet(&folder), slow);
    let moved = ci(&folder, &["--update", "--json"]);
    assert_eq!((moved.code, kernel(&moved)["moved"].to_string().as_str()), (0, "[\"only\"]"), "{}", moved.out);
    let fast = ratchet(&folder);
    assert_ne!(fast, slow);
    assert!(
        fast.contains("# measured at night\nmedian_ms = ") && fast.contains("cache = \"warm\" # as always"),
        "{fast}"
    );
    // Slower again: the ratchet stays, told or not.
    twice::rewrite(&folder, "twice.c", FAST, SLOW);
    for flags in [&[][..], &["--update"]] {
        let slower = ci(&folder, flags);
        assert_eq!(slower.code, 5, "{}{}", slower.out, slower.err);
        assert!(slower.out.starts_with("twice: regression on only"), "{}", slower.out);
        assert_eq!(ratchet(&folder), fast);
    }
    // Another machine's times are no gate here.
    let device = fast.lines().find(|line| line.starts_with("device = ")).unwrap();
    let elsewhere = fast.replace(device, "device = \"a GPU\"");
    std::fs::write(folder.join("twice/kiln-ratchet.toml"), &elsewhere).unwrap();
    let other = ci(&folder, &[]);
    assert_eq!(other.code, 0, "{}{}", other.out, other.err);
    assert!(other.out.contains("other_machine") && other.out.contains("device a GPU there"), "{}", other.out);
    assert_eq!(ratchet(&folder), elsewhere);
    // Updated, it has an entry for each machine.
    assert_eq!(ci(&folder, &["--update"]).code, 0);
    let both = ratchet(&folder);
    assert!(both.starts_with(&elsewhere) && both.matches("[[best]]").count() == 2, "{both}");
    // Under the same name another workload: neither slower nor the same, and taken in when told.
    twice::rewrite(&folder, "kernel.toml", "N = 65536", "N = 262144");
    let other = kernel(&ci(&folder, &["--json"]))["workloads"][0].clone();
    assert_eq!(other["verdict"], "new", "{other:#}");
    let words = "it was measured with N=65536, and has N=262144 now";
    assert!(other["notes"][0].as_str().unwrap().contains(words), "{other:#}");
    assert_eq!(ci(&folder, &["--update"]).code, 0);
    assert!(ratchet(&folder).contains("shape = \"N=262144\""), "{}", ratchet(&folder));
    // What nothing belongs to any more is named.
    let renamed = ratchet(&folder).replace("workload = \"only\"", "workload = \"former\"");
    std::fs::write(folder.join("twice/kiln-ratchet.toml"), renamed).unwrap();
    let gone = ci(&folder, &[]);
    assert!(gone.out.contains("workloads that are no longer measured: former"), "{}", gone.out);
}

#[test]
fn what_cannot_be_compared_is_said_and_nothing_is_lost() {
    let folder = repository("ci-refused");
    let refused = |folder: &Path, rest: &[&str], words: &[&str]| {
        let ran = ci(folder, rest);
        assert_eq!(ran.code, 2, "{rest:?}: {}{}", ran.out, ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        words.iter().for_each(|words| assert!(said.contains(words), "{words}: {said}"));
    };
    refused(&folder, &["--base", "origin/main"], &["there is no commit `origin/main`", "git fetch"]);
    refused(&folder, &["--base=--force"], &["--base `--force` is not a commit"]);
    refused(&folder, &["--base", "HEAD", "--update"], &["cannot be used with"]);
    refused(&folder, &["--ratchet", "none.toml"], &["there is no ratchet none.toml", "--update"]);
    refused(&folder, &["--config", "WAY=7"], &["7 is not a value of WAY"]);
    refused(&folder, &["--width", "0"], &["--width 0 is out of range"]);
    for (text, words) in [
        ("version = 1\n[[best]\n", "is not TOML"),
        ("version = 9\n", "has version 9; this kiln reads version 1"),
        ("version = 1\n[[best]]\ntarget = \"cpu\"\n", "`cache` is missing"),
    ] {
        std::fs::write(folder.join("twice/kiln-ratchet.toml"), text).unwrap();
        refused(&folder, &["--update"], &[words, "hint: "]);
        assert_eq!(ratchet(&folder), text);
    }
    std::fs::remove_file(folder.join("twice/kiln-ratchet.toml")).unwrap();
    // A shallow clone without the base.
    std::fs::write(folder.join("more"), "").unwrap();
    commit(&folder);
    let url = format!("file://{}", folder.display());
    let clones = empty_folder("ci-clones");
    git(&clones, &["clone", "-q", "--depth", "1", &url, "shallow"]);
    refused(&clones.join("shallow"), &["--base", "HEAD~1"], &["the clone is shallow", "fetch-depth: 0"]);
    // No repository at all; the scratch folder may lie in one.
    let outside = tempfile::tempdir().unwrap();
    twice::written(&outside.path().join("twice"));
    refused(outside.path(), &["--base", "HEAD", "--variant", "T=f32"], &["is not in a git repository", "omit --base"]);
}

#[test]
fn an_interrupted_run_removes_its_worktree() {
    let folder = repository("ci-interrupted");
    twice::rewrite(&folder, "twice.c", FAST, SLOW);
    let mut child = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["ci", "twice", "--base", "HEAD", "--quiet", "--samples", "5000", "--max-samples", "5000"])
        .current_dir(&folder)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while git(&folder, &["worktree", "list"]).lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    let number = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &number]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
}
