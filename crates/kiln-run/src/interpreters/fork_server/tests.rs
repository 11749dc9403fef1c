//! A fork server with a real interpreter; without one these tests say so and pass.

use std::io::{BufRead, BufReader};
use std::path::Path;

use kiln_core::Outcome;

use super::*;
use crate::functions::{comes, command, interpreter, known, limits, load, says};
use crate::processes::orphans::{Known, bury, children};
use crate::{Answer, Ask};

const MODULES: &[&str] = &["torch", "triton"];
/// Names the interpreter that [`stand_in`] starts.
const VARIABLE: &str = "KILN_TEST_FORKS";

fn parent(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn forked_workers_are_like_started_ones() {
    let Some(interpreter) = interpreter() else { return };
    let server = ForkServer::start(command(&interpreter), MODULES);
    let there = server.pid().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = |value: &str| {
        let mut command = command(&interpreter);
        command.env("KILN_TEST_VALUE", value).env_remove("HOME").current_dir(folder.path());
        server.worker(command, limits()).unwrap()
    };
    let (mut one, mut two) = (start("one"), start("two"));
    assert_eq!(server.pid(), Some(there), "workers come from the server");
    for (worker, value) in [(&mut one, "one"), (&mut two, "two")] {
        assert_eq!(says(worker, "os.environ['KILN_TEST_VALUE']"), value);
        assert_eq!(says(worker, "'HOME' in os.environ"), "False");
        assert_eq!(says(worker, "sys.argv, os.getpid() == os.getpgrp()"), "(['-c'], True)");
        assert_eq!(says(worker, "os.getcwd()"), folder.path().to_str().unwrap());
        // No descriptor of the server or of another worker: three pipes twice, and shared memory.
        assert_eq!(
            says(worker, "len(os.listdir('/proc/self/fd'))"),
            says(&mut start("new"), "len(os.listdir('/proc/self/fd'))")
        );
        assert_eq!(parent(worker.pid()), std::process::id());
    }
    let temporary = |worker: &mut Worker| says(worker, "__import__('tempfile').gettempdir()");
    assert_ne!(temporary(&mut one), temporary(&mut two));
    let mut plain = Worker::start(command(&interpreter), limits()).unwrap();
    let open = "sorted(set(map(int, os.listdir('/proc/self/fd'))))";
    assert_eq!(says(&mut one, open), says(&mut plain, open));
    assert!(one.cpu_time().is_some() && one.pause());
    one.resume();
}

#[test]
fn nothing_is_left_of_workers_and_server() {
    let Some(interpreter) = interpreter() else { return };
    let server = ForkServer::start(command(&interpreter), MODULES);
    let mut worker = server.worker(command(&interpreter), limits()).unwrap();
    let body = "import subprocess; p = [subprocess.Popen(['sleep', '1000'], start_new_session=apart) for apart in (False, True)]
    raise ValueError(' '.join(str(i.pid) for i in p))";
    let _folder = load(&mut worker, body);
    let Outcome::Passed(Answer::Failed(why)) = worker.ask(Ask::Call).unwrap() else { panic!() };
    let started = why.words.split("ValueError: ").last().unwrap().split(' ').map(|pid| pid.parse().unwrap());
    let started: Vec<u32> = started.chain([worker.pid(), server.pid().unwrap()]).collect();
    let all: Vec<Known> = started.iter().copied().map(known).collect();
    assert!(all.iter().all(Known::runs));
    drop((worker, server));
    // Nor are they zombies, once somebody looks.
    let gone = || {
        bury(Vec::new());
        !children(std::process::id()).iter().any(|child| started.contains(&child.unsigned_abs()))
    };
    assert!(comes(gone) && !all.iter().any(Known::runs));
}

#[test]
fn a_dead_worker_is_refused_with_its_signal() {
    let Some(interpreter) = interpreter() else { return };
    let server = ForkServer::start(command(&interpreter), MODULES);
    let mut worker = server.worker(command(&interpreter), limits()).unwrap();
    let _folder = load(&mut worker, "os.abort()");
    let Outcome::Refused(refusal) = worker.ask(Ask::Call).unwrap() else { panic!() };
    assert!(refusal.measured.contains("SIGABRT"), "{refusal:?}");
    assert!(refusal.evidence.contains("line 3 in f"), "{refusal:?}");
    // The server goes on.
    let before = server.pid();
    drop(server.worker(command(&interpreter), limits()).unwrap());
    assert!(before.is_some() && server.pid() == before);
}

#[test]
fn without_a_server_workers_are_started() {
    let Some(interpreter) = interpreter() else { return };
    let server = ForkServer::start(command(&interpreter), MODULES);
    drop(server.worker(command(&interpreter), limits()).unwrap());
    let pid = i32::try_from(server.pid().unwrap()).unwrap();
    // SAFETY: takes no memory; the server has not been waited for, so that the number is its own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    let mut worker = server.worker(command(&interpreter), limits()).unwrap();
    assert_eq!(says(&mut worker, "os.getppid()"), std::process::id().to_string());
    assert_eq!(server.pid(), None);
    // One that does not come up, or comes up with threads.
    for (text, why) in [
        ("raise RuntimeError('broken')", "RuntimeError: broken"),
        (
            "import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
            "imports have left 2 threads",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("torch")).unwrap();
        std::fs::write(folder.path().join("torch/__init__.py"), text).unwrap();
        let mut broken = command(&interpreter);
        broken.env("PYTHONPATH", folder.path());
        let server = ForkServer::start(broken, MODULES);
        let mut worker = server.worker(command(&interpreter), limits()).unwrap();
        assert_eq!(says(&mut worker, "1"), "1");
        assert_eq!(server.pid(), None, "{text}");
        assert!(server.failure().is_some_and(|failure| failure.contains(why)), "{:?}", server.failure());
    }
    let server = ForkServer::start(Command::new("/nowhere/python3"), MODULES);
    assert!(
        server.pid().is_none() && server.failure().is_some() && server.worker(command(&interpreter), limits()).is_ok()
    );
}

#[test]
fn a_package_is_imported_once() {
    let Some(interpreter) = interpreter() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("torch")).unwrap();
    std::fs::write(folder.path().join("torch/__init__.py"), "import os\nby = os.getpid()\n").unwrap();
    let mut like_torch = command(&interpreter);
    like_torch.env("PYTHONPATH", folder.path());
    let server = ForkServer::start(like_torch, MODULES);
    let mut worker = server.worker(command(&interpreter), limits()).unwrap();
    assert_eq!(says(&mut worker, "__import__('torch').by"), server.pid().unwrap().to_string());
}

/// The kiln that is killed, when the test below starts this program again: it prints who must go with it.
#[test]
fn stand_in() {
    let Ok(interpreter) = std::env::var(VARIABLE) else { return };
    let server = ForkServer::start(command(&interpreter), MODULES);
    let start = || server.worker(command(&interpreter), limits()).unwrap();
    let (mut busy, stopped, waiting) = (start(), start(), start());
    let _folder = load(&mut busy, "while True: pass");
    assert!(stopped.pause());
    let pids = [server.pid().unwrap(), busy.pid(), stopped.pid(), waiting.pid()];
    println!("\npids {}", pids.map(|pid| pid.to_string()).join(" "));
    let _ = busy.ask(Ask::Call);
}

#[test]
fn a_killed_kiln_leaves_no_process() {
    let Some(interpreter) = interpreter() else { return };
    let mut command = Command::new(std::env::current_exe().unwrap());
    let stand_in = format!("{}::stand_in", module_path!().split_once("::").unwrap().1);
    command.args(["--exact", &stand_in, "--nocapture"]).env(VARIABLE, interpreter);
    let mut kiln = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(kiln.stdout.take().unwrap()).lines().map_while(Result::ok);
    let pids = lines.filter_map(|line| line.strip_prefix("pids ").map(str::to_string)).next().unwrap();
    let all: Vec<Known> = pids.split(' ').map(|pid| known(pid.parse().unwrap())).collect();
    assert!(all.len() == 4 && all.iter().all(Known::runs));
    kiln.kill().unwrap();
    kiln.wait().unwrap();
    assert!(comes(|| !all.iter().any(Known::runs)), "{all:?}");
}

#[test]
fn children_of_others_are_left_alone() {
    assert!(adopt());
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    assert!(comes(|| !known_runs(pid)));
    bury(Vec::new());
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "it waits for whoever started it");
    assert!(child.wait().unwrap().success());
}

fn known_runs(pid: u32) -> bool {
    Known::of(i32::try_from(pid).unwrap()).is_some_and(|known| known.runs())
}
