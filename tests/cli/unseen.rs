//! What changes where nobody looks: the use of a workload, a header that only the compiler finds, a ratchet that kernels share, a place that can no
//! longer be written. Nothing of it may pass for a verdict on the kernel, and nothing that was measured is lost for it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln_in};
use crate::{fuzz, twice};

const SHORT: [&str; 5] = ["--samples", "25", "--max-samples", "25", "--no-fuzz"];

/// kiln with a variable set.
fn with(folder: &Path, (name, value): (&str, &str), words: &[&str]) -> Ran {
    let output =
        Command::new(env!("CARGO_BIN_EXE_kiln")).args(words).env(name, value).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}

fn ci(folder: &Path, words: &[&str]) -> Ran {
    kiln_in(folder, &[&["ci"], words, &SHORT].concat())
}

fn git(folder: &Path, words: &[&str]) {
    let own = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false"];
    assert!(Command::new("git").current_dir(folder).args(own).args(words).output().unwrap().status.success());
}

#[test]
fn a_workload_that_is_no_longer_measured_is_named() {
    let folder = twice::folder("unseen-use");
    let more = "[[workloads]]\nname = \"more\"\ndims = { N = 131072 }\n[reference]";
    twice::rewrite(&folder, "kernel.toml", "[reference]", more);
    std::fs::write(folder.join(".gitignore"), ".kiln\n").unwrap();
    assert_eq!(ci(&folder, &["twice", "--update"]).code, 0);
    for words in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "one"]] {
        git(&folder, words);
    }
    for change in ["use = \"check\"", "use = \"holdout\"", "targets = [\"cuda\"]"] {
        twice::rewrite(&folder, "kernel.toml", "{ N = 131072 }\n", &format!("{{ N = 131072 }}\n{change}\n"));
        let base = ci(&folder, &["twice", "--base", "HEAD"]);
        assert!(
            base.code == 0 && base.out.contains("the base measures workloads that the work does not: more"),
            "{change}: {}{}",
            base.out,
            base.err
        );
        let ratchet = ci(&folder, &["twice"]);
        assert!(
            ratchet.out.contains("entries for workloads that are no longer measured: more"),
            "{change}: {}",
            ratchet.out
        );
        twice::rewrite(&folder, "kernel.toml", &format!("{change}\n"), "");
    }
    // Left out by whoever asks for another one: no word.
    let asked = ci(&folder, &["twice", "--workload", "only"]);
    assert!(!asked.out.contains("no longer measured"), "{}", asked.out);
}

#[test]
fn kernels_that_share_a_ratchet_keep_to_their_own_entries() {
    let folder = twice::folder("unseen-ratchet");
    std::fs::rename(folder.join("twice"), folder.join("a")).unwrap();
    twice::written(&folder.join("twice"));
    twice::rewrite(&folder, "kernel.toml", "name = \"twice\"", "name = \"other\"");
    // The same answer, thirty times as slowly.
    let slow = "for (int again = 0; again < 30; ++again) { __asm__ volatile(\"\" ::: \"memory\");\nfor (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }";
    twice::rewrite(&folder, "twice.c", "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];", slow);
    let words = ["a", "twice", "--ratchet", "one.toml"];
    let first = ci(&folder, &[&words[..], &["--update"]].concat());
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    let text = std::fs::read_to_string(folder.join("one.toml")).unwrap();
    assert_eq!(text.matches("[[best]]").count(), 2, "{text}");
    assert!(text.contains("kernel = \"twice\"") && text.contains("kernel = \"other\""), "{text}");
    let again = ci(&folder, &[&words[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&again.out).unwrap();
    for kernel in found["kernels"].as_array().unwrap() {
        assert_eq!(kernel["verdict"], "identical", "{found:#}");
    }
}

/// A header that lies neither beside the source nor in a folder of the kernel file.
fn headers(folder: &Path, good: &str, bad: &str) -> [String; 2] {
    [("good", good), ("bad", bad)].map(|(name, text)| {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("factor.h"), text).unwrap();
        folder.join(name).to_str().unwrap().to_string()
    })
}

#[test]
fn what_a_compiler_finds_by_its_environment_is_another_build() {
    let folder = twice::folder("unseen-header");
    twice::rewrite(&folder, "twice.c", "#include <stdint.h>", "#include <stdint.h>\n#include <factor.h>");
    twice::rewrite(&folder, "twice.c", "2 * x[i]", "FACTOR * x[i]");
    let [good, bad] = headers(&folder, "#define FACTOR 2\n", "#define FACTOR 7\n");
    for (place, code) in [(&good, 0), (&bad, 3), (&good, 0)] {
        let ran = with(&folder, ("CPATH", place), &["check", "twice"]);
        assert_eq!(ran.code, code, "{place}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_case_that_passes_though_nothing_changed_is_not_called_fixed() {
    let folder = fuzz::kernel("unseen-fixed", "r", "WRONG");
    let source = std::fs::read_to_string(folder.join("twice.c")).unwrap();
    std::fs::write(folder.join("twice.c"), format!("#include <factor.h>\n{source}")).unwrap();
    let [good, bad] = headers(&folder, "#define WRONG 1\n", "#define WRONG (r != 6)\n");
    let fuzz = |place: &str| with(&folder, ("CPATH", place), &["fuzz", ".", "--seed", "1", "--cases", "5"]);
    assert_eq!(fuzz(&bad).code, 3);
    let ran = fuzz(&good);
    assert!(ran.out.contains("it may fail now and then") && !ran.out.contains("fixed"), "{}{}", ran.out, ran.err);
    // It stays, and is asked about first again.
    assert!(fuzz(&bad).out.contains("a case of an earlier run"), "{}", fuzz(&bad).out);
    // With other sources, passing is being fixed.
    std::fs::write(folder.join("twice.c"), fuzz::source("r", "1")).unwrap();
    assert!(fuzz(&good).out.contains("fixed"), "{}", fuzz(&good).out);
}

#[test]
fn other_verbs_look_at_the_case_that_was_kept() {
    let folder = fuzz::kernel("unseen-kept", "r", "!(s == 6 && r == 5)");
    assert_eq!(fuzz::fuzz(&folder, &["--case", "S=6,D=1"]).code, 3);
    let found = fuzz::fuzz(&folder, &["--seed", "1", "--cases", "2000"]);
    assert!(found.code == 3 && found.out.contains("S=6,"), "{}{}", found.out, found.err);
    let debugged = kiln_in(&folder, &["debug", ".", "--json"]);
    let seen: Value = serde_json::from_str(&debugged.out).unwrap();
    assert_eq!((debugged.code, &seen["dims"]["S"]), (3, &6.into()), "{seen:#}");
    let sanitized = kiln_in(&folder, &["sanitize", "."]);
    assert!(sanitized.code == 3 && sanitized.out.contains("case"), "{}{}", sanitized.out, sanitized.err);
}

#[test]
fn a_place_that_cannot_be_written_loses_nothing() {
    let folder = twice::folder("unseen-place");
    for words in [["--out", "nowhere/x.md"], ["--summary", "nowhere/s.md"]] {
        let ran = ci(&folder, &[&["twice"][..], &words].concat());
        assert!(ran.code == 2 && ran.err.contains("there is no folder nowhere"), "{}{}", ran.out, ran.err);
        assert!(!folder.join(".kiln/kiln.db").exists(), "it was measured first");
    }
    // A folder that goes while it is measured: the compiler takes it away.
    let compiler = "#!/bin/sh\ncase \"$*\" in *twice.c*) rmdir \"$GONE\" 2>/dev/null ;; esac\nexec cc \"$@\"\n";
    std::fs::write(folder.join("own-cc"), compiler).unwrap();
    std::fs::create_dir(folder.join("gone")).unwrap();
    let line = "chmod +x own-cc; GONE=$PWD/gone CC=$PWD/own-cc exec \"$0\" bench twice --samples 25 --max-samples 25 --save gone/run.json";
    let output =
        Command::new("sh").args(["-c", line, env!("CARGO_BIN_EXE_kiln")]).current_dir(&folder).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.code() == Some(1) && out.contains("median and 95 % interval"), "{out}{err}");
    assert!(err.contains("this run is not saved"), "{err}");
    assert!(kiln_in(&folder, &["history"]).out.contains("twice"));
}

#[test]
fn a_printed_command_repeats_what_was_done() {
    let folder = twice::folder("unseen-repeat");
    let flags = ["--regression", "1", "--config", "WAY=2", "--threads", "2", "--cold", "--width", "2", "--seed", "5"];
    let told = ci(&folder, &[&["twice", "--format", "markdown"][..], &flags].concat()).out;
    let line = told.lines().find(|line| line.starts_with("Repeat: ")).unwrap_or_else(|| panic!("{told}"));
    for pair in flags.chunks(2).map(|pair| pair.join(" ")).chain(SHORT.chunks(2).map(|pair| pair.join(" "))) {
        let wanted = if pair.starts_with("--cold") { "--cold" } else { &pair };
        assert!(line.contains(wanted) || pair.starts_with("--width"), "{wanted}: {line}");
    }
}

/// Another machine's times are shown, without a verdict.
#[test]
fn a_run_of_another_device_is_not_judged() {
    let folder = empty_folder("unseen-device");
    twice::written(&folder.join("twice"));
    let saved = ["bench", "twice", "--samples", "25", "--max-samples", "25", "--save", "run.json"];
    assert_eq!(kiln_in(&folder, &saved).code, 0);
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("run.json")).unwrap()).unwrap();
    run["device"] = "another processor".into();
    std::fs::write(folder.join("there.json"), run.to_string()).unwrap();
    let told = kiln_in(&folder, &["reproduce", "there.json"]);
    assert!(told.code == 0 && told.out.contains("times are shown, not judged"), "{}{}", told.out, told.err);
    for verdict in ["verdict", "improvement", "regression", "no significant difference", "identical machine"] {
        assert!(!told.out.contains(verdict), "{verdict}: {}", told.out);
    }
}
