//! Rules on small logs; whole logs are in tests/sanitizer.rs.

use crate::sanitizer::{Program, diagnose, read};
use crate::{Cause, Diagnosis, Sources, Verdict};

fn of(log: &str) -> Diagnosis {
    diagnose(&read(log), &Sources::none())
}

const CLEAN: &str = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";

#[test]
fn clean_tools_do_not_make_a_program_correct() {
    assert_eq!(of(CLEAN).verdict, Verdict::Clean);
    let mut log = read(CLEAN);
    log.program.varies = true;
    let diagnosis = diagnose(&log, &Sources::none());
    assert_eq!(diagnosis.verdict, Verdict::Inconclusive);
    let finding = &diagnosis.findings[0];
    assert_eq!(finding.cause, Cause::Inconclusive);
    assert_eq!(finding.facts.get("suspects").unwrap()[0], "race_global_interblock");

    let mut log = read(CLEAN);
    log.program.join(Program::read("max_err=3.0 check=FAIL"));
    let diagnosis = diagnose(&log, &Sources::none());
    assert_eq!(diagnosis.verdict, Verdict::Inconclusive);
    assert_eq!(diagnosis.findings[0].facts.get("suspects").unwrap()[0], "semantic_index");
}

#[test]
fn a_tool_that_did_not_run_is_never_clean() {
    let absent = "========= COMPUTE-SANITIZER\n========= Error: Target application terminated before first instrumented API call\n";
    assert_eq!(of(absent).verdict, Verdict::NotRun);
    assert!(of(absent).notes[0].contains("checked nothing"));
    assert_eq!(of(&format!("{CLEAN}{absent}")).verdict, Verdict::Inconclusive);
    assert_eq!(of("").verdict, Verdict::NotRun);
    assert_eq!(of("max_err=1.0 check=FAIL\n").verdict, Verdict::NotRun);
}

#[test]
fn a_log_without_its_end_is_never_clean() {
    let cut = of("========= COMPUTE-SANITIZER\na.cu max_err=0.0 check=PASS\n");
    assert_eq!((cut.verdict, reason(&cut)), (Verdict::Inconclusive, Some("log_cut")));
    assert!(cut.notes[0].contains("ends before its summary"));
    let cut = of("========= COMPUTE-SANI");
    assert_eq!((cut.verdict, reason(&cut)), (Verdict::Inconclusive, Some("log_cut")));
    assert!(cut.findings[0].explanation.contains("The log ends early"), "{cut:?}");
    // A kernel that hangs leaves the header alone; so does a log that was cut there.
    let header = of("========= COMPUTE-SANITIZER\n");
    assert_eq!((header.verdict, header.findings[0].cause), (Verdict::Inconclusive, Cause::Hang));
    assert!(header.findings[0].explanation.contains("or the log was cut"), "{header:?}");
}

fn reason(diagnosis: &Diagnosis) -> Option<&str> {
    diagnosis.findings[0].facts.text("reason")
}

/// What is not said is not known: half a line is no read.
#[test]
fn half_a_line_has_no_direction() {
    for line in ["Invalid __glo", "Invalid __global__ ", "Invalid __global__ write of", "Uninitialized __gl"] {
        for end in ["", "\n", "\n=========     at k(int *)+0x10 in a.cu:7\n"] {
            let log = format!("========= COMPUTE-SANITIZER\n========= {line}{end}");
            let diagnosis = of(&log);
            assert_eq!((diagnosis.verdict, reason(&diagnosis)), (Verdict::Inconclusive, Some("log_cut")), "{log}");
        }
    }
}

#[test]
fn a_summary_needs_no_end_of_line() {
    assert_eq!(of(CLEAN.trim_end()).verdict, Verdict::Clean);
    assert_eq!(of("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 err").verdict, Verdict::Inconclusive);
}

#[test]
fn records_that_were_dropped_are_not_clean() {
    let log = "========= COMPUTE-SANITIZER\n\
               ========= Internal Sanitizer Error: The Sanitizer encountered an error while launching k and didn't track the launch. Errors might go undetected.\n\
               ========= ERROR SUMMARY: 0 errors\n";
    assert_eq!(of(log).verdict, Verdict::Inconclusive);
}

fn access(line: &str, address: &str, nearest: &str) -> String {
    format!(
        "========= COMPUTE-SANITIZER\n========= Invalid __global__ {line} of size 4 bytes\n=========     at k(int *)+0x10 in a.cu:7\n\
         =========     by thread (0,0,0) in block (0,0,0)\n=========     Access to {address} is out of bounds\n\
         =========     and is {nearest} bytes\n=========\n========= ERROR SUMMARY: 1 error\n"
    )
}

#[test]
fn an_address_tells_a_wrong_index_from_a_wrong_pointer() {
    for (line, address, nearest, cause) in [
        (
            "read",
            "0x7f0000001000",
            "1 bytes after the nearest allocation at 0x7f0000000f00 of size 256",
            Cause::OobGlobalRead,
        ),
        (
            "write",
            "0x7f0000000fa4",
            "5 bytes after the nearest allocation at 0x7f0000000000 of size 4,000",
            Cause::OobGlobalWrite,
        ),
        (
            "atomic",
            "0x7f0000000fa4",
            "5 bytes after the nearest allocation at 0x7f0000000000 of size 4,000",
            Cause::OobGlobalWrite,
        ),
        (
            "read",
            "0x10",
            "139,000,000,000,000 bytes before the nearest allocation at 0x7f0000000000 of size 4,000",
            Cause::NullPointer,
        ),
        (
            "read",
            "0x55d0c8a2b2c0",
            "44,000,000,000,000 bytes before the nearest allocation at 0x7f0000000000 of size 4,000",
            Cause::HostPointer,
        ),
        (
            "write",
            "0x7ffd8d0a1e88",
            "1,099,511,627,776 bytes after the nearest allocation at 0x7f0000000000 of size 4,000",
            Cause::HostPointer,
        ),
    ] {
        assert_eq!(of(&access(line, address, nearest)).findings[0].cause, cause, "{address}");
    }
}

#[test]
fn a_failed_launch_after_an_error_is_part_of_it() {
    let log = access("write", "0x7f0000000fa4", "5 bytes after the nearest allocation at 0x7f0000000000 of size 4,000").replace(
        "========= ERROR SUMMARY: 1 error",
        "========= Program hit cudaErrorLaunchFailure (error 719) due to \"unspecified launch failure\" on CUDA API call to cudaDeviceSynchronize.\n\
         =========     Saved host backtrace up to driver entry point at error\n=========         Host Frame: main [0x8] in a\n=========\n\
         ========= Leaked 512 bytes at 0x7f0000000000\n=========\n========= Target application returned an error\n\
         ========= LEAK SUMMARY: 512 bytes leaked in 1 allocations\n========= ERROR SUMMARY: 3 errors",
    );
    let diagnosis = of(&log);
    assert_eq!(diagnosis.findings.len(), 1, "{:#?}", diagnosis.findings);
    let facts = &diagnosis.findings[0].facts;
    assert_eq!(facts.text("followed_by"), Some("cudaErrorLaunchFailure from cudaDeviceSynchronize"));
    assert_eq!(facts.number("leaked_bytes_after_abort"), Some(512));
}

#[test]
fn an_unknown_error_with_a_place_is_a_finding() {
    let log = "========= COMPUTE-SANITIZER\n========= Quantum error\n=========     at k(int)+0x10 in a.cu:1\n=========\n========= ERROR SUMMARY: 1 error\n";
    let diagnosis = of(log);
    assert_eq!(diagnosis.findings[0].cause, Cause::DeviceFault);
    assert_eq!(diagnosis.findings[0].facts.text("problem"), Some("Quantum error"));
    let note = "========= COMPUTE-SANITIZER\n========= Warning: the moon is full\n=========\n========= ERROR SUMMARY: 0 errors\n";
    assert_eq!((of(note).verdict, reason(&of(note))), (Verdict::Inconclusive, Some("unknown_report")));
}

#[test]
fn the_shape_of_the_json_is_fixed() {
    let json =
        serde_json::to_value(of(&access("read", "0x10", "1 bytes before the nearest allocation at 0x20 of size 4")))
            .unwrap();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&json), ["findings", "verdict"]);
    let expected = ["cause", "tool", "kernel", "file", "line", "count", "facts", "explanation", "fix"];
    assert_eq!(keys(&json["findings"][0]), expected);
    assert_eq!(
        (json["findings"][0]["cause"].as_str(), json["verdict"].as_str()),
        (Some("null_pointer"), Some("bugs_found"))
    );
    let back: Diagnosis = serde_json::from_value(json).unwrap();
    assert_eq!(back.verdict, Verdict::BugsFound);
}

#[test]
fn many_places_are_counted_and_not_all_listed() {
    let record = |line: u32| {
        format!(
            "========= Invalid __global__ write of size 4 bytes\n=========     at k(int *)+0x10 in a.cu:{line}\n\
             =========     by thread ({line},0,0) in block (0,0,0)\n=========     Address 0x7f0000000{line:05x} is out of bounds\n\
             =========     and is {line} bytes after the nearest allocation at 0x7f0000000000 of size 1,024 bytes\n=========\n"
        )
    };
    let records: String = (1..=5_000).map(record).collect();
    let leak = "========= Leaked 1,024 bytes at 0x7f0000000000\n=========\n";
    let log = format!("========= COMPUTE-SANITIZER\n{records}{leak}========= ERROR SUMMARY: 5001 errors\n");
    let diagnosis = of(&log);
    assert_eq!((diagnosis.verdict, diagnosis.findings.len()), (Verdict::BugsFound, 200));
    assert_eq!(diagnosis.findings[0].facts.number("leaked_after_abort"), Some(1));
    let note = "200 of 5,000 findings are listed, the first and the most frequent; 4,800 are not";
    assert_eq!(diagnosis.notes, [note]);
}
