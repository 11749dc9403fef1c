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
        ("data_race", Some("add"), 4),
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
    let alone = of("leak_alone");
    assert_eq!((alone.findings.len(), alone.findings[0].cause, alone.findings[0].count), (1, Cause::Leak, 3));
    assert_eq!(alone.findings[0].facts.number("leaked_bytes"), Some(600));
    assert_eq!(facts("data_race").text("variable"), Some("total"));
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

fn reason(log: &str) -> Option<String> {
    let diagnosis = diagnose(&read(log), &Sources::none());
    assert_eq!((diagnosis.verdict, diagnosis.findings.len()), (Verdict::Inconclusive, 1), "{log}\n{diagnosis:#?}");
    let finding = &diagnosis.findings[0];
    assert!(finding.cause == Cause::Inconclusive && !finding.explanation.is_empty() && !finding.fix.is_empty());
    finding.facts.text("reason").map(Into::into)
}

/// What a sanitizer signs and does not finish is never clean.
#[test]
fn parts_of_reports_are_inconclusive() {
    for log in [
        "AddressSanitizer:DEADLYSIGNAL\n",
        "AddressSanitizer:DEADLYSIGNAL",
        "ThreadSanitizer:DEADLYSIGNAL\n",
        "SUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:3 in scale\n",
        "SUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:3 in scale\n==29725==ABORTING\n",
        "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior a.c:3:5 in \n",
        "==1==ERROR: AddressSanitizer: heap-buffer-ov",
        "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 bp 0x3 sp 0x4\n",
        "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\nWRITE of size 4 at 0x1 thread T0\n",
        "WRITE of size 4 at 0x6140 thread T0\n    #0 0x55 in scale /src/a.c:3\n    #1 0x55 in main /src/a.c:9\n",
        "==1==ERROR: LeakSanitizer: detected memory leaks\n",
        "==1==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 8 byte(s) in 1 object(s) allocated from:\n",
        "Direct leak of 81920 by",
        "SUMMARY: LeakSanitizer: 600 byte(s) leaked in 3 allocation(s).\n",
        "a.c:3:5: runtime error: signed integer over",
        "a.c:3:5: runtime error: signed integer over\n",
        "a.c:3:5: runtime error:",
        "a.c:3:5: runtime error: load of misali\n",
        "WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x1 by thread T1:\n    #0 add /src/a.c:5 (a+0x1)\n",
        "ThreadSanitizer: reported 1 warnings\n",
        "==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n",
        "\n=================================================================\n",
    ] {
        assert_eq!(reason(log).as_deref(), Some("log_cut"), "{log}");
    }
    for log in [
        "AddressSanitizer: CHECK failed: asan_thread.cpp:371 \"((ptr[0] == kCurrentStackFrameMagic)) != (0)\"\n",
        "==1==AddressSanitizer CHECK failed: ../asan_rtl.cc:583 \"((!asan_init_is_running)) != (0)\" (0x0, 0x0)\n",
        "==1==LeakSanitizer has encountered a fatal error.\n",
    ] {
        assert_eq!(reason(log).as_deref(), Some("tool_failed"), "{log}");
    }
    for log in [
        "==1==ERROR: HWAddressSanitizer: tag-mismatch on address 0x1 at pc 0x2\n",
        "==1==ERROR: AddressSanitizer: allocator is out of memory trying to allocate 0x1 bytes\n    #0 0x55 in f /src/a.c:3\n\nSUMMARY: AddressSanitizer: out-of-memory\n",
        "WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=7)\n  Mutex M1 acquired here:\n    #0 f /src/a.c:3 (a+0x1)\n\nSUMMARY: ThreadSanitizer: lock-order-inversion (potential deadlock) /src/a.c:3 in f\n",
    ] {
        assert_eq!(reason(log).as_deref(), Some("unknown_report"), "{log}");
    }
}

#[test]
fn a_runtime_error_of_another_kind_is_no_report() {
    for line in ["panic: runtime error: index out of range", "step 3: runtime error: out of coffee", "DogSanitizers: 3"]
    {
        assert!(!read(&format!("{line}\n")).is_signed(), "{line}");
    }
}

/// A real report of GCC 12.
#[test]
fn a_data_race_names_both_lines() {
    let log = "\
==================
WARNING: ThreadSanitizer: data race (pid=17611)
  Read of size 4 at 0x7b100000000c by main thread:
    #0 main /src/heap.c:5 (heap+0x1289)

  Previous write of size 4 at 0x7b100000000c by thread T1:
    #0 put /src/heap.c:4 (heap+0x1207)

  Location is heap block of size 64 at 0x7b1000000000 allocated by main thread:
    #0 malloc ../../../../src/libsanitizer/tsan/tsan_interceptors_posix.cpp:647 (libtsan.so.2+0x3ebb8)
    #1 main /src/heap.c:3 (heap+0x1239)

  Thread T1 (tid=17613, finished) created by main thread at:
    #0 pthread_create ../../../../src/libsanitizer/tsan/tsan_interceptors_posix.cpp:1001 (libtsan.so.2+0x5e686)
    #1 main /src/heap.c:5 (heap+0x1270)

SUMMARY: ThreadSanitizer: data race /src/heap.c:5 in main
==================
ThreadSanitizer: reported 1 warnings
";
    let diagnosis = diagnose(&read(log), &Sources::none());
    let finding = &diagnosis.findings[0];
    assert_eq!((finding.cause, finding.tool, finding.line), (Cause::DataRace, Tool::Tsan, Some(5)), "{diagnosis:#?}");
    assert_eq!((finding.kernel.as_deref(), diagnosis.findings.len(), diagnosis.notes.len()), (Some("main"), 1, 0));
    let facts = &finding.facts;
    assert_eq!(facts.get("reads_at").unwrap()[0], "heap.c:5");
    assert_eq!(facts.get("writes_at").unwrap()[0], "heap.c:4");
    assert_eq!((facts.text("allocated_at"), facts.number("allocation_bytes")), (Some("heap.c:3"), Some(64)));
    assert!(finding.explanation.contains("a read at heap.c:5 and a write at heap.c:4"), "{}", finding.explanation);
}

/// As clang prints it.
#[test]
fn an_uninitialised_value_is_named() {
    let log = "\
==1==WARNING: MemorySanitizer: use-of-uninitialized-value
    #0 0x55a in pick /src/a.c:6:7
    #1 0x55b in main /src/a.c:11:3

  Uninitialized value was created by an allocation of 'best' in the stack frame
    #0 0x55c in pick /src/a.c:4:3

SUMMARY: MemorySanitizer: use-of-uninitialized-value /src/a.c:6:7 in pick
Exiting
";
    let diagnosis = diagnose(&read(log), &Sources::none());
    let finding = &diagnosis.findings[0];
    assert_eq!(
        (finding.cause, finding.tool, finding.line),
        (Cause::UninitValue, Tool::Msan, Some(6)),
        "{diagnosis:#?}"
    );
    assert_eq!((finding.facts.text("variable"), finding.facts.text("allocated_at")), (Some("best"), Some("a.c:4")));
}

/// Colours of a terminal, line ends of Windows, prefixes of runners: the findings stay.
#[test]
fn what_carries_a_report_changes_nothing() {
    for name in ["oob_heap_write", "leak", "null_pointer", "oob_static_read", "signed_overflow", "stack_overflow"] {
        let (log, _) = fixture(name);
        let expected = diagnose(&read(&log), &Sources::none());
        let each = |change: &dyn Fn(&str) -> String| log.lines().map(|line| change(line) + "\n").collect::<String>();
        for other in [
            log.replace('\n', "\r\n"),
            each(&|line| format!("\u{1b}[1m\u{1b}[31m{line}\u{1b}[1m\u{1b}[0m")),
            each(&|line| format!("2026-11-17T07:25:01.1234567Z {line}")),
            each(&|line| format!("[1,0]<stderr>: {line}")),
            each(&|line| format!("app-1  | {line}")),
            format!("\u{feff}{log}"),
        ] {
            assert_eq!(diagnose(&read(&other), &Sources::none()), expected, "{name}\n{other}");
        }
    }
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

/// As many places as a large program has: each report is looked at once.
#[test]
fn many_places_are_counted_and_not_all_listed() {
    let message = "runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'";
    let mut log: String = (1..=20_000).map(|line| format!("a.c:{line}:3: {message}\n")).collect();
    log.push_str(&format!("a.c:7777:3: {message}\n"));
    let diagnosis = diagnose(&read(&log), &Sources::none());
    assert_eq!((diagnosis.verdict, diagnosis.findings.len()), (Verdict::BugsFound, 200));
    let (first, last) = (&diagnosis.findings[0], &diagnosis.findings[199]);
    assert_eq!((first.line, last.line, last.count), (Some(1), Some(7_777), 2));
    let note = "200 of 20,000 findings are listed, the first and the most frequent; 19,800 are not";
    assert_eq!(diagnosis.notes, [note]);
}
