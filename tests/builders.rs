//! Processes that keep NVRTC loaded, end to end without a GPU: what one of them makes again and again, and what a crash, a hang,
//! a shortage of memory, a kill or an interruption costs. Skipped, and said so, where there is no NVRTC; with
//! KILN_NEED_CUDA=1 that fails.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use kiln_build::{Artifact, BuildLimits, Cache, Nvrtc, Pool, Request};
use kiln_core::{Config, Gate, Outcome, Refusal};

const SIMPLE: &str = "extern \"C\" __global__ void f(float *a) { a[threadIdx.x] += SCALE; }\n";

const KERNELS: &str = "
static __device__ float memory[64];
template <int N> __global__ void f(float *a, int n) {
    __shared__ float tile[N * 32];
    float v[48];
    int unused;
#pragma unroll
    for (int i = 0; i < 48; ++i) v[i] = a[threadIdx.x + i * n];
    tile[threadIdx.x] = sinf(a[threadIdx.x]) / memory[n & 63];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 48; ++i) a[threadIdx.x * 48 + i] = v[i] * v[(i * 7) % 48] + tile[(threadIdx.x + i) % 32];
}
";

/// Two to the thirtieth instances: no machine comes to an end with them.
const ENDLESS: &str = "
template <int N, long M> struct A { static constexpr long v = A<N - 1, 2 * M>::v + A<N - 1, 2 * M + 1>::v; };
template <long M> struct A<0, M> { static constexpr long v = M; };
extern \"C\" __global__ void f(long *a) { a[0] = A<30, 1>::v; }
";

struct Bench {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    cache: Cache,
}

/// A folder, and an NVRTC whose processes write down their numbers there and may have that many kilobytes of addresses.
fn bench(addresses: Option<u32>) -> Option<(Bench, Nvrtc)> {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    let bench = Bench { _folder: folder, cache: Cache::at(root.join("cache")), root };
    let limit = addresses.map_or(String::new(), |kilobytes| format!("ulimit -v {kilobytes}\n"));
    let script = format!("echo $$ >> '{}'\n{limit}exec '{}' \"$@\"", bench.root.join("started"), kiln());
    // Written by a process of its own: a file that a fork of this one has open for writing cannot be started.
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod +x \"$2\"", "sh", &script]);
    assert!(shell.arg(bench.root.join("kiln")).status().unwrap().success());
    let nvrtc = bench.nvrtc()?;
    Some((bench, nvrtc))
}

fn kiln() -> &'static str {
    env!("CARGO_BIN_EXE_kiln")
}

impl Bench {
    fn nvrtc(&self) -> Option<Nvrtc> {
        match Nvrtc::find(&self.root.join("kiln")) {
            Ok(found) => Some(found),
            Err(fault) if std::env::var("KILN_NEED_CUDA").is_ok_and(|v| v == "1") => panic!("{fault}"),
            Err(fault) => {
                println!("skipped: {fault}");
                None
            }
        }
    }

    fn request(&self, text: &str, scale: i32) -> Request {
        let source = self.root.join("k.cu");
        std::fs::write(&source, text).unwrap();
        Request {
            sources: vec![source],
            config: Config::parse(&format!("SCALE={scale}")).unwrap(),
            arch: Some("sm_90a".into()),
            entries: vec!["f".into()],
            ..Request::default()
        }
    }

    fn built(&self, nvrtc: &Nvrtc, request: &Request) -> Outcome<Artifact> {
        self.cache.build(nvrtc.clone(), request, BuildLimits::default(), &|_| {}).unwrap()
    }

    fn passes(&self, nvrtc: &Nvrtc, scale: i32) {
        match self.built(nvrtc, &self.request(SIMPLE, scale)) {
            Outcome::Passed(artifact) => assert!(artifact.built_in.is_some() && artifact.symbols.len() == 1),
            Outcome::Refused(refusal) => panic!("{refusal:?}"),
        }
    }

    fn refused(&self, nvrtc: &Nvrtc, text: &str) -> Refusal {
        match self.built(nvrtc, &self.request(text, 1)) {
            Outcome::Refused(refusal) => refusal,
            Outcome::Passed(artifact) => panic!("{artifact:?}"),
        }
    }

    /// Every process that was started to compile, in order.
    fn started(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.root.join("started")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// The last of so many that were started, once there is something to compile.
    fn compiling(&self, count: usize) -> u32 {
        sooner_or_later(|| {
            self.cache.root().join("tmp").read_dir_utf8().ok()?.next()?.ok()?;
            self.started().get(count - 1).copied()
        })
    }
}

/// Processor time of a process so far, in the system's ticks; 0 when it is gone.
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
    fields.get(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// Not even as a zombie.
fn is_gone(process: u32) -> bool {
    !Path::new(&format!("/proc/{process}")).exists()
}

fn kill(process: u32) {
    assert!(Command::new("kill").args(["-9", &process.to_string()]).status().unwrap().success());
}

/// The bytes of a cubin and what the compiler said but for how long it took; or the refusal.
fn told(outcome: Outcome<Artifact>) -> Result<(Vec<u8>, String), Refusal> {
    match outcome {
        Outcome::Passed(artifact) => {
            let log = std::fs::read_to_string(artifact.library.with_file_name("log")).unwrap();
            let lines: Vec<&str> = log.lines().filter(|line| !line.contains("Compile time")).collect();
            Ok((std::fs::read(&artifact.library).unwrap(), lines.join("\n")))
        }
        Outcome::Refused(refusal) => Err(refusal),
    }
}

#[test]
fn one_process_makes_what_new_ones_make_whatever_came_before() {
    let Some((bench, one)) = bench(None) else { return };
    let plain = Request { entries: vec!["f<SCALE>".into()], ..bench.request(KERNELS, 2) };
    let flags = |words: &str| Request {
        flags: words.split_whitespace().map(String::from).collect(),
        entries: vec!["f<SCALE>".into()],
        ..plain.clone()
    };
    let requests = [
        plain.clone(),
        flags("-maxrregcount=32"),
        flags("--use_fast_math --diag-suppress=177"),
        Request { arch: Some("sm_80".into()), ..plain.clone() },
        flags("-lineinfo --ptxas-options=-O1"),
        Request { entries: vec!["f<0>".into()], ..plain.clone() },
        flags("--no-such-flag"),
        flags("-G"),
        Request { std: Some("c++20".into()), ..plain.clone() },
        Request { config: Config::parse("SCALE=70000").unwrap(), ..plain.clone() },
    ];
    let of_new: Vec<_> = requests.iter().map(|request| told(bench.built(&bench.nvrtc().unwrap(), request))).collect();
    assert!(of_new.iter().filter(|told| told.is_ok()).count() >= 7, "{of_new:?}");
    assert!(of_new[0].as_ref().unwrap().1.contains("unused") && of_new[0] != of_new[1]);
    let started = bench.started().len();
    // Forwards and backwards, each into a cache that knows nothing yet.
    for (name, backwards) in [("forwards", false), ("backwards", true)] {
        let cache = Cache::at(bench.root.join(name));
        let mut numbers: Vec<usize> = (0..requests.len()).collect();
        if backwards {
            numbers.reverse();
        }
        for number in numbers {
            let built = cache.build(one.clone(), &requests[number], BuildLimits::default(), &|_| {}).unwrap();
            assert!(told(built) == of_new[number], "{name}: {:?}", requests[number]);
        }
    }
    assert_eq!(bench.started().len(), started, "one process was to make them all");
}

#[test]
fn a_crash_and_a_shortage_of_memory_refuse_their_source_and_no_other() {
    let Some((bench, nvrtc)) = bench(Some(800_000)) else { return };
    bench.passes(&nvrtc, 1);
    let nested = 400_000;
    let deep =
        format!("extern \"C\" __global__ void f(int *a) {{ a[0] = {}1{}; }}", "(".repeat(nested), ")".repeat(nested));
    let large = "__device__ int large[1 << 28] = {1};\nextern \"C\" __global__ void f(int *a) { a[0] = large[a[1]]; }";
    for (text, signal, words, before) in
        [(deep.as_str(), "signal: 11", "", 1), (large, "signal: 6", "out of memory", 3)]
    {
        assert_eq!(bench.started().len(), before);
        let refusal = bench.refused(&nvrtc, text);
        assert_eq!(refusal.gate, Gate::BuildFailed);
        let said = format!("{} {}", refusal.measured, refusal.evidence);
        assert!(said.contains(signal) && said.contains(words), "{refusal:?}");
        // The one that had compiled before, then a new one; neither is left.
        assert_eq!(bench.started().len(), before + 1);
        assert!(bench.started().iter().all(|process| is_gone(*process)));
        bench.passes(&nvrtc, before as i32 + 1);
    }
}

#[test]
fn a_compilation_without_end_is_ended_and_the_next_one_passes() {
    let Some((bench, nvrtc)) = bench(None) else { return };
    bench.passes(&nvrtc, 1);
    let limits = BuildLimits { timeout: Duration::from_secs(2), ..BuildLimits::default() };
    let built = bench.cache.build(nvrtc.clone(), &bench.request(ENDLESS, 1), limits, &|_| {});
    match built.unwrap() {
        Outcome::Refused(refusal) => assert_eq!(refusal.gate, Gate::BuildTimeout),
        Outcome::Passed(artifact) => panic!("{artifact:?}"),
    }
    assert!(bench.started().len() == 1 && is_gone(bench.started()[0]));
    bench.passes(&nvrtc, 2);
    assert_eq!(bench.started().len(), 2);
}

#[test]
fn a_killed_process_is_replaced_once_for_a_compilation() {
    let Some((bench, nvrtc)) = bench(None) else { return };
    // One that has loaded the library and nothing else, then one that has compiled.
    for count in 1..3 {
        assert_eq!(bench.started().len(), count);
        kill(bench.started()[count - 1]);
        bench.passes(&nvrtc, count as i32);
    }
    // Killed while it compiles, and so is the new one that tries again: that is the source's doing.
    let refusal = std::thread::scope(|scope| {
        let refused = scope.spawn(|| bench.refused(&nvrtc, ENDLESS));
        kill(bench.compiling(3));
        kill(bench.compiling(4));
        refused.join().unwrap()
    });
    assert!(refusal.gate == Gate::BuildFailed && refusal.measured.contains("signal: 9"), "{refusal:?}");
    bench.passes(&nvrtc, 3);
    assert_eq!(bench.started().len(), 5);
    // The file that joins several sources is there for the second attempt, too.
    kill(bench.started()[4]);
    let mut several = bench.request(SIMPLE, 4);
    several.sources.insert(0, bench.root.join("first.cu"));
    std::fs::write(&several.sources[0], "static __device__ int first() { return 1; }\n").unwrap();
    assert!(matches!(bench.built(&nvrtc, &several), Outcome::Passed(_)));
    assert_eq!(bench.started().len(), 6);
}

#[test]
fn an_interruption_ends_a_compilation_and_the_last_copy_ends_them_all() {
    let Some((bench, nvrtc)) = bench(None) else { return };
    bench.passes(&nvrtc, 1);
    let (stopped, silent) = (AtomicBool::new(false), AtomicBool::new(false));
    let request = bench.request(ENDLESS, 1);
    let limits = BuildLimits { silence: Duration::from_millis(1), ..BuildLimits::default() };
    let on_silence = |_| silent.store(true, Ordering::Relaxed);
    let fault = std::thread::scope(|scope| {
        let built = scope.spawn(|| {
            let heard: &dyn Fn(Duration) = &on_silence;
            bench.cache.build_until(nvrtc.clone(), &request, limits, heard, &stopped)
        });
        sooner_or_later(|| silent.load(Ordering::Relaxed).then_some(()));
        stopped.store(true, Ordering::Relaxed);
        built.join().unwrap().unwrap_err()
    });
    assert!(fault.why.contains("interrupted") && is_gone(bench.started()[0]));
    // Threads of a pool come and go; their processes stay with the copy here.
    let pool = Pool::new(2, nvrtc.clone(), bench.cache.clone(), BuildLimits::default(), |_| {});
    // All of them first: each writes the source anew, and nobody may read it meanwhile.
    let requests: Vec<_> = (10..16).map(|scale| bench.request(SIMPLE, scale)).collect();
    let tickets: Vec<_> = requests.into_iter().map(|request| pool.ask(request)).collect();
    for ticket in tickets {
        let built = ticket.wait();
        assert!(matches!(built, Ok(Outcome::Passed(_))), "{built:?}");
    }
    drop(pool);
    let kept: Vec<u32> = bench.started().into_iter().filter(|process| !is_gone(*process)).collect();
    assert!((1..=2).contains(&kept.len()), "{kept:?}");
    let started = bench.started().len();
    bench.passes(&nvrtc, 20);
    assert_eq!(bench.started().len(), started);
    drop(nvrtc);
    assert!(bench.started().iter().all(|process| is_gone(*process)));
}

/// What a kernel needs to be compiled.
const KERNEL: &str = "[kernel]\nname = \"f\"\nentry = \"f\"\n[tunables]\nSCALE = [1]\n[default]\nSCALE = 1\n[target.cuda]\n\
                      source = \"k.cu\"\ncompile.compiler = \"nvrtc\"\n[[target.cuda.launches]]\ngrid = [\"1\"]\n\
                      block = [\"32\"]\n[[arguments]]\nname = \"a\"\ntype = \"i64[N]\"\nrole = \"inout\"\n[[workloads]]\n\
                      name = \"w\"\ndims = { N = 1024 }\n";

#[test]
fn a_kiln_that_is_killed_leaves_no_process_in_the_middle_of_a_compilation() {
    let Some((bench, _)) = bench(None) else { return };
    bench.request(ENDLESS, 1);
    std::fs::write(bench.root.join("kernel.toml"), KERNEL).unwrap();
    let mut command = Command::new(kiln());
    command.args(["gate", ".", "--target", "cuda", "--arch", "sm_90a", "--until", "build"]);
    let mut parent = command.current_dir(&bench.root).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let logs = bench.root.join(".kiln/cache/tmp");
    let child = sooner_or_later(|| {
        assert_eq!(parent.try_wait().unwrap(), None, "kiln ended by itself");
        logs.read_dir_utf8().ok()?.next()?.ok()?;
        children(parent.id()).into_iter().find(|child| ticks(*child) > 5)
    });
    parent.kill().unwrap();
    parent.wait().unwrap();
    // Whoever takes orphans in may be slow to bury them.
    let dead = |child: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit(')').next().unwrap_or_default().trim_start().chars().next().is_none_or(|state| state == 'Z')
    };
    sooner_or_later(|| dead(child).then_some(()));
}

/// Of all its threads.
fn children(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<u32>>()).collect()
}

/// Waits for something that must come, however busy the machine is.
fn sooner_or_later<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}
