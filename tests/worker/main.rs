//! Workers with real kernels, good and hostile: every way to misbehave ends that worker, is named by its gate, and leaves
//! nothing behind.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use kiln_build::{Cache, Compiler, Limits as BuildLimits, Passing, Request, SHIM_SYMBOL, shim};
use kiln_core::{Config, Gate, Outcome, Refusal};
use kiln_run::{Answer, Arena, Ask, Limits, Region, Worker};

/// A kernel of the form `void f(const float *x, float *y, int64_t n)`, built and loaded, with its memory.
struct Loaded {
    _folder: tempfile::TempDir,
    worker: Worker,
    arena: Arena,
    regions: Vec<Region>,
}

const N: usize = 1000;

fn limits() -> Limits {
    Limits { time: Duration::from_millis(1500), memory: 512 << 20 }
}

fn start() -> Worker {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(["worker", "cpu"]);
    Worker::start(command, limits()).unwrap()
}

/// Builds `body` as the kernel's body and gets it ready to be called.
fn load(body: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    let headers =
        "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n";
    let source = root.join("k.c");
    std::fs::write(&source, format!("{headers}void f(const float *x, float *y, int64_t n) {{ {body} }}\n")).unwrap();
    let request = Request {
        sources: vec![source],
        includes: vec![],
        std: None,
        flags: vec!["-w".into(), "-O1".into()],
        config: Config::default(),
        shim: shim("f", &[Passing::Pointer, Passing::Pointer, Passing::Value("int64_t")]),
    };
    let compiler = Compiler::named(vec!["cc".into()]).unwrap();
    let built = Cache::at(root.join("cache")).build(&compiler, &request, BuildLimits::default(), &|_| {}).unwrap();
    let Outcome::Passed(artifact) = built else { panic!("{built:?}") };

    let (mut arena, regions) = Arena::new(&[4 * N, 4 * N, 8]).unwrap();
    for i in 0..N {
        arena.bytes_mut()[regions[0].start + 4 * i..][..4].copy_from_slice(&(i as f32).to_ne_bytes());
    }
    arena.bytes_mut()[regions[2].clone()].copy_from_slice(&(N as i64).to_ne_bytes());
    let mut worker = start();
    let library = artifact.library.to_string();
    assert_eq!(passed(worker.ask(Ask::Load { library, symbol: SHIM_SYMBOL.into() })), Answer::Done);
    let arguments = regions.iter().map(|r| r.start).collect();
    assert_eq!(passed(worker.ask(Ask::Map { arena: arena.path(), arguments })), Answer::Done);
    Loaded { _folder: folder, worker, arena, regions }
}

fn passed(outcome: Result<Outcome<Answer>, kiln_core::Fault>) -> Answer {
    match outcome.unwrap() {
        Outcome::Passed(answer) => answer,
        Outcome::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// The refusal of a kernel, after which its process must be gone.
fn refused(body: &str) -> Refusal {
    let mut loaded = load(body);
    let pid = loaded.worker.pid();
    let outcome = loaded.worker.ask(Ask::Call).unwrap();
    let Outcome::Refused(refusal) = outcome else { panic!("{body}: {outcome:?}") };
    assert!(!runs(pid), "the worker lives on after {body}");
    refusal
}

/// Whether a process is there and not merely waiting to be buried.
fn runs(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

const DOUBLE: &str = "for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];";

#[test]
fn a_good_kernel_computes_and_is_timed() {
    let mut loaded = load(DOUBLE);
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    for i in 0..N {
        let at = loaded.regions[1].start + 4 * i;
        let value = f32::from_ne_bytes(loaded.arena.bytes()[at..at + 4].try_into().unwrap());
        assert_eq!(value, 2.0 * i as f32);
    }
    let started = Instant::now();
    let Answer::Times(timing) = passed(loaded.worker.ask(Ask::Time { samples: 20, calls: 50 })) else { panic!() };
    // The parent's clock bounds the worker's.
    let total: u64 = timing.nanoseconds.iter().sum();
    assert!(timing.nanoseconds.len() == 20 && total > 0 && Duration::from_nanos(total) <= started.elapsed());
}

#[test]
fn guards_show_writes_beyond_a_buffer() {
    let mut loaded = load(&format!("{DOUBLE} y[n] = 7;"));
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    let end = loaded.regions[1].end;
    assert_ne!(&loaded.arena.bytes()[end..end + 4], [0; 4]);
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
        let refusal = refused(body);
        assert_eq!(refusal.gate, Gate::RuntimeFailed, "{body}");
        assert!(refusal.measured.contains(words), "{body}: {}", refusal.measured);
    }
}

#[test]
fn endless_loops_and_their_children_are_ended() {
    let marker = tempfile::NamedTempFile::new().unwrap();
    let path = marker.path().display();
    let body = format!(
        "pid_t p = fork(); if (p) {{ FILE *f = fopen(\"{path}\", \"w\"); fprintf(f, \"%d\", (int)p); fclose(f); }} for (;;) pause();"
    );
    assert_eq!(refused(&body).gate, Gate::Timeout);
    let child: u32 = std::fs::read_to_string(marker.path()).unwrap().parse().unwrap();
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !runs(child)
    });
    assert!(gone, "a forked child lives on");
}

#[test]
fn memory_hunger_is_stopped_by_what_is_resident() {
    let body = "for (;;) { char *p = malloc(64 << 20); memset(p, 1, 64 << 20); }";
    assert_eq!(refused(body).gate, Gate::HostOom);
    // Reserving addresses without using them is nobody's concern.
    let mut loaded = load(&format!("void *p = malloc(100L << 30); (void)p; {DOUBLE}"));
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
}

#[test]
fn garbage_on_the_pipe_is_no_answer() {
    for body in ["printf(\"hello\\n\");", "printf(\"no line end\"); ", "write(1, \"\\xff\\xfe\\n\", 3);"] {
        let refusal = refused(body);
        assert_eq!(refusal.gate, Gate::WorkerProtocol, "{body}");
        assert!(refusal.hint.is_some());
    }
    // A forged answer to another question is none either.
    let forged = "printf(\"{\\\"id\\\":99,\\\"answer\\\":\\\"done\\\"}\\n\");";
    assert_eq!(refused(forged).gate, Gate::WorkerProtocol);
    assert_eq!(refused("close(1); for (;;) pause();").gate, Gate::WorkerProtocol);
}

#[test]
fn a_fresh_worker_takes_over() {
    refused("abort();");
    let mut loaded = load(DOUBLE);
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
}

#[test]
fn what_cannot_be_done_is_said_and_the_worker_stays() {
    let mut worker = start();
    let ask = Ask::Load { library: "/nowhere.so".into(), symbol: "f".into() };
    assert!(matches!(passed(worker.ask(ask)), Answer::Failed(why) if why.contains("/nowhere.so")));
    assert!(matches!(passed(worker.ask(Ask::Call)), Answer::Failed(_)));
    let map = Ask::Map { arena: "/nowhere".into(), arguments: vec![] };
    assert!(matches!(passed(worker.ask(map)), Answer::Failed(_)));
}

#[test]
fn workers_end_with_their_handle_and_memory_with_its_owner() {
    let worker = start();
    let pid = worker.pid();
    drop(worker);
    assert!(!runs(pid));
    let (arena, _) = Arena::new(&[1 << 20]).unwrap();
    let path = arena.path();
    assert!(Path::new(&path).exists());
    drop(arena);
    assert!(!Path::new(&path).exists());
}
