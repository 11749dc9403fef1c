//! A parent killed in the middle of a question: its worker, in an endless loop, must not outlive it; nor must one that is
//! stopped.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use kiln_run::{Ask, Confinement, Worker, WorkerLimits, python_command};

use crate::kernel::{load, load_as};
use crate::{ends, python, runs};

/// Names the language of the worker that [`stand_in`] starts.
const LANGUAGE: &str = "KILN_TEST_ORPHAN";

/// The parent that is killed, when the tests below start this program again: it prints the number of the worker that must
/// go with it. Without a language there is nothing to play, and nothing happens.
#[test]
fn stand_in() {
    let forever = Duration::from_secs(600);
    match std::env::var(LANGUAGE).as_deref() {
        Ok("c") => {
            let mut loaded = load("fork(); for (;;);");
            println!("\nworker {}", loaded.worker.pid());
            let _ = loaded.worker.ask_within(Ask::Call, forever);
        }
        Ok("paused") => {
            let loaded = load_as("", &[], Confinement::Processor);
            assert!(loaded.worker.pause());
            println!("\nworker {}", loaded.worker.pid());
            std::thread::sleep(forever);
        }
        Ok(interpreter) if interpreter.starts_with("paused ") => {
            let command = python_command(interpreter.trim_start_matches("paused "));
            let worker = Worker::start(command, WorkerLimits::default()).unwrap();
            assert!(worker.pause());
            println!("\nworker {}", worker.pid());
            std::thread::sleep(forever);
        }
        Ok(interpreter) => {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("forever.py");
            std::fs::write(&file, "def f(inputs, scalars, outputs):\n    while True:\n        pass\n").unwrap();
            let limits = WorkerLimits { time: forever, ..WorkerLimits::default() };
            let mut worker = Worker::start(python_command(interpreter), limits).unwrap();
            python::load(&mut worker, &file, "f");
            let (arena, _) = kiln_run::Arena::new(&[8]).unwrap();
            let _ = worker.ask(Ask::map(&arena, vec![]));
            println!("\nworker {}", worker.pid());
            let _ = worker.ask(Ask::Call);
        }
        Err(_) => {}
    }
}

/// Starts the stand-in, kills it, and sees its worker go.
fn orphans_end(language: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "orphan::stand_in", "--nocapture"]).env(LANGUAGE, language);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let worker = lines.map_while(Result::ok).find_map(|l| l.strip_prefix("worker ").map(|pid| pid.parse().unwrap()));
    let worker: u32 = worker.expect("the stand-in says which worker it has");
    // Let it come to its loop.
    std::thread::sleep(Duration::from_millis(300));
    let group = group_of(worker);
    assert!(runs(worker) && group.contains(&worker));
    parent.kill().unwrap();
    parent.wait().unwrap();
    for process in group {
        assert!(ends(process), "{process} outlives the parent of {worker}");
    }
}

/// The processes of a group.
fn group_of(leader: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|p| p.file_name().to_str()?.parse::<u32>().ok());
    let group = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_ascii_whitespace().nth(2)?.parse::<u32>().ok()
    };
    processes.filter(|pid| group(pid) == Some(leader)).collect()
}

#[test]
fn a_c_worker_and_its_children_end_with_a_killed_parent() {
    orphans_end("c");
}

#[test]
fn a_python_worker_ends_with_a_killed_parent() {
    if let Some(python) = python::interpreter() {
        orphans_end(&python.interpreter);
    }
}

#[test]
fn a_stopped_worker_ends_with_a_killed_parent() {
    orphans_end("paused");
    if let Some(python) = python::interpreter() {
        orphans_end(&format!("paused {}", python.interpreter));
    }
}
