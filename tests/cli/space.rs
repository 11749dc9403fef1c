//! `kiln space`: summaries, lists, samples, JSON.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::run::{json, kiln, root, untimed};

#[test]
fn attention_prints_its_summary() {
    let ran = kiln("space kernels/attention");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err, "");
    untimed().bind(|| insta::assert_snapshot!("space_attention", ran.out));
}

#[test]
fn the_original_space_opens_on_every_architecture_with_the_right_count() {
    // Counted by a plain loop over the 2,592 configurations in Python.
    for (arch, limit, valid) in
        [("sm_75", 65_536, 48), ("sm_86", 101_376, 216), ("sm_80", 166_912, 720), ("sm_90", 232_448, 1008)]
    {
        let object = json(&format!("space fixtures/attention_original --arch {arch} --json"));
        assert_eq!(object["raw"], 2592);
        let original = original_by_hand(limit);
        assert_eq!(original, valid, "{arch}");
        assert_eq!(object["valid"], valid, "{arch}");
        // Padded rows are 130 bytes: 16-byte copies of them are refused, a quarter of all configurations.
        assert_eq!(object["constraints"][0]["name"], "alignment");
        assert_eq!(object["constraints"][0]["removes"], 648);
    }
}

/// The fixture's rules written out once more, without kiln.
fn original_by_hand(limit: i64) -> i64 {
    let mut valid = 0;
    for block_m in [64, 128, 256] {
        for block_n in [64, 128, 256] {
            for stages in [2, 3, 4] {
                for (cp_async, swizzle) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let row = (64 + swizzle) * 2;
                    let smem = stages * (block_m + 2 * block_n) * row + block_m * block_n * 4;
                    if smem <= limit && (cp_async == 0 || row % 16 == 0) {
                        valid += 2 * 2 * 3 * 2; // BLOCK_K, NUM_WARPS, UNROLL and HALF2 are free.
                    }
                }
            }
        }
    }
    valid
}

#[test]
fn json_has_the_documented_keys() {
    let object = json("space kernels/attention --arch sm_90a --workload s512_d64 --json");
    for (key, expected) in
        [("name", "flash_attention"), ("target", "cuda"), ("arch", "sm_90a"), ("workload", "s512_d64")]
    {
        assert_eq!(object[key], expected);
    }
    // Implementations side by side: 4,105,728 of hopper and 11,520 of portable.
    assert_eq!(object["raw"], 4_117_248);
    assert!(object["valid"].as_u64().unwrap() > 0);
    assert!(object["seconds"].as_f64().unwrap() > 0.0);
    let constraints = object["constraints"].as_array().unwrap();
    let constraint = constraints.iter().find(|one| one["name"].as_str().unwrap().ends_with("rows")).unwrap();
    assert!(constraint["expression"].is_string() && constraint["removes"].is_u64());
    let all = json("space kernels/attention --arch sm_90a --json");
    assert_eq!(all["workload"], "all");
    // What is valid on all workloads is valid on each.
    assert!(all["valid"].as_u64().unwrap() <= object["valid"].as_u64().unwrap());
}

#[test]
fn counts_beyond_a_double_are_strings() {
    let folder = crate::run::empty_folder("huge");
    let names: Vec<String> = (0..19).map(|i| format!("T{i} = {{ from = 1, to = 100 }}")).collect();
    let file = format!(
        "[kernel]\nname = \"huge\"\n[tunables]\n{}\n[constraints]\nsum = \"T0 + T1 == 10\"\n[target.cuda]\nsource = \"a.cu\"\n",
        names.join("\n")
    );
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    let object = json(&format!("space {} --json", folder.display()));
    assert_eq!(object["raw"], format!("1{}", "0".repeat(38)));
    assert_eq!(object["valid"], format!("9{}", "0".repeat(34)));
    assert_eq!(object["constraints"][0]["removes"], format!("9991{}", "0".repeat(34)));
}

#[test]
fn lists_are_complete_and_samples_repeat() {
    let list = kiln("space fixtures/spaces/atf_prl_2x2.json --list").out;
    let lines: std::collections::HashSet<&str> = list.lines().collect();
    assert_eq!(lines.len(), 1200);
    let sample = kiln("space fixtures/spaces/atf_prl_2x2.json --sample 50 --seed 3").out;
    assert_eq!(sample.lines().count(), 50);
    assert!(sample.lines().all(|line| lines.contains(line)));
    assert_eq!(sample, kiln("space fixtures/spaces/atf_prl_2x2.json --sample 50 --seed 3").out);
    assert_ne!(sample, kiln("space fixtures/spaces/atf_prl_2x2.json --sample 50 --seed 4").out);
    let object = json("space fixtures/spaces/atf_prl_2x2.json --sample 2 --json");
    assert_eq!(object["configurations"].as_array().unwrap().len(), 2);
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["space", "fixtures/spaces/hotspot.json", "--list"])
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 64];
    out.read_exact(&mut first).unwrap();
    drop(out);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn caches_open_whole_cut_off_and_zipped() {
    let whole = json("space fixtures/caches/toy_cache.json --json");
    assert_eq!(whole["raw"], 12);
    assert_eq!(whole["recorded"], 3);
    let cut = kiln("space fixtures/caches/toy_cache_cut.json --json");
    let object: serde_json::Value = serde_json::from_str(&cut.out).unwrap();
    assert_eq!(object["recorded"], 2);
    assert!(object["warnings"][0]["message"].as_str().unwrap().contains("ends in the middle"));
    assert_eq!(json("space fixtures/caches/toy_cache.json.gz --json")["recorded"], 3);
}

#[test]
fn useless_and_impossible_constraints_are_warned_about() {
    let ran = kiln("space tests/cli/odd_constraints.toml");
    assert_eq!(ran.code, 0);
    untimed().bind(|| insta::assert_snapshot!("space_odd_constraints", format!("{}\n{}", ran.err, ran.out)));
}

#[test]
fn list_as_json_is_one_object_and_reads_back() {
    let object = json("space fixtures/spaces/atf_prl_2x2.json --list --json");
    let configurations = object["configurations"].as_array().unwrap();
    assert_eq!(configurations.len(), 1200);
    assert_eq!(object["valid"], 1200);
    let listed = kiln("space fixtures/spaces/atf_prl_2x2.json --list").out;
    let first = listed.lines().next().unwrap();
    assert_eq!(kiln(&format!("gate fixtures/spaces/atf_prl_2x2.json --config {first}")).code, 0);
}
