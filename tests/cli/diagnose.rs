//! `kiln diagnose`: real logs in, causes out.

use serde_json::{Value, json};

use crate::run::{empty_folder, kiln, kiln_in, root};

const LOGS: &str = "fixtures/sanitizer";

fn diagnosed(logs: &[&str]) -> (Value, i32) {
    let flags: Vec<String> = logs.iter().map(|log| format!("--sanitizer {LOGS}/{log}")).collect();
    let ran = kiln(&format!("diagnose --json {}", flags.join(" ")));
    (serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err)), ran.code)
}

#[test]
fn a_log_of_a_gpu_is_explained_with_its_line() {
    let (found, code) = diagnosed(&["h200/b01_tileload_planted.memcheck.txt"]);
    let finding = &found["findings"][0];
    assert_eq!((code, &found["verdict"], &finding["cause"]), (3, &json!("bugs_found"), &json!("misaligned_shared")));
    let facts = &finding["facts"];
    assert_eq!((&facts["stride_bytes"], &facts["access_bytes"]), (&json!(130), &json!(16)), "{finding:#}");
    // The source lies beside the log.
    assert!(facts["source_line"].as_str().unwrap().contains("cp.async"), "{finding:#}");
    let told = kiln(&format!("diagnose --sanitizer {LOGS}/h200/b01_tileload_planted.memcheck.txt")).out;
    assert!(told.starts_with("misaligned_shared in load_tile at b01_tileload.cu:33"), "{told}");
    assert!(told.contains("fix: Make the row stride") && told.contains("\n1 cause found\nlesson: "), "{told}");
}

#[test]
fn a_log_of_a_processor_and_a_clean_one() {
    let (found, code) = diagnosed(&["cpu/oob_heap_write.txt"]);
    assert_eq!((code, &found["findings"][0]["cause"]), (3, &json!("oob_heap_write")), "{found:#}");
    let tools = ["memcheck", "racecheck", "initcheck", "synccheck"];
    let logs = tools.map(|tool| format!("h200/b03_rowscale_fixed.{tool}.txt"));
    let (found, code) = diagnosed(&logs.each_ref().map(String::as_str));
    assert_eq!((code, &found["verdict"], &found["findings"]), (0, &json!("clean"), &json!([])));
}

#[test]
fn what_is_no_log_is_a_mistake() {
    let folder = empty_folder("diagnose-none");
    for (text, words) in [
        ("hello\n", "no line that a known sanitizer writes"),
        ("", "is empty"),
        ("==12== Memcheck, a memory error detector\n==12== Invalid read of size 4\n", "a log of Valgrind"),
        ("sum=63 check=PASS\n", "finds nothing writes nothing"),
    ] {
        std::fs::write(folder.join("log.txt"), text).unwrap();
        let ran = kiln_in(&folder, &["diagnose", "--sanitizer", "log.txt"]);
        assert!(ran.code == 2 && ran.err.contains(words) && ran.out.is_empty(), "{} {}", ran.code, ran.err);
    }
    let ran = kiln_in(&folder, &["diagnose", "--sanitizer", "log.txt", "--json"]);
    let said: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(said["errors"][0]["message"].as_str().unwrap().contains("log.txt"), "{said:#}");
    let ran = kiln_in(&folder, &["diagnose", "--sanitizer", "none.txt"]);
    assert!(ran.code == 1 && ran.err.contains("none.txt"), "{} {}", ran.code, ran.err);
    // Beside a log it is what the program printed.
    std::fs::write(folder.join("log.txt"), "check=FAIL\n").unwrap();
    std::fs::write(folder.join("tool.txt"), "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
        .unwrap();
    let ran = kiln_in(&folder, &["diagnose", "--sanitizer", "tool.txt", "--sanitizer", "log.txt", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &found["findings"][0]["facts"]["reason"]), (3, &json!("result_wrong")), "{found:#}");
}

/// A script can tell what is not known to be clean from what is, and a person reads what to try.
#[test]
fn what_is_inconclusive_is_not_clean() {
    let folder = empty_folder("diagnose-inconclusive");
    for (log, reason, words) in [
        ("========= COMPUTE-SANITIZER\n", "log_cut", "did not end and was stopped, or the log was cut"),
        ("SUMMARY: AddressSanitizer: heap-buffer-overflow a.c:3 in f\n", "log_cut", "only part of a report"),
        ("AddressSanitizer:DEADLYSIGNAL\n", "log_cut", "only part of a report"),
        ("AddressSanitizer: CHECK failed: asan_thread.cpp:371\n", "tool_failed", "The sanitizer itself failed"),
        ("==1==ERROR: HWAddressSanitizer: tag-mismatch\n", "unknown_report", "does not know"),
    ] {
        std::fs::write(folder.join("log.txt"), log).unwrap();
        let ran = kiln_in(&folder, &["diagnose", "--sanitizer", "log.txt", "--json"]);
        let found: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &found["verdict"]), (3, &json!("inconclusive")), "{log}{found:#}");
        assert_eq!(found["findings"][0]["facts"]["reason"], reason, "{found:#}");
        let told = kiln_in(&folder, &["diagnose", "--sanitizer", "log.txt"]).out;
        assert!(told.contains(words) && told.contains("\n  try: "), "{told}");
    }
}

/// One program under two kinds of tools: what either finds counts.
#[test]
fn logs_of_both_kinds_are_read_together() {
    let clean = "h200/b03_rowscale_fixed.memcheck.txt";
    let (found, code) = diagnosed(&[clean, "cpu/oob_heap_write.txt"]);
    assert_eq!((code, &found["findings"][0]["cause"]), (3, &json!("oob_heap_write")), "{found:#}");
    let (found, code) = diagnosed(&["h200/b03_rowscale_planted.memcheck.txt", "cpu/signed_overflow.txt"]);
    let causes: Vec<&Value> = found["findings"].as_array().unwrap().iter().map(|finding| &finding["cause"]).collect();
    assert_eq!((code, causes), (3, vec![&json!("oob_global_write"), &json!("signed_overflow")]), "{found:#}");
}

#[test]
fn control_characters_of_a_log_do_not_reach_the_terminal() {
    let folder = empty_folder("diagnose-control");
    let log = "a.c:3:5: runtime error: a kind of \u{7}bell \u{8}\u{202e}\n";
    std::fs::write(folder.join("log.txt"), log).unwrap();
    let told = kiln_in(&folder, &["diagnose", "--sanitizer", "log.txt"]).out;
    assert!(told.contains("\\u{7}bell") && !told.contains(['\u{7}', '\u{8}', '\u{202e}']), "{told:?}");
}

#[test]
fn a_log_from_another_machine_finds_its_source_beside_it() {
    let folder = empty_folder("diagnose-moved");
    let name = "async_copy_no_wait";
    let logs = root().join(LOGS);
    let log = std::fs::read_to_string(logs.join(format!("planted/{name}_planted.racecheck.xml"))).unwrap();
    assert!(log.contains("<path>/home/user/planted/"), "{log}");
    std::fs::write(folder.join("run7.xml"), &log).unwrap();
    let cause = || {
        let ran = kiln_in(&folder, &["diagnose", "--sanitizer", "run7.xml", "--json"]);
        let found: Value = serde_json::from_str(&ran.out).unwrap();
        found["findings"][0]["cause"].clone()
    };
    assert_eq!(cause(), json!("race_shared_raw"), "the source shows that it is a copy");
    std::fs::copy(logs.join(format!("programs/{name}.cu")), folder.join(format!("{name}.cu"))).unwrap();
    assert_eq!(cause(), json!("async_copy_no_wait"));
    // As PowerShell writes it.
    let wide: Vec<u8> = log.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.join("run7.xml"), [&[0xff, 0xfe], wide.as_slice()].concat()).unwrap();
    assert_eq!(cause(), json!("async_copy_no_wait"));
}
