//! Functions in Python for tests: a worker with one loaded, and what it says.

use std::process::Command;
use std::time::Duration;

use kiln_core::Outcome;
use tempfile::TempDir;

use crate::interpreters::python::{find_python, python_command};
use crate::processes::orphans::Known;
use crate::{Answer, Arena, Ask, Worker, WorkerLimits};

/// The interpreter, or a note that there is none.
pub(crate) fn interpreter() -> Option<String> {
    find_python().map_err(|fault| println!("skipped: {fault}")).ok().map(|python| python.interpreter)
}

pub(crate) fn limits() -> WorkerLimits {
    WorkerLimits { time: Duration::from_secs(120), ..WorkerLimits::default() }
}

pub(crate) fn command(interpreter: &str) -> Command {
    let mut command = python_command(interpreter);
    command.env("OPENBLAS_NUM_THREADS", "1");
    command
}

/// Loads a function of this body, and memory without arguments.
pub(crate) fn load(worker: &mut Worker, body: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("subject.py");
    std::fs::write(&file, format!("import os, sys\ndef f(inputs, scalars, outputs):\n    {body}\n")).unwrap();
    let library = file.to_str().unwrap().to_string();
    let ask = Ask::Load { library, symbol: "f".into(), config: None, device: false };
    let (arena, _) = Arena::new(&[8]).unwrap();
    for ask in [ask, Ask::map(&arena, vec![])] {
        assert!(matches!(worker.ask(ask).unwrap(), Outcome::Passed(Answer::Done)));
    }
    folder
}

/// What a function says by failing.
pub(crate) fn says(worker: &mut Worker, expression: &str) -> String {
    let _folder = load(worker, &format!("raise ValueError({expression})"));
    match worker.ask(Ask::Call).unwrap() {
        Outcome::Passed(Answer::Failed(failed)) => failed.words.split("ValueError: ").last().unwrap().to_string(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn known(pid: u32) -> Known {
    Known::of(i32::try_from(pid).unwrap()).unwrap()
}

/// Whether something comes true, however slow the machine is.
pub(crate) fn comes(true_now: impl Fn() -> bool) -> bool {
    (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        true_now()
    })
}
