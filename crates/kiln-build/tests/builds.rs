//! Real compilations with the system's compiler: what is cached, what misses, what is refused, and that nothing is left
//! behind.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::{Artifact, BuildLimits, Cache, Compiler, Pool, Request};
use kiln_core::{Config, Gate, Outcome, Refusal};

struct Bench {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    cache: Cache,
    compiler: Compiler,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let cache = Cache::at(root.join("cache"));
        Bench { _folder: folder, root, cache, compiler: Compiler::named(vec!["cc".into()]).unwrap() }
    }

    fn write(&self, name: &str, text: &str) -> Utf8PathBuf {
        let path = self.root.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn request(&self, source: &Utf8Path, config: &str) -> Request {
        Request { sources: vec![source.to_owned()], config: Config::parse(config).unwrap(), ..Request::default() }
    }

    fn build(&self, request: &Request) -> Outcome<Artifact> {
        self.cache.build(&self.compiler, request, BuildLimits::default(), &|_| {}).unwrap()
    }

    fn passed(&self, request: &Request) -> Artifact {
        match self.build(request) {
            Outcome::Passed(artifact) => artifact,
            Outcome::Refused(refusal) => panic!("{refusal:?}"),
        }
    }

    /// Nothing half done lies around.
    fn assert_clean(&self) {
        let left = self.cache.root().join("tmp").read_dir_utf8().map(|d| d.count()).unwrap_or(0);
        assert_eq!(left, 0, "a build left its folder behind");
    }
}

fn refused(outcome: Outcome<Artifact>) -> Refusal {
    match outcome {
        Outcome::Refused(refusal) => refusal,
        Outcome::Passed(artifact) => panic!("{artifact:?}"),
    }
}

#[test]
fn a_second_build_comes_from_the_cache_and_every_input_counts() {
    let bench = Bench::new();
    bench.write("part.h", "#define PART 1\n");
    let source = bench.write("k.c", "#include \"part.h\"\nint f(void) { return A + PART; }\n");
    let request = bench.request(&source, "A=1,FAST=true,MODE=xor");
    let first = bench.passed(&request);
    assert!(first.built_in.is_some() && first.library.is_file());
    let second = bench.passed(&request);
    assert_eq!((second.key.as_str(), second.built_in), (first.key.as_str(), None));

    let mut keys = vec![first.key];
    keys.push(bench.passed(&bench.request(&source, "A=2,FAST=true,MODE=xor")).key);
    keys.push(bench.passed(&Request { flags: vec!["-O1".into()], ..request.clone() }).key);
    keys.push(bench.passed(&Request { std: Some("c11".into()), ..request.clone() }).key);
    bench.write("part.h", "#define PART 2\n");
    keys.push(bench.passed(&request).key);
    bench.write("k.c", "#include \"part.h\"\nint f(void) { return A * PART; }\n");
    keys.push(bench.passed(&request).key);
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "two different builds share a key");
    bench.assert_clean();
}

#[test]
fn the_configuration_reaches_the_source() {
    let bench = Bench::new();
    let text =
        "#if N != 8 || FAST != 1 || SLOW != 0 || !defined(MODE_xor) || defined(MODE_pad)\n#error wrong\n#endif\n";
    let source = bench.write("k.c", text);
    bench.passed(&bench.request(&source, "N=8,FAST=true,SLOW=false,MODE=xor"));
    assert_eq!(
        refused(bench.build(&bench.request(&source, "N=9,FAST=true,SLOW=false,MODE=xor"))).gate,
        Gate::BuildFailed
    );
}

#[test]
fn a_failed_compilation_shows_the_compilers_words_and_the_line() {
    let bench = Bench::new();
    let source = bench.write("k.c", "int f(void) {\n    return missing;\n}\n");
    let refusal = refused(bench.build(&bench.request(&source, "")));
    assert_eq!(refusal.gate, Gate::BuildFailed);
    assert!(refusal.measured.contains("k.c:2:") && refusal.measured.contains("missing"), "{}", refusal.measured);
    assert!(refusal.evidence.contains("return missing;"), "{}", refusal.evidence);
    bench.assert_clean();
}

#[test]
fn a_compiler_that_does_not_end_is_killed_with_its_children() {
    let bench = Bench::new();
    let marker = bench.root.join("child.pid");
    let script = bench.write(
        "slow_cc",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo slow 1; exit; }}\nsleep 300 &\necho $! > {marker}\nwait\n"
        ),
    );
    std::process::Command::new("chmod").args(["+x", script.as_str()]).status().unwrap();
    let compiler = Compiler::named(vec![script.into_string()]).unwrap();
    let source = bench.write("k.c", "int x;\n");
    let alarms = std::sync::atomic::AtomicU32::new(0);
    let count = |_| {
        alarms.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    // On a busy machine the script may not have come to start its child.
    let child = [400, 4_000, 40_000].into_iter().find_map(|timeout| {
        let limits = BuildLimits { timeout: Duration::from_millis(timeout), silence: Duration::from_millis(100) };
        let outcome =
            bench.cache.build(&compiler, &bench.request(&source, &format!("N={timeout}")), limits, &count).unwrap();
        assert_eq!(refused(outcome).gate, Gate::BuildTimeout);
        std::fs::read_to_string(&marker).ok().filter(|child| child.ends_with('\n'))
    });
    let child = child.expect("no child was started");
    assert!(alarms.into_inner() >= 1, "nobody was told of the silence");
    let gone = (0..1500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !std::path::Path::new(&format!("/proc/{}", child.trim())).exists()
    });
    assert!(gone, "the compiler's child lives on");
    bench.assert_clean();
}

#[test]
fn a_pool_that_is_dropped_waits_for_no_compiler() {
    let bench = Bench::new();
    let script =
        bench.write("endless_cc", "#!/bin/sh\n[ \"$1\" = --version ] && { echo endless 1; exit; }\nexec sleep 300\n");
    std::process::Command::new("chmod").args(["+x", script.as_str()]).status().unwrap();
    let compiler = Compiler::named(vec![script.into_string()]).unwrap();
    let source = bench.write("k.c", "int x;\n");
    let pool = Pool::new(1, compiler, bench.cache.clone(), BuildLimits::default(), |_| {});
    let tickets: Vec<_> = (0..3).map(|n| pool.ask(bench.request(&source, &format!("N={n}")))).collect();
    assert!(tickets[0].wait_for(Duration::from_millis(100)).is_none());
    let started = std::time::Instant::now();
    drop(pool);
    assert!(started.elapsed() < Duration::from_secs(60), "it was waited for");
    assert!(tickets.into_iter().all(|ticket| ticket.wait().is_err()));
    bench.assert_clean();
}

#[test]
fn a_builder_makes_itself_ready_before_it_builds_and_hears_that_nobody_waits() {
    let bench = Bench::new();
    let source = bench.write("k.c", "int f(void) { return N; }\n");
    let (open, closed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (door, heard) = (Arc::clone(&open), Arc::clone(&closed));
    let ready = move |over: &AtomicBool| {
        while !door.load(Ordering::Relaxed) && !over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        heard.store(over.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    let limits = BuildLimits::default();
    let pool = Pool::new(2, bench.compiler.clone(), bench.cache.clone(), limits, ready.clone());
    let ticket = pool.ask(bench.request(&source, "N=1"));
    assert!(ticket.wait_for(Duration::from_millis(100)).is_none(), "it was built by nobody who was ready");
    open.store(true, Ordering::Relaxed);
    assert!(matches!(ticket.wait(), Ok(Outcome::Passed(_))));
    drop(pool);
    // One that is dropped while it starts does not wait for the door.
    open.store(false, Ordering::Relaxed);
    drop(Pool::new(2, bench.compiler.clone(), bench.cache.clone(), limits, ready));
    assert!(closed.load(Ordering::Relaxed));
    bench.assert_clean();
}

#[test]
fn builders_of_the_same_thing_do_not_disturb_each_other() {
    let bench = Bench::new();
    let source = bench.write("k.c", "int f(void) { return N; }\n");
    let pool = Pool::new(4, bench.compiler.clone(), bench.cache.clone(), BuildLimits::default(), |_| {});
    let tickets: Vec<_> = (0..12).map(|i| pool.ask(bench.request(&source, &format!("N={}", i % 3)))).collect();
    for ticket in tickets {
        match ticket.wait().unwrap() {
            Outcome::Passed(artifact) => assert!(artifact.library.is_file()),
            Outcome::Refused(refusal) => panic!("{refusal:?}"),
        }
    }
    drop(pool);
    assert_eq!(bench.cache.state().unwrap().entries, 3);
    bench.assert_clean();
}

#[test]
fn the_cache_keeps_its_bound_and_forgets_the_oldest() {
    let mut bench = Bench::new();
    let source = bench.write("k.c", "int f(void) { return N; }\n");
    let built: Vec<Artifact> = (0..4)
        .map(|n| {
            std::thread::sleep(Duration::from_millis(15));
            bench.passed(&bench.request(&source, &format!("N={n}")))
        })
        .collect();
    let one = bench.cache.state().unwrap().bytes / 4;
    // The first is used again, so the second is now the oldest.
    std::thread::sleep(Duration::from_millis(15));
    bench.passed(&bench.request(&source, "N=0"));
    let removed = bench.cache.clone().bounded(2 * one + one / 2).trim().unwrap();
    assert_eq!(removed.entries, 2);
    let left: Vec<bool> = built.iter().map(|a| a.library.is_file()).collect();
    assert_eq!(left, [true, false, false, true]);
    // What is in use stays; once nobody has it open it goes.
    assert!(bench.cache.clear().unwrap_err().why.contains("using it"));
    let root = bench.cache.root().to_owned();
    bench.cache = Cache::at(&root);
    assert_eq!(bench.cache.clear().unwrap().entries, 2);
    assert_eq!(bench.cache.state().unwrap().entries, 0);
}

#[test]
fn a_missing_compiler_is_a_fault_with_a_hint() {
    let fault = Compiler::named(vec!["no-such-compiler".into()]).unwrap_err();
    assert!(fault.to_string().contains("no-such-compiler") && fault.hint.is_some());
}
