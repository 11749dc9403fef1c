//! `kiln tune --all-variants`: a study for each, a table last, and each variant's own winner.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::history::json;
use crate::run::{empty_folder, kiln_in};

/// A kernel in two types, so small that a study takes a moment; `wrong` makes one of them wrong.
fn twice(folder: &Path, wrong: bool) {
    let kernel = folder.join("twice");
    std::fs::create_dir_all(&kernel).unwrap();
    let toml = "[kernel]\nname = \"twice\"\nentry = \"twice\"\nvariants = { T = [\"f32\", \"f64\"] }\n[tunables]\nSTEP = [1, 2]\n\
                [default]\nSTEP = 1\n[target.cpu]\nsource = \"twice.c\"\n[[arguments]]\nname = \"x\"\ntype = \"T[N]\"\nrole = \"in\"\n\
                init = \"normal\"\n[[arguments]]\nname = \"y\"\ntype = \"T[N]\"\nrole = \"out\"\n[[arguments]]\nname = \"n\"\n\
                type = \"i64\"\nrole = \"scalar\"\nvalue = \"N\"\n[[workloads]]\nname = \"small\"\ndims = { N = 4096 }\n\
                [reference]\nbuiltin = \"elementwise\"\nexpressions = { y = \"2 * x\" }\n[baselines]\nplain = \"plain.c:plain\"\n";
    let (factor, guard) =
        if wrong { ("FACTOR", "#ifdef T_f64\n#define FACTOR 3\n#else\n#define FACTOR 2\n#endif\n") } else { ("2", "") };
    let body = |name: &str, factor: &str| {
        format!(
            "#include <stdint.h>\nvoid {name}(const T *x, T *y, int64_t n) {{ for (int64_t i = 0; i < n; i++) y[i] = {factor} * x[i]; }}\n"
        )
    };
    std::fs::write(kernel.join("kernel.toml"), toml).unwrap();
    std::fs::write(kernel.join("twice.c"), format!("{guard}{}", body("twice", factor))).unwrap();
    std::fs::write(kernel.join("plain.c"), body("plain", "2")).unwrap();
}

const FEW: [&str; 8] = ["tune", "twice", "--trials", "2", "--samples", "25", "--no-ablation", "--all-variants"];

#[test]
fn every_variant_has_a_study_a_row_and_a_winner() {
    let folder = empty_folder("variants");
    twice(&folder, false);
    let ran = kiln_in(&folder, &[&FEW[..], &["--no-stop", "--tag", "both"]].concat());
    assert!(matches!(ran.code, 0 | 4), "{}{}", ran.out, ran.err);
    let table = ran.out.split("all variants\n").nth(1).unwrap_or_else(|| panic!("{}", ran.out));
    let rows: Vec<&str> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(rows, ["variant", "T=f32", "T=f64"], "{table}");
    let best = std::fs::read_to_string(folder.join(".kiln/best/twice/best.toml")).unwrap();
    assert!(best.contains("[cpu.\"T=f32\"]") && best.contains("[cpu.\"T=f64\"]"), "{best}");
    let studies = json(&folder, &["history", "--tag", "both", "--json"]);
    assert_eq!(studies["studies"].as_array().unwrap().len(), 2);
}

#[test]
fn the_exit_code_is_the_worst_and_one_that_fails_does_not_stop_the_next() {
    let folder = empty_folder("variants_wrong");
    twice(&folder, true);
    let ran = kiln_in(&folder, &[&FEW[..], &["--no-stop", "--json"]].concat());
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let rows = object["variants"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[1]["ending"]), (2, &serde_json::json!("refused")), "{object:#}");
    assert_eq!(rows[1]["summary"]["verdict"], "no_valid_candidate");
    assert!(rows[0]["summary"]["config"].is_object(), "{object:#}");
    // A kernel without variants says so.
    assert_eq!(kiln_in(&folder, &["init", "alone"]).code, 0);
    let alone = kiln_in(&folder, &["tune", "alone", "--all-variants"]);
    assert_eq!(alone.code, 2);
    assert!(alone.err.contains("alone has no variants"), "{}", alone.err);
}

#[test]
fn ctrl_c_ends_all_of_them_and_says_how_to_continue() {
    let folder = empty_folder("variants_interrupt");
    twice(&folder, false);
    let words = ["tune", "twice", "--samples", "50000", "--no-stop", "--all-variants"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let child = child.args(words).current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while json(&folder, &["history", "--json"])["studies"][0]["trials"].as_u64().unwrap_or(0) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "no trial in two minutes");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted; continue with: ") && said.contains("--variant T=f32"), "{said}");
    assert!(!said.contains("variant T=f64"), "the next variant was begun: {said}");
    let studies = json(&folder, &["history", "--json"])["studies"].clone();
    let states: Vec<&str> = studies.as_array().unwrap().iter().filter_map(|study| study["state"].as_str()).collect();
    assert_eq!(states, ["interrupted"]);
}

#[test]
fn a_study_whose_answers_come_from_another_kernel_is_replayed() {
    let folder = empty_folder("variants_replayed");
    twice(&folder, false);
    let file = folder.join("twice/kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let reference = text.replace("entry = \"twice\"", "entry = \"plain\"").replace("\"twice.c\"", "\"plain.c\"");
    std::fs::write(folder.join("twice/reference.toml"), reference).unwrap();
    let asking =
        text.replace("builtin = \"elementwise\"\nexpressions = { y = \"2 * x\" }", "kernel = \"reference.toml\"");
    assert_ne!(text, asking);
    std::fs::write(&file, asking).unwrap();
    let ran = kiln_in(&folder, &["tune", "twice", "--trials", "2", "--samples", "25", "--no-stop", "--json"]);
    assert!(matches!(ran.code, 0 | 4), "{}{}", ran.out, ran.err);
    let again = kiln_in(&folder, &["tune", "twice", "--replay", "last", "--json"]);
    assert_eq!(again.code, ran.code, "{}{}", again.out, again.err);
    let config = |out: &str| serde_json::from_str::<serde_json::Value>(out).unwrap()["config"].clone();
    assert_eq!(config(&again.out), config(&ran.out));
}
