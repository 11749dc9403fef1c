//! `kiln check`: what is asked about.

use std::collections::BTreeSet;

use crate::run::{empty_folder, kiln_in};

#[test]
fn a_workload_that_is_named_is_checked_alone() {
    let folder = empty_folder("check-alone");
    let softmax = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/softmax");
    let asked = |more: &[&str]| -> BTreeSet<String> {
        let words = [&["check", softmax, "--target", "cpu", "--json"][..], more].concat();
        let ran = kiln_in(&folder, &words);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let reports = object["questions"].as_array().unwrap_or_else(|| panic!("{object:#}"));
        reports.iter().map(|report| report["workload"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(asked(&["--workload", "short"]), BTreeSet::from(["short".to_string()]));
    assert!(asked(&[]).len() > 2);
}
