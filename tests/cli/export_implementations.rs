//! `kiln export` of a kernel whose shapes are won by different implementations: each has its own sources, parameters and rules in the
//! package, and a call gets the one that was tuned for its shape.

use serde_json::Value;

use crate::export::{exported, shell};
use crate::planted::toolkit;
use crate::run::{empty_folder, kiln_in, root};

/// What the package chooses for lengths, after it has computed correctly there.
const CALLS: &str = "import sys\nimport numpy\nimport twice\n\
    for n in map(int, sys.argv[1:]):\n    \
    x = numpy.arange(n, dtype=numpy.float32)\n    assert (twice.twice(x) == 2 * x).all()\n    \
    dims, _, variant = twice._kernel.table.solve({\"x\": (x.shape, (1,), \"f32\")}, {})\n    \
    print(twice._kernel.table.choose(None, variant, dims)[1][\"implementation\"])\n";

fn copied(name: &str) -> std::path::PathBuf {
    let folder = empty_folder(name);
    std::fs::create_dir(folder.join("twice")).unwrap();
    for file in ["kernel.toml", "plain.c", "short.c", "long.c", "slow.h"] {
        std::fs::copy(root().join("tests/export/implementations").join(file), folder.join("twice").join(file)).unwrap();
    }
    std::fs::write(folder.join("calls.py"), CALLS).unwrap();
    folder
}

fn named<'v>(object: &'v Value, key: &str) -> Vec<&'v str> {
    object[key].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn shapes_that_different_implementations_won_are_served_by_them() {
    let folder = copied("export-implementations");
    let words = "tune twice --trials 12 --samples 25 --seed 3 --no-stop --no-prior --no-profile --no-sanitize --no-ablation --adopt --json";
    let ran = kiln_in(&folder, &words.split_whitespace().collect::<Vec<_>>());
    let tuned: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    let won = |at: usize| tuned["workloads"][at]["config"]["implementation"].as_str().unwrap_or_default();
    assert_eq!((won(0), won(1)), ("short", "long"), "{tuned}");

    // By the table that --adopt wrote, and by the study itself.
    for (words, to) in [(&["twice"][..], "twice-export"), (&["twice", "--study", "last", "-o", "won"], "won")] {
        let object = exported(&folder, words);
        let config = |workload: &str| {
            let all = object["binaries"].as_array().unwrap();
            let own = all.iter().find(|one| one["workloads"] == serde_json::json!([workload])).unwrap();
            own["config"]["implementation"].clone()
        };
        assert_eq!((config("few"), config("many")), ("short".into(), "long".into()), "{object}");
        // Lengths that no step of `long` divides, and so near that only its rule keeps it away, go to the next.
        let said = shell(&folder, &format!("PYTHONPATH={to} $PYTHON calls.py 1024 1000 65536 40000 40001"));
        assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["short", "short", "long", "long", "short"]);
        let tested = shell(&folder.join(to), "$PYTHON -m unittest discover tests");
        assert!(tested.contains("OK"), "{tested}");
    }

    // Each part has its own in the table, in the sources and in the recipe.
    let out = folder.join("twice-export");
    let table: Value = serde_json::from_slice(&std::fs::read(out.join("twice/table.json")).unwrap()).unwrap();
    assert_eq!(named(&table, "implementations"), ["plain", "short", "long"]);
    assert_eq!(table["implementations"][1]["arguments"], serde_json::json!(["x", "y", "n"]));
    assert_eq!(table["implementations"][2]["constraints"], serde_json::json!(["N % WIDTH == 0"]));
    let long =
        table["binaries"].as_array().unwrap().iter().position(|one| one["file"].as_str().unwrap().contains("long"));
    let source = std::fs::read_to_string(out.join(format!("src/twice_{}.c", long.unwrap()))).unwrap();
    assert!(source.contains("#define STEP ") && source.contains("#include \"long.c\"\n"), "{source}");
    assert!(!source.contains("UNROLL") && !source.contains("define implementation"), "{source}");
    shell(&out, "rm twice/bin/*.so && make && $PYTHON -m unittest discover tests");
    // The two functions of one name differ in C: a macro says which one is meant.
    let caller = "#define KILN_TWICE_SHORT\n#include \"twice.h\"\nint main(void) { float x[2] = {1, 2}, y[2];\n\
        scale(x, y, 2); return y[1] == 4 ? 0 : 1; }\n";
    std::fs::write(out.join("caller.c"), caller).unwrap();
    let short = "$(ls twice/bin/twice_*_short.so)";
    shell(&out, &format!("cc -Wall -Werror -Iinclude caller.c ./{short} -lm -o caller && LD_LIBRARY_PATH=. ./caller"));
}

#[test]
fn one_implementation_can_be_exported_alone() {
    let folder = copied("export-implementation");
    let object = exported(&folder, &["twice", "--implementation", "short"]);
    assert_eq!(object["binaries"].as_array().unwrap().len(), 1, "{object}");
    assert_eq!(object["binaries"][0]["config"]["implementation"], "short");
    assert!(!folder.join("twice-export/src/long.c").exists());
    let said = shell(&folder, "PYTHONPATH=twice-export $PYTHON calls.py 1024 65536");
    assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["short", "short"]);
    let ran = kiln_in(&folder, &["export", "twice", "--implementation", "shrt"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean short?"), "{}", ran.err);
    let object = exported(&folder, &["twice", "--config", "WIDTH=32"]);
    assert_eq!(object["binaries"][0]["config"]["implementation"], "long", "{object}");
}

#[test]
fn both_launchers_of_a_cuda_package_know_what_each_implementation_takes() {
    if !toolkit() {
        return;
    }
    let folder = empty_folder("export-two");
    let own = root().join("tests/export");
    let (stand_ins, own) = (own.to_str().unwrap(), own.join("two"));
    let own = own.to_str().unwrap();
    let object = exported(&folder, &[own, "--arch", "sm_90a", "--arch", "sm_80"]);
    let all: Vec<String> = object["binaries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["arch"].as_str().unwrap(), one["config"]["implementation"].as_str().unwrap()))
        .collect();
    // Where `wide` does not run, the default is the other's.
    assert_eq!(all, ["sm_90a narrow", "sm_90a wide", "sm_90a wide", "sm_80 narrow"]);
    let toolkits = kiln_build::Toolkit::all();
    let cuda = toolkits.iter().find(|toolkit| toolkit.root.join("include/cuda.h").is_file() && toolkit.nvcc.is_some());
    let cuda = &cuda.expect("a toolkit with cuda.h").root;
    shell(
        &folder,
        &format!(
            "mkdir driver && cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o driver/libcuda.so.1 {stand_ins}/libcuda.c\n\
             make -C doubled-export CXXFLAGS='-O1 -Werror' CUDA_HOME={cuda} && \
             c++ -std=c++17 -Idoubled-export/include -I{cuda}/include {own}/calls.cpp doubled-export/lib/libdoubled.a driver/libcuda.so.1 -o calls"
        ),
    );
    // The sizes of what a kernel takes are those of its implementation.
    let (wide, narrow) = ("8,8,8,128,8", "8,8,4,8");
    for (rows, scale, sizes, symbol, geometry) in [
        (100, "", narrow, "narrow ", " grid=25,1,1 block=256,1,1 shared=0 "),
        (101, "0.5", narrow, "narrow ", " grid=26,1,1 block=256,1,1 shared=0 "),
        (8192, "", wide, "wideILi64E", " grid=128,1,1 block=128,1,1 shared=49152 "),
        // Near `many`, but not a multiple of 64.
        (4128, "", narrow, "narrow ", " grid=1032,1,1 block=256,1,1 shared=0 "),
    ] {
        let around = format!("STAND_IN_SIZES={sizes} STAND_IN_CAPABILITY=90 LD_LIBRARY_PATH=driver");
        let python = format!("PYTHONPATH={stand_ins}:doubled-export PYTHONDONTWRITEBYTECODE=1 $PYTHON {own}/calls.py");
        let addresses =
            shell(&folder, &format!("rm -f py.log cpp.log; {around} STAND_IN_LOG=py.log {python} {rows} {scale}"));
        shell(&folder, &format!("{around} STAND_IN_LOG=cpp.log ./calls {rows} {} {scale}", addresses.trim()));
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let (launched, by_cpp) = (read("py.log"), read("cpp.log"));
        assert_eq!(launched, by_cpp, "{rows}");
        assert!(launched.contains(symbol) && launched.contains(geometry), "{rows}: {launched}");
        // Only `wide` has working space to be zeroed, three rows of 64 floats, and only `narrow` takes the number.
        assert_eq!(launched.contains("memset at=") && launched.contains("bytes=768"), sizes == wide, "{launched}");
        let number = if scale.is_empty() { " 00000040 " } else { " 0000003f " };
        assert_eq!(launched.contains(number), sizes == narrow, "{launched}");
    }
}
