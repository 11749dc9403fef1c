//! Python that may compile: what it may do before its worker is tightened, and after. Without an interpreter, or on a system
//! that cannot confine, these tests say so and pass.

use std::time::Duration;

use kiln_core::{Gate, Outcome};
use tempfile::TempDir;

use super::*;
use crate::functions::{command, interpreter, known, limits, load, says};
use crate::processes::orphans::Known;
use crate::{Answer, Ask, Worker};

/// A worker that may compile, and the folder for what compilers keep.
fn compiling() -> Option<(Worker, TempDir)> {
    let mut worker = Worker::start(command(&interpreter()?), limits()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    worker.keep_in(folder.path());
    let answer = worker.confine(Confinement::Compiler, limits().time).unwrap();
    let Outcome::Passed(Answer::Confined(confined)) = answer else { panic!("{answer:?}") };
    if confined.landlock == 0 || !confined.seccomp {
        println!("skipped: {confined:?}");
        return None;
    }
    Some((worker, folder))
}

fn tighten(worker: &mut Worker) {
    let answer = worker.tighten(Duration::from_secs(60)).unwrap();
    assert!(matches!(answer, Outcome::Passed(Answer::Confined(Confined { seccomp: true, .. }))), "{answer:?}");
}

/// What comes of a function of this body.
fn call(worker: &mut Worker, body: &str) -> Outcome<Answer> {
    let _folder = load(worker, body);
    worker.ask(Ask::Call).unwrap()
}

fn works(worker: &mut Worker, body: &str) {
    let outcome = call(worker, body);
    assert!(matches!(outcome, Outcome::Passed(Answer::Done)), "{body}: {outcome:?}");
}

fn is_denied(worker: &mut Worker, body: &str) {
    match call(worker, body) {
        Outcome::Passed(Answer::Failed(why)) => assert!(why.words.contains("PermissionError"), "{body}: {why:?}"),
        other => panic!("{body}: {other:?}"),
    }
}

fn is_forbidden(worker: &mut Worker, body: &str, calls: &[&str]) {
    let Outcome::Refused(refusal) = call(worker, body) else { panic!("{body}") };
    let calls: Vec<String> = calls.iter().map(|call| format!("the kernel called {call}")).collect();
    assert_eq!(refusal.gate, Gate::ForbiddenCall, "{body}: {refusal:?}");
    // Before there is a listener a call has no name.
    let unnamed = calls.is_empty() && refusal.measured == "the kernel made a forbidden system call";
    assert!(unnamed || calls.contains(&refusal.measured), "{body}: {}", refusal.measured);
}

#[test]
fn a_tightened_worker_starts_nothing_though_it_could_before() {
    let forks = ["clone", "fork", "vfork"];
    for (body, calls) in [
        ("p = os.fork()\n    if p == 0: os._exit(0)\n    os.waitpid(p, 0)", forks.as_slice()),
        ("import subprocess; assert subprocess.run(['sh', '-c', 'true | cat']).returncode == 0", &forks),
        ("assert os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)[1] == 0", &forks),
        ("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()", &["socket"]),
    ] {
        let Some((mut worker, _folder)) = compiling() else { return };
        for _ in 0..2 {
            works(&mut worker, body);
        }
        tighten(&mut worker);
        works(&mut worker, "import threading; t = threading.Thread(target=print); t.start(); t.join()");
        is_forbidden(&mut worker, body, calls);
    }
    let Some((mut worker, _folder)) = compiling() else { return };
    tighten(&mut worker);
    is_forbidden(&mut worker, "os.execv('/bin/true', ['true'])", &["execve"]);
}

#[test]
fn tightening_ends_what_was_started() {
    let Some((mut worker, _folder)) = compiling() else { return };
    // One in the worker's group and one in a session of its own, each with processes below it.
    let started = "__import__('functools').reduce(lambda found, apart: found + [__import__('subprocess').Popen(\
                   ['sh', '-c', 'sleep 1000 & sleep 1000 & wait'], start_new_session=apart).pid], (False, True), [])";
    let said = says(&mut worker, started);
    let pids = said.trim_matches(['[', ']']).split(", ").map(|pid| pid.parse().unwrap());
    let all: Vec<Known> = pids.map(known).collect();
    assert!(all.len() == 2 && all.iter().all(Known::runs));
    tighten(&mut worker);
    assert!(!all.iter().any(Known::runs));
    works(&mut worker, "pass");
    // It can be tightened again, and remains so.
    tighten(&mut worker);
    is_forbidden(&mut worker, "os.fork()", &["clone", "fork"]);
}

#[test]
fn nobody_else_is_reached_in_either_phase() {
    let beside = "import ctypes; ctypes.CDLL(None).syscall(ctypes.c_long(56 if os.uname().machine == 'x86_64' else 220), \
                  ctypes.c_long(0x8000 | 17), None, None, None, None)";
    for body in [
        "os.kill(os.getppid(), 0)",
        "os.kill(-1, 0)",
        "import ctypes; ctypes.CDLL(None).ptrace(16, os.getppid(), None, None)",
        beside,
    ] {
        for tight in [false, true] {
            let Some((mut worker, _folder)) = compiling() else { return };
            if tight {
                tighten(&mut worker);
            }
            is_forbidden(&mut worker, body, &[]);
        }
    }
    let Some((mut worker, _folder)) = compiling() else { return };
    works(&mut worker, "import subprocess; p = subprocess.Popen(['sleep', '1000']); p.kill(); assert p.wait() == -9");
    // What libraries try, and compilers need.
    let local = "import socket; socket.socket(socket.AF_UNIX).close()";
    works(&mut worker, local);
    for tight in [false, true] {
        is_denied(&mut worker, "os.sched_setaffinity(0, os.sched_getaffinity(0))");
        if !tight {
            tighten(&mut worker);
        }
    }
    is_denied(&mut worker, local);
    is_denied(&mut worker, "os.chmod(os.environ['TMPDIR'], 0o700)");
}

#[test]
fn files_are_written_where_they_may_be_in_both_phases() {
    let Some((mut worker, folder)) = compiling() else { return };
    let kept = folder.path().join("kept");
    for tight in [false, true] {
        if tight {
            tighten(&mut worker);
        }
        works(
            &mut worker,
            &format!("os.makedirs({kept:?}, exist_ok=True); open({:?}, 'w').write('x')", kept.join("x")),
        );
        works(
            &mut worker,
            "open(os.path.join(os.environ['TMPDIR'], 'x'), 'w').write('x'); open('/dev/null', 'w').write('x')",
        );
        works(&mut worker, "assert open('/proc/cpuinfo').read()");
        for path in ["/tmp/kiln-test-compiling", "/kiln-test-compiling"] {
            is_denied(&mut worker, &format!("open({path:?}, 'w')"));
        }
        is_denied(&mut worker, "open(__file__, 'a')");
        is_denied(&mut worker, "open('/proc/%d/environ' % os.getppid()).read()");
    }
    // What a compiler made can be run, as long as compilers may.
    let Some((mut worker, folder)) = compiling() else { return };
    let program = folder.path().join("program");
    std::fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    works(&mut worker, &format!("import subprocess; assert subprocess.run([{program:?}]).returncode == 3"));
    // And what is started is confined too.
    let body = "import subprocess; assert subprocess.run(['touch', '/tmp/kiln-test-compiling']).returncode != 0";
    works(&mut worker, body);
}

#[test]
fn a_worker_that_only_says_it_is_tight_is_refused() {
    for lie in ["lambda rules, channel: {'confined': {'landlock': 7, 'seccomp': True}}", "None"] {
        let Some((mut worker, _folder)) = compiling() else { return };
        works(&mut worker, &format!("sys.modules['__main__'].confined = {lie}"));
        match worker.tighten(Duration::from_secs(60)).unwrap() {
            Outcome::Refused(refusal) => assert_eq!(refusal.gate, Gate::WorkerProtocol, "{refusal:?}"),
            Outcome::Passed(Answer::Failed(_)) if lie == "None" => {}
            other => panic!("{lie}: {other:?}"),
        }
    }
}

#[test]
fn shells_that_compilers_use_are_not_disturbed() {
    let Some((mut worker, _folder)) = compiling() else { return };
    let body = "import subprocess
    for _ in range(100): assert subprocess.run(['sh', '-c', 'true | cat']).returncode == 0";
    works(&mut worker, body);
}

/// With PyTorch installed; on the processor, where its compiler is a C++ compiler.
#[test]
fn torch_compiles_before_it_is_tightened() {
    let Some((mut worker, folder)) = compiling() else { return };
    if !crate::find_python().is_ok_and(|python| python.torch.is_some()) || std::env::var_os("KILN_TEST_TORCH").is_none()
    {
        println!("skipped: KILN_TEST_TORCH=1 with PyTorch installed runs it, for about a minute");
        return;
    }
    let kept = folder.path().join("inductor");
    let compile = format!(
        "os.environ.update(TORCHINDUCTOR_CACHE_DIR={kept:?}, TORCHINDUCTOR_COMPILE_THREADS='1')
    import torch
    double = torch.compile(lambda x: x * 2 + 1)
    assert double(torch.ones(1000)).sum() == 3000
    sys.modules['__main__'].double = double"
    );
    works(&mut worker, &compile);
    assert!(kept.read_dir().unwrap().count() > 0);
    tighten(&mut worker);
    works(&mut worker, "import torch; assert sys.modules['__main__'].double(torch.ones(1000)).sum() == 3000");
    // Another shape would have to be compiled.
    is_forbidden(
        &mut worker,
        "import torch; torch.compile(lambda x: x.sin().sum())(torch.ones(7, 3))",
        &["clone", "fork", "vfork"],
    );
}
