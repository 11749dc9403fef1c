//! `kiln claims`: confirmed, refuted, unverifiable, and files with mistakes.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::run::{kiln, kiln_in};
use crate::twice;

const QUICK: [&str; 4] = ["--samples", "25", "--max-samples", "25"];

fn claim(words: &str, rest: &str) -> String {
    format!("[[claims]]\nclaim = \"{words}\"\nwhere = \"a talk\"\nkernel = \"twice\"\nvariant = \"T=f32\"\n{rest}\n")
}

#[test]
fn claims_are_confirmed_refuted_or_unverifiable() {
    let folder = twice::folder("claims");
    let text = [
        claim("no slower than a hundredth", "baseline = \"plain\"\nspeedup = [0.01, 100]"),
        claim("a thousand times as fast", "baseline = \"plain\"\nspeedup = 1000"),
        claim("a second on another machine", "device = \"H200\"\ntime = \"1 s\""),
    ];
    std::fs::write(folder.join("claims.toml"), text.join("\n")).unwrap();
    let ran = kiln_in(&folder, &[&["claims", "claims.toml", "--json"], &QUICK[..]].concat());
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    assert_eq!(ran.code, 5, "{found:#}");
    let verdicts: Vec<&str> =
        found["claims"].as_array().unwrap().iter().filter_map(|c| c["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["confirmed", "refuted", "unverifiable"], "{found:#}");
    assert!(found["claims"][1]["measured"][0]["value"].as_f64().unwrap() < 100.0);
    assert!(found["claims"][2]["why"].as_str().unwrap().contains("it is about H200; this is "), "{found:#}");
    // Claims about different devices do not share a measurement, whichever comes first.
    let slow = claim("a nanosecond here", "device = \"\\u0000\"\ntime = \"1 ns\"");
    let here = found["claims"][0]["device"].as_str().unwrap();
    let slow = slow.replace("\\u0000", here);
    for (first, second, verdicts) in
        [(&text[2], &slow, ["unverifiable", "refuted"]), (&slow, &text[2], ["refuted", "unverifiable"])]
    {
        std::fs::write(folder.join("claims.toml"), format!("{first}\n{second}")).unwrap();
        let ran = kiln_in(&folder, &[&["claims", "claims.toml", "--json"], &QUICK[..]].concat());
        let found: Value = serde_json::from_str(&ran.out).unwrap();
        let seen: Vec<&str> =
            found["claims"].as_array().unwrap().iter().filter_map(|c| c["verdict"].as_str()).collect();
        assert_eq!((seen, ran.code), (verdicts.to_vec(), 5), "{found:#}");
    }
    // What is not refuted passes; a wrong kernel refutes what is claimed of it.
    std::fs::write(folder.join("claims.toml"), [&*text[0], &*text[2]].join("\n")).unwrap();
    let ran = kiln_in(&folder, &[&["claims", "claims.toml", "--format", "markdown"], &QUICK[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("1 confirmed, 0 refuted, 1 unverifiable here"), "{}", ran.out);
    assert!(
        ran.out.contains("| a second on another machine | a talk | 1.00 s ± 10 % | - | unverifiable: "),
        "{}",
        ran.out
    );
    twice::rewrite(&folder, "twice.c", "2 * x[i]", "3 * x[i]");
    let ran = kiln_in(&folder, &[&["claims", "claims.toml"], &QUICK[..]].concat());
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.out.contains("refuted: the configuration is refused: numerics"), "{}", ran.out);
}

#[test]
fn mistakes_in_the_file_are_named_before_anything_is_measured() {
    let folder = twice::folder("claims-wrong");
    for (text, words) in [
        (claim("x", "baseline = \"plain\""), "the claim has no figure"),
        (claim("x", "speedup = 2"), "needs a baseline"),
        (claim("x", "speedup = 2\nbaseline = \"plan\""), "did you mean plain?"),
        (claim("x", "speedup = 2\nbaseline = \"plain\"\nworkload = \"none\""), "none"),
        (claim("x", "speedup = 2\nbaseline = \"plain\"\nconfig = \"WAY=7\""), "7 is not a value of WAY"),
        (claim("x", "speedup = 2\nbaseline = \"plain\"").replace("\"twice\"", "\"thrice\""), "thrice does not exist"),
        (claim("x", "time = \"1 ms\"\ndevice = \"\""), "the device has no name"),
        (claim("x", "speedup = nan\nbaseline = \"plain\""), "is not a number such as"),
        (String::new(), "has no claims"),
        ("[[claims".into(), "is not TOML"),
    ] {
        std::fs::write(folder.join("claims.toml"), &text).unwrap();
        let ran = kiln_in(&folder, &["claims", "claims.toml"]);
        assert_eq!(ran.code, 2, "{text}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let ran = kiln_in(&folder, &["claims", "none.toml"]);
    assert!(ran.code != 0 && ran.err.contains("none.toml"), "{}", ran.err);
}

#[test]
fn the_figures_of_the_readme_are_claims_that_can_be_read() {
    let readme = std::fs::read_to_string(crate::run::root().join("README.md")).unwrap();
    let text = std::fs::read_to_string(crate::run::root().join("claims.toml")).unwrap();
    // Every figure that is claimed stands in the README as it is written here.
    for line in text.lines().filter_map(|line| line.strip_prefix("# README: ")) {
        assert!(readme.contains(line.trim()), "README.md does not say `{line}`");
    }
    let ran = kiln("claims claims.toml --samples 1");
    assert!(ran.code == 2 && ran.err.contains("--samples 1 is too few"), "{}{}", ran.out, ran.err);
}

#[test]
fn an_interrupted_check_tells_what_is_known() {
    let folder = twice::folder("claims-interrupted");
    let text = [
        claim("a second on another machine", "device = \"H200\"\ntime = \"1 s\""),
        claim("as fast", "baseline = \"plain\"\nspeedup = 1"),
        claim("as fast in another way", "baseline = \"plain\"\nspeedup = 1\nconfig = \"WAY=2\""),
    ];
    std::fs::write(folder.join("claims.toml"), text.join("\n")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["claims", "claims.toml", "--samples", "5000", "--max-samples", "5000"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    // The first that is measured has begun.
    assert!(said.any(|line| line.unwrap().contains("as fast")));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    // Somebody must read on, or kiln waits.
    said.for_each(drop);
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{out}");
    for part in ["0 confirmed, 0 refuted, 3 unverifiable", "it is about H200", "interrupted before it was measured"] {
        assert!(out.contains(part), "{part}: {out}");
    }
}
