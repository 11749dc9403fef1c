//! Workers that somebody watches: a profiler around one, played by a script, and whoever looks where in its code one is.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use kiln_run::{Answer, Ask, Collect, Ncu, Worker};

use crate::kernel::{DOUBLE, command, load};
use crate::{limits, passed};

/// Plays a profiler: it is slow to start, keeps a log and a report, and runs the program in its place.
const PLAYED: &str = r#"#!/bin/sh
[ "$1" = --version ] && echo "Version 2025.3.1.0 (build 1)" && exit 0
while [ "$1" != "$KILN" ]; do
  case "$1" in --log-file) log="$2" ;; --export) report="$2" ;; esac
  shift
done
echo "==PROF== Connected to process $$" > "$log"
sleep 0.5
: > "$report"
exec "$@"
"#;

#[test]
fn a_worker_under_a_profiler_greets_late_and_is_watched_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("ncu");
    std::fs::write(&script, PLAYED).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let ncu = Ncu::at(&script).unwrap();
    assert_eq!(ncu.version(), "2025.3.1.0");
    let (report, log) = (folder.path().join("r.ncu-rep"), folder.path().join("log"));
    let wrapped = || {
        let mut command = command();
        let kiln = command.get_program().to_owned();
        command.env("KILN", kiln);
        ncu.wrapper(Collect::Full, &report, &log).around(command)
    };
    let late = Worker::start_within(wrapped(), limits(), Duration::from_millis(100)).unwrap_err();
    assert!(late.why.starts_with("no answer after 0.1 s"), "{late}");
    let mut worker = Worker::start_within(wrapped(), limits(), Duration::from_secs(60)).unwrap();
    let nothing = Ask::Load { library: String::new(), symbol: String::new(), config: None, device: false };
    assert_eq!(passed(worker.ask(nothing)), Answer::Done);
    assert!(log.exists() && report.exists());
    assert!(worker.leave(Duration::from_secs(10)));
}

#[test]
fn a_watched_call_is_a_call() {
    let mut loaded = load(DOUBLE);
    assert_eq!(passed(loaded.worker.ask(Ask::CallWatched)), Answer::Done);
    let y = loaded.regions[1].start;
    let bytes = &loaded.arena.bytes()[y..y + 12];
    assert_eq!(bytes, [0.0f32, 2.0, 4.0].map(f32::to_le_bytes).concat());
}

#[test]
fn a_worker_is_seen_in_the_code_of_its_library() {
    let mut loaded = load("for (volatile long i = 0; i < 1000000; i++) ;");
    let file = std::fs::read_to_string(format!("/proc/{}/maps", loaded.worker.pid())).unwrap();
    let file = file.lines().find(|line| line.ends_with(".so") && line.contains("/cache/")).unwrap();
    let file = &file[file.find('/').unwrap()..];
    let base = loaded.worker.base_of(file).unwrap();
    let (answer, places) = loaded.worker.ask_and_look(Ask::time(1, 200), Duration::from_secs(30)).unwrap();
    assert!(matches!(passed(Ok(answer)), Answer::Times(_)));
    let inside = places.iter().filter(|place| (base..base + 0x10000).contains(*place)).count();
    assert!(places.len() > 20 && inside * 2 > places.len(), "{inside} of {}", places.len());
    // Afterwards nobody looks any more.
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
}

#[test]
fn everything_ends_when_the_time_is_up() {
    let mut loaded = load("for (;;) ;");
    loaded.worker.end_by(Instant::now() + Duration::from_millis(300));
    let began = Instant::now();
    let answer = loaded.worker.ask_within(Ask::Call, Duration::from_secs(60)).unwrap();
    assert!(matches!(answer, kiln_core::Outcome::Refused(refusal) if refusal.gate == kiln_core::Gate::Timeout));
    assert!(began.elapsed() < Duration::from_secs(20));
}
