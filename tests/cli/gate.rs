//! `kiln gate`: one configuration with its numbers.

use serde_json::Value;

use crate::run::{empty_folder, json, kiln, root};

const ALIGNED: &str = "BLOCK_M=64,BLOCK_N=64,BLOCK_K=32,NUM_WARPS=4,STAGES=2,UNROLL=1,CP_ASYNC=1,SWIZZLE=0,HALF2=0";

#[test]
fn a_good_configuration_passes() {
    let ran = kiln(&format!("gate fixtures/attention_original --arch sm_80 --config {ALIGNED}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    insta::assert_snapshot!("gate_passes", ran.out);
}

#[test]
fn rows_of_130_bytes_are_refused_by_name() {
    let misaligned = ALIGNED.replace("SWIZZLE=0", "SWIZZLE=1");
    // A store of its own: what was met before would be counted beside the lesson.
    let store = empty_folder("rows_of_130_bytes").join("kiln.db");
    let store = store.to_str().unwrap();
    let ran = kiln(&format!("--store {store} gate fixtures/attention_original --arch sm_80 --config {misaligned}"));
    assert_eq!(ran.code, 3);
    insta::assert_snapshot!("gate_refuses", ran.out);
    let line = format!("--store {store} gate fixtures/attention_original --arch sm_80 --config {misaligned} --json");
    let object = json(&line);
    assert_eq!(object["passed"], false);
    assert_eq!(object["rules"][0]["refusal"]["gate"], "constraint");
    assert_eq!(object["rules"][0]["refusal"]["rule"], "alignment");
    assert!(object["rules"][0]["refusal"]["evidence"].as_str().unwrap().contains("row_bytes = 130"));
}

#[test]
fn shared_memory_is_held_against_the_architecture() {
    let large = "BLOCK_M=128,BLOCK_N=128,WARPS=8,STAGES=2,Q_IN_REGS=false,KV_BUFFER=split";
    let on = |arch: &str| json(&format!("gate kernels/attention --arch {arch} --config {large} --json"));
    let verdict = |arch: &str| {
        let object = on(arch);
        let rules = object["rules"].as_array().unwrap().clone();
        let rule = rules.into_iter().find(|r| r["gate"] == "smem_overflow").unwrap();
        rule["verdict"].as_str().unwrap().to_string()
    };
    assert_eq!(verdict("sm_80"), "holds");
    assert_eq!(verdict("sm_89"), "refuses");
    assert_eq!(verdict("sm_90a"), "holds");
}

#[test]
fn every_architecture_has_a_row_and_says_which_gate_refuses() {
    let large = "BLOCK_M=128,BLOCK_N=128,WARPS=8,STAGES=2,Q_IN_REGS=false,KV_BUFFER=split";
    let ran = kiln(&format!("gate kernels/attention --arch all --config {large}"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    let row = |arch: &str| {
        let of = |line: &&str| line.split_whitespace().next() == Some(arch);
        ran.out.lines().find(of).unwrap_or_else(|| panic!("{arch}: {}", ran.out)).to_string()
    };
    assert!(row("sm_89").contains("refuses") && row("sm_89").contains("smem_overflow"), "{}", ran.out);
    assert!(row("sm_80").contains("passes") && row("sm_90a").contains("passes"), "{}", ran.out);
    // What runs on some architectures only, or on none, is said once.
    let notes: Vec<&str> = ran.err.lines().collect();
    let left_out = "note: implementation hopper runs on sm_90a; elsewhere it is left out";
    assert!(notes.contains(&"note: no implementation runs on sm_75") && notes.contains(&left_out), "{}", ran.err);
    assert_eq!(notes.len(), 2, "{}", ran.err);
    let object = json(&format!("gate kernels/attention --arch all --config {large} --json"));
    let rows = object["architectures"].as_array().unwrap();
    assert_eq!((&object["passed"], rows.len()), (&Value::from(false), 12));
    let of = |arch: &str| rows.iter().find(|row| row["arch"] == arch).unwrap();
    assert!(of("sm_89")["gates"].as_array().unwrap().contains(&Value::from("smem_overflow")), "{object:#}");
    assert_eq!(
        (&of("sm_80")["passed"], &of("sm_80")["gates"]),
        (&Value::from(true), &Value::from(Vec::<String>::new()))
    );
    // A file without a CUDA target has no architectures.
    assert_eq!(kiln("gate tests/hostile --arch all").code, 2);
}

/// The other one of the original kernel's two mistakes needs a GPU to show.
#[test]
fn the_gallerys_odd_padding_is_refused_by_its_rule() {
    let expected = std::fs::read(root().join("tests/attention_gallery/expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    for (config, rule) in expected["static"].as_object().unwrap() {
        let object = json(&format!("gate tests/attention_gallery --config {config} --json"));
        let refused: Vec<&Value> =
            object["rules"].as_array().unwrap().iter().filter(|r| r["verdict"] == "refuses").collect();
        assert_eq!(refused.len(), 1, "{object:#}");
        assert_eq!((&refused[0]["name"], &refused[0]["gate"]), (rule, &Value::from("constraint")), "{object:#}");
    }
    let right = expected["right"].as_str().unwrap();
    assert_eq!(json(&format!("gate tests/attention_gallery --config {right} --json"))["passed"], true);
}

#[test]
fn values_left_out_come_from_the_default() {
    let object = json("gate kernels/attention --config BLOCK_N=128 --json");
    assert_eq!(object["config"]["BLOCK_N"], 128);
    assert_eq!(object["config"]["BLOCK_M"], 128);
    // All other tunables, and the implementation.
    assert_eq!(object["defaulted"].as_array().unwrap().len(), 9);
}

#[test]
fn a_build_beyond_its_limit_is_refused() {
    let folder = crate::history::tiny("gate_build_limit");
    let gate =
        |limit: &str| crate::run::kiln_in(&folder, &["gate", "tiny", "--build-limit", limit, "--until", "build"]);
    let refused = gate("0.000001");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.out.contains("build_timeout"), "{}", refused.out);
    assert_eq!(gate("600").code, 0);
    let wrong = gate("0");
    assert!(wrong.code == 2 && wrong.err.contains("expected seconds above 0"), "{}", wrong.err);
}

/// Stated as 10 to the 15th operations, which no machine does in the time that 4,096 take.
#[test]
fn a_time_in_which_the_work_cannot_be_done_is_not_believed() {
    let folder = crate::twice::folder("gate_roofline");
    let stated = |flops: &str| {
        let file = crate::twice::FILE.replace("[baselines]", &format!("[cost]\nflops = \"{flops}\"\n[baselines]"));
        std::fs::write(folder.join("twice/kernel.toml"), file).unwrap();
        crate::run::kiln_in(&folder, &["gate", "twice"])
    };
    let refused = stated("N * 10 ** 12");
    assert_eq!(refused.code, 3, "{}{}", refused.out, refused.err);
    assert!(refused.out.contains("below_roofline (flops)"), "{}", refused.out);
    let passed = stated("N");
    assert_eq!(passed.code, 0, "{}{}", passed.out, passed.err);
}

#[test]
fn every_architecture_of_a_kernel_without_any_is_refused_in_the_words_that_were_typed() {
    let folder = crate::twice::folder("gate_all_cpu");
    let ran = crate::run::kiln_in(&folder, &["gate", "twice", "--arch", "all"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("--arch all needs a cuda target") && !ran.err.contains("sm_"), "{}", ran.err);
    // A GPU is nothing for a processor's target either.
    for verb in ["bench", "tune", "check"] {
        let ran = crate::run::kiln_in(&folder, &[verb, "twice", "--device", "7"]);
        assert_eq!(ran.code, 2, "{verb}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("target cpu runs on the processor and uses no GPU"), "{verb}: {}", ran.err);
    }
    // Numbers that mean nothing are refused before anything is measured.
    for (flags, expected) in [
        (&["--width", "0"][..], "above 0 and at most 100"),
        (&["--width", "nan"][..], "above 0 and at most 100"),
        (&["--dead-zone=-5"][..], "at least 0 and below 100"),
        (&["--samples", "600"][..], "is more than --max-samples 500"),
    ] {
        let ran = crate::run::kiln_in(&folder, &[&["bench", "twice"], flags].concat());
        assert!(ran.code == 2 && ran.err.contains(expected), "{flags:?}: {}{}", ran.out, ran.err);
    }
}
