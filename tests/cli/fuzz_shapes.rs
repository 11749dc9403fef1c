//! `kiln fuzz` on kernels whose constraints admit few shapes: it still draws many of those, and shrinks among them.

use std::path::PathBuf;

use serde_json::Value;

use crate::fuzz::{FILE, fuzz, kernel, object, smallest};

/// The folder of a kernel with constraints, right where `guard` holds.
fn constrained(name: &str, constraints: &str, guard: &str, dims: [&str; 2]) -> PathBuf {
    let folder = kernel(name, "r", guard);
    let text = FILE
        .replace("[default]", &format!("[constraints]\n{constraints}\n[default]"))
        .replace("S = 64, D = 8", dims[0])
        .replace("S = 250, D = 3", dims[1]);
    std::fs::write(folder.join("kernel.toml"), text).unwrap();
    folder
}

fn count(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap_or_else(|| panic!("{key}: {object:#}"))
}

#[test]
fn multiples_are_drawn_and_a_failure_shrinks_to_the_smallest_of_them() {
    let (rule, dims) = ("wide = \"D % 64 == 0\"", ["S = 20, D = 512", "S = 3, D = 1024"]);
    let folder = constrained("fuzz_multiples", rule, "1", dims);
    let passed = object(&folder, &["--seed", "1"], 0);
    assert_eq!(passed["cases_passed"], 100, "{passed:#}");
    assert!(count(&passed, "shapes") > 60 && count(&passed, "draws_excluded") > 50, "{passed:#}");
    assert_eq!((&passed["only_workloads"], &passed["excluded"]), (&false.into(), &Value::Array(vec![])), "{passed:#}");
    let text = fuzz(&folder, &["--seed", "1"]).out;
    assert!(text.contains(" distinct shapes") && text.contains("drawn shapes that constraints exclude"), "{text}");
    // Wrong from the third chunk of 64 columns on.
    let folder = constrained("fuzz_multiples_wrong", rule, "d <= 128 || r != 0", dims);
    for seed in ["1", "2", "3"] {
        let _ = std::fs::remove_dir_all(folder.join(".kiln/fuzz"));
        let found = object(&folder, &["--seed", seed], 3);
        assert_eq!(smallest(&found).0, "S=1,D=192; inputs=constant; seed=0", "{found:#}");
    }
}

/// The tile of the configuration divides the rows, and there is at least one: wrong with two tiles, but not with one.
#[test]
fn the_step_follows_the_configuration() {
    let rule = "whole = \"S % BLOCK == 0 and S >= BLOCK\"";
    let folder =
        constrained("fuzz_tiles", rule, "BLOCK != 16 || s < 32 || r != 0", ["S = 64, D = 8", "S = 128, D = 3"]);
    let found = object(&folder, &["--seed", "1", "--cases", "400"], 3);
    assert_eq!(smallest(&found).0, "S=32,D=1; inputs=constant; seed=0", "{found:#}");
    assert_eq!(found["failure"]["smallest"]["config"].to_string(), r#"{"BLOCK":16,"WAY":1}"#);
    let folder = constrained("fuzz_tiles_default", rule, "s < 128 || r != 0", ["S = 64, D = 8", "S = 512, D = 3"]);
    let found = object(&folder, &["--seed", "1", "--cases", "400"], 3);
    assert_eq!(smallest(&found).0, "S=128,D=1; inputs=constant; seed=0", "{found:#}");
}

#[test]
fn rules_about_two_dimensions_leave_room_to_draw_and_to_shrink() {
    let rule = "groups = \"S % D == 0 and D % 4 == 0\"";
    let folder = constrained("fuzz_coupled", rule, "1", ["S = 64, D = 8", "S = 240, D = 12"]);
    let passed = object(&folder, &["--seed", "1", "--cases", "200"], 0);
    assert!(count(&passed, "shapes") > 40, "{passed:#}");
    let folder = constrained("fuzz_coupled_wrong", rule, "s / d < 3 || r != 0", ["S = 64, D = 8", "S = 240, D = 12"]);
    let found = object(&folder, &["--seed", "1", "--cases", "200"], 3);
    assert_eq!(smallest(&found).0, "S=12,D=4; inputs=constant; seed=0", "{found:#}");
    // A fixed proportion: both move together.
    let folder =
        constrained("fuzz_tied", "tied = \"S == 2 * D\"", "s <= 64 || r != 0", ["S = 64, D = 32", "S = 200, D = 100"]);
    let found = object(&folder, &["--seed", "1", "--cases", "200"], 3);
    assert_eq!(smallest(&found).0, "S=66,D=33; inputs=constant; seed=0", "{found:#}");
}

#[test]
fn where_nothing_but_the_workloads_is_admitted_it_says_so() {
    let rule = "only = \"(S == 64 and D == 8) or (S == 250 and D == 3)\"";
    let folder = constrained("fuzz_only", rule, "1", ["S = 64, D = 8", "S = 250, D = 3"]);
    let ran = fuzz(&folder, &["--seed", "1", "--cases", "20"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("note: only the workloads' own shapes were checked"), "{}", ran.out);
    assert!(ran.out.contains("hint: state in [fuzz] what dimensions may be"), "{}", ran.out);
    let passed = object(&folder, &["--seed", "1", "--cases", "20"], 0);
    assert_eq!((&passed["only_workloads"], &passed["shapes"]), (&true.into(), &2.into()), "{passed:#}");
}

/// A range of `[fuzz]` that goes to the end of 64 bits is no reason to ask for that much memory, or to take long.
#[test]
fn huge_ranges_are_drawn_small() {
    let folder = kernel("fuzz_huge", "r", "1");
    let ranges = "[fuzz]\ndims = { S = [1, 9223372036854775807], D = [1, 1000000000000] }\nvalid = \"S % 3 == 0\"\n";
    let text = FILE.replace("S = 64, D = 8", "S = 66, D = 8").replace("S = 250", "S = 252");
    std::fs::write(folder.join("kernel.toml"), format!("{text}{ranges}")).unwrap();
    let passed = object(&folder, &["--seed", "1", "--cases", "60"], 0);
    assert_eq!(passed["cases_passed"], 60, "{passed:#}");
    for (case, code, said) in [
        ("S=9223372036854775806", 2, "--case: S=9223372036854775806,D=8 is no shape of this kernel"),
        ("S=30000000000,D=1", 1, "GiB"),
        ("S=64", 2, "fuzz.valid: S % 3 == 0"),
    ] {
        let ran = fuzz(&folder, &["--case", case]);
        assert!(ran.code == code && ran.err.contains(said), "{case}: {} {}{}", ran.code, ran.out, ran.err);
    }
}
