//! Every kind of launch there is: TMA descriptors, constants, outputs written in part, clusters, cooperative grids, several launches with scratch, host launchers,
//! templates and tuned flags. Each is a kernel under tests/gpu/kinds whose whole space is tried, wrong kernels among the
//! right ones; expected.json says which gate refuses each of those, and how many configurations there are.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{folder, root, run};

/// Tunes a kernel over its whole space: what is planted is refused at its gate, and nothing else is. The summary; none where
/// there is no GPU.
fn try_everything(name: &str) -> Option<Value> {
    let folder = folder(name)?;
    let expected: Value =
        serde_json::from_slice(&std::fs::read(root().join("tests/gpu/kinds/expected.json")).unwrap()).unwrap();
    let expected = &expected[name];
    let planted = expected["refused"].as_object().unwrap();
    let line =
        format!("tune @tests/gpu/kinds/{name} --json --seed 3 --samples 25 --no-stop --no-ablation --no-sanitize");
    let (summary, _) = run(&folder, &line);
    let (study, _) = run(&folder, "show last --json");
    let mut tried = BTreeSet::new();
    for trial in study["trials"].as_array().unwrap() {
        let config = trial["config"].as_str().unwrap();
        // The baseline has none.
        if config.is_empty() {
            continue;
        }
        tried.insert(config);
        let wrong = planted.iter().find(|(pair, _)| config.split(',').any(|own| own == pair.as_str()));
        match wrong {
            Some((_, gate)) => assert_eq!(&trial["refusal"]["gate"], gate, "{name} {config}: {trial:#}"),
            None => assert_ne!(trial["state"], "refused", "{name} {config}: {trial:#}"),
        }
    }
    let all = expected["configurations"].as_u64().unwrap();
    assert_eq!(tried.len() as u64, all, "{name}: {tried:?}\n{summary:#}");
    Some(summary)
}

#[test]
fn tiles_come_through_descriptors() {
    try_everything("tensormap");
}

#[test]
fn constants_are_set_before_calls() {
    try_everything("constants");
}

#[test]
fn outputs_may_be_written_in_part_and_compared_by_their_sum() {
    try_everything("partial");
}

#[test]
fn blocks_of_a_cluster_read_each_other() {
    try_everything("cluster");
}

#[test]
fn the_blocks_of_a_cooperative_launch_meet() {
    try_everything("cooperative");
}

#[test]
fn scratch_is_zero_before_the_launch_that_says_so() {
    try_everything("launches");
}

#[test]
fn host_functions_launch_by_themselves() {
    let Some(summary) = try_everything("launcher") else { return };
    // So does the baseline, which is built without a tuner.
    assert_eq!(summary["baseline"], "plain", "{summary:#}");
    // What both run is known, where calls can be recorded.
    for key in ["kernels", "baseline_kernels"] {
        let names = summary["workloads"][0][key].to_string();
        assert!(names == "[]" || (names.contains("shifted") && names.contains("squared")), "{summary:#}");
    }
    assert_ne!(summary["workloads"][0]["baseline_kernels"].to_string(), "[]", "{summary:#}");
}

#[test]
fn work_counts_on_whatever_stream_it_is() {
    try_everything("streams");
}

#[test]
fn templates_and_flags_follow_the_configuration() {
    try_everything("instances");
}

/// Fresh inputs in every distribution, and sizes that are only there to be checked.
#[test]
fn odd_kinds_pass_the_whole_suite() {
    let Some(folder) = folder("suite") else { return };
    for name in ["tensormap", "cooperative"] {
        let (object, code) = run(&folder, &format!("check @tests/gpu/kinds/{name} --full --json"));
        assert_eq!(code, 0, "{name}: {object:#}");
    }
}
