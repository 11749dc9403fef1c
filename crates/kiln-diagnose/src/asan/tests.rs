use proptest::prelude::*;

use super::*;

fn fixture(name: &str) -> (String, String) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer/cpu");
    let text = |ending| std::fs::read_to_string(format!("{folder}/{name}.{ending}")).unwrap();
    (text("txt"), text("c"))
}

fn of(name: &str) -> Diagnosis {
    let (log, source) = fixture(name);
    diagnose(&read(&log), &Sources::none().with(format!("{name}.c"), source))
}

/// Real reports of GCC 12; see make.sh beside them.
#[test]
fn every_report_gives_its_cause_and_line() {
    for (name, function, line) in [
        ("oob_heap_write", Some("scale"), 3),
        ("oob_heap_read", Some("sum_rows"), 4),
        ("oob_stack_write", Some("total"), 4),
        ("oob_stack_read", Some("last"), 1),
        ("oob_static_read", Some("look"), 2),
        ("oob_static_write", Some("put"), 2),
        ("use_after_free", Some("first"), 2),
        ("use_after_scope", Some("main"), 2),
        ("double_free", Some("drop"), 2),
        ("invalid_free", Some("main"), 2),
        ("leak", Some("scratch"), 2),
        ("null_pointer", Some("fill"), 2),
        ("wild_pointer", Some("main"), 3),
        ("misaligned_access", None, 3),
        ("signed_overflow", None, 1),
        ("invalid_shift", None, 1),
        ("division_by_zero", Some("tiles"), 1),
        ("index_out_of_range", None, 2),
        ("invalid_value", None, 3),
        ("stack_overflow", Some("deep"), 1),
    ] {
        let diagnosis = of(name);
        let finding = &diagnosis.findings[0];
        assert_eq!(finding.cause.id(), name);
        assert_eq!((finding.kernel.as_deref(), finding.line), (function, Some(line)), "{name}");
        assert_eq!(diagnosis.findings.len(), 1, "{name}: {:#?}", diagnosis.findings);
        assert_eq!(diagnosis.verdict, Verdict::BugsFound);
        assert!(finding.facts.text("source_line").is_some(), "{name}");
        assert!(!finding.explanation.is_empty() && !finding.fix.is_empty());
    }
}

#[test]
fn distances_and_sizes_are_facts() {
    let facts = |name| of(name).findings[0].facts.clone();
    let write = facts("oob_heap_write");
    assert_eq!((write.number("bytes_past_end"), write.number("allocation_bytes")), (Some(0), Some(400)));
    assert_eq!((write.number("access_bytes"), write.text("direction")), (Some(4), Some("write")));
    assert_eq!(write.text("allocated_at"), Some("oob_heap_write.c:6"));
    let read = facts("oob_heap_read");
    assert_eq!((read.number("bytes_past_end"), read.number("access_bytes")), (Some(24), Some(8)));
    let before = of("oob_heap_before");
    assert_eq!(before.findings[0].cause, Cause::OobHeapWrite);
    assert_eq!(before.findings[0].facts.number("bytes_before_start"), Some(8));
    let stack = facts("oob_stack_read");
    assert_eq!((stack.text("variable"), stack.number("allocation_bytes")), (Some("v"), Some(32)));
    let global = facts("oob_static_read");
    assert_eq!((global.text("variable"), global.number("bytes_past_end")), (Some("table"), Some(4)));
    let leak = of("leak");
    assert_eq!(leak.findings[0].count, 5);
    assert_eq!(leak.findings[0].facts.number("leaked_bytes"), Some(81920));
    assert_eq!(facts("use_after_free").text("freed_at"), Some("use_after_free.c:3"));
}

#[test]
fn a_program_without_reports_is_clean_unless_its_check_fails() {
    assert_eq!(of("clean").verdict, Verdict::Clean);
    assert_eq!(of("clean").findings, []);
    let failed = diagnose(&read("max_err=3.0 check=FAIL"), &Sources::none());
    assert_eq!(failed.verdict, Verdict::Inconclusive);
    let missing = "./a: error while loading shared libraries: libasan.so.8: cannot open shared object file";
    assert_eq!(diagnose(&read(missing), &Sources::none()).verdict, Verdict::NotRun);
}

/// Clang and newer versions of GCC word it differently.
#[test]
fn reports_of_clang_are_read() {
    let log = "\
==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x55 bp 0x7f sp 0x7f
READ of size 8 at 0x602 thread T0
    #0 0x55 in void add<double>(double*, int) /src/a.cpp:3:12
    #1 0x55 in main /src/a.cpp:9:3

0x602 is located 16 bytes after 80-byte region [0x5b2,0x602)
allocated by thread T0 here:
    #0 0x55 in operator new[](unsigned long) (/bin/a+0xd1) (BuildId: aa)
    #1 0x55 in main /src/a.cpp:8:15
SUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.cpp:3:12 in void add<double>(double*, int)
";
    let diagnosis = diagnose(&read(log), &Sources::none());
    let finding = &diagnosis.findings[0];
    assert_eq!((finding.cause, finding.kernel.as_deref(), finding.line), (Cause::OobHeapRead, Some("add"), Some(3)));
    assert_eq!(finding.facts.number("bytes_past_end"), Some(16));
    assert_eq!(finding.facts.text("allocated_at"), Some("a.cpp:8"));
}

proptest! {
    #[test]
    fn nothing_panics(text in "(([a-z0-9 :#=()<>/.'-]{0,40}|==1==ERROR: AddressSanitizer: |    #0 0x1 in f a.c:1|WRITE of size |0x1 is located |Direct leak of |: runtime error: |\\[1, 2\\) 'v' <== Memory access at offset |é)\n?){0,20}") {
        let diagnosis = diagnose(&read(&text), &Sources::none());
        prop_assert!(!serde_json::to_string(&diagnosis).unwrap().is_empty());
    }

    #[test]
    fn a_report_cut_anywhere_is_read(cut in 0_usize..2000, name in prop::sample::select(vec!["oob_heap_write", "leak", "null_pointer", "oob_static_read"])) {
        let (log, _) = fixture(name);
        let end = (0..=cut.min(log.len())).rev().find(|end| log.is_char_boundary(*end)).unwrap_or(0);
        diagnose(&read(&log[..end]), &Sources::none());
    }
}
