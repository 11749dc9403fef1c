//! `kiln bisect` on scratch repositories of up to 64 commits: a broken build, a wrong result and a slowdown are found, commits
//! that cannot be judged are stepped over, an interruption loses nothing, and the user's tree stays as it is.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::{Ran, kiln_in};
use crate::twice;

fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(words).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const GOOD: &str = "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];";
const BROKEN: &str = "for (int64_t i = 0; i < n; ++i) y[i] = 2 * z[i];";
const WRONG: &str = "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i] + (i == n - 1);";
/// Twenty times the work: no noise of any machine comes near that.
const SLOW: &str = "for (int again = 0; again < 20; ++again) { __asm__ volatile(\"\" ::: \"memory\");\n\
                    for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }";

/// A repository of so many commits, the kernel's loop of each by its number; the code differs in every one.
fn repository(name: &str, commits: usize, body: impl Fn(usize) -> &'static str) -> PathBuf {
    young(name, 0, commits, body)
}

/// The same with so many commits before that do not have the kernel.
fn young(name: &str, before: usize, commits: usize, body: impl Fn(usize) -> &'static str) -> PathBuf {
    let folder = twice::folder(name);
    twice::rewrite(&folder, "kernel.toml", "[\"f32\", \"f64\"]", "[\"f32\"]");
    let mut stream = String::new();
    let file = |path: &str, text: &str| format!("M 644 inline {path}\ndata {}\n{text}\n", text.len());
    for number in 0..before {
        writeln!(stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> 1600000000 +0000").unwrap();
        stream.push_str(&format!("data 6\nbefore\n{}", file("number", &number.to_string())));
    }
    for number in 0..commits {
        let message = format!("commit {number}");
        let stamp = 1_700_000_000 + 60 * number;
        writeln!(stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> {stamp} +0000").unwrap();
        write!(stream, "data {}\n{message}\n", message.len()).unwrap();
        if number == 0 {
            for kept in ["kernel.toml", "plain.c"] {
                let text = std::fs::read_to_string(folder.join("twice").join(kept)).unwrap();
                stream.push_str(&file(&format!("twice/{kept}"), &text));
            }
            stream.push_str(&file(".gitignore", ".kiln\n"));
        }
        let unused = format!("__attribute__((used)) static int unused(int a) {{ return {} * a; }}\n", number + 3);
        stream.push_str(&file("twice/twice.c", &format!("{unused}{}", twice::SOURCE.replace(GOOD, body(number)))));
    }
    git(&folder, &["init", "-q", "-b", "main"]);
    let mut import = Command::new("git");
    import.current_dir(&folder).args(["fast-import", "--quiet"]).stdin(Stdio::piped());
    let mut import = import.spawn().unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    git(&folder, &["reset", "-q", "--hard"]);
    // What the user is at work on.
    std::fs::write(folder.join("twice/twice.c"), "not even C").unwrap();
    std::fs::write(folder.join("new"), "").unwrap();
    folder
}

fn bisect(folder: &Path, rest: &[&str]) -> Ran {
    let own = ["bisect", "twice", "--json", "--samples", "25", "--max-samples", "25"];
    kiln_in(folder, &[&own, rest].concat())
}

fn read(ran: &Ran) -> Value {
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    found
}

/// Bisects and holds the answer against the commit that is to be found.
fn finds(folder: &Path, rest: &[&str], culprit: usize) -> Value {
    let before = (git(folder, &["status", "--porcelain"]), git(folder, &["rev-parse", "HEAD"]));
    let ran = bisect(folder, rest);
    let found = read(&ran);
    assert_eq!(found["outcome"], "found", "{found:#}\n{}", ran.err);
    assert_eq!(found["culprit"]["subject"], format!("commit {culprit}"), "{found:#}\n{}", ran.err);
    assert_eq!(found["before"]["subject"], format!("commit {}", culprit - 1), "{found:#}");
    // Nothing is left behind, and nothing of the user's is touched.
    let after = (git(folder, &["status", "--porcelain"]), git(folder, &["rev-parse", "HEAD"]));
    assert_eq!(before, after);
    assert_eq!(git(folder, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(std::fs::read_to_string(folder.join("twice/twice.c")).unwrap(), "not even C");
    let states = std::fs::read_dir(folder.join(".kiln/bisect")).map_or(0, Iterator::count);
    assert_eq!(states, 0, "a state of a question that is answered");
    found
}

fn evaluated(found: &Value) -> u64 {
    found["evaluated"].as_u64().unwrap()
}

#[test]
fn a_broken_build_is_found_among_64_commits() {
    let folder = repository("bisect-build", 64, |n| if n < 41 { GOOD } else { BROKEN });
    let found = finds(&folder, &["--until", "build", "--good", "HEAD~63"], 41);
    assert!(evaluated(&found) <= 8, "{found:#}");
    assert_eq!((found["commits"].as_u64(), &found["refusal"]["gate"]), (Some(63), &"build_failed".into()));
}

#[test]
fn a_wrong_result_is_found_among_64_commits() {
    let folder = repository("bisect-check", 64, |n| if n < 10 { GOOD } else { WRONG });
    let found = finds(&folder, &["--good", "HEAD~63"], 10);
    assert!(evaluated(&found) <= 8, "{found:#}");
    assert_eq!(found["refusal"]["gate"], "numerics");
    // The culprit and the one before it were looked at twice.
    let looks = |commit: &Value| commit["looks"].as_u64() == Some(2);
    assert_eq!(found["judged"].as_array().unwrap().iter().filter(|commit| looks(commit)).count(), 2, "{found:#}");
}

#[test]
fn a_slowdown_is_found_among_64_commits() {
    let folder = repository("bisect-fast", 64, |n| if n < 52 { GOOD } else { SLOW });
    let found = finds(&folder, &["--until", "fast:50%", "--good", "HEAD~63"], 52);
    assert!(evaluated(&found) <= 8, "{found:#}");
    assert!(found["change"][0]["ratio_ci95"][0].as_f64().unwrap() > 1.5, "{found:#}");
    // What was found is recorded, and serves without a good commit.
    let again = finds(&folder, &["--until", "fast:50%", "--bad", "HEAD~11"], 52);
    assert_eq!((&again["good"]["subject"], evaluated(&again)), (&"commit 51".into(), 2), "{again:#}");
}

#[test]
fn commits_that_cannot_be_judged_are_stepped_over() {
    // Some do not build, which says nothing about their answers.
    let body = |n: usize| match n {
        9..12 => BROKEN,
        n if n < 13 => GOOD,
        _ => WRONG,
    };
    let folder = repository("bisect-skip", 16, body);
    // Without a good commit it is looked for: 1, 2, 4 and 8 commits back.
    let found = finds(&folder, &[], 13);
    let verdicts: Vec<&str> =
        found["judged"].as_array().unwrap().iter().filter_map(|commit| commit["verdict"].as_str()).collect();
    assert!(verdicts.contains(&"unjudged"), "{found:#}");
    // Where the change lies among them, all are named.
    let folder = repository("bisect-narrow", 16, |n| match n {
        6..10 => BROKEN,
        n if n < 6 => GOOD,
        _ => WRONG,
    });
    let ran = bisect(&folder, &["--good", "HEAD~15"]);
    let found = read(&ran);
    assert_eq!((&found["outcome"], &found["culprit"]), (&"narrowed".into(), &Value::Null), "{found:#}");
    let named: Vec<&str> =
        found["candidates"].as_array().unwrap().iter().filter_map(|commit| commit["subject"].as_str()).collect();
    assert_eq!(named, ["commit 6", "commit 7", "commit 8", "commit 9", "commit 10"]);
}

#[test]
fn ends_that_are_not_what_they_are_said_to_be_are_refused() {
    let folder = repository("bisect-ends", 4, |n| if n < 2 { GOOD } else { WRONG });
    let refused = |rest: &[&str], words: &str| {
        let ran = bisect(&folder, rest);
        assert!(ran.code == 2 && ran.err.contains(words), "{rest:?}: {} {}{}", ran.code, ran.out, ran.err);
    };
    refused(&["--good", "HEAD"], "--good and --bad are the same commit");
    refused(&["--good", "HEAD~1"], "--good HEAD~1 is not good: numerics");
    refused(&["--bad", "HEAD~3"], "--bad HEAD~3 is not bad");
    refused(&["--good", "HEAD", "--bad", "HEAD~3", "--until", "build"], "--bad HEAD~3 is not bad");
    refused(&["--good", "nope"], "there is no commit `nope`");
    refused(&["--until", "slow"], "--until slow is not understood");
    refused(&["--good", "HEAD~3", "--bad", "HEAD~2", "--until", "fast:50%"], "--bad HEAD~2 is not bad");
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
    // What is wrong lies in changes that no commit has.
    let right = repository("bisect-uncommitted", 2, |_| GOOD);
    let ran = bisect(&right, &["--until", "build"]);
    assert!(ran.code == 2 && ran.err.contains("git -C twice diff HEAD -- ."), "{}{}", ran.out, ran.err);
}

#[test]
fn an_interruption_loses_nothing() {
    let folder = repository("bisect-stop", 16, |n| if n < 9 { GOOD } else { WRONG });
    let own = ["bisect", "twice", "--good", "HEAD~15", "--json"];
    let running = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(own)
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let known = || {
        let files = std::fs::read_dir(folder.join(".kiln/bisect")).ok()?;
        let text = std::fs::read_to_string(files.filter_map(Result::ok).next()?.path()).ok()?;
        serde_json::from_str::<Value>(&text).ok()?["evaluated"].as_array().map(Vec::len)
    };
    let began = Instant::now();
    while known().unwrap_or(0) < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing found in a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stopped: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stopped["outcome"], "interrupted", "{stopped:#}");
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
    let before = evaluated(&stopped);
    let found = finds(&folder, &["--good", "HEAD~15"], 9);
    assert_eq!(found["resumed"].as_u64(), Some(before), "{found:#}");
    assert!(before >= 2 && evaluated(&found) <= 6, "{found:#}");
}

#[test]
fn the_walk_back_ends_where_the_kernel_begins() {
    // Steps of 1, 2 and 4 would miss the only good commit.
    let folder = young("bisect-young", 3, 4, |n| if n < 1 { GOOD } else { WRONG });
    let found = finds(&folder, &[], 1);
    assert_eq!(found["good"]["subject"], "commit 0", "{found:#}");
    // What was found is recorded: the newest good commit is taken, and nothing else is looked for.
    let again = kiln_in(&folder, &["bisect", "twice", "--max-samples", "25"]);
    let good = git(&folder, &["rev-parse", "HEAD~3"]);
    let words = format!("{} is the newest commit recorded as good", &good[..12]);
    assert!(again.code == 0 && again.err.contains(&words), "{}{}", again.out, again.err);
    assert!(
        again.out.contains("commits evaluated, in ") && again.out.contains(" (3 after the good one)"),
        "{}",
        again.out
    );
    let next = kiln_in(&folder, &["next", "twice"]);
    assert!(!next.out.contains("--target ''"), "{}", next.out);
    let refused = |folder: &Path, kernel: &str, rest: &[&str], words: &str| {
        let ran = kiln_in(folder, &[&["bisect", kernel], rest].concat());
        assert!(ran.code == 2 && ran.err.contains(words), "{rest:?}: {} {}{}", ran.code, ran.out, ran.err);
    };
    refused(&folder, "twice", &["--good", "HEAD~5"], "--good HEAD~5 does not have twice/kernel.toml");
    refused(&folder, "twice", &["--bad", "HEAD~5"], "--bad HEAD~5 does not have twice/kernel.toml");
    refused(&folder, "twice", &["--good", "HEAD", "--bad", "HEAD~3"], "swap --good and --bad");
    refused(&folder, "once", &[], "there is nothing at once");
    refused(&folder, "twice", &["--max-samples", "10"], "--max-samples 10 is too few");
    // Nothing before is fetched.
    let shallow = folder.join("shallow");
    git(&folder, &["clone", "-q", "--depth", "2", &format!("file://{}", folder.display()), "shallow"]);
    refused(&shallow, "twice", &[], "git fetch --unshallow");
    // A move is not followed, but told.
    git(&folder, &["checkout", "-q", "--", "."]);
    git(&folder, &["mv", "twice", "moved"]);
    git(&folder, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "moved"]);
    refused(&folder, "moved", &[], "moved it here from twice/kernel.toml");
}
