//! Real compilations with nvcc, without a GPU. Skipped, and said so, where there is none; with KILN_NEED_CUDA=1 that fails.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::{Artifact, BuildLimits, Cache, Nvcc, Passing, Request, SHIM_SYMBOL, Toolchain, launcher_shim};
use kiln_core::{Config, Gate, Outcome, Refusal};

const KERNELS: &str = "
namespace inner {
template <typename T, int N> __global__ void shift(const T *a, T *b) {
    __shared__ T tile[N * 32];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = tile[(threadIdx.x + N) % 32];
}
}
__global__ void cpp(float *a, int n) { a[threadIdx.x] += n; }
extern \"C\" __global__ void plain(float *a) { a[threadIdx.x] += SCALE; }
";

struct Bench {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    cache: Cache,
    nvcc: Toolchain,
}

/// None where there is no nvcc.
fn bench() -> Option<Bench> {
    let nvcc = match Nvcc::find() {
        Ok(nvcc) => nvcc,
        Err(fault) if std::env::var("KILN_NEED_CUDA").is_ok_and(|v| v == "1") => panic!("{fault}"),
        Err(fault) => {
            println!("skipped: {fault}");
            return None;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    let cache = Cache::at(root.join("cache"));
    Some(Bench { _folder: folder, root, cache, nvcc: nvcc.into() })
}

impl Bench {
    fn write(&self, name: &str, text: &str) -> Utf8PathBuf {
        let path = self.root.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn request(&self, source: &Utf8Path, entries: &[&str]) -> Request {
        Request {
            sources: vec![source.to_owned()],
            config: Config::parse("SCALE=2").unwrap(),
            arch: Some("sm_90a".into()),
            entries: entries.iter().map(|entry| entry.to_string()).collect(),
            ..Request::default()
        }
    }

    fn build(&self, request: &Request) -> Outcome<Artifact> {
        self.cache.build(&self.nvcc, request, BuildLimits::default(), &|_| {}).unwrap()
    }

    fn passed(&self, request: &Request) -> Artifact {
        match self.build(request) {
            Outcome::Passed(artifact) => artifact,
            Outcome::Refused(refusal) => panic!("{refusal:?}"),
        }
    }

    fn refused(&self, request: &Request) -> Refusal {
        match self.build(request) {
            Outcome::Refused(refusal) => refusal,
            Outcome::Passed(artifact) => panic!("{artifact:?}"),
        }
    }

    fn assert_clean(&self) {
        let left = self.cache.root().join("tmp").read_dir_utf8().map(|d| d.count()).unwrap_or(0);
        assert_eq!(left, 0, "a build left its folder behind");
    }
}

fn symbols(artifact: &Artifact) -> Vec<&str> {
    artifact.symbols.iter().map(|(_, symbol)| symbol.as_str()).collect()
}

#[test]
fn entries_are_found_by_name_and_as_instances_of_templates() {
    let Some(bench) = bench() else { return };
    let source = bench.write("k.cu", KERNELS);
    let plain = bench.passed(&bench.request(&source, &["plain", "cpp"]));
    assert_eq!(symbols(&plain), ["plain", "_Z3cppPfi"]);
    assert_eq!(plain.library.file_name(), Some("kernel.cubin"));
    assert!(plain.library.is_file() && plain.usage.len() == 2 && plain.warnings.is_empty());

    let one = bench.passed(&bench.request(&source, &["inner::shift<float, 2 + 2>"]));
    assert_eq!(symbols(&one), ["_ZN5inner5shiftIfLi4EEEvPKT_PS1_"]);
    let usage = one.usage_of("inner::shift<float, 2 + 2>").unwrap();
    assert_eq!((usage.shared, usage.barriers, usage.spill_stores), (512, 1, 0));

    // Two instances of one template cannot be told apart by their names; the compiler is asked.
    let two =
        bench.passed(&bench.request(&source, &["inner::shift<float, SCALE>", "plain", "inner::shift<double, 1>"]));
    let expected = ["_ZN5inner5shiftIfLi2EEEvPKT_PS1_", "plain", "_ZN5inner5shiftIdLi1EEEvPKT_PS1_"];
    assert_eq!(symbols(&two), expected);
    let again =
        bench.passed(&bench.request(&source, &["inner::shift<float, SCALE>", "plain", "inner::shift<double, 1>"]));
    assert_eq!((again.built_in, &again.symbols, &again.usage), (None, &two.symbols, &two.usage));
    bench.assert_clean();
}

#[test]
fn what_decides_the_cubin_decides_the_key() {
    let Some(bench) = bench() else { return };
    let source = bench.write("k.cu", KERNELS);
    let request = bench.request(&source, &["plain"]);
    let mut keys = vec![bench.passed(&request).key];
    for arch in ["sm_80", "sm_89"] {
        keys.push(bench.passed(&Request { arch: Some(arch.into()), ..request.clone() }).key);
    }
    keys.push(bench.passed(&Request { config: Config::parse("SCALE=3").unwrap(), ..request.clone() }).key);
    keys.push(bench.passed(&Request { entries: vec!["cpp".into()], ..request.clone() }).key);
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "two different builds share a key");
}

#[test]
fn a_wrong_source_and_a_wrong_entry_are_refused_with_the_compilers_words() {
    let Some(bench) = bench() else { return };
    let source = bench.write("k.cu", "extern \"C\" __global__ void f(float *a) {\n    a[0] = missing;\n}\n");
    let refusal = bench.refused(&bench.request(&source, &["f"]));
    assert_eq!(refusal.gate, Gate::BuildFailed);
    assert!(refusal.measured.ends_with("k.cu(2): error: identifier \"missing\" is undefined"), "{}", refusal.measured);
    assert!(refusal.evidence.starts_with("      a[0] = missing;"), "{:?}", refusal.evidence);

    let source = bench.write("k.cu", KERNELS);
    for entry in ["nothing", "inner::shift<float>", "nothing<4>"] {
        let refusal = bench.refused(&bench.request(&source, &[entry]));
        assert!(refusal.measured.starts_with("an entry cannot be had: "), "{entry}: {}", refusal.measured);
        assert!(refusal.hint.is_some());
    }
    let flags = vec!["-no-such-flag".into()];
    let refusal = bench.refused(&Request { flags, ..bench.request(&source, &["plain"]) });
    assert!(refusal.measured.contains("no-such-flag"), "{}", refusal.measured);
    bench.assert_clean();
}

#[test]
fn what_no_source_can_help_is_a_fault() {
    let Some(bench) = bench() else { return };
    let source = bench.write("k.cu", KERNELS);
    let fault =
        |request: Request| bench.cache.build(&bench.nvcc, &request, BuildLimits::default(), &|_| {}).unwrap_err();
    let request = bench.request(&source, &["plain"]);
    assert!(fault(Request { arch: Some("sm_1".into()), ..request.clone() }).why.contains("sm_1"));
    assert!(fault(Request { arch: None, ..request.clone() }).why.contains("no architecture"));
    assert!(fault(Request { sources: vec![], ..request.clone() }).why.contains("there are none"));
    let stopped = AtomicBool::new(true);
    let stop = bench.cache.build_until(&bench.nvcc, &request, BuildLimits::default(), &|_| {}, &stopped);
    assert!(stop.unwrap_err().why.contains("interrupted"));
    bench.assert_clean();
}

#[test]
fn fewer_registers_are_spilled_and_warnings_are_kept() {
    let Some(bench) = bench() else { return };
    let source = bench.write(
        "k.cu",
        "extern \"C\" __global__ void f(const float *a, float *b, int n) {\n    int unused;\n    float v[64];\n\
         #pragma unroll\n    for (int i = 0; i < 64; ++i) v[i] = a[threadIdx.x + i * n];\n    __syncthreads();\n\
         #pragma unroll\n    for (int i = 0; i < 64; ++i) b[threadIdx.x * 64 + i] = v[i] * v[(i * 7) % 64];\n}\n",
    );
    let free = bench.passed(&bench.request(&source, &["f"]));
    let flags = vec!["-maxrregcount=32".into()];
    let tight = bench.passed(&Request { flags, ..bench.request(&source, &["f"]) });
    let (free_f, tight_f) = (free.usage_of("f").unwrap(), tight.usage_of("f").unwrap());
    assert!(free_f.registers > 32 && free_f.spill_stores == 0, "{free_f:?}");
    assert!(tight_f.registers <= 32 && tight_f.spill_stores > 0 && tight_f.spill_loads > 0, "{tight_f:?}");
    assert!(free.warnings.len() == 1 && free.warnings[0].contains("unused"), "{:?}", free.warnings);
}

#[test]
fn host_launchers_become_a_library() {
    let Some(bench) = bench() else { return };
    let source = bench.write(
        "k.cu",
        "__global__ void k(float *a) { a[0] = 1; }\nextern \"C\" int go(void *a, void *stream) {\n    \
         k<<<1, 1, 0, (cudaStream_t)stream>>>((float *)a);\n    return cudaGetLastError();\n}\n",
    );
    let shim = launcher_shim("go", &[Passing::Pointer]);
    let built = bench.passed(&Request { host: true, shim, ..bench.request(&source, &[]) });
    assert_eq!(built.library.file_name(), Some("library.so"));
    let bytes = std::fs::read(&built.library).unwrap();
    let holds = |name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    assert!(holds(SHIM_SYMBOL) && built.usage[0].symbol == "_Z1kPf");
}

#[test]
fn a_compilation_that_takes_too_long_leaves_nothing() {
    let Some(bench) = bench() else { return };
    let source = bench.write("k.cu", KERNELS);
    let limits = BuildLimits { timeout: Duration::from_millis(20), silence: Duration::from_secs(9) };
    match bench.cache.build(&bench.nvcc, &bench.request(&source, &["plain"]), limits, &|_| {}).unwrap() {
        Outcome::Refused(refusal) => assert_eq!(refusal.gate, Gate::BuildTimeout),
        Outcome::Passed(artifact) => panic!("{artifact:?}"),
    }
    bench.assert_clean();
}
