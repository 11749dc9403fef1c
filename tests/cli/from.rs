//! `kiln init --from`: kernels that people have become a kernel.toml that opens and compiles, with the questions marked; what cannot
//! be read is refused with the reason.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::planted::toolkit;
use crate::run::{empty_folder, kiln_in, root};

const SCALE: &str = r#"
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
#define WIDTH 4096
__constant__ float weights[8];
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE) scale(const float *__restrict__ x, float *y, float a, int n) {
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    if (i < n) y[i] = a * x[i] + weights[i % 8];
}
"#;

/// A folder with files.
fn with(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = empty_folder(name);
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

/// What `kiln init --from` says.
fn begun(folder: &Path, arguments: &[&str]) -> Value {
    let ran = kiln_in(folder, &[&["init", "--json", "--from"], arguments].concat());
    assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// Opens and, where there is a toolkit or a C compiler, builds the default configuration.
fn opens(folder: &Path, kernel: &str, built: bool) -> Value {
    let ran = kiln_in(folder, &["space", kernel, "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    if built {
        let ran = kiln_in(folder, &["gate", kernel, "--until", "build"]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    serde_json::from_str(&ran.out).unwrap_or_default()
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let ran = kiln_in(folder, &[&["init", "--from"], arguments].concat());
    assert_eq!(ran.code, 2, "{arguments:?}: {}{}", ran.out, ran.err);
    ran.err
}

#[test]
fn a_cuda_kernel_opens_compiles_and_asks() {
    let folder = with("from_cuda", &[("scale.cu", SCALE)]);
    let said = begun(&folder, &["scale.cu"]);
    assert_eq!(said["kernel"], "scale");
    assert_eq!(said["tunables"], serde_json::json!(["BLOCK_SIZE"]));
    let text = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    let marked = text.lines().filter(|line| line.trim_start().starts_with("# ?")).count();
    assert_eq!(said["questions"].as_array().unwrap().len(), marked);
    for question in ["`float weights[8]`", "WIDTH is 4096", "Which value does a have?", "Which shape does x have?"] {
        assert!(said["questions"].to_string().contains(question), "{question}: {}", said["questions"]);
    }
    if toolkit() {
        assert_eq!(said["compiles"], true, "{said}");
        opens(&folder, ".", true);
    } else {
        opens(&folder, ".", false);
    }
    // For people: the same questions, counted.
    let words = kiln_in(&folder, &["init", "--from", "scale.cu", "again"]);
    assert!(words.out.contains(&format!("{marked} questions are marked with # ? in kernel.toml")), "{}", words.out);
    assert!(std::fs::read_to_string(folder.join("again/kernel.toml")).unwrap().contains("source = \"../scale.cu\""));
    opens(&folder, "again", toolkit());
}

#[test]
fn templates_are_instances_with_tunables() {
    let source = "typedef float real;\nnamespace gemm {\ntemplate <typename T, int TILE = 16>\n__global__ void tiled(T *C, const T *A, const real *B, int M, int N, int K) {\n\
        int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x; T s = 0;\n\
        if (i < M && j < N) { for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j]; C[i * N + j] = s; } }\n}\n";
    let folder = with("from_template", &[("gemm.cu", source)]);
    let said = begun(&folder, &["gemm.cu"]);
    let text = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    assert!(text.contains("entry = \"gemm::tiled<float, {TUNE_TILE}>\""), "{text}");
    assert!(text.contains("f32[M, K]") && text.contains("f32[K, N]") && text.contains("f32[M, N]"), "{text}");
    if toolkit() {
        assert_eq!(said["compiles"], true, "{said}");
    }
    opens(&folder, ".", toolkit());
}

#[test]
fn a_signature_that_the_compiler_contradicts_is_refused() {
    if !toolkit() {
        return;
    }
    let source = "#include \"config.h\"\n#ifdef DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n\
        __global__ void k(real *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n";
    let folder = with("from_wrong", &[("k.cu", source), ("config.h", "#define DOUBLE\n")]);
    let err = refused(&folder, &["k.cu"]);
    assert!(err.contains("the signature of k was not read right") && err.contains("(float *, int)"), "{err}");
    assert!(!folder.join("kernel.toml").exists());
    std::fs::write(folder.join("config.h"), "").unwrap();
    assert_eq!(begun(&folder, &["k.cu"])["compiles"], true);
}

#[test]
fn what_does_not_compile_is_written_with_that_question() {
    if !toolkit() {
        return;
    }
    let folder = with("from_broken", &[("k.cu", "__global__ void k(float *x) { x[threadIdx.x] = block_size_x; }\n")]);
    let said = begun(&folder, &["k.cu"]);
    assert_eq!(said["compiles"], false);
    assert!(said["why"].as_str().unwrap().contains("block_size_x"), "{said}");
    assert!(said["questions"][0]["question"].as_str().unwrap().contains("does not compile yet"), "{said}");
    opens(&folder, ".", false);
}

#[test]
fn c_and_cpp_functions_run_on_the_processor() {
    let c = "#include <stdint.h>\n#ifndef UNROLL\n#define UNROLL 4\n#endif\nstatic float twice(float v) { return 2 * v; }\n\
        void doubled(const float *x, float *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = twice(x[i]); }\n";
    let folder = with(
        "from_c",
        &[
            ("doubled.c", c),
            (
                "sum.cpp",
                "extern \"C\" void sum(const double *x, double *s, int n) { *s = 0; for (int i = 0; i < n; i++) *s += x[i]; }\n",
            ),
        ],
    );
    let said = begun(&folder, &["doubled.c"]);
    assert_eq!(
        (said["compiles"].clone(), said["tunables"].clone()),
        (true.into(), serde_json::json!(["UNROLL"])),
        "{said}"
    );
    opens(&folder, ".", true);
    let said = begun(&folder, &["sum.cpp", "sum"]);
    assert_eq!(said["compiles"], true, "{said}");
    opens(&folder, "sum", true);
}

#[test]
fn triton_kernels_get_a_launcher() {
    let source = "import triton\nimport triton.language as tl\n\n\n\
        @triton.autotune(configs=[triton.Config({\"BLOCK\": b}, num_warps=w) for b in [2 ** i for i in range(8, 11)] for w in (4, 8) if b > 256 or w == 4] + [triton.Config({\"BLOCK\": 2048}, num_stages=1)], key=[\"n\"])\n\
        @triton.heuristics({\"EVEN\": lambda given: given[\"n\"] % given[\"BLOCK\"] == 0})\n\
        @triton.jit\ndef add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):\n    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    inside = at < n\n\
        \x20   x = tl.load(x_ptr + at, mask=inside)\n    y = tl.load(y_ptr + at, mask=inside)\n    tl.store(out_ptr + at, x + y, mask=inside)\n";
    let folder = with("from_triton", &[("add.py", source)]);
    let said = begun(&folder, &["add.py"]);
    assert_eq!(said["tunables"], serde_json::json!(["BLOCK", "num_warps", "num_stages"]));
    let text = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    for part in [
        "BLOCK = [256, 512, 1024, 2048]",
        "num_stages = [1, 3]",
        "BLOCK = 1024\nnum_warps = 4\nnum_stages = 3\n",
        "triton.autotune lists 6 of the 16 combinations",
        "num_warps = [4, 8]",
        "entry = \"launch.py:launch\"",
        "kernels = [\"add\"]",
        "name = \"out_ptr\"\ntype = \"f32[N]\"\nrole = \"out\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let launch = std::fs::read_to_string(folder.join("launch.py")).unwrap();
    // Below the configurations, heuristics stay: what they compute is nobody's to give.
    assert!(
        launch.contains("add = _module.add.fn  #") && launch.contains("# ?") && !launch.contains("EVEN"),
        "{launch}"
    );
    opens(&folder, ".", false);
}

#[test]
fn python_functions_are_called_as_they_are_or_through_a_launcher() {
    let own = "import numpy as np\n\n\ndef total(inputs, scalars, outputs, *, CHUNK=64):\n    outputs[\"s\"][...] = inputs[\"x\"].sum()\n";
    let other = "def axpy(x, y, out, *, BLOCK=128):\n    out[:] = x + y\n\n\ndef _helper():\n    pass\n";
    let folder = with("from_functions", &[("own.py", own), ("other.py", other)]);
    begun(&folder, &["own.py"]);
    let text = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    assert!(text.contains("entry = \"own.py:total\"") && text.contains("CHUNK = [16, 32, 64, 128, 256]"), "{text}");
    opens(&folder, ".", false);
    let said = begun(&folder, &["other.py", "axpy"]);
    assert_eq!(said["written"].as_array().unwrap().len(), 2);
    let launch = std::fs::read_to_string(folder.join("axpy/launch.py")).unwrap();
    assert!(launch.contains("_module.axpy(inputs[\"x\"], inputs[\"y\"], outputs[\"out\"], BLOCK=BLOCK)"), "{launch}");
    opens(&folder, "axpy", false);
    // It runs, with the file found in the other folder.
    let python = std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into());
    let call = "import launch\nout = [0, 0]\nlaunch.launch({'x': [1], 'y': [2]}, {}, {'out': out}, BLOCK=1)\nassert out == [1, 2], out";
    let ran =
        std::process::Command::new(python).args(["-B", "-c", call]).current_dir(folder.join("axpy")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

const SCRIPT: &str = r#"
import numpy
from kernel_tuner import tune_kernel

def tune(size=4096):
    with open("blur.cu") as f:
        source = f.read()
    n = numpy.int32(size)
    image = numpy.random.randn(size, size).astype(numpy.float32)
    result = numpy.zeros_like(image)
    params = dict()
    params["block_size_x"] = [16 * 2 ** i for i in range(4)]
    params["block_size_y"] = [1, 2, 4, 8]
    params["tile"] = list(range(1, 5))
    limit = lambda p: p["block_size_x"] * p["block_size_y"] <= 512
    return tune_kernel("blur", source, (size, size), [result, image, n], params,
                       grid_div_x=["block_size_x", "tile"], grid_div_y=["block_size_y"], restrictions=[limit, "tile < 4"],
                       answer=[image, None, None])

if __name__ == "__main__":
    tune()
"#;
const BLUR: &str = "__global__ void blur(float *result, float *image, int n) {\n    int x = (blockIdx.x * tile) * block_size_x + threadIdx.x, y = blockIdx.y * block_size_y + threadIdx.y;\n\
    for (int t = 0; t < tile; t++, x += block_size_x) if (x < n && y < n) result[y * n + x] = image[y * n + x];\n}\n";

#[test]
fn a_kernel_tuner_script_gives_tunables_constraints_and_the_grid() {
    let folder = with("from_script", &[("blur.py", SCRIPT), ("blur.cu", BLUR)]);
    let said = begun(&folder, &["blur.py"]);
    assert_eq!(said["tunables"], serde_json::json!(["block_size_x", "block_size_y", "tile"]));
    let text = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    for part in [
        "block_size_x = [16, 32, 64, 128]",
        "restriction_1 = \"block_size_x * block_size_y <= 512\"",
        "restriction_2 = \"tile < 4\"",
        "grid = [\"ceildiv(SIZE_X, block_size_x * tile)\", \"ceildiv(SIZE_Y, block_size_y)\"]",
        "block = [\"block_size_x\", \"block_size_y\"]",
        "name = \"result\"\ntype = \"f32[SIZE_Y, SIZE_X]\"\nrole = \"out\"",
        "value = \"SIZE_X\"",
        "dims = { SIZE_X = 4096, SIZE_Y = 4096 }",
        "source = \"blur.cu\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    if toolkit() {
        assert_eq!(said["compiles"], true, "{said}");
    }
    opens(&folder, ".", toolkit());
    let inline = "import kernel_tuner\nsource = '''".to_owned()
        + BLUR
        + "'''\nkernel_tuner.tune_kernel('blur', source, 1024, [None], {'block_size_x': [32, 64], 'block_size_y': [1], 'tile': unknown()})\n";
    std::fs::write(folder.join("inline.py"), inline).unwrap();
    let said = begun(&folder, &["inline.py", "inline"]);
    assert!(
        folder.join("inline/blur.cu").exists() && said["questions"].to_string().contains("Which values may tile have?"),
        "{said}"
    );
    opens(&folder, "inline", toolkit());
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let two = "__global__ void first(int n) {}\n__global__ void second(int n) {}\n";
    let folder = with(
        "from_refused",
        &[
            ("two.cu", two),
            ("none.cu", "int main() { return 0; }\n"),
            ("odd.cu", "struct P { int a; };\n__global__ void k(P p) {}\n"),
            ("plain.cpp", "void f(float *x) { x[0] = 1; }\n"),
            ("k.txt", "x"),
            ("broken.py", "def f(:\n"),
            ("empty.py", "x = 1\n"),
            ("lost.py", "from kernel_tuner import tune_kernel\ntune_kernel('k', 'gone.cu', 1, [], {'a': [1]})\n"),
            ("static.c", "static void f(float *x) { x[0] = 1; }\n"),
        ],
    );
    std::fs::create_dir(folder.join("folder.cu")).unwrap();
    for (file, words) in [
        ("two.cu", vec!["two.cu has 2 kernels", "choose with --entry: first, second"]),
        ("none.cu", vec!["none.cu has no kernel", "expected a `__global__ void` function"]),
        ("odd.cu", vec!["cannot read the signature of k", "has the type P", "odd.cu:2"]),
        ("plain.cpp", vec!["extern \"C\""]),
        ("k.txt", vec!["cannot read a kernel from k.txt", "expected a .cu, .cpp, .c or .py file"]),
        ("missing.cu", vec!["there is no file `missing.cu`"]),
        ("folder.cu", vec!["folder.cu is not a plain file"]),
        ("broken.py", vec!["broken.py is no Python", "broken.py:1"]),
        ("empty.py", vec!["empty.py has no kernel", "@triton.jit"]),
        ("lost.py", vec!["gone.cu is not there", "line 2"]),
        ("static.c", vec!["static.c has no function"]),
    ] {
        let err = refused(&folder, &[file]);
        for word in words {
            assert!(err.contains(word), "{file}: {word}\n{err}");
        }
    }
    let err = refused(&folder, &["two.cu", "--entry", "secnd"]);
    assert!(err.contains("two.cu has no kernel `secnd`") && err.contains("did you mean second?"), "{err}");
    assert_eq!(begun(&folder, &["two.cu", "--entry", "second"])["kernel"], "second");
    let err = refused(&folder, &["two.cu", "--entry", "first"]);
    assert!(err.contains("kernel.toml exists already") && err.contains("nothing was written"), "{err}");
    let object = kiln_in(&folder, &["init", "--from", "none.cu", "elsewhere", "--json"]);
    let object: Value = serde_json::from_str(&object.out).unwrap();
    assert!(object["errors"][0]["message"].as_str().unwrap().contains("no kernel"), "{object}");
    assert_eq!(kiln_in(&folder, &["init", "--entry", "x"]).code, 2);
}

/// Every script of Kernel Tuner's own examples, from the folder that the variable names: they are not part of this repository.
#[test]
fn the_examples_of_kernel_tuner_are_read() {
    let Ok(examples) = std::env::var("KILN_KERNEL_TUNER_EXAMPLES") else {
        println!("skipped: KILN_KERNEL_TUNER_EXAMPLES names no folder with Kernel Tuner's examples");
        return;
    };
    let cases = [
        ("convolution.py", None, 8),
        ("expdist.py", Some("ExpDist"), 5),
        ("expdist.py", Some("reduce_cross_term"), 1),
        ("matmul.py", None, 4),
        ("pnpoly.py", Some("cn_pnpoly"), 5),
        ("reduction.py", None, 5),
        ("sepconv.py", None, 8),
        ("spmv.py", None, 3),
        ("stencil.py", None, 2),
        ("zeromeanfilter.py", Some("computeMeanVertically"), 2),
        ("zeromeanfilter.py", Some("computeMeanHorizontally"), 2),
    ];
    for (script, entry, tunables) in cases {
        let folder = empty_folder(&format!("from_examples_{script}_{}", entry.unwrap_or_default()));
        let path = Path::new(&examples).join(script);
        let mut arguments = vec![path.to_str().unwrap(), "kernel"];
        entry.iter().for_each(|entry| arguments.extend(["--entry", entry]));
        let said = begun(&folder, &arguments);
        assert_eq!(said["tunables"].as_array().unwrap().len(), tunables, "{said}");
        println!(
            "{script} {}: compiles {}, {} questions",
            said["kernel"],
            said["compiles"],
            said["questions"].as_array().unwrap().len()
        );
        opens(&folder, "kernel", said["compiles"] == true);
    }
    for (script, word) in
        [("expdist.py", "choose with --entry: ExpDist, reduce_cross_term"), ("pnpoly.py", "host function")]
    {
        let folder = empty_folder(&format!("from_examples_{script}"));
        let err = refused(&folder, &[Path::new(&examples).join(script).to_str().unwrap(), "kernel"]);
        assert!(err.contains(word), "{err}");
    }
}

/// What `scripts/gpu.sh from` does on a GPU, as far as it goes without one: the files under tests/unprepared, and answers to what is
/// asked about them.
#[test]
fn files_that_nobody_prepared_compile_with_the_answers() {
    for (name, file, configurations) in [("cuda", "rownorm.cu", 10), ("triton", "rmsnorm.py", 80)] {
        let (folder, from) =
            (empty_folder(&format!("from-unprepared-{name}")), root().join("tests/unprepared").join(name));
        std::fs::copy(from.join(file), folder.join(file)).unwrap();
        let ran = kiln_in(&folder, &["init", "--from", file]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        for answered in std::fs::read_dir(from.join("answered")).unwrap() {
            let path = answered.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.lines().any(|line| line.trim_start().starts_with("# ? ")), "{}", path.display());
            std::fs::write(folder.join(path.file_name().unwrap()), text).unwrap();
        }
        let ran = kiln_in(&folder, &["space", ".", "--json"]);
        let space: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(space["valid"], configurations, "{space:#}");
        if name == "cuda" && toolkit() {
            let ran = kiln_in(&folder, &["gate", ".", "--arch", "sm_90a", "--until", "build"]);
            assert!(ran.code == 0 && ran.out.contains("no spills"), "{}{}", ran.out, ran.err);
        }
    }
}
