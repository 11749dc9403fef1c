//! Confined workers: what a kernel has no business with ends it or fails, and what computing needs goes on working.

use std::path::Path;
use std::time::Duration;

use kiln_core::{Gate, Outcome, Refusal};
use kiln_run::{Answer, Ask, Confined, Confinement, Rules, Worker};

use crate::kernel::{DOUBLE, Loaded, N, floats, load_as, start};
use crate::{comes_true, ends, limits, passed, refused, runs};

fn load(body: &str) -> Loaded {
    load_as(body, &[], Confinement::Processor)
}

/// How far workers can be confined here; tests of the rest say that they are skipped.
fn confined() -> Confined {
    match passed(start().confine(Confinement::Processor, limits().time)) {
        Answer::Confined(confined) => confined,
        other => panic!("{other:?}"),
    }
}

/// Whether calls are filtered and files kept here.
pub(crate) fn whole() -> bool {
    let Confined { landlock, seccomp } = confined();
    if landlock == 0 || !seccomp {
        println!("skipped: {landlock}, {seccomp}");
    }
    landlock > 0 && seccomp
}

fn refusal_of(body: &str) -> Refusal {
    let mut loaded = load(body);
    let pid = loaded.worker.pid();
    let refusal = refused(loaded.worker.ask_within(Ask::Call, Duration::from_secs(20)));
    assert!(!runs(pid), "the worker lives on after {body}");
    refusal
}

/// What a kernel left in `y[0]`.
fn answer_of(body: &str) -> f32 {
    let mut loaded = load(body);
    assert_eq!(passed(loaded.worker.ask_within(Ask::Call, Duration::from_secs(20))), Answer::Done, "{body}");
    floats(&loaded.arena, &loaded.regions[1])[0]
}

#[test]
fn calls_that_nobody_makes_by_accident_end_the_worker() {
    if !whole() {
        return;
    }
    for (body, call) in [
        ("fork();", "clone"),
        ("if (!vfork()) _exit(0);", "vfork"),
        ("syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);", "clone"),
        ("execl(\"/bin/true\", \"true\", (char *)0);", "execve"),
        ("char *none[] = {0}; syscall(SYS_execveat, AT_FDCWD, \"/bin/true\", none, none, 0);", "execveat"),
        ("system(\"true\");", "clone"),
        ("popen(\"true\", \"r\");", "clone"),
        ("char *a[] = {\"true\", 0}; pid_t p; posix_spawn(&p, \"/bin/true\", 0, 0, a, a);", "clone"),
        ("ptrace(PTRACE_ATTACH, getppid(), 0, 0);", "ptrace"),
        (
            "char b[8]; struct iovec v[2] = {{b, 8}, {b, 8}}; process_vm_readv(getppid(), v, 1, v + 1, 1, 0);",
            "process_vm_readv",
        ),
        ("syscall(SYS_pidfd_getfd, 3, 0, 0);", "pidfd_getfd"),
        ("kill(getppid(), SIGTERM);", "kill"),
        ("kill(-1, SIGTERM);", "kill"),
        ("kill(0, 0);", "kill"),
        ("union sigval v = {0}; sigqueue(getppid(), SIGTERM, v);", "rt_sigqueueinfo"),
        ("syscall(SYS_tgkill, getppid(), getppid(), SIGTERM);", "tgkill"),
        ("syscall(SYS_tkill, getppid(), SIGTERM);", "tkill"),
        ("socket(AF_INET, SOCK_STREAM, 0);", "socket"),
        ("socket(AF_INET6, SOCK_DGRAM, 0);", "socket"),
    ] {
        let refusal = refusal_of(body);
        assert_eq!(refusal.gate, Gate::ForbiddenCall, "{body}: {refusal:?}");
        assert_eq!(refusal.measured, format!("the kernel called {call}"), "{body}");
        assert!(refusal.hint.is_some());
    }
}

#[test]
fn a_handler_of_its_own_does_not_help() {
    if !whole() {
        return;
    }
    for prepare in ["signal(SIGSYS, SIG_IGN);", "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0);"] {
        let refusal = refusal_of(&format!("{prepare} fork(); {DOUBLE}"));
        assert_eq!(refusal.gate, Gate::ForbiddenCall, "{refusal:?}");
    }
}

#[test]
fn without_a_listener_the_worker_dies_of_the_call() {
    if !whole() {
        return;
    }
    // What a worker is asked, heard by one that only writes it down.
    let heard = tempfile::NamedTempFile::new().unwrap();
    let mut command = std::process::Command::new("sh");
    let script = format!(r#"{}; read -r line; echo "$line" > "$0"; exit 1"#, crate::liar::greets());
    command.args(["-c", &script]).arg(heard.path());
    let mut worker = Worker::start(command, limits()).unwrap();
    refused(worker.confine(Confinement::Processor, limits().time));
    let mut asked: serde_json::Value = serde_json::from_slice(&std::fs::read(heard.path()).unwrap()).unwrap();
    asked["held"] = "".into();
    let rules: Rules = serde_json::from_value(asked).unwrap();

    let mut loaded = load_as("fork();", &[], Confinement::None);
    let Answer::Confined(confined) = passed(loaded.worker.ask(Ask::Confine(rules))) else { panic!() };
    assert!(confined.seccomp);
    let refusal = refused(loaded.worker.ask(Ask::Call));
    assert_eq!(refusal.gate, Gate::ForbiddenCall, "{refusal:?}");
    assert_eq!(refusal.measured, "the kernel made a forbidden system call");
}

#[test]
fn forbidden_calls_of_a_thread_between_questions_are_found() {
    if !whole() {
        return;
    }
    let late = "void late(void) { usleep(20000); fork(); }";
    let mut loaded =
        load(&format!("auto {late} static pthread_t t; pthread_create(&t, 0, (void *(*)(void *))late, 0);"));
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    // Whenever that thread gets a processor.
    let refused =
        || matches!(loaded.worker.ask(Ask::Call).unwrap(), Outcome::Refused(r) if r.gate == Gate::ForbiddenCall);
    assert!(comes_true(refused), "nobody saw it");
}

#[test]
fn calls_of_another_interface_do_not_slip_through() {
    if !whole() || !cfg!(target_arch = "x86_64") {
        return;
    }
    // The old 32-bit interface, and x32's numbers.
    for body in [
        "long r; __asm__ volatile(\"int $0x80\" : \"=a\"(r) : \"a\"(2) : \"memory\", \"r8\", \"r9\", \"r10\", \"r11\");",
        "syscall(0x40000000 + SYS_fork);",
    ] {
        assert_eq!(refusal_of(body).gate, Gate::ForbiddenCall, "{body}");
    }
}

#[test]
fn calls_that_libraries_try_fail_and_go_on() {
    if !whole() {
        return;
    }
    for body in [
        "cpu_set_t s; memset(&s, 255, sizeof s); y[0] = sched_setaffinity(0, sizeof s, &s) ? errno : 0;",
        "struct sched_param p = {0}; y[0] = sched_setscheduler(0, SCHED_BATCH, &p) ? errno : 0;",
        "errno = 0; y[0] = setpriority(PRIO_PROCESS, 0, 19) ? errno : 0; if (y[0] == EACCES) y[0] = EPERM;",
        "y[0] = socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0;",
        "y[0] = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) < 0 ? errno : 0;",
        "y[0] = prctl(PR_SET_PDEATHSIG, 0) ? errno : 0;",
        "y[0] = prctl(PR_SET_DUMPABLE, 0) ? errno : 0;",
        "struct rlimit r = {1, 1}; y[0] = prlimit(getppid(), RLIMIT_CPU, &r, 0) ? errno : 0;",
        "y[0] = syscall(SYS_io_uring_setup, 1, 0) < 0 ? errno : 0;",
        "y[0] = unshare(CLONE_NEWNS) ? errno : 0;",
        "y[0] = setpgid(0, getppid()) ? errno : 0;",
        "y[0] = fcntl(0, F_SETOWN, getppid()) ? errno : 0;",
        "y[0] = chmod(\"/tmp\", 01777) ? errno : 0;",
        "y[0] = utimensat(AT_FDCWD, \"/tmp\", 0, 0) ? errno : 0;",
        "y[0] = syscall(452, AT_FDCWD, \"/tmp\", 01777, 0) ? errno : 0;",
        "y[0] = syscall(463, AT_FDCWD, \"/tmp\", 0, \"user.kiln\", 0, 0) ? errno : 0;",
        "y[0] = syscall(466, AT_FDCWD, \"/tmp\", 0, \"user.kiln\") ? errno : 0;",
        "y[0] = syscall(469, AT_FDCWD, \"/tmp\", 0, 0, 0) ? errno : 0;",
        "int f = open(\"/tmp\", O_RDONLY); long v = 0; y[0] = syscall(SYS_ioctl, f, 0x40086602, &v) ? errno : 0;",
        "int s[2]; y[0] = syscall(SYS_socketpair, 1, 2, 0, s) ? errno : 0;",
        "int s[2]; y[0] = syscall(SYS_socketpair, 1, 2 | 02000000, 0, s) ? errno : 0;",
        "int s[2]; y[0] = syscall(SYS_socketpair, 1, 3, 0, s) ? errno : 0;",
        "int s[2]; y[0] = syscall(SYS_socketpair, 1, 5, 0, s) ? errno : 0;",
    ] {
        assert_eq!(answer_of(body), libc_eperm(), "{body}");
    }
    if cfg!(target_arch = "x86_64") {
        assert_eq!(answer_of("y[0] = syscall(SYS_utimes, \"/tmp\", 0) ? errno : 0;"), libc_eperm());
    }
    assert_eq!(answer_of("y[0] = syscall(SYS_clone3, 0, 0) < 0 ? errno : 0;"), 38.0);
}

/// What EPERM is on Linux.
fn libc_eperm() -> f32 {
    1.0
}

#[test]
fn other_processes_cannot_be_looked_into() {
    if !whole() {
        return;
    }
    for file in ["mem", "environ", "maps", "fd/0", "cwd/Cargo.toml"] {
        let body = format!(
            "char p[64]; snprintf(p, 64, \"/proc/%d/{file}\", (int)getppid()); char b[16];
            int f = open(p, O_RDONLY); y[0] = f < 0 || read(f, b, 1) < 0 ? -errno : f;"
        );
        assert!(answer_of(&body) < 0.0, "{file}");
    }
}

#[test]
fn files_are_read_only_but_for_a_folder_that_is_new_each_time() {
    if !whole() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kept"), "kept").unwrap();
    let home = std::env::var("HOME").unwrap_or("/root".into());
    for place in [folder.path().to_str().unwrap(), &home, "/tmp", "/dev/shm", "."] {
        let path = format!("{place}/kiln-test-{}", std::process::id());
        let body = format!("int f = open(\"{path}\", O_CREAT | O_WRONLY, 0600); y[0] = f < 0 ? errno : 0;");
        assert_eq!(answer_of(&body), 13.0, "{path}");
        assert!(!Path::new(&path).exists());
    }
    let kept = folder.path().join("kept").display().to_string();
    for deed in
        ["open(\"P\", O_WRONLY)", "open(\"P\", O_RDWR)", "unlink(\"P\")", "truncate(\"P\", 0)", "rename(\"P\", \"Q\")"]
    {
        let body = format!("y[0] = {} < 0 ? errno : 0;", deed.replace('P', &kept));
        assert!(answer_of(&body) > 0.0, "{deed}");
    }
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "kept");
    // The kernel's own library, which the next candidate is not to find changed.
    let body = "char p[4096]; FILE *maps = fopen(\"/proc/self/maps\", \"r\"); y[0] = -1;
        while (fgets(p, 4096, maps)) if (strstr(p, \"/cache/\")) {
            char *path = strchr(p, '/'); path[strlen(path) - 1] = 0; y[0] = open(path, O_WRONLY) < 0 ? errno : 0; }";
    assert_eq!(answer_of(body), 13.0);
    // A folder for temporary files, empty at first and gone afterwards.
    let body = "char p[4096]; snprintf(p, 4096, \"%s/answers\", getenv(\"TMPDIR\")); y[0] = access(p, F_OK) ? 1 : 2;
        FILE *f = fopen(p, \"w\"); if (!f || fputs(p, f) < 0 || fclose(f)) abort(); f = fopen(\"/dev/null\", \"w\");
        if (!f || fputs(p, f) < 0 || fclose(f)) abort(); fputs(p, stderr); fputs(\"\\n\", stderr); if (n < 0) abort();";
    for _ in 0..2 {
        let mut loaded = load(&format!("static int calls; if (calls++) abort(); {body}"));
        assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
        assert_eq!(floats(&loaded.arena, &loaded.regions[1])[0], 1.0);
        let refusal = refused(loaded.worker.ask(Ask::Call));
        let path = refusal.evidence;
        assert!(path.contains("kiln-worker-") && path.ends_with("/answers"), "{path}");
        drop(loaded);
        assert!(!Path::new(&path).exists() && !Path::new(&path).parent().unwrap().exists());
    }
}

#[test]
fn computing_goes_on() {
    for body in [
        DOUBLE.to_string(),
        format!(
            "auto void *twice(void *p) {{ ((float *)p)[0] = 2; return p; }} pthread_t t[8];
            for (int i = 0; i < 8; i++) if (pthread_create(t + i, 0, twice, y + i)) abort();
            for (int i = 0; i < 8; i++) pthread_join(t[i], 0); {DOUBLE}"
        ),
        format!("char *p = malloc(200 << 20); memset(p, 1, 200 << 20); free(p); {DOUBLE}"),
        format!("float *p = aligned_alloc(64, 64 << 10); p[0] = 1; free(p); {DOUBLE}"),
        format!(
            "void *p = mmap(0, 1 << 20, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); if (p == MAP_FAILED) abort(); {DOUBLE}"
        ),
        format!(
            "char b[99]; FILE *f = fopen(\"/proc/cpuinfo\", \"r\"); if (!f || !fgets(b, 99, f)) abort(); fclose(f); {DOUBLE}"
        ),
        format!("FILE *f = fopen(\"/dev/urandom\", \"r\"); if (!f || fgetc(f) < 0) abort(); fclose(f); {DOUBLE}"),
        format!("fprintf(stderr, \"a kernel may print\\n\"); {DOUBLE}"),
        format!("signal(SIGUSR1, SIG_IGN); raise(SIGUSR1); kill(getpid(), SIGUSR1); {DOUBLE}"),
        format!(
            "int s[2]; if (syscall(SYS_socketpair, 1, 1 | 02000000, 0, s) || write(s[1], s, 1) != 1) abort(); {DOUBLE}"
        ),
        format!("int s[2]; if (pipe(s) || write(s[1], s, 1) != 1) abort(); usleep(1000); {DOUBLE}"),
        format!("struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); sched_yield(); time(0); {DOUBLE}"),
    ] {
        assert_eq!(doubles(&body, &[]), "", "{body}");
    }
    let openmp = "\n#pragma omp parallel for num_threads(2)\n for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];";
    let can = std::process::Command::new("cc").args(["-fopenmp", "-E", "-x", "c", "/dev/null"]).output();
    if can.is_ok_and(|output| output.status.success()) {
        assert_eq!(doubles(openmp, &["-fopenmp"]), "");
    }
}

/// What is wrong with a kernel that is to double; empty when nothing is.
fn doubles(body: &str, flags: &[&str]) -> String {
    let mut loaded = load_as(body, flags, Confinement::Processor);
    match loaded.worker.ask_within(Ask::Call, Duration::from_secs(20)).unwrap() {
        Outcome::Passed(Answer::Done) => {}
        other => return format!("{other:?}"),
    }
    let right: Vec<f32> = (0..N).map(|i| 2.0 * i as f32).collect();
    if floats(&loaded.arena, &loaded.regions[1]) == right { String::new() } else { "wrong".into() }
}

#[test]
fn crashes_of_confined_workers_are_named_as_ever() {
    let refusal = refusal_of("abort();");
    assert_eq!(refusal.gate, Gate::RuntimeFailed, "{refusal:?}");
    assert!(refusal.measured.contains("SIGABRT"));
    let refusal = refusal_of("*(volatile int *)8 = 1;");
    assert!(refusal.measured.contains("SIGSEGV"), "{refusal:?}");
    // A bad call in a worker that is not confined is a crash like any other.
    let mut loaded = load_as("raise(SIGSYS);", &[], Confinement::None);
    assert_eq!(refused(loaded.worker.ask(Ask::Call)).gate, Gate::RuntimeFailed);
}

#[test]
fn confinement_is_settled_once() {
    let mut worker = start();
    assert_eq!(worker.confined(), None);
    let first = passed(worker.confine(Confinement::Processor, limits().time));
    assert_eq!(passed(worker.confine(Confinement::None, limits().time)), first);
    assert!(matches!(first, Answer::Confined(confined) if worker.confined() == Some(confined)));
}

#[test]
fn a_paused_worker_takes_no_time_and_goes_on() {
    let mut loaded = load("for (volatile int64_t i = 0; i < 100000000; i++);");
    let before = loaded.worker.cpu_time().unwrap();
    assert_eq!(passed(loaded.worker.ask_within(Ask::Call, Duration::from_secs(20))), Answer::Done);
    let after = loaded.worker.cpu_time().unwrap();
    assert!(after > before + Duration::from_millis(10), "{before:?} {after:?}");
    assert!(loaded.worker.pause());
    let still = loaded.worker.cpu_time();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(loaded.worker.cpu_time(), still);
    loaded.worker.resume();
    assert_eq!(passed(loaded.worker.ask_within(Ask::Call, Duration::from_secs(20))), Answer::Done);
    assert!(loaded.worker.pause());
    let pid = loaded.worker.pid();
    drop(loaded);
    assert!(ends(pid));
}
