//! How runs end: tools that checked nothing, that missed something, that say nothing about the program, and programs that never
//! end. None of it is clean.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use kiln_diagnose::sanitizer::{self, Program, diagnose};
use kiln_diagnose::{Cause, Diagnosis, Sources, Verdict};

const HEADER: &str = "========= COMPUTE-SANITIZER\n";
const CLEAN: &str = "========= ERROR SUMMARY: 0 errors\n";
const XML: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput/>\n";

fn of(log: &str) -> Diagnosis {
    diagnose(&sanitizer::read(log), &Sources::none())
}

#[test]
fn tools_that_checked_nothing() {
    for line in [
        "Error: Target application terminated before first instrumented API call",
        "Error: No attachable process found. compute-sanitizer timed-out.",
        "Error: Device not supported. Please refer to the \"Supported Devices\" section of the documentation.",
        "Error: Insufficient permissions to attach to the GPU.",
    ] {
        for log in [format!("{HEADER}========= {line}\n"), format!("{HEADER}========= {line}\n{CLEAN}")] {
            let diagnosis = of(&log);
            assert_eq!((diagnosis.verdict, diagnosis.findings.len()), (Verdict::NotRun, 0), "{log}");
            assert!(diagnosis.notes[0].contains("checked nothing"), "{:?}", diagnosis.notes);
        }
    }
}

#[test]
fn tools_that_missed_something() {
    let internal = "========= Internal Sanitizer Error: The Sanitizer encountered an error while launching k and didn't track the launch. Errors might go undetected. (Unable to allocate enough memory to perform the requested operation)\n";
    assert_eq!(of(&format!("{HEADER}{internal}{CLEAN}")).verdict, Verdict::Inconclusive);
    // What was found is found.
    let record = "========= Invalid __shared__ read of size 4 bytes\n=========     at k(int)+0x10 in a.cu:7\n\
                  =========     by thread (0,0,0) in block (0,0,0)\n=========     Access to 0x800 is out of bounds\n=========\n";
    let both = of(&format!("{HEADER}{internal}{record}========= ERROR SUMMARY: 1 error\n"));
    assert_eq!((both.verdict, both.findings[0].cause), (Verdict::BugsFound, Cause::OobShared));
    assert!(both.notes.iter().any(|note| note.contains("didn't track the launch")), "{:?}", both.notes);
    // Errors were counted, and none is there.
    assert_eq!(of(&format!("{HEADER}check=PASS\n========= ERROR SUMMARY: 5 errors\n")).verdict, Verdict::Inconclusive);
    let crashed =
        "========= Error: process didn't terminate successfully\n========= Target application returned an error\n";
    let diagnosis = of(&format!("{HEADER}{crashed}{CLEAN}"));
    assert_eq!((diagnosis.verdict, reason(&diagnosis)), (Verdict::Inconclusive, Some("killed")));
}

fn reason(diagnosis: &Diagnosis) -> Option<&str> {
    diagnosis.findings[0].facts.text("reason")
}

/// Each reason has words of its own, and something to try.
#[test]
fn reasons_of_what_is_inconclusive() {
    let missed = "========= Internal Sanitizer Error: k was not tracked. Errors might go undetected.\n";
    let failed = "========= Internal Sanitizer Error: The Sanitizer encountered an error when instrumenting kernels\n";
    for (log, expected) in [
        (format!("{HEADER}{failed}{CLEAN}"), "tool_failed"),
        (format!("{HEADER}check=PASS\n========= Error: Internal Sanitizer Error: unknown\n{CLEAN}"), "tool_failed"),
        (HEADER.to_owned(), "log_cut"),
        (format!("{HEADER}loading 3 tensors\nlaunching\n"), "log_cut"),
        (format!("{HEADER}Aborted (core dumped)\n"), "aborted"),
        (format!("{HEADER}run.sh: line 2: 77 Killed ./app\n"), "killed"),
        (format!("{HEADER}========= Target application returned an error\n{CLEAN}"), "nonzero_exit"),
        (format!("{HEADER}cudaErrorMisalignedAddress: misaligned address\n{CLEAN}"), "program_error"),
        (format!("{HEADER}check=FAIL\n{CLEAN}"), "result_wrong"),
        (format!("{HEADER}sum=1.0\nsum=2.0\n{CLEAN}"), "result_varies"),
        (format!("{HEADER}{missed}{CLEAN}"), "tool_incomplete"),
        (format!("{HEADER}========= ERROR SUMMARY: 5 errors\n"), "not_printed"),
        (format!("{HEADER}========= Warning: the moon is full\n=========\n{CLEAN}"), "unknown_report"),
        (XML.to_owned(), "no_records"),
        ("<?xml version=\"1.0\"?>\n<ComputeSanitizerOutput>\n  <record>".to_owned(), "log_cut"),
    ] {
        let diagnosis = of(&log);
        assert_eq!((diagnosis.verdict, reason(&diagnosis)), (Verdict::Inconclusive, Some(expected)), "{log}");
        // The header alone is what a hang leaves; a log that was cut there looks the same.
        let cause = if log == HEADER { Cause::Hang } else { Cause::Inconclusive };
        assert_eq!((diagnosis.findings.len(), diagnosis.findings[0].cause), (1, cause));
        assert!(!diagnosis.findings[0].fix.is_empty());
    }
}

#[test]
fn xml_without_records_knows_nothing_of_the_program() {
    let alone = of(XML);
    assert_eq!((alone.verdict, reason(&alone)), (Verdict::Inconclusive, Some("no_records")));
    assert!(alone.notes[0].contains("no records"), "{:?}", alone.notes);
    for (output, verdict) in [("check=PASS", Verdict::Clean), ("check=FAIL", Verdict::Inconclusive)] {
        let mut log = sanitizer::read(XML);
        log.program.join(Program::read(output));
        assert_eq!(diagnose(&log, &Sources::none()).verdict, verdict, "{output}");
    }
    let mut log = sanitizer::read(XML);
    log.join(sanitizer::read(&format!("{HEADER}{CLEAN}")));
    assert_eq!(diagnose(&log, &Sources::none()).verdict, Verdict::Clean);
    assert_eq!(of(XML.trim_end().trim_end_matches("/>")).verdict, Verdict::Inconclusive, "half a tag");
    assert_eq!(of("<?xml version=\"1.0\"?>\n").verdict, Verdict::NotRun, "of nobody");
    assert_eq!(of("<?xml version=\"1.0\"?>\n<ComputeSanitizerOutput>\n").verdict, Verdict::Inconclusive);
}

#[test]
fn a_program_that_does_not_end() {
    // The tool's header is no proof: a log that was cut looks the same. The source may be.
    let source = Sources::none().with("a.cu", "__global__ void k(volatile int *flag) {\n  while (*flag == 0) {}\n}\n");
    let shown = diagnose(&sanitizer::read(HEADER), &source);
    assert_eq!((shown.verdict, shown.findings[0].cause), (Verdict::BugsFound, Cause::Hang));
    let printed = diagnose(&sanitizer::read(&format!("{HEADER}loading 3 tensors\n")), &source);
    assert_eq!((printed.verdict, reason(&printed)), (Verdict::Inconclusive, Some("log_cut")));
    // So is whoever waited for it.
    let mut log = sanitizer::read(HEADER);
    log.program.timed_out = true;
    assert_eq!(diagnose(&log, &Sources::none()).findings[0].cause, Cause::Hang);
    // A word in a message of a program that passed is no hang.
    assert_eq!(of(&format!("{HEADER}using a timeout of 30 s\ncheck=PASS\n{CLEAN}")).verdict, Verdict::Clean);
    let watchdog = of(&format!("{HEADER}timeout: the kernel has not ended after 2 s\n{CLEAN}"));
    assert_eq!(watchdog.findings[0].cause, Cause::Hang);
}

/// `--racecheck-trace-sync yes` prints every barrier.
#[test]
fn traces_of_barriers_are_no_records() {
    let trace = "========= Barrier called by threads starting at (32,0,0) in block (1,0,0), (active mask: 0xffffffff) at k()+0x2b0 in a.cu:36\n\
                 ========= Cluster barrier called by threads starting at (0,0,0) in block (1,0,0), (active mask: 0xffffffff) at k()+0x2b0 in a.cu:36\n\
                 ========= Syncwarp called by threads starting at (0,0,0) in block (0,0,0), (active mask: 0xffff0000) at k()+0x3c0 in a.cu:42\n\
                 ========= Sync mask of thread 16: 0xffff0000\n";
    let clean =
        of(&format!("{HEADER}{trace}========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"));
    assert_eq!((clean.verdict, clean.notes.len()), (Verdict::Clean, 0), "{clean:#?}");
}

#[test]
fn leaks_of_several_places_are_one_finding() {
    let leak = |bytes: &str, address: u32, caller: &str| {
        format!(
            "========= Leaked {bytes} bytes at 0x7f00{address:08x}\n=========     Saved host backtrace up to driver entry point at allocation time\n\
             =========         Host Frame: cudaMalloc [0x4e366] in app\n=========         Host Frame: {caller} [0x901a] in app\n========= \n"
        )
    };
    let log = format!(
        "{HEADER}{}{}{}========= LEAK SUMMARY: 1052672 bytes leaked in 7 allocations\n========= ERROR SUMMARY: 7 errors\n\
         ========= ERROR SUMMARY: 4 errors were not printed. Use --print-limit option to adjust the number of printed errors\n",
        leak("1,024", 0, "main"),
        leak("2,048", 1024, "Model::load(char const*)"),
        leak("1,024", 4096, "main"),
    );
    let diagnosis = of(&log);
    assert_eq!(diagnosis.findings.len(), 1, "{diagnosis:#?}");
    let facts = &diagnosis.findings[0].facts;
    assert_eq!((facts.number("allocations"), facts.number("leaked_bytes")), (Some(7), Some(1_052_672)));
    assert_eq!(facts.get("allocated_in").unwrap(), &serde_json::json!(["Model::load", "main"]));
    assert_eq!(facts.get("allocation_bytes"), None);
}

/// Half a record names no cause, but a place.
#[test]
fn a_record_that_is_cut_keeps_its_place() {
    let cut = format!(
        "{HEADER}========= Invalid __global__ read of size 16 bytes\n=========     at k(int)+0x10 in a.cu:29\n"
    );
    let diagnosis = of(&cut);
    assert_eq!((diagnosis.verdict, reason(&diagnosis)), (Verdict::Inconclusive, Some("log_cut")));
    assert!(diagnosis.notes.iter().any(|note| note.ends_with("within a record about k, a.cu:29")), "{diagnosis:#?}");
    let earlier = of(&cut.replace(" in a.cu:29", ""));
    assert!(!earlier.notes.iter().any(|note| note.contains("within")), "{diagnosis:#?}");
}
