//! Logs of compute-sanitizer 2025.3 on an H200 (fixtures/sanitizer/h200): each planted bug gives its cause with its facts, in
//! text and in XML, and each repaired program is clean.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use kiln_diagnose::sanitizer::{self, Program, SanitizerLog};
use kiln_diagnose::{Cause, Diagnosis, Finding, Sources, Tool, Verdict};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer/h200");
const PROGRAMS: [&str; 7] =
    ["b01_tileload", "b03_rowscale", "b08_accum", "b09_reverse", "b12_guardedsync", "b14_scratch", "b17_bigtile"];
const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

fn text(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn log(name: &str) -> SanitizerLog {
    sanitizer::read(&text(name))
}

fn diagnose(name: &str) -> Diagnosis {
    sanitizer::diagnose(&log(name), &Sources::none())
}

fn only(name: &str) -> Finding {
    let diagnosis = diagnose(name);
    assert_eq!(diagnosis.verdict, Verdict::BugsFound, "{name}");
    assert_eq!(diagnosis.findings.len(), 1, "{name}: {:#?}", diagnosis.findings);
    diagnosis.findings[0].clone()
}

fn source(program: &str) -> Sources {
    Sources::none().with(format!("{program}.cu"), text(&format!("{program}.cu")))
}

/// The identifiers of answers.json, by the tool that shows them.
#[test]
fn every_answer_is_found() {
    let answers: serde_json::Value = serde_json::from_str(&text("answers.json")).unwrap();
    for program in PROGRAMS {
        let mut all = SanitizerLog::default();
        TOOLS.iter().for_each(|tool| all.join(log(&format!("{program}_planted.{tool}.txt"))));
        let diagnosis = sanitizer::diagnose(&all, &source(program));
        let answer = answers[program]["class"].as_str().unwrap();
        assert_eq!(diagnosis.findings[0].cause.id(), answer, "{program}");
        assert_eq!(diagnosis.findings.len(), 1, "{program}: {:#?}", diagnosis.findings);
        assert_eq!(diagnosis.verdict, Verdict::BugsFound);
    }
}

#[test]
fn every_repaired_program_is_clean() {
    for program in PROGRAMS {
        let mut all = SanitizerLog::default();
        for tool in TOOLS {
            let name = format!("{program}_fixed.{tool}.txt");
            assert_eq!(diagnose(&name).verdict, Verdict::Clean, "{name}");
            all.join(log(&name));
        }
        let diagnosis = sanitizer::diagnose(&all, &source(program));
        assert_eq!((diagnosis.verdict, diagnosis.findings.len()), (Verdict::Clean, 0), "{program}");
    }
}

#[test]
fn rows_of_130_bytes_are_misaligned_for_16_byte_copies() {
    for name in ["b01_tileload_planted.memcheck.txt", "b01_tileload_planted.memcheck.xml"] {
        let finding = only(name);
        assert_eq!((finding.cause, finding.tool), (Cause::MisalignedShared, Tool::Memcheck));
        assert_eq!((finding.kernel.as_deref(), finding.line), (Some("load_tile"), Some(33)));
        let facts = &finding.facts;
        assert_eq!((facts.number("stride_bytes"), facts.number("access_bytes")), (Some(130), Some(16)), "{name}");
        assert_eq!(
            (facts.number("row_bytes_off_alignment"), facts.number("aligned_stride_bytes")),
            (Some(2), Some(144))
        );
        assert_eq!(facts.number("threads_per_row"), Some(8));
        assert_eq!(facts.text("called_from"), Some("b01_tileload.cu:37"));
    }
    assert_eq!(only("b01_tileload_planted.memcheck.txt").count, 512);
    assert_eq!(only("b01_tileload_planted.memcheck.txt").facts.number("leaked_after_abort"), None, "none was printed");
}

#[test]
fn a_print_limit_hides_the_stride_but_not_the_count() {
    let finding = only("b01_tileload_planted.memcheck.limit3.txt");
    assert_eq!((finding.count, finding.facts.number("printed")), (512, Some(3)));
    assert_eq!((finding.facts.number("access_bytes"), finding.facts.get("stride_bytes")), (Some(16), None));
}

#[test]
fn a_run_without_backtraces_says_what_it_dropped() {
    let diagnosis = diagnose("b01_tileload_planted.memcheck.nobt.txt");
    assert_eq!(diagnosis.findings[0].cause, Cause::MisalignedShared);
    assert_eq!(diagnosis.findings[0].facts.number("stride_bytes"), Some(130));
    assert!(diagnosis.notes.iter().any(|note| note.contains("640 errors were skipped")), "{:?}", diagnosis.notes);
}

#[test]
fn one_row_is_written_past_the_end() {
    let finding = only("b03_rowscale_planted.memcheck.txt");
    assert_eq!((finding.cause, finding.count), (Cause::OobGlobalWrite, 1056));
    assert_eq!((finding.kernel.as_deref(), finding.line), (Some("row_scale"), Some(29)));
    let facts = &finding.facts;
    assert_eq!((facts.number("bytes_outside"), facts.number("allocation_bytes")), (Some(4224), Some(4_224_000)));
    assert_eq!(facts.number("rows_in_allocation"), Some(1000));
    let xml = only("b03_rowscale_planted.memcheck.xml");
    assert_eq!((xml.cause, xml.kernel, xml.line), (finding.cause, finding.kernel, finding.line));
}

#[test]
fn uninitialised_memory_is_counted_whole() {
    let finding = only("b08_accum_planted.initcheck.txt");
    assert_eq!((finding.cause, finding.tool, finding.count), (Cause::UninitGlobal, Tool::Initcheck, 100_000));
    assert_eq!((finding.kernel.as_deref(), finding.line), (Some("accumulate"), Some(24)));
    assert_eq!(finding.facts.number("bytes_read"), Some(400_000));
    let xml = only("b08_accum_planted.initcheck.xml");
    assert_eq!((xml.cause, xml.tool, xml.line), (Cause::UninitGlobal, Tool::Initcheck, Some(24)));
}

#[test]
fn a_race_names_both_sides() {
    for name in ["b09_reverse_planted.racecheck.txt", "b09_reverse_planted.racecheck.xml"] {
        let finding = only(name);
        assert_eq!((finding.cause, finding.count), (Cause::RaceSharedRaw, 524_288));
        assert_eq!(finding.facts.number("hazards"), Some(524_288));
        assert_eq!(finding.facts.get("writes_at").unwrap()[0], "b09_reverse.cu:26");
        assert_eq!(finding.facts.get("reads_at").unwrap()[0], "b09_reverse.cu:30");
    }
    // Byte by byte, and cut off.
    let hazards = diagnose("b09_reverse_planted.racecheck.all.txt");
    assert_eq!(hazards.findings[0].cause, Cause::RaceSharedRaw);
    assert!(hazards.notes[0].contains("ends before its summary"));
}

#[test]
fn five_allocations_leak() {
    for name in ["b14_scratch_planted.memcheck.txt", "b14_scratch_planted.memcheck.xml"] {
        let finding = only(name);
        assert_eq!((finding.cause, finding.count), (Cause::Leak, 5));
        let facts = &finding.facts;
        assert_eq!((facts.number("allocations"), facts.number("leaked_bytes")), (Some(5), Some(81_920)));
        assert_eq!(facts.number("allocation_bytes"), Some(16_384));
        assert_eq!((facts.text("api"), facts.text("called_from")), (Some("cudaMalloc"), Some("main")), "{name}");
    }
}

#[test]
fn a_launch_without_opting_in_fails() {
    let finding = only("b17_bigtile_planted.memcheck.txt");
    assert_eq!(finding.cause, Cause::LaunchFailureSmem);
    assert_eq!(finding.facts.text("api"), Some("cudaLaunchKernel"));
    assert_eq!(finding.facts.text("error"), Some("cudaErrorInvalidValue"));
    assert_eq!(only("b17_bigtile_planted.memcheck.xml").kernel.as_deref(), Some("big_tile"));
}

#[test]
fn a_hang_is_explained_by_its_source() {
    let name = "b12_guardedsync_planted.synccheck.txt";
    assert_eq!(diagnose(name).verdict, Verdict::Inconclusive, "the header alone");
    let diagnosis = sanitizer::diagnose(&log(name), &source("b12_guardedsync"));
    let finding = &diagnosis.findings[0];
    assert_eq!(
        (finding.cause, finding.kernel.as_deref(), finding.line),
        (Cause::DivergentBarrier, Some("tail_sum"), Some(32))
    );
    assert_eq!(finding.facts.text("condition"), Some("b + t < n"));
}

#[test]
fn other_tools_on_a_wrong_program_are_inconclusive() {
    for name in [
        "b01_tileload_planted.racecheck.txt",
        "b08_accum_planted.memcheck.txt",
        "b09_reverse_planted.memcheck.txt",
        "b17_bigtile_planted.initcheck.txt",
    ] {
        let diagnosis = diagnose(name);
        assert_eq!(diagnosis.verdict, Verdict::Inconclusive, "{name}");
        assert_eq!(diagnosis.findings[0].cause, Cause::Inconclusive);
    }
    // The result varies between runs: a race.
    let mut varying = log("b09_reverse_planted.memcheck.txt");
    varying.program.join(Program::read(&text("b09_reverse_planted.native.txt")));
    let diagnosis = sanitizer::diagnose(&varying, &Sources::none());
    assert_eq!(diagnosis.findings[0].facts.get("results_vary").unwrap(), true);
}

#[test]
fn without_a_driver_nothing_was_checked() {
    assert_eq!(diagnose("nocuda.memcheck.txt").verdict, Verdict::NotRun);
}

/// A log may end anywhere: the causes that are left are right, and nothing becomes clean by being cut; see cut.rs.
#[test]
fn cut_logs_keep_their_cause() {
    for (name, cause) in [
        ("b01_tileload_planted.memcheck.txt", Cause::MisalignedShared),
        ("b01_tileload_planted.memcheck.xml", Cause::MisalignedShared),
        ("b03_rowscale_planted.memcheck.txt", Cause::OobGlobalWrite),
        ("b08_accum_planted.initcheck.xml", Cause::UninitGlobal),
        ("b09_reverse_planted.racecheck.txt", Cause::RaceSharedRaw),
    ] {
        let whole = text(name);
        for part in 1..40 {
            let end = whole.len() * part / 40;
            let diagnosis = sanitizer::diagnose(&sanitizer::read(&whole[..end]), &Sources::none());
            assert_ne!(diagnosis.verdict, Verdict::Clean, "{name} cut at {end}");
            for finding in &diagnosis.findings {
                assert!([cause, Cause::Inconclusive].contains(&finding.cause), "{name} cut at {end}");
            }
        }
    }
}

/// The same log with Windows' line ends, and with the program's output between any two lines.
#[test]
fn line_ends_and_mixed_output_change_nothing() {
    for name in
        ["b01_tileload_planted.memcheck.txt", "b14_scratch_planted.memcheck.txt", "b09_reverse_planted.racecheck.txt"]
    {
        let whole = text(name);
        let expected = diagnose(name).findings;
        let windows = whole.replace('\n', "\r\n");
        let mixed = whole.replace('\n', "\nstep 12 of 500, loss 0.25\n");
        for other in [windows, mixed] {
            assert_eq!(sanitizer::diagnose(&sanitizer::read(&other), &Sources::none()).findings, expected, "{name}");
        }
    }
}
