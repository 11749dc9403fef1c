//! Kernels that crash, hang, eat memory, print, fork: each is refused at its gate, and nothing of it lives on.

use std::time::{Duration, Instant};

use kiln_core::{Gate, Refusal};
use kiln_run::{Answer, Ask};

use crate::kernel::{DOUBLE, load};
use crate::{comes_true, ends, limits, passed, refused, runs, threads};

/// The refusal of a kernel, after which its process must be gone.
pub(crate) fn refusal_of(body: &str) -> Refusal {
    refusal_within(body, limits().time)
}

fn refusal_within(body: &str, time: Duration) -> Refusal {
    let mut loaded = load(body);
    let pid = loaded.worker.pid();
    let refusal = refused(loaded.worker.ask_within(Ask::Call, time));
    assert!(!runs(pid), "the worker lives on after {body}");
    // Asking again is answered at once.
    assert_eq!(refused(loaded.worker.ask(Ask::Call)).measured, "the worker is gone");
    assert_eq!(loaded.worker.peak_memory(), None);
    refusal
}

#[test]
fn crashes_are_named_by_their_signal() {
    for (body, words) in [
        ("*(volatile int *)8 = 1;", "SIGSEGV"),
        ("abort();", "SIGABRT"),
        ("volatile int a = 7, zero = 0; y[0] = a / zero;", "SIGFPE"),
        ("exit(0);", "exited with code 0"),
        ("_exit(7);", "exited with code 7"),
    ] {
        let refusal = refusal_of(body);
        assert_eq!(refusal.gate, Gate::RuntimeFailed, "{body}");
        assert!(refusal.measured.contains(words), "{body}: {}", refusal.measured);
    }
}

#[test]
fn the_last_words_on_standard_error_are_evidence() {
    let refusal = refusal_of("fprintf(stderr, \"assertion of row %d failed\\n\", 17); abort();");
    assert_eq!(refusal.evidence, "assertion of row 17 failed");
    // More than a pipe holds is no reason to wait for ever, nor to keep it all.
    let refusal = refusal_of("for (int i = 0; i < 100000; i++) fprintf(stderr, \"line %d\\n\", i); abort();");
    assert_eq!(refusal.gate, Gate::RuntimeFailed);
    assert!(refusal.evidence.len() <= 2048 && refusal.evidence.ends_with("line 99999"), "{}", refusal.evidence);
    let refusal = refusal_of("for (;;) fputs(\"and so on\\n\", stderr);");
    assert_eq!(refusal.gate, Gate::Timeout);
    assert!((1..=2048).contains(&refusal.evidence.len()));
}

#[test]
fn endless_loops_and_their_children_are_ended() {
    let marker = tempfile::NamedTempFile::new().unwrap();
    let path = marker.path().display();
    // The second child leaves the group and its parent.
    for leave in ["", "setsid();", "setsid(); if (fork()) _exit(0);"] {
        marker.as_file().set_len(0).unwrap();
        let body = format!(
            "if (!fork()) {{ {leave} FILE *f = fopen(\"{path}\", \"w\"); fprintf(f, \"%d\", (int)getpid()); fclose(f);
            for (;;) pause(); }} for (;;) pause();"
        );
        // On a busy machine the child may not have come to write its number.
        let child = [limits().time, Duration::from_secs(10), Duration::from_secs(60)].into_iter().find_map(|time| {
            assert_eq!(refusal_within(&body, time).gate, Gate::Timeout);
            std::fs::read_to_string(marker.path()).unwrap().parse().ok()
        });
        assert!(ends(child.expect("no child")), "a forked child lives on after {leave}");
    }
}

#[test]
fn a_child_that_holds_the_pipe_does_not_hide_a_crash() {
    let started = Instant::now();
    let refusal = refusal_of("if (!fork()) for (;;) pause(); abort();");
    assert!(refusal.measured.contains("SIGABRT"), "{refusal:?}");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn two_processes_on_one_pipe_are_found_out() {
    // Both answer every question that either of them gets.
    let mut loaded = load("fork();");
    let caught = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        matches!(loaded.worker.ask(Ask::Call).unwrap(), kiln_core::Outcome::Refused(_))
    });
    assert!(caught);
}

#[test]
fn threads_that_outlive_their_call_end_with_the_worker() {
    let body = format!("pthread_t t; pthread_create(&t, 0, (void *(*)(void *))pause, 0); {DOUBLE}");
    let mut loaded = load(&body);
    for _ in 0..3 {
        assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    }
    let pid = loaded.worker.pid();
    drop(loaded);
    assert!(!runs(pid));
}

#[test]
fn jumps_out_of_the_call_hang_nobody() {
    // Where such a jump lands is anybody's guess; whatever it is, there is an answer or a refusal.
    let mut loaded = load("static jmp_buf b; static int calls; if (!calls++) setjmp(b); else longjmp(b, 1);");
    let pid = loaded.worker.pid();
    for _ in 0..3 {
        let _ = loaded.worker.ask(Ask::Call).unwrap();
    }
    drop(loaded);
    assert!(!runs(pid));
}

#[test]
fn memory_hunger_is_stopped_by_what_is_resident() {
    let body = "for (;;) { char *p = malloc(64 << 20); memset(p, 1, 64 << 20); }";
    // A busy machine may take its time to hand memory out.
    assert_eq!(refusal_within(body, Duration::from_secs(30)).gate, Gate::HostOom);
    // Reserving addresses without using them is nobody's concern.
    let mut loaded = load(&format!("void *p = malloc(100L << 30); (void)p; {DOUBLE}"));
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
}

#[test]
fn garbage_on_the_pipe_is_no_answer() {
    // What it prints is nobody's answer; where answers go it has to look for.
    let everywhere = |text: &str| format!("for (int d = 3; d < 64; d++) write(d, {text}, strlen({text}));");
    for text in ["\"hello\\n\"", "\"\\xff\\xfe\\n\"", "\"{\\\"id\\\":99,\\\"answer\\\":\\\"done\\\"}\\n\""] {
        let refusal = refusal_of(&everywhere(text));
        assert_eq!(refusal.gate, Gate::WorkerProtocol, "{text}");
        assert!(refusal.hint.is_some());
    }
    assert_eq!(refusal_of("for (int d = 3; d < 64; d++) close(d); for (;;) pause();").gate, Gate::WorkerProtocol);
    let mut prints = load("printf(\"hello\\n\"); write(1, \"there\", 5);");
    assert_eq!(passed(prints.worker.ask(Ask::Call)), Answer::Done);
}

#[test]
fn what_is_said_between_questions_is_no_answer() {
    let body = "static pthread_t t; pthread_create(&t, 0, (void *(*)(void *))late, 0);";
    let late = "void late(void) { usleep(20000); for (int d = 3; d < 64; d++) write(d, \"late\\n\", 5); }";
    // A nested function serves: it uses nothing of the one around it.
    let mut loaded = load(&format!("auto {late} {body}"));
    let (pid, before) = (loaded.worker.pid(), threads(loaded.worker.pid()));
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    assert!(comes_true(|| threads(pid) <= before), "the thread goes on");
    assert_eq!(refused(loaded.worker.ask(Ask::Call)).gate, Gate::WorkerProtocol);
}
