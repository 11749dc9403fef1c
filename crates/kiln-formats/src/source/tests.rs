//! Whole sources, and texts that are none.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// The kernel.toml of the only kernel in a CUDA source.
fn toml_of(text: &str) -> Result<String, String> {
    let file = read_c(text, &BTreeMap::new());
    let globals: Vec<&CFunction> = file.functions.iter().filter(|f| f.global).collect();
    let function = chosen("k.cu", text, &globals, None, "kernel").map_err(|r| r.to_string())?;
    let kernel = CKernel { name: "k.cu", text, file: &file, function, sources: vec!["k.cu".into()], script: None };
    let found = describe_c(&kernel, FoundTarget::Cuda).map_err(|r| r.to_string())?;
    Ok(kernel_toml(&found, "k.cu"))
}

/// Opens it, and gives what it says.
fn read(text: &str) -> kiln_spec::KernelSpec {
    let toml = toml_of(text).unwrap();
    match kiln_spec::parse("kernel.toml", toml.as_bytes()) {
        Ok((spec, warnings)) => {
            assert!(warnings.is_empty(), "{warnings:?}\n{toml}");
            spec
        }
        Err(reports) => panic!("{}\n{toml}", reports[0]),
    }
}

#[test]
fn a_plain_kernel() {
    let text = "#ifndef BLOCK_SIZE\n#define BLOCK_SIZE 128\n#endif\n#define WIDTH 64\nconstexpr int TILE = 4;\n__constant__ float w[3 * 3];\n\
        __device__ float helper(float a) { return a; }\n__global__ void other(int n);\n\
        extern \"C\" __global__ void __launch_bounds__(BLOCK_SIZE, 2) scale(const float *__restrict__ x, float *y, float a, const int n) {\n\
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i]; }\n";
    let spec = read(text);
    assert_eq!((spec.name.as_str(), spec.entry.as_deref()), ("scale", Some("scale")));
    let roles: Vec<_> = spec.arguments.iter().map(|a| (a.name.to_string(), format!("{:?}", a.role))).collect();
    let expected =
        [("x", "In"), ("y", "Out"), ("a", "Scalar"), ("n", "Scalar")].map(|(n, r)| (n.to_owned(), r.to_owned()));
    assert_eq!(roles, expected);
    assert_eq!(&*spec.targets[0].implementations[0].tunables[0].name, "BLOCK_SIZE");
    assert_eq!(spec.targets[0].implementations[0].launches[0].block[0].expression.text(), "BLOCK_SIZE");
    assert_eq!(spec.targets[0].implementations[0].launches[0].grid[0].expression.text(), "ceildiv(N, BLOCK_SIZE)");
    let toml = toml_of(text).unwrap();
    for word in
        ["float w[3 * 3]", "WIDTH is 64 by #define in line 4", "TILE is 4 by constexpr", "Which value does a have?"]
    {
        assert!(toml.contains(word), "{word}\n{toml}");
    }
    assert!(!toml.contains("Is y read"), "{toml}");
    assert_eq!(questions(&toml).len(), toml.matches(QUESTION).count() - 1);
}

#[test]
fn defaults_of_parameters_are_read() {
    let spec = read(
        "__global__ void scale(const float *x, float *y, int n, float factor = 2.0f) { y[n - 1] = factor * x[0]; }",
    );
    assert_eq!(spec.arguments.len(), 4);
    let toml =
        toml_of("template <int B = 64, bool FAST = true> __global__ void k(float *y, int n) { y[n * B] = FAST; }")
            .unwrap();
    assert!(toml.contains("TUNE_FAST = 1\n") && toml.contains("TUNE_B = 64\n"), "{toml}");
}

#[test]
fn calls_of_macros_and_arrays_with_a_least_size_hide_no_function() {
    let text = "REGISTER(a, float)\nREGISTER(b, double)\n__global__ void go(float *y, int n) { y[0] = n; }\n\
        LAST(c)\nvoid rows(int n, float y[static 4]) { y[0] = n; }\nstatic void own(float *y) { y[0] = 1; }\n";
    let file = read_c(text, &BTreeMap::new());
    let found: Vec<_> = file.functions.iter().map(|f| (f.name.as_str(), f.line, f.hidden)).collect();
    assert_eq!(found, [("go", 3, false), ("rows", 5, false), ("own", 6, true)]);
    assert_eq!(read(text).arguments.len(), 2);
}

#[test]
fn a_kernel_that_writes_nothing_is_asked_about() {
    let toml = toml_of("__global__ void k(const float *x, int n) { if (x[0] > n) __trap(); }\n").unwrap();
    assert!(toml.contains("# ? Which argument does it write its answer to?"), "{toml}");
    assert!(!toml.contains("correct ?"), "{toml}");
}

#[test]
fn templates_namespaces_and_types_of_the_file() {
    let text = "typedef float real;\nusing index = unsigned long long;\nnamespace gemm { namespace {\n\
        template <typename T, int TILE = 16, bool FAST = false>\n__global__ void tile(T *C, const T *A, const real *B, index M, index N, index K) {\n\
        C[blockIdx.y * N + threadIdx.y] += A[0] * B[threadIdx.x]; }\n} }\n";
    let spec = read(text);
    assert_eq!(spec.entry.as_deref(), Some("gemm::tile<float, {TUNE_TILE}, {TUNE_FAST}>"));
    let types: Vec<String> = spec.arguments.iter().map(|a| format!("{:?} {}", a.role, a.kind.shape.len())).collect();
    assert_eq!(types, ["Inout 2", "In 2", "In 2", "Scalar 0", "Scalar 0", "Scalar 0"]);
    let file = read_c(text, &BTreeMap::new());
    let function = &file.functions[0];
    let written = signature(function, function.parameters.as_ref().unwrap());
    let expected = "float *, const float *, const float *, unsigned long long, unsigned long long, unsigned long long";
    assert_eq!(written.as_deref(), Some(expected));
}

#[test]
fn branches_choose_the_type_and_vectors_are_counted() {
    let text = "#ifndef VECTOR\n#define VECTOR 4\n#endif\n#if VECTOR == 1\n#define vec float\n#else\n#define vec float4\n#endif\n\
        __global__ void sum(double *total, vec *x, size_t count) { atomicAdd(total, x[threadIdx.x].x); }";
    let spec = read(text);
    assert_eq!(spec.arguments[1].kind.shape.len(), 2);
    assert!(toml_of(text).unwrap().contains("f32[COUNT, 4]"));
    assert_eq!(format!("{:?}", spec.arguments[0].role), "Inout");
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let refused = |text: &str| toml_of(text).unwrap_err();
    assert!(refused("int main() { return 0; }").contains("k.cu has no kernel"));
    assert!(refused("").contains("k.cu has no kernel"));
    let two = "__global__ void a(int n) {}\n__global__ void b(int n) {}";
    assert!(refused(two).contains("choose with --entry: a, b"), "{}", refused(two));
    for (text, why) in [
        ("struct P { int a; };\n__global__ void k(P p) {}", "has the type P"),
        ("__global__ void k(float **x) {}", "pointer to pointers"),
        ("__global__ void k(float &x) {}", "a reference"),
        ("__global__ void k(float *, int n) {}", "has no name"),
        ("__global__ void k(void (*f)(int)) {}", "neither a pointer nor a number"),
    ] {
        assert!(refused(text).contains(why), "{}", refused(text));
    }
}

#[test]
fn strings_of_python_become_kernels() {
    let answer = r#"{"kind": "triton", "kernels": [{"name": "add", "line": 3, "axes": 1, "wrappers": 1, "questions": [],
        "values": {"BLOCK": [256, 512], "num_warps": [4]},
        "parameters": [{"name": "x", "constexpr": false, "default": null, "stored": false, "loaded": true},
                       {"name": "y", "constexpr": false, "default": null, "stored": true, "loaded": false},
                       {"name": "n", "constexpr": false, "default": null, "stored": false, "loaded": false},
                       {"name": "eps", "constexpr": false, "default": null, "stored": false, "loaded": false},
                       {"name": "BLOCK", "constexpr": true, "default": null, "stored": false, "loaded": false},
                       {"name": "EVEN", "constexpr": true, "default": null, "computed": true, "stored": false, "loaded": false}]}]}"#;
    let Ok(PythonFile::Triton { kernels }) = read_python(answer) else { panic!("{:?}", read_python(answer)) };
    let found = kernels[0].describe();
    let toml = kernel_toml(&found, "add.py");
    let (spec, warnings) =
        kiln_spec::parse("kernel.toml", toml.as_bytes()).unwrap_or_else(|e| panic!("{}\n{toml}", e[0]));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(spec.targets[0].implementations[0].tunables.len(), 3);
    let python = launch_py(&kernels[0], &found, "", "add.py");
    assert!(python.contains("add = _module.add.fn") && python.contains("triton.cdiv(like.numel(), BLOCK)"), "{python}");
    assert!(
        toml.contains("name = \"eps\"\ntype = \"f32\"") && !toml.contains("EVEN") && !python.contains("EVEN"),
        "{toml}"
    );
    assert!(read_python("nonsense").is_err());
}

/// Pieces that a source is made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "__global__",
        "void",
        "k",
        "(",
        ")",
        "{",
        "}",
        "float",
        "*",
        "x",
        ",",
        "int",
        "n",
        "[",
        "]",
        "=",
        ";",
        "template",
        "<",
        ">",
        "\n#if A\n",
        "\n#else\n",
        "\n#endif\n",
        "\n#ifndef A\n",
        "\n#define A (A+A)\n",
        "\n#define B 4\n",
        "\n#elif B/0\n",
        "extern",
        "\"C\"",
        "namespace",
        "__launch_bounds__",
        "const",
        "/*",
        "*/",
        "//",
        "'",
        "R\"(",
        "\\\n",
        "typedef",
        "using",
        "struct",
        "__constant__",
        "constexpr",
        "::",
        "é",
        "9",
        "+=",
        "&",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>(), made in pieces()) {
        for text in [&text, &made] {
            if let Ok(toml) = toml_of(text) {
                let read = kiln_spec::parse("kernel.toml", toml.as_bytes());
                prop_assert!(read.is_ok(), "{}\n{text}\n{toml}", read.unwrap_err()[0]);
            }
        }
    }

    #[test]
    fn no_answer_of_the_reader_makes_it_panic(text in any::<String>()) {
        let _ = read_python(&text);
    }
}

#[test]
fn deep_and_long_texts_end() {
    for text in [
        "(".repeat(100_000),
        "{".repeat(100_000),
        format!("#if {}1\n", "(".repeat(50_000)),
        format!("#if {}1\n", "!".repeat(50_000)),
    ] {
        assert!(toml_of(&text).is_err());
    }
    let doubling: String = (0..200).map(|i| format!("#define A{i} (A{} + A{})\n", i + 1, i + 1)).collect();
    assert!(toml_of(&format!("{doubling}#if A0\n#endif\n")).is_err());
}
