//! `kiln diagnose --ncu`: real profiles in, the cause of a kernel's time out.

use serde_json::{Value, json};

use crate::run::{empty_folder, kiln, kiln_in, root};

const PAGES: &str = "fixtures/ncu/h200";

fn diagnosed(flags: &str) -> Value {
    let ran = kiln(&format!("diagnose --json {flags}"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

#[test]
fn a_page_with_everything_beside_it() {
    let p = format!("{PAGES}/p10_ops8_planted");
    let log = format!("{PAGES}/build_p10_ops8_planted.log");
    let flags = format!("--ncu {p}.raw.csv --details {p}.details.csv --ptxas {log} --source {PAGES}/p10_ops8.cu");
    let found = diagnosed(&flags);
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(keys[..7], ["cause", "confidence", "expected_speedup", "evidence", "ranked", "roofline", "fixes"]);
    assert_eq!(keys[7..], ["kernel", "launches", "time_us", "other_kernels", "lesson"]);
    assert_eq!(found["cause"], json!("warp_divergence"));
    assert_eq!(found["evidence"][0]["metric"], json!("smsp__thread_inst_executed_per_inst_executed.ratio"));
    assert_eq!(found["evidence"][0]["value"], json!(4.76));
    let told = kiln(&format!("diagnose {flags}")).out;
    assert!(told.starts_with("warp_divergence in apply_ops (316 us): "), "{told}");
    assert!(told.contains("ncu's first rule: ThreadDivergence, 5.62x"), "{told}");
    assert!(told.contains("fix 1: ") && told.contains("roofline: bound by "), "{told}");
}

#[test]
fn a_roofline_and_a_sequence_of_launches() {
    let found = diagnosed(&format!("--ncu {PAGES}/p17_axpy_planted.raw.csv"));
    assert_eq!((&found["cause"], &found["roofline"]["bound"]), (&json!("at_roofline_dram"), &json!("memory")));
    assert!(found["expected_speedup"].as_f64().unwrap() <= 1.05, "{found:#}");
    let told = kiln(&format!("diagnose --ncu {PAGES}/many_launches.txt")).out;
    assert!(told.starts_with("launch_bound in euler_step (2.50 us, longest of 20 launches): "), "{told}");
}

#[test]
fn what_a_page_lacks_is_named() {
    let page = format!("--ncu {PAGES}/direct_logfile.csv");
    let found = diagnosed(&page);
    assert_eq!((&found["cause"], &found["roofline"]["bound"]), (&Value::Null, &json!("unknown")));
    assert!(found["roofline"]["compute_fraction"].is_null() && found["not_collected"].is_array(), "{found:#}");
    let told = kiln(&format!("diagnose {page}")).out;
    assert!(told.starts_with("no cause can be named in recur32 (2.67 ms): "), "{told}");
    assert!(told.contains("note: not collected: lts__throughput") && told.contains("--set full"), "{told}");
    assert!(!told.contains("arithmetic"), "{told}");
}

#[test]
fn details_of_another_program_and_a_page_that_is_cut() {
    let flags = format!("--ncu {PAGES}/p01_scalebias_planted.raw.csv --details {PAGES}/p10_ops8_planted.details.csv");
    let found = diagnosed(&flags);
    assert_eq!(found["other_kernels"], json!(0));
    assert!(found["notes"][0].as_str().unwrap().contains("another kernel, which is left out: apply_ops("), "{found:#}");
    let folder = empty_folder("diagnose-ncu-cut");
    let text = std::fs::read_to_string(root().join(PAGES).join("p01_scalebias_planted.raw.csv")).unwrap();
    std::fs::write(folder.join("cut.csv"), &text[..text.len() - 5]).unwrap();
    let ran = kiln_in(&folder, &["diagnose", "--ncu", "cut.csv"]);
    assert!(ran.code == 2 && ran.err.contains("the page is cut"), "{} {}", ran.code, ran.err);
}

#[test]
fn a_page_cut_in_a_later_kernel_or_in_its_header_says_so() {
    let folder = empty_folder("diagnose-ncu-cut-later");
    let text = |name: &str| std::fs::read_to_string(root().join(PAGES).join(name)).unwrap();
    let both = text("p17_axpy_planted.raw.csv") + &text("p01_scalebias_planted.raw.csv");
    std::fs::write(folder.join("later.csv"), &both[..both.len() - 3000]).unwrap();
    let ran = kiln_in(&folder, &["diagnose", "--ncu", "later.csv"]);
    assert!(ran.code == 0 && ran.out.contains("note: the page is cut: its last launch is left out"), "{}", ran.out);
    std::fs::write(folder.join("header.csv"), &both[..900]).unwrap();
    let ran = kiln_in(&folder, &["diagnose", "--ncu", "header.csv"]);
    assert!(ran.code == 2 && ran.err.contains("the page is cut"), "{} {}", ran.code, ran.err);
}

#[test]
fn each_page_is_used_for_what_it_is() {
    let (raw, details) = (format!("{PAGES}/p10_ops8_planted.raw.csv"), format!("{PAGES}/p10_ops8_planted.details.csv"));
    let (right, swapped) = (
        diagnosed(&format!("--ncu {raw} --details {details}")),
        diagnosed(&format!("--ncu {details} --details {raw}")),
    );
    assert_eq!(right, swapped);
    let found = diagnosed(&format!("--ncu {details}"));
    assert!(found["notes"][0].as_str().unwrap().contains("details page"), "{found:#}");
}

#[test]
fn a_source_and_a_log_without_the_kernel_are_not_used() {
    let page = format!("--ncu {PAGES}/p01_scalebias_planted.raw.csv");
    let others = format!("--source {PAGES}/p10_ops8.cu --ptxas {PAGES}/build_p10_ops8_planted.log");
    let (alone, beside) =
        (diagnosed(&format!("{page} --source {PAGES}/p01_scalebias.cu")), diagnosed(&format!("{page} {others}")));
    assert_eq!(alone["cause"], beside["cause"]);
    let notes: Vec<&str> = beside["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(
        notes,
        [
            "the source does not define scale_bias: nothing was taken from it",
            "the compiler's log has no kernel scale_bias: nothing was taken from it"
        ]
    );
}

#[test]
fn why_a_cause_is_first_and_another_is_not() {
    let page = format!("{PAGES}/p03_smallmat_planted.raw.csv");
    let told = kiln(&format!("diagnose --ncu {page} --why shared_bank_conflict")).out;
    assert!(told.starts_with("shared_bank_conflict comes first: "), "{told}");
    assert!(told.contains("yes memory_l1_wavefronts_shared = "), "{told}");
    let told = kiln(&format!("diagnose --ncu {page} --why small_grid")).out;
    assert!(told.starts_with("small_grid does not apply\n  no  launch__grid_size = 8448, must be below 132"), "{told}");
    let ran = kiln(&format!("diagnose --ncu {page} --why small_grit"));
    assert!(ran.code == 2 && ran.err.contains("did you mean small_grid?"), "{} {}", ran.code, ran.err);
}

#[test]
fn files_without_a_launch_say_why() {
    for (file, words) in [
        ("no_match.txt", "the program launches: init_f32, recur32"),
        ("app_error.txt", "the profiled program failed: The application returned an error code (1)."),
        ("direct_raw_stderr.txt", "holds no page of ncu"),
    ] {
        let ran = kiln(&format!("diagnose --ncu {PAGES}/{file}"));
        assert!(ran.code == 2 && ran.err.contains(words), "{file}: {} {}", ran.code, ran.err);
    }
    let folder = empty_folder("diagnose-ncu");
    let ran = kiln_in(&folder, &["diagnose", "--ncu", "none.csv"]);
    assert!(ran.code == 1 && ran.err.contains("none.csv"), "{} {}", ran.code, ran.err);
    let ran = kiln_in(&folder, &["diagnose"]);
    assert!(ran.code == 2 && ran.err.contains("--sanitizer"), "{} {}", ran.code, ran.err);
}
