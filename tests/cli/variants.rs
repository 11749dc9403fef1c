//! `kiln tune --all-variants`: a study for each, a table last, and each variant's own winner.

use std::path::Path;

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
