//! Workers with real subjects, good and hostile, in C and in Python: every way to misbehave ends that worker, is named by
//! its gate, and leaves nothing behind.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod confined;
mod cuda;
mod hostile;
mod kernel;
mod liar;
mod orphan;
mod python;
mod timing;
mod watched;

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use kiln_core::{Fault, Outcome, Refusal};
use kiln_run::{Answer, Arena, Ask, Handle, Worker, WorkerLimits};

use kernel::{DOUBLE, load, start};

fn limits() -> WorkerLimits {
    WorkerLimits { time: Duration::from_millis(1500), memory: 512 << 20 }
}

fn passed(outcome: Result<Outcome<Answer>, Fault>) -> Answer {
    match outcome.unwrap() {
        Outcome::Passed(answer) => answer,
        Outcome::Refused(refusal) => panic!("{refusal:?}"),
    }
}

fn failed(outcome: Result<Outcome<Answer>, Fault>) -> String {
    match passed(outcome) {
        Answer::Failed(failed) => failed.words,
        other => panic!("{other:?}"),
    }
}

fn refused(outcome: Result<Outcome<Answer>, Fault>) -> Refusal {
    match outcome.unwrap() {
        Outcome::Refused(refusal) => refusal,
        Outcome::Passed(answer) => panic!("{answer:?}"),
    }
}

/// Whether a process is there and not merely waiting to be buried.
fn runs(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

/// Whether something comes true; a busy machine may take its time.
fn comes_true(mut look: impl FnMut() -> bool) -> bool {
    (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        look()
    })
}

/// Whether a process ends.
fn ends(pid: u32) -> bool {
    comes_true(|| !runs(pid))
}

/// How many threads a process has.
fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

#[test]
fn guards_show_writes_beyond_a_buffer() {
    let mut loaded = load(&format!("{DOUBLE} y[n] = 7;"));
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    let end = loaded.regions[1].end;
    assert_ne!(&loaded.arena.bytes()[end..end + 4], [0; 4]);
}

#[test]
fn a_kernel_that_reads_standard_input_takes_no_questions() {
    let mut loaded = load(&format!("if (getchar() != EOF) abort(); {DOUBLE}"));
    for _ in 0..3 {
        assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    }
}

#[test]
fn a_fresh_worker_takes_over() {
    hostile::refusal_of("abort();");
    let mut loaded = load(DOUBLE);
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
}

#[test]
fn what_cannot_be_done_is_said_and_the_worker_stays() {
    let mut worker = start();
    let ask = Ask::Load { library: "/nowhere.so".into(), symbol: "f".into(), config: None, device: false };
    assert!(failed(worker.ask(ask)).contains("/nowhere.so"));
    assert!(failed(worker.ask(Ask::Call)).contains("no library"));
    failed(worker.ask(Ask::Map {
        arena: Handle::default(),
        lent: None,
        slots: vec![],
        launches: Vec::new(),
        sets: 1,
        stride: 0,
        holes: vec![],
        elsewhere: false,
        gone: vec![],
    }));
    assert!(failed(worker.ask(Ask::Pin { cpus: vec![] })).contains("none"));
    assert!(failed(worker.ask(Ask::Pin { cpus: vec![100_000] })).contains("100000"));
    let (arena, regions) = Arena::new(&[64]).unwrap();
    let slot =
        kiln_run::MappedSlot { name: "x".into(), offset: regions[0].start, bytes: usize::MAX, ..Default::default() };
    let why = failed(worker.ask(Ask::map(&arena, vec![slot])));
    assert!(why.contains("`x`") && why.contains("outside"), "{why}");
}

#[test]
fn a_worker_keeps_to_its_processors() {
    let allowed = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_string()
    };
    let mut worker = start();
    // The first of those this process may use.
    let first: usize = allowed(std::process::id()).split([',', '-']).next().unwrap().parse().unwrap();
    assert_eq!(passed(worker.ask(Ask::Pin { cpus: vec![first] })), Answer::Done);
    assert_eq!(allowed(worker.pid()), first.to_string());
}

#[test]
fn peak_memory_remembers_what_was_given_back() {
    let mut loaded = load("char *p = malloc(100 << 20); memset(p, 1, 100 << 20); y[0] = p[n]; free(p);");
    let before = loaded.worker.peak_memory().unwrap();
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    assert!(loaded.worker.peak_memory().unwrap() >= before + (90 << 20));
}

#[test]
fn workers_end_with_their_handle_and_memory_with_its_owner() {
    let worker = start();
    let pid = worker.pid();
    drop(worker);
    assert!(!runs(pid));
    let (arena, _) = Arena::new(&[1 << 20]).unwrap();
    let number = arena.number();
    assert!(is_open(number));
    drop(arena);
    assert!(!is_open(number));
}

/// Whether this process has shared memory of this number open.
fn is_open(number: u64) -> bool {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut files =
        files.filter(|f| std::fs::read_link(f.path()).is_ok_and(|p| p.starts_with("/memfd:kiln (deleted)")));
    files.any(|file| std::fs::metadata(file.path()).is_ok_and(|about| about.ino() == number))
}

#[test]
fn what_is_no_worker_cannot_be_started() {
    let start = |command: &str, args: &[&str]| {
        let mut command = std::process::Command::new(command);
        command.args(args);
        Worker::start(command, limits()).unwrap_err()
    };
    assert!(start("/nowhere/kiln", &[]).why.contains("/nowhere/kiln"));
    let told = start("sh", &["-c", "echo no such thing >&2; exit 3"]);
    assert!(told.why.contains("code 3") && told.why.contains("no such thing"), "{told}");
    assert!(start("sh", &["-c", r#"echo '{"id":0,"answer":{"ready":1}}'; read x"#]).why.contains("Ready(1)"));
}
