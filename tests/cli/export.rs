//! `kiln export`: the folder works by itself. On the processor it is built, installed and called; for CUDA a stand-in for the driver
//! writes what the Python module and the C++ launcher would launch, and both say the same.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::history::{tiny, tune};
use crate::planted::toolkit;
use crate::run::{empty_folder, kiln_in, root};

/// Runs a line of a shell in a folder and gives what it printed; fails with everything it said.
pub(crate) fn shell(folder: &Path, line: &str) -> String {
    let Output { status, stdout, stderr } =
        Command::new("sh").args(["-c", line]).current_dir(folder).env("PYTHON", python()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned());
    assert!(status.success(), "{line}: {status}\n{out}{err}");
    out + &err
}

fn python() -> String {
    std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into())
}

pub(crate) fn exported(folder: &Path, words: &[&str]) -> Value {
    let ran = kiln_in(folder, &[&["export"], words, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn a_c_kernel_becomes_a_package_that_builds_installs_and_computes_what_the_reference_does() {
    let folder = empty_folder("export-cpu");
    let kernel = root().join("kernels/softmax");
    let object = exported(&folder, &[kernel.to_str().unwrap(), "--config", "VEC=4,METHOD=online", "-o", "out"]);
    assert_eq!(object["signature"], "softmax(x)");
    assert_eq!(object["binaries"][0]["config"]["METHOD"], "online");
    let out = folder.join("out");
    let tested = shell(&out, "$PYTHON -m unittest discover tests");
    assert!(tested.contains("OK"), "{tested}");
    // By the recipe, into an empty place.
    shell(&out, "rm softmax/bin/*.so && make && $PYTHON -m unittest discover tests");
    let source = std::fs::read_to_string(out.join("src/softmax_0.c")).unwrap();
    assert!(source.contains("#define VEC 4\n") && source.contains("#define METHOD_online 1\n"), "{source}");
    // From C, by the header.
    let caller = "#include \"softmax.h\"\n#include <stdio.h>\nint main(void) { float x[4] = {0, 0, 0, 0}, y[4];\n\
        softmax(x, y, 1, 4); printf(\"%g %g\", y[0], y[3]); return 0; }\n";
    std::fs::write(out.join("caller.c"), caller).unwrap();
    let line = "cc -Wall -Werror -Iinclude caller.c softmax/bin/softmax_0.so -Wl,-rpath,$PWD/softmax/bin -lm -o caller";
    shell(&out, &format!("{line} 2>&1 || cc -Iinclude caller.c ./softmax/bin/softmax_0.so -lm -o caller"));
    assert_eq!(shell(&out, "LD_LIBRARY_PATH=softmax/bin ./caller"), "0.25 0.25");
    // A wheel, with nothing but Python and pip.
    shell(
        &out,
        "$PYTHON -m pip wheel . --no-deps --no-index -q -w wheels && mkdir site && cd site && unzip -q ../wheels/*.whl 2>/dev/null || $PYTHON -m zipfile -e ../wheels/*.whl .",
    );
    let call = "import numpy, softmax; print(softmax.softmax(numpy.zeros((2, 4), numpy.float32)).tolist())";
    let said = shell(&out.join("site"), &format!("$PYTHON -c '{call}'"));
    assert_eq!(said.trim(), "[[0.25, 0.25, 0.25, 0.25], [0.25, 0.25, 0.25, 0.25]]");
}

#[test]
fn a_call_gets_the_configuration_tuned_for_the_nearest_shape() {
    let folder = empty_folder("export-table");
    let kernel = folder.join("softmax");
    std::fs::create_dir(&kernel).unwrap();
    let own = root().join("kernels/softmax");
    for file in ["softmax.c", "naive.c", "baseline.py"] {
        std::fs::copy(own.join(file), kernel.join(file)).unwrap();
    }
    let text = std::fs::read_to_string(own.join("kernel.toml")).unwrap();
    let text = text.replacen("source = \"softmax.c\"\n", "source = \"softmax.c\"\ntuned = \"tuned.toml\"\n", 1);
    // Only rows that two vectors divide: others go to the next configuration.
    let text = text.replacen("registers = ", "even = \"GROUP == 1 or ROWS % GROUP == 0\"\nregisters = ", 1);
    std::fs::write(kernel.join("kernel.toml"), text).unwrap();
    let entry = |name: &str, rows: u32, cols: u32, group: u32| {
        format!(
            "[[tuned]]\nworkload = \"{name}\"\ndims = {{ ROWS = {rows}, COLS = {cols} }}\n\
             config = {{ VEC = 4, CHAINS = 1, GROUP = {group}, METHOD = \"store\", EXP = \"libm\" }}\n"
        )
    };
    std::fs::write(kernel.join("tuned.toml"), entry("short", 4096, 128, 2) + &entry("long", 256, 4096, 4)).unwrap();
    let object = exported(&folder, &["softmax"]);
    let tuned: Vec<&str> =
        object["binaries"].as_array().unwrap().iter().filter_map(|b| b["workloads"][0].as_str()).collect();
    assert_eq!(tuned, ["short", "long"]);
    let call = "import numpy\nimport softmax\n\
        for rows, cols in (4096, 100), (100, 8192), (101, 8192), (2, 128):\n    \
        x = numpy.zeros((rows, cols), numpy.float32)\n    y = softmax.softmax(x)\n    \
        assert abs(y - 1 / cols).max() < 1e-6\n    \
        given = {\"x\": (x.shape, (cols, 1), \"f32\")}\n    dims, _, variant = softmax._kernel.table.solve(given, {})\n    \
        print(softmax._kernel.table.choose(None, variant, dims)[1][\"GROUP\"])\n";
    std::fs::write(folder.join("call.py"), call).unwrap();
    let said = shell(&folder, "PYTHONPATH=softmax-export $PYTHON call.py");
    assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["2", "4", "1", "2"]);
    // A C function checks nothing: the header says which library is for which rows.
    for file in ["include/softmax.h", "README.md"] {
        let text = std::fs::read_to_string(folder.join("softmax-export").join(file)).unwrap();
        for (library, group) in [(0, 2), (1, 4)] {
            let config = format!("VEC=4,CHAINS=1,GROUP={group},METHOD=store,EXP=libm");
            let rule = format!("`softmax_{library}.so` ({config}): valid where `ROWS % {group} == 0`.");
            assert!(text.contains(&rule), "{rule} in {text}");
        }
        assert!(!text.contains("softmax_2.so`"), "{text}");
    }
}

#[test]
fn a_rule_of_every_configuration_is_one_of_the_package() {
    let folder = tiny("export-constraint");
    exported(&folder, &["tiny", "--target", "cpu", "--config", "LANES=8"]);
    for file in ["include/tiny.h", "README.md", "tiny/__init__.py"] {
        let text = std::fs::read_to_string(folder.join("tiny-export").join(file)).unwrap();
        assert_eq!(text.matches("Valid where `COLS % 8 == 0`.").count(), 1, "{file}: {text}");
    }
    let source = std::fs::read_to_string(folder.join("tiny-export/tiny/table.json")).unwrap();
    assert!(source.contains("COLS % LANES == 0"), "{source}");
}

#[test]
fn both_launchers_of_a_cuda_package_do_what_the_kernel_file_says() {
    if !toolkit() {
        return;
    }
    let folder = empty_folder("export-cuda");
    let own = root().join("tests/export");
    let object = exported(&folder, &[own.to_str().unwrap(), "--arch", "sm_90a", "--arch", "sm_80"]);
    assert_eq!(object["signature"], "scaled_rows(x, flip=False, scale=None)");
    // The default was tuned for a shape of one of its two widths, and is compiled once for both.
    let binaries = object["binaries"].as_array().unwrap();
    assert_eq!(binaries.len(), 8);
    let own_of = |binary: &&Value| binary["workloads"] == serde_json::json!(["huge"]);
    let huge: Vec<&Value> = binaries.iter().filter(own_of).map(|binary| &binary["instances"]).collect();
    assert_eq!(huge, [&serde_json::json!(["D=64", "D=128"])], "{object}");
    let readme = std::fs::read_to_string(folder.join("scaled_rows-export/README.md")).unwrap();
    for words in ["one dtype of T serves others of the same size: f16 and bf16.", "fill in a `scaled_rows_call`"] {
        assert!(readme.contains(words), "{words}: {readme}");
    }
    let own = own.to_str().unwrap();
    let sizes = "STAND_IN_SIZES=8,8,8,128,4,4,8 STAND_IN_CAPABILITY=90 LD_LIBRARY_PATH=driver";
    shell(
        &folder,
        &format!(
            "mkdir driver && cc -shared -fPIC -Wl,-soname,libcuda.so.1 -Wall -Wextra -Werror -o driver/libcuda.so.1 {own}/libcuda.c"
        ),
    );
    let said = shell(
        &folder,
        &format!(
            "{sizes} STAND_IN_LOG=py.log PYTHONPATH={own}:scaled_rows-export PYTHONDONTWRITEBYTECODE=1 $PYTHON {own}/calls.py"
        ),
    );
    let refused: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("refused ")).collect();
    assert!(refused[1].starts_with("scaled_rows has no configuration for T=bf16") && refused.len() == 5, "{refused:?}");
    let launched = std::fs::read_to_string(folder.join("py.log")).unwrap();
    let launches: Vec<&str> = launched.lines().filter(|line| line.contains("scale_rows")).collect();
    let instance = |at: usize| launches[at].split_whitespace().next().unwrap();
    // The nearest shape of the same instance; 63 rows break a rule of both; D = 128 was never tuned.
    let expected = ["ILi64ELi2E", "ILi64ELi2E", "ILi64ELi4E", "ILi64ELi1E", "ILi128ELi1E", "ILi64ELi4E", "ILi128ELi1E"];
    for (at, expected) in expected.iter().enumerate() {
        assert!(instance(at).contains(expected), "{at}: {}", launches[at]);
    }
    assert!(instance(2).contains("__half") && instance(0).contains("bfloat16"));
    assert!(launches[5].contains("grid=64,2,1 block=128,1,1 shared=16384 stream=77"), "{}", launches[5]);
    // scale = 0.5 and flip, as the caller chose them; 1 / sqrt(64) otherwise. Zeros for a descriptor of 63 rows.
    assert!(launches[2].ends_with(" 0000003f 01000000 b80b000000000000"), "{}", launches[2]);
    assert!(launches[0].ends_with(" 0000003e 00000000 4000000000000000"), "{}", launches[0]);
    assert!(launches[3].contains(&format!(" {} ", "0".repeat(256))) && !launches[0].contains(&"0".repeat(256)));

    // The same from C++, on the same addresses.
    let toolkits = kiln_build::Toolkit::all();
    let cuda = toolkits.iter().find(|toolkit| toolkit.root.join("include/cuda.h").is_file() && toolkit.nvcc.is_some());
    let cuda = &cuda.expect("a toolkit with cuda.h").root;
    let include = cuda.join("include");
    shell(&folder.join("scaled_rows-export"), &format!("make CXXFLAGS='-O1 -Werror' CUDA_HOME={cuda}"));
    shell(
        &folder,
        &format!(
            "c++ -std=c++17 -Iscaled_rows-export/include -I{include} {own}/calls.cpp scaled_rows-export/lib/libscaled_rows.a driver/libcuda.so.1 -o calls"
        ),
    );
    let numbers = |line: &str| -> String {
        let values = line.split_whitespace().filter_map(|word| word.split_once('=')).map(|(_, value)| value);
        values.collect::<Vec<_>>().join(" ")
    };
    let addresses: Vec<String> = said.lines().filter(|line| line.starts_with("call ")).map(numbers).collect();
    std::fs::write(folder.join("addresses"), addresses.join("\n")).unwrap();
    let said = shell(&folder, &format!("{sizes} STAND_IN_LOG=cpp.log ./calls < addresses"));
    let refused = [
        "scaled_rows has no configuration for this shape: compiled for D = 64, 128",
        "scaled_rows takes no such call: `B % 2 == 0` does not hold for B=3",
        "scaled_rows takes no such call: `scale >= 0` does not hold for scale=-1",
        "ORDER is \"xxx\", expected bnd or nbd",
        "ORDER is \"\", expected bnd or nbd",
        "y is null",
        "scaled_rows has no configuration for this shape: a grid of 70000 blocks along y, 65535 at most",
        "N is -1, expected 0 or more",
        "the call is null",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), refused);
    let by_cpp = std::fs::read_to_string(folder.join("cpp.log")).unwrap();
    assert_eq!(by_cpp.lines().count(), 3 * addresses.len());
    for (cpp, py) in by_cpp.lines().zip(launched.lines()) {
        assert_eq!(cpp, py);
    }
    // The sources with their configuration fixed give kernels of the same names.
    exported(&folder, &[own, "--arch", "sm_90a", "--config", "WARPS=2,FAST=true", "-o", "one"]);
    let one = folder.join("one");
    let source = std::fs::read_to_string(one.join("src/scaled_rows_0.cu")).unwrap();
    assert!(source.contains("#define TILE 2\n") && source.contains("&scale_rows<64, 2>;"), "{source}");
    shell(&one, &format!("rm scaled_rows/bin/*.cubin && make cubins CUDA_HOME={cuda}"));
    let table: Value = serde_json::from_slice(&std::fs::read(one.join("scaled_rows/table.json")).unwrap()).unwrap();
    for binary in table["binaries"].as_array().unwrap() {
        let cubin = std::fs::read(one.join("scaled_rows").join(binary["file"].as_str().unwrap())).unwrap();
        for symbol in binary["symbols"].as_object().unwrap().values().map(|symbol| symbol.as_str().unwrap().as_bytes())
        {
            assert!(cubin.windows(symbol.len()).any(|part| part == symbol), "{binary}");
        }
    }
}

/// Calls that an exported attention must answer with a message, or with what it says of keys that nobody sees.
const ATTENTION: &str = "import numpy\nimport attention as package\nfrom attention import attention\n\
    def of(b=1, h=2, hk=2, sq=3, sk=5, d=8):\n    \
    shapes = (b, h, sq, d), (b, hk, sk, d), (b, hk, sk, d)\n    \
    return [numpy.random.default_rng(0).standard_normal(shape).astype(numpy.float32) for shape in shapes]\n\
    assert attention(*of(h=4)).shape == (1, 4, 3, 8)\n\
    assert (attention(*of(sk=0)) == 0).all() and attention(*of(sk=0)).shape == (1, 2, 3, 8)\n\
    assert attention(*of(b=0)).shape == (0, 2, 3, 8) and attention(*of(sq=0)).shape == (1, 2, 0, 8)\n\
    for words, bad in (\n    \
    ('`H % HK == 0` does not hold for H=2, HK=3', lambda: attention(*of(hk=3))),\n    \
    ('`H % HK == 0` does not hold for H=3, HK=2', lambda: attention(*of(h=3))),\n    \
    ('`H % HK == 0` does not hold for H=2, HK=0', lambda: attention(*of(hk=0))),\n    \
    ('`scale >= 0` does not hold for scale=-1', lambda: attention(*of(), scale=-1)),\n    \
    ('D=300', lambda: attention(*of(d=300))),\n    \
    ('`D <= 256` does not hold', lambda: attention(*of(d=300))),\n    \
    ('causal is 0.5, expected True or False', lambda: attention(*of(), causal=0.5)),\n    \
    ('k is None, expected an array', lambda: attention(of()[0], None, None)),\n\
    ):\n    \
    try:\n        bad()\n    \
    except (TypeError, ValueError) as error:\n        assert words in str(error), (words, error)\n    \
    else:\n        raise SystemExit('not refused: ' + words)\n\
    print(attention.__doc__)\n";

#[test]
fn calls_that_the_kernel_file_excludes_are_refused_with_the_rule_and_the_values() {
    let folder = empty_folder("export-rules");
    exported(&folder, &[root().join("kernels/attention").to_str().unwrap(), "--target", "cpu"]);
    std::fs::write(folder.join("calls.py"), ATTENTION).unwrap();
    let said = shell(&folder, "PYTHONPATH=attention-export $PYTHON calls.py");
    let readme = std::fs::read_to_string(folder.join("attention-export/README.md")).unwrap();
    let rules = ["Valid where `H % HK == 0`.", "Valid where `scale >= 0`.", "Valid where `D <= 256`."];
    for words in ["aligned at the bottom right", "lse = -inf"].into_iter().chain(rules) {
        assert!(said.contains(words) && readme.contains(words), "{words}: {said}{readme}");
    }
}

/// A call on keys that do not exist, one on shapes that were not compiled, and heads that cannot be shared.
const NO_KEYS: &str = "#include \"attention.h\"\n#include <cstdio>\nint main() {\n\
    CUcontext context;\n    cuDevicePrimaryCtxRetain(&context, 0);\n    cuCtxSetCurrent(context);\n\
    attention_call call = {};\n    call.B = 1, call.H = call.HK = 2, call.SQ = 3, call.D = 64, call.LAYOUT = \"bhsd\";\n\
    call.q = call.o = call.lse = 4096;\n    int code = attention(&call, reinterpret_cast<CUstream>(77));\n    printf(\"%d\\n\", code);\n\
    call.SK = 4, call.k = call.v = 4096, call.D = 256;\n\
    if (attention(&call, nullptr) == CUDA_SUCCESS) return 1;\n    puts(attention_error());\n\
    call.D = 64, call.HK = 0;\n    if (attention(&call, nullptr) == CUDA_SUCCESS) return 1;\n    puts(attention_error());\n\
    return 0;\n}\n";

#[test]
fn an_instance_that_a_gate_refuses_is_left_out_and_the_package_says_so() {
    if !toolkit() {
        return;
    }
    let folder = empty_folder("export-instances");
    // One type is enough: each takes as long to compile as all the rest.
    let (whole, own) = (root().join("kernels/attention"), folder.join("own"));
    std::fs::create_dir(&own).unwrap();
    for file in ["attention.cu", "attention.c", "naive.c", "blocked.c", "hopper.cu", "baseline.py", "baseline_torch.py"]
    {
        std::fs::copy(whole.join(file), own.join(file)).unwrap();
    }
    let spec = std::fs::read_to_string(whole.join("kernel.toml")).unwrap();
    let alone = spec.replace(r#"T = ["f16", "bf16"]"#, r#"T = ["f16"]"#);
    assert_ne!(spec, alone);
    std::fs::write(own.join("kernel.toml"), alone).unwrap();
    let object = exported(&folder, &["own", "--arch", "sm_80"]);
    let notes: Vec<&str> = object["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    assert!(notes.len() == 1 && notes[0].contains("for T=f16, D=256 on sm_80: spills"), "{notes:?}");
    let out = folder.join("attention-export");
    let table: Value = serde_json::from_slice(&std::fs::read(out.join("attention/table.json")).unwrap()).unwrap();
    let mut widths: Vec<i64> = Vec::new();
    for binary in table["binaries"].as_array().unwrap() {
        widths.extend(binary["instances"].as_array().unwrap().iter().map(|one| one["D"].as_i64().unwrap()));
    }
    widths.sort_unstable();
    assert_eq!(widths, [64, 128]);
    for file in ["README.md", "attention/__init__.py", "include/attention.h"] {
        let text = std::fs::read_to_string(out.join(file)).unwrap();
        assert!(text.contains("Compiled for D = 64, 128."), "{file}: {text}");
    }
    let parts: Vec<&Value> = object["binaries"].as_array().unwrap().iter().map(|one| &one["instances"]).collect();
    assert_eq!(parts, [&serde_json::json!(["D=64"]), &serde_json::json!(["D=128"])]);
    let header = std::fs::read_to_string(out.join("include/attention.h")).unwrap();
    assert!(header.contains("CUdeviceptr lse; /* f32[B, H, SQ], out; 0: not written */"), "{header}");
    let readme = std::fs::read_to_string(out.join("README.md")).unwrap();
    assert!(readme.contains("fill in an `attention_call`"), "{readme}");
    assert!(readme.contains("Not in the package") && readme.contains(notes[0]), "{readme}");
    // The launcher says the same, and fills what nothing computes.
    let toolkits = kiln_build::Toolkit::all();
    let cuda = toolkits.iter().find(|toolkit| toolkit.root.join("include/cuda.h").is_file() && toolkit.nvcc.is_some());
    let (cuda, own) = (&cuda.expect("a toolkit with cuda.h").root, root().join("tests/export"));
    std::fs::write(folder.join("calls.cpp"), NO_KEYS).unwrap();
    let said = shell(
        &folder,
        &format!(
            "mkdir driver && cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o driver/libcuda.so.1 {}/libcuda.c\n\
             make -s -C attention-export CXXFLAGS='-O0 -Werror' CUDA_HOME={cuda} && \
             c++ -std=c++17 -Iattention-export/include -I{cuda}/include calls.cpp attention-export/lib/libattention.a driver/libcuda.so.1 -o calls && \
             STAND_IN_LOG=log STAND_IN_CAPABILITY=80 LD_LIBRARY_PATH=driver ./calls",
            own.display()
        ),
    );
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "0");
    assert!(lines[1].contains("no configuration for this shape: compiled for D = 64, 128"), "{said}");
    assert!(lines[2].contains("`H % HK == 0` does not hold for H=2, HK=0"), "{said}");
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let filled =
        ["memset at=1000 value=0 words=384 of 2 stream=77", "memset at=1000 value=ff800000 words=6 of 4 stream=77"];
    assert_eq!(log.lines().collect::<Vec<_>>(), filled);
}

#[test]
fn what_cannot_be_exported_is_refused_and_nothing_is_written() {
    let folder = empty_folder("export-refused");
    let softmax = root().join("kernels/softmax");
    let softmax = softmax.to_str().unwrap();
    let refused = |words: &[&str], expected: &str| {
        let ran = kiln_in(&folder, &[&["export"], words].concat());
        assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
        assert!(ran.err.contains(expected), "{}", ran.err);
    };
    refused(&[softmax, "--arch", "sm_90a"], "only a cuda target is compiled for an architecture");
    refused(&[softmax, "--config", "VEC=5"], "5 is not a value of VEC");
    std::fs::create_dir(folder.join("mine")).unwrap();
    std::fs::write(folder.join("mine/notes.txt"), "").unwrap();
    refused(&[softmax, "-o", "mine"], "mine holds files that kiln did not write: notes.txt");
    refused(&[softmax, "-o", "."], "lies in it");
    let launcher = "[kernel]\nname = \"own\"\nentry = \"own\"\nhost = true\n[target.cuda]\nsource = \"own.cu\"\n[tunables]\nA = [1, 2]\n\
        [[arguments]]\nname = \"x\"\ntype = \"f32[N]\"\nrole = \"in\"\n[[workloads]]\nname = \"w\"\ndims = { N = 8 }\n";
    std::fs::create_dir(folder.join("own")).unwrap();
    std::fs::write(folder.join("own/kernel.toml"), launcher).unwrap();
    refused(&["own", "--arch", "sm_80"], "its entry is a host function that launches by itself");
    let open = "[kernel]\nname = \"open\"\n[target.cpu]\nsource = \"open.c\"\n[tunables]\nA = [1, 2]\n[[arguments]]\nname = \"y\"\n\
        type = \"f32[N]\"\nrole = \"out\"\n[[workloads]]\nname = \"w\"\ndims = { N = 8 }\n";
    std::fs::write(folder.join("own/kernel.toml"), open).unwrap();
    refused(&["own"], "open has no configuration to export");
    std::fs::write(folder.join("own/kernel.toml"), format!("{open}[default]\nA = 1\n[export]\nname = \"class\"\n"))
        .unwrap();
    refused(&["own"], "Python reserves the word");
    let left: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(left.iter().all(|name| ["mine", "own", ".kiln"].contains(&name.as_str())), "{left:?}");
}

#[test]
fn words_of_python_and_packed_records_do_no_harm() {
    let folder = empty_folder("export-words");
    let kernel = folder.join("own");
    std::fs::create_dir(&kernel).unwrap();
    let text = "[kernel]\nname = \"class\"\nentry = \"twice\"\n[target.cpu]\nsource = \"twice.c\"\n[tunables]\nA = [1, 2]\n\
        [[arguments]]\nname = \"in\"\ntype = \"f32[N, M]\"\nrole = \"in\"\n[[arguments]]\nname = \"out\"\ntype = \"f32[N, M]\"\nrole = \"out\"\n\
        [[arguments]]\nname = \"count\"\ntype = \"i64\"\nrole = \"scalar\"\nvalue = \"N * M\"\n\
        [[arguments]]\nname = \"lambda\"\ntype = \"f32\"\nrole = \"scalar\"\nvalue = 2.0\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 8, M = 4 }\n[reference]\npython = \"right.py:right\"\n";
    std::fs::write(kernel.join("kernel.toml"), text).unwrap();
    let source = "#include <stdint.h>\nvoid twice(const float *in, float *out, int64_t n, float by) {\n\
        for (int64_t i = 0; i < n; i++) out[i] = by * in[i];\n}\n";
    std::fs::write(kernel.join("twice.c"), source).unwrap();
    let right = "def right(inputs, scalars, outputs):\n    return {'out': scalars['lambda'] * inputs['in']}\n";
    std::fs::write(kernel.join("right.py"), right).unwrap();
    let object = exported(&folder, &["own", "--config", "A=2"]);
    assert_eq!(object["signature"], "class_(in_, lambda_=None)");
    let note = object["notes"][0].as_str().unwrap();
    assert!(note.contains("compiled, not run: `kiln check own --target cpu --config 'A=2' --full`"), "{note}");
    let package = folder.join("class_-export");
    assert!(std::fs::read_to_string(package.join("README.md")).unwrap().contains(note));
    let tested = shell(&package, "$PYTHON -m unittest discover tests");
    assert!(tested.contains("OK"), "{tested}");
    // A field of a packed record: one row of it looks as if its elements lay side by side.
    let call = "import numpy; from class_ import class_; a = numpy.zeros((1, 4), [(\"a\", \"f4\"), (\"b\", \"u1\")]); a[\"a\"] = [[1, 2, 3, 4]]; \
        print(class_(a[\"a\"], lambda_=3).tolist())";
    assert_eq!(shell(&package, &format!("$PYTHON -c '{call}'")).trim(), "[[3.0, 6.0, 9.0, 12.0]]");
}

#[test]
fn a_python_kernel_takes_its_winner_with_it() {
    let folder = empty_folder("export-python");
    let kernel = folder.join("sums");
    std::fs::create_dir(&kernel).unwrap();
    let text = "[kernel]\nname = \"sums\"\nentry = \"sums.py:sums\"\n[target.python]\n[tunables]\nPARTS = [1, 2, 4]\n[default]\nPARTS = 1\n\
        [[arguments]]\nname = \"x\"\ntype = \"f64[N, M]\"\nrole = \"in\"\n[[arguments]]\nname = \"y\"\ntype = \"f64[N]\"\nrole = \"out\"\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 8, M = 4 }\n[reference]\nbuiltin = \"reduction\"\n";
    std::fs::write(kernel.join("kernel.toml"), text).unwrap();
    let source = "def sums(inputs, scalars, outputs, *, PARTS):\n    outputs[\"y\"][:] = sum(inputs[\"x\"][:, i::PARTS].sum(1) for i in range(PARTS))\n";
    std::fs::write(kernel.join("sums.py"), source).unwrap();
    let object = exported(&folder, &["sums", "--config", "PARTS=4"]);
    assert_eq!((&object["binaries"][0]["config"]["PARTS"], &object["binaries"][0]["file"]), (&4.into(), &Value::Null));
    let tested = shell(&folder.join("sums-export"), "$PYTHON -m unittest discover tests");
    assert!(tested.contains("OK"), "{tested}");
}

#[test]
fn the_winner_of_a_study_is_exported_and_one_that_a_gate_refuses_is_not() {
    let folder = tiny("export-study");
    // Run for correctness, and never timed.
    assert!(std::fs::read_to_string(folder.join("tiny/kernel.toml")).unwrap().contains("use = \"check\""));
    let ran = tune(&folder, &["--target", "cpu", "--json"]);
    let tuned: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    if tuned["config"].is_null() {
        // A default that beats everything tried has no winner beside it.
        let ran = kiln_in(&folder, &["export", "tiny", "--study", "last"]);
        assert!(ran.code == 2 && ran.err.contains("has no winner"), "{}", ran.err);
    } else {
        let object = exported(&folder, &["tiny", "--study", "last"]);
        assert_eq!((&object["binaries"][0]["config"], &object["target"]), (&tuned["config"], &"cpu".into()));
        assert_eq!(object["binaries"][0]["workloads"], serde_json::json!(["small", "large"]));
        let readme = std::fs::read_to_string(folder.join("tiny-export/README.md")).unwrap();
        assert!(readme.contains("| small |") && !readme.contains("| odd |"), "{readme}");
        assert!(shell(&folder.join("tiny-export"), "$PYTHON -m unittest discover tests").contains("OK"));
    }
    let ran = kiln_in(&folder, &["export", "tiny", "--target", "cpu", "--config", "LANES=16", "-o", "refused"]);
    assert!(ran.code == 2 && ran.err.contains("was refused: build_failed"), "{}", ran.err);
    assert!(!folder.join("refused").exists());
}
