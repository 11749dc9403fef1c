//! CUDA builds end to end, without a GPU: NVRTC in the real worker, and what the assembler says against what cuobjdump
//! reads from the cubin. Skipped, and said so, where a compiler is missing; with KILN_NEED_CUDA=1 that fails.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::{Artifact, BuildLimits, Cache, Nvcc, Nvrtc, Pool, Request, Toolchain};
use kiln_core::{Config, Fault, Gate, Outcome, Refusal};

/// The headers a kernel may want, a template, a kernel that is hungry for registers, one with a stack and shared memory.
const KERNELS: &str = "
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include \"part.h\"

template <typename T, int N> __global__ void shift(const T *a, T *b) {
    __shared__ T tile[N * 32];
    tile[threadIdx.x] = a[threadIdx.x];
    cooperative_groups::this_thread_block().sync();
    b[threadIdx.x] = tile[(threadIdx.x + N) % 32];
}

extern \"C\" __global__ void hungry(const float *a, float *b, int n) {
    float v[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = a[threadIdx.x + i * n];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; ++i) b[threadIdx.x * 64 + i] = v[i] * v[(i * 7) % 64];
}

__global__ void stacked(const float *a, float *b, int n) {
    __shared__ float tile[PART];
    float v[32];
    for (int i = 0; i < 32; ++i) v[i] = a[i];
    for (int i = 0; i < 32; ++i) v[(i * n) & 31] += SCALE;
    tile[threadIdx.x] = v[n & 31];
    __syncthreads();
    b[0] = tile[n];
}
";

struct Bench {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    cache: Cache,
}

/// What was found; none, said aloud, where it is missing and nobody insists.
fn wanted<T>(found: Result<T, Fault>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(fault) if std::env::var("KILN_NEED_CUDA").is_ok_and(|v| v == "1") => panic!("{fault}"),
        Err(fault) => {
            println!("skipped: {fault}");
            None
        }
    }
}

fn nvrtc() -> Option<Toolchain> {
    wanted(Nvrtc::find(Utf8Path::new(env!("CARGO_BIN_EXE_kiln")))).map(Toolchain::Nvrtc)
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let cache = Cache::at(root.join("cache"));
        let bench = Bench { _folder: folder, root, cache };
        bench.write("part.h", "#define PART 256\n");
        bench
    }

    fn write(&self, name: &str, text: &str) -> Utf8PathBuf {
        let path = self.root.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn request(&self, text: &str, entries: &[&str]) -> Request {
        Request {
            sources: vec![self.write("k.cu", text)],
            config: Config::parse("SCALE=2,FAST=true,MODE=xor").unwrap(),
            arch: Some("sm_90a".into()),
            entries: entries.iter().map(|entry| entry.to_string()).collect(),
            ..Request::default()
        }
    }

    fn build(&self, toolchain: &Toolchain, request: &Request) -> Outcome<Artifact> {
        self.cache.build(toolchain, request, BuildLimits::default(), &|_| {}).unwrap()
    }

    fn passed(&self, toolchain: &Toolchain, request: &Request) -> Artifact {
        match self.build(toolchain, request) {
            Outcome::Passed(artifact) => artifact,
            Outcome::Refused(refusal) => panic!("{refusal:?}"),
        }
    }

    fn refused(&self, toolchain: &Toolchain, request: &Request) -> Refusal {
        match self.build(toolchain, request) {
            Outcome::Refused(refusal) => refusal,
            Outcome::Passed(artifact) => panic!("{artifact:?}"),
        }
    }

    fn assert_clean(&self) {
        let left = self.cache.root().join("tmp").read_dir_utf8().map(|d| d.count()).unwrap_or(0);
        assert_eq!(left, 0, "a build left its folder behind");
    }
}

#[test]
fn nvrtc_builds_plain_kernels_and_templates_and_remembers_them() {
    let Some(nvrtc) = nvrtc() else { return };
    assert!(nvrtc.version().split('.').all(|part| part.parse::<u32>().is_ok()), "{}", nvrtc.version());
    let bench = Bench::new();
    let request = bench.request(KERNELS, &["hungry", "stacked", "shift<float, SCALE>", "shift<__nv_bfloat16, 3>"]);
    let built = bench.passed(&nvrtc, &request);
    let symbols: Vec<&str> = built.symbols.iter().map(|(_, symbol)| symbol.as_str()).collect();
    let expected = ["hungry", "_Z7stackedPKfPfi", "_Z5shiftIfLi2EEvPKT_PS0_", "_Z5shiftI13__nv_bfloat16Li3EEvPKT_PS1_"];
    assert_eq!(symbols, expected);
    assert!(std::fs::read(&built.library).unwrap().starts_with(b"\x7fELF"));
    let shared = |entry: &str| built.usage_of(entry).unwrap().shared;
    assert_eq!((shared("shift<float, SCALE>"), shared("shift<__nv_bfloat16, 3>")), (256, 192));
    assert_eq!((built.usage_of("stacked").unwrap().stack, shared("stacked")), (128, 1024));

    let again = bench.passed(&nvrtc, &request);
    assert!(built.built_in.is_some() && again.built_in.is_none());
    assert_eq!((&again.usage, &again.symbols, &again.key), (&built.usage, &built.symbols, &built.key));
    bench.write("part.h", "#define PART 128\n");
    assert_eq!(bench.passed(&nvrtc, &request).usage_of("stacked").unwrap().shared, 512, "a header is part of the key");
    bench.assert_clean();
}

#[test]
fn variables_are_named_by_both_compilers_and_several_sources_are_one() {
    let bench = Bench::new();
    let text = "namespace filter { __constant__ float weights[9]; }\n__constant__ float unread[4];\n\
                __global__ void f(float *a) { a[0] = filter::weights[SCALE] + part(2); }\n";
    let mut request = bench.request(text, &["f"]);
    request.sources.insert(0, bench.write("first.cuh", "__device__ float part(float x) { return x; }\n"));
    request.variables = ["filter::weights", "unread"].map(String::from).to_vec();
    for toolchain in [nvrtc(), wanted(Nvcc::find()).map(Toolchain::Nvcc)].into_iter().flatten() {
        let built = bench.passed(&toolchain, &request);
        let symbols: Vec<(&str, &str)> =
            built.symbols.iter().map(|(name, symbol)| (name.as_str(), symbol.as_str())).collect();
        let expected = [("f", "_Z1fPf"), ("&filter::weights", "_ZN6filter7weightsE"), ("&unread", "unread")];
        assert_eq!(symbols, expected, "{}", toolchain.version());
        // The driver looks for them by these names.
        let cubin = std::fs::read(&built.library).unwrap();
        for name in [&b"_ZN6filter7weightsE\0"[..], b"unread\0"] {
            assert!(cubin.windows(name.len()).any(|bytes| bytes == name), "{}", String::from_utf8_lossy(name));
        }
    }
    let Some(nvrtc) = nvrtc() else { return };
    request.variables = vec!["missing".into()];
    let refusal = bench.refused(&nvrtc, &request);
    assert!(refusal.measured.contains("identifier \"missing\" is undefined"), "{}", refusal.measured);
    bench.assert_clean();
}

#[test]
fn the_configuration_and_flags_reach_nvrtc() {
    let Some(nvrtc) = nvrtc() else { return };
    let bench = Bench::new();
    let text = "#if SCALE != 2 || FAST != 1 || !defined(MODE_xor) || OTHER != 7\n#error wrong\n#endif\n\
                extern \"C\" __global__ void f(float *a) { a[0] = SCALE; }\n";
    let flags = ["-O3", "-DOTHER=7", "--use_fast_math", "-lineinfo"].map(String::from).to_vec();
    bench.passed(&nvrtc, &Request { flags, ..bench.request(text, &["f"]) });
    let refusal = bench.refused(&nvrtc, &bench.request(text, &["f"]));
    assert!(refusal.measured.contains("k.cu(2): ") && refusal.measured.ends_with("wrong"), "{}", refusal.measured);

    let free = bench.passed(&nvrtc, &bench.request(KERNELS, &["hungry"]));
    let flags = vec!["-maxrregcount=32".to_string()];
    let tight = bench.passed(&nvrtc, &Request { flags, ..bench.request(KERNELS, &["hungry"]) });
    let (free, tight) = (free.usage_of("hungry").unwrap(), tight.usage_of("hungry").unwrap());
    assert!(free.registers > 32 && free.spill_stores == 0, "{free:?}");
    assert!(tight.registers <= 32 && tight.spill_stores > 0 && tight.spill_loads > 0, "{tight:?}");
}

#[test]
fn nvrtc_refuses_with_the_compilers_words() {
    let Some(nvrtc) = nvrtc() else { return };
    let bench = Bench::new();
    let host = "#include <cmath>\nextern \"C\" __global__ void f(float *a) { a[0] = 1; }\n";
    let refusal = bench.refused(&nvrtc, &bench.request(host, &["f"]));
    assert!(refusal.hint.as_ref().is_some_and(|hint| hint.contains("compiler = \"nvcc\"")), "{refusal:?}");
    let text = "extern \"C\" __global__ void f(float *a) {\n    a[0] = missing;\n}\n";
    let refusal = bench.refused(&nvrtc, &bench.request(text, &["f"]));
    assert_eq!((refusal.gate, refusal.hint.as_deref()), (Gate::BuildFailed, None));
    assert!(refusal.measured.ends_with("k.cu(2): error: identifier \"missing\" is undefined"), "{}", refusal.measured);
    assert!(refusal.evidence.contains("a[0] = missing;"), "{}", refusal.evidence);
    for entry in ["nothing", "shift<float>"] {
        let refusal = bench.refused(&nvrtc, &bench.request(KERNELS, &[entry]));
        assert!(refusal.measured.starts_with("an entry cannot be had: "), "{entry}: {}", refusal.measured);
    }
    let flags = vec!["--no-such-flag".to_string()];
    let refusal = bench.refused(&nvrtc, &Request { flags, ..bench.request(KERNELS, &["hungry"]) });
    assert!(refusal.measured.contains("no-such-flag"), "{}", refusal.measured);
    bench.assert_clean();
}

#[test]
fn a_worker_that_is_too_slow_or_not_wanted_is_ended() {
    let Some(nvrtc) = nvrtc() else { return };
    let bench = Bench::new();
    let request = bench.request(KERNELS, &["hungry"]);
    let limits = BuildLimits { timeout: Duration::from_millis(5), silence: Duration::from_secs(9) };
    match bench.cache.build(&nvrtc, &request, limits, &|_| {}).unwrap() {
        Outcome::Refused(refusal) => assert_eq!(refusal.gate, Gate::BuildTimeout),
        Outcome::Passed(artifact) => panic!("{artifact:?}"),
    }
    let stopped = AtomicBool::new(true);
    let stop = bench.cache.build_until(&nvrtc, &request, BuildLimits::default(), &|_| {}, &stopped);
    assert!(stop.unwrap_err().why.contains("interrupted"));
    let fault = |request: Request| bench.cache.build(&nvrtc, &request, BuildLimits::default(), &|_| {}).unwrap_err();
    assert!(fault(Request { arch: Some("sm_1".into()), ..request.clone() }).hint.is_some());
    assert!(fault(Request { host: true, ..request }).why.contains("host launchers"));
    bench.assert_clean();
}

#[test]
fn a_pool_builds_with_nvrtc_side_by_side() {
    let Some(nvrtc) = nvrtc() else { return };
    let bench = Bench::new();
    let pool = Pool::new(2, nvrtc, bench.cache.clone(), BuildLimits::default(), |_| {});
    let request = bench.request(KERNELS, &["shift<float, SCALE>"]);
    let scaled = |n: i64| Request { config: Config::parse(&format!("SCALE={n}")).unwrap(), ..request.clone() };
    let tickets: Vec<_> = (1..5).map(|n| (n, pool.ask(scaled(n)))).collect();
    for (n, ticket) in tickets {
        match ticket.wait().unwrap() {
            Outcome::Passed(artifact) => {
                assert_eq!(artifact.usage_of("shift<float, SCALE>").unwrap().shared, 128 * n as u64)
            }
            Outcome::Refused(refusal) => panic!("{refusal:?}"),
        }
    }
}

#[test]
fn what_the_assembler_says_agrees_with_cuobjdump() {
    let (Some(nvrtc), Some(nvcc)) = (nvrtc(), wanted(Nvcc::find())) else { return };
    let Some(cuobjdump) = wanted(cuobjdump(&nvcc)) else { return };
    let bench = Bench::new();
    let mut compared = 0;
    for toolchain in [nvrtc, Toolchain::Nvcc(nvcc)] {
        for arch in ["sm_80", "sm_89", "sm_90a"] {
            for flags in [vec![], vec!["-maxrregcount=32".to_string()]] {
                let request = bench.request(KERNELS, &["hungry", "stacked", "shift<float, 4>"]);
                let built = bench.passed(&toolchain, &Request { arch: Some(arch.into()), flags, ..request });
                let listed = listed(&cuobjdump, &built.library);
                assert_eq!(listed.len(), built.usage.len(), "{listed:?}");
                for kernel in &built.usage {
                    let (_, numbers) = listed.iter().find(|(symbol, _)| *symbol == kernel.symbol).unwrap();
                    // From sm_90 on the system keeps 1 KiB of what a block has, and cuobjdump counts it.
                    let reserved = if arch == "sm_90a" && kernel.shared > 0 { 1024 } else { 0 };
                    let told = [u64::from(kernel.registers), kernel.stack, kernel.shared + reserved];
                    assert_eq!(told, *numbers, "{} for {arch} by {}", kernel.symbol, toolchain.version());
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 36);
}

/// What `kiln` says of a kernel of tests/gpu/kinds, in a folder of the test's own.
fn said(folder: &Utf8Path, verb: &str, kind: &str, words: &str) -> serde_json::Value {
    let kernel = format!("{}/../../tests/gpu/kinds/{kind}", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args([verb, &kernel, "--json"]).args(words.split_whitespace()).current_dir(folder);
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{kind} {words}: {e}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// The kernels the GPU tests run: all that is planted in them but one is for a GPU to find, not for the compiler.
#[test]
fn every_kind_of_kernel_compiles_without_a_gpu() {
    if nvrtc().is_none() {
        return;
    }
    let bench = Bench::new();
    for (kind, arch, tried, built) in [
        ("tensormap", "sm_90a", 12, 12),
        ("cluster", "sm_90a", 12, 12),
        ("launches", "sm_90a", 9, 9),
        ("launches", "sm_80", 9, 9),
        ("constants", "sm_90a", 8, 8),
        ("constants", "sm_80", 8, 8),
        ("partial", "sm_90a", 10, 10),
        ("instances", "sm_90a", 13, 12),
        ("instances", "sm_80", 13, 12),
    ] {
        let object = said(&bench.root, "tune", kind, &format!("--arch {arch} --until build"));
        assert_eq!((&object["tried"], &object["built"]), (&tried.into(), &built.into()), "{kind} {arch}: {object:#}");
        for one in object["configurations"].as_array().unwrap() {
            let none = serde_json::json!([]);
            assert_eq!(one.get("warnings").unwrap_or(&none), &none, "{kind} {arch}: {one:#}");
        }
    }
    // The headers of cooperative groups take their time.
    for (arch, barrier) in [("sm_90a", "groups"), ("sm_80", "groups"), ("sm_90a", "counter")] {
        let words = format!("--arch {arch} --until build --config BARRIER={barrier}");
        let object = said(&bench.root, "gate", "cooperative", &words);
        assert_eq!(object["passed"], true, "{arch} {barrier}: {object:#}");
    }
}

#[test]
fn host_launchers_compile_without_a_gpu() {
    if wanted(Nvcc::find()).is_none() {
        return;
    }
    let bench = Bench::new();
    for (kind, config) in [("launcher", "TEMPORARY=pool"), ("streams", "STREAM=head_on_given")] {
        let object = said(&bench.root, "gate", kind, &format!("--arch sm_90a --until build --config {config}"));
        assert_eq!(object["passed"], true, "{kind} {config}: {object:#}");
        assert_eq!(object["build"]["warnings"], serde_json::json!([]), "{kind} {config}");
    }
}

#[test]
fn tuned_flags_and_templates_reach_the_compiler() {
    if nvrtc().is_none() {
        return;
    }
    let bench = Bench::new();
    let registers = |limit: u32| {
        let words = format!("--arch sm_90a --until build --config TILE=16,REGISTERS={limit}");
        let object = said(&bench.root, "gate", "instances", &words);
        let taken = &object["build"]["resources"][0];
        assert_eq!(taken["kernel"], "slopes<16, float>", "{object:#}");
        taken["registers"].as_u64().unwrap()
    };
    assert!(registers(32) <= 32);
    assert!(registers(128) > 32);
    let object = said(&bench.root, "gate", "instances", "--arch sm_90a --until build --config TILE=0,REGISTERS=32");
    assert_eq!(object["build"]["refusal"]["gate"], "build_failed", "{object:#}");
}

#[test]
fn clusters_and_boxes_that_cannot_be_are_refused_by_rules() {
    let bench = Bench::new();
    for (kind, words, gate, rule) in [
        ("cluster", "--arch sm_80 --config CLUSTER=2", "launch_limits", "launch_limits"),
        ("tensormap", "--arch sm_90a --config MAP=swizzled,BOX_X=64", "constraint", "one_swizzled_row"),
    ] {
        let object = said(&bench.root, "gate", kind, &format!("{words} --static"));
        let refused: Vec<_> =
            object["rules"].as_array().unwrap().iter().filter(|r| r["verdict"] == "refuses").collect();
        assert_eq!(refused.len(), 1, "{object:#}");
        assert_eq!((&refused[0]["refusal"]["gate"], &refused[0]["refusal"]["rule"]), (&gate.into(), &rule.into()));
    }
}

/// That of `$KILN_CUOBJDUMP`, of the toolkit, or of the path.
fn cuobjdump(nvcc: &Nvcc) -> Result<Utf8PathBuf, Fault> {
    let named = std::env::var("KILN_CUOBJDUMP").ok().map(Utf8PathBuf::from);
    let places = [named, Some(nvcc.toolkit().root.join("bin/cuobjdump")), Some("cuobjdump".into())];
    let answers = |path: &Utf8PathBuf| Command::new(path).arg("--version").output().is_ok_and(|o| o.status.success());
    let found = places.into_iter().flatten().find(answers);
    found.ok_or_else(|| Fault::new("looking for cuobjdump", "there is none").hint("pip install nvidia-cuda-cuobjdump"))
}

/// Registers, stack and shared memory of each function of a cubin.
fn listed(cuobjdump: &Utf8Path, cubin: &Utf8Path) -> Vec<(String, [u64; 3])> {
    let output = Command::new(cuobjdump).args(["-res-usage", cubin.as_str()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let numbers = |line: &str| {
        let number = |name: &str| {
            let part = line.split_whitespace().find_map(|part| part.strip_prefix(name));
            part.unwrap_or_else(|| panic!("{name} in {line}")).parse().unwrap()
        };
        ["REG:", "STACK:", "SHARED:"].map(number)
    };
    let functions = lines.windows(2).filter_map(|pair| {
        Some((pair[0].strip_prefix("Function ")?.trim_end_matches(':').to_string(), numbers(pair[1])))
    });
    functions.collect()
}
