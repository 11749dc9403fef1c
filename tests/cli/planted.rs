//! CUDA kernels that must be refused before they run: by the rules, or by what the compiler says of them. No GPU is needed.
//! Skipped, and said so, where there is no toolkit; with KILN_NEED_CUDA=1 that fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use kiln_build::{Nvcc, Nvrtc};
use serde_json::{Value, json};

use crate::run::{empty_folder, json, kiln_in, root};

const ARCHS: [&str; 3] = ["sm_80", "sm_89", "sm_90a"];

/// Whether both compilers are there.
pub(crate) fn toolkit() -> bool {
    let nvrtc = Nvrtc::find(Utf8Path::new(env!("CARGO_BIN_EXE_kiln"))).map(drop);
    match nvrtc.and_then(|()| Nvcc::find().map(drop)) {
        Ok(()) => true,
        Err(fault) if std::env::var("KILN_NEED_CUDA").is_ok_and(|v| v == "1") => panic!("{fault}"),
        Err(fault) => {
            println!("skipped: {fault}");
            false
        }
    }
}

fn expected(name: &str) -> Value {
    let text = std::fs::read(root().join("tests").join(name).join("expected.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// What `kiln` says of a kernel's folder, in a folder of the test's own, and the exit code.
fn said(folder: &Path, verb: &str, kernel: &Path, words: &str) -> (Value, i32) {
    let mut arguments = vec![verb, kernel.to_str().unwrap(), "--json"];
    arguments.extend(words.split_whitespace());
    let ran = kiln_in(folder, &arguments);
    let object = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{words}: {e}\n{}{}", ran.out, ran.err));
    (object, ran.code)
}

/// The planted kernels, once as they are and once for nvcc.
fn planted(folder: &Path) -> [(&'static str, PathBuf); 2] {
    let own = root().join("tests/planted_cuda");
    let copy = folder.join("by_nvcc");
    std::fs::create_dir_all(&copy).unwrap();
    std::fs::copy(own.join("planted.cu"), copy.join("planted.cu")).unwrap();
    let text = std::fs::read_to_string(own.join("kernel.toml")).unwrap();
    let changed = text.replacen("[target.cuda]\n", "[target.cuda]\ncompile.compiler = \"nvcc\"\n", 1);
    assert_ne!(text, changed);
    std::fs::write(copy.join("kernel.toml"), changed).unwrap();
    [("NVRTC", own), ("nvcc", copy)]
}

#[test]
fn what_the_compiler_says_refuses_each_planted_kernel_at_its_gate() {
    if !toolkit() {
        return;
    }
    let folder = empty_folder("planted");
    let expected = expected("planted_cuda");
    let mut gates: BTreeMap<String, Value> =
        expected["refused"].as_object().unwrap().iter().map(|(case, gate)| (case.clone(), gate.clone())).collect();
    gates.insert(expected["passes"].as_str().unwrap().into(), Value::Null);
    for (compiler, kernel) in planted(&folder) {
        for arch in ARCHS {
            let (object, code) = said(&folder, "tune", &kernel, &format!("--arch {arch} --until build"));
            assert_eq!((code, &object["built"]), (0, &json!(1)), "{compiler} {arch}: {object}");
            assert!(object["compiler"].as_str().unwrap().starts_with(compiler), "{object}");
            let found = object["configurations"].as_array().unwrap().iter();
            let found = found.map(|c| (c["config"]["CASE"].as_str().unwrap().into(), c["refusal"]["gate"].clone()));
            assert_eq!(found.collect::<BTreeMap<String, Value>>(), gates, "{compiler} {arch}");
        }
    }
}

#[test]
fn a_refusal_after_the_build_has_its_numbers() {
    if !toolkit() {
        return;
    }
    let (folder, kernel) = (empty_folder("planted_gate"), root().join("tests/planted_cuda"));
    let gate =
        |case: &str| said(&folder, "gate", &kernel, &format!("--arch sm_90a --until build --config CASE={case}"));
    let (object, code) = gate("fits");
    assert_eq!((code, &object["passed"]), (0, &json!(true)), "{object}");
    let taken = &object["build"]["resources"][0];
    assert_eq!((&taken["kernel"], &taken["spilled_bytes"]), (&json!("planted"), &json!(0)));
    assert!(taken["registers"].as_u64().unwrap() >= 8 && taken["occupancy"].as_f64().unwrap() >= 0.5, "{taken}");
    // In turn: what was measured, against what.
    let numbers = [
        ("static_shared", "248832 bytes of shared memory (32768 static, 216064 dynamic)", "232448 bytes"),
        ("sparse", "12 % of the warps, limited by ", "50 %"),
        ("many_registers", "1024 threads of ", "one block on a multiprocessor; registers run out"),
        ("spilling", " loaded for want of registers", "no spills"),
        ("syntax", "expected a \";\"", ""),
    ];
    for (case, measured, limit) in numbers {
        let (object, code) = gate(case);
        assert_eq!((code, &object["passed"]), (3, &json!(false)), "{object}");
        assert!(object["rules"].as_array().unwrap().iter().all(|r| r["verdict"] == "holds"), "{object}");
        let refusal = &object["build"]["refusal"];
        assert!(refusal["measured"].as_str().unwrap().contains(measured), "{case}: {refusal}");
        assert!(refusal["limit"].as_str().unwrap().contains(limit), "{case}: {refusal}");
    }
}

/// The least occupancy may be an expression, and may be worth a warning alone.
#[test]
fn the_least_occupancy_is_an_expression_that_refuses_or_warns() {
    if !toolkit() {
        return;
    }
    let folder = empty_folder("planted_occupancy");
    let original = root().join("tests/planted_cuda");
    let text = std::fs::read_to_string(original.join("kernel.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("occupancy")).unwrap();
    let gate = |occupancy: &str| {
        let kernel = folder.join("planted");
        let _ = std::fs::remove_dir_all(&kernel);
        std::fs::create_dir_all(&kernel).unwrap();
        for file in std::fs::read_dir(&original).unwrap().map(|file| file.unwrap()) {
            std::fs::copy(file.path(), kernel.join(file.file_name())).unwrap();
        }
        std::fs::write(kernel.join("kernel.toml"), text.replace(line, &format!("occupancy = {occupancy}"))).unwrap();
        said(&folder, "gate", &kernel, "--arch sm_90a --until build --config CASE=sparse")
    };
    let (object, code) = gate("\"0.5 if CASE == 'sparse' else 0\"");
    assert_eq!((code, &object["build"]["refusal"]["gate"]), (3, &json!("occupancy")), "{object}");
    assert_eq!(gate("\"0.5 if CASE == 'fits' else 0\"").1, 0);
    let (object, code) = gate("{ least = \"1 / 2\", gate = \"warn\" }");
    assert_eq!(code, 0, "{object}");
    let warnings = object["build"]["warnings"].to_string();
    assert!(warnings.contains("occupancy is 12 % of the warps") && warnings.contains("asks for 50 %"), "{warnings}");
    let (object, code) = gate("\"2 * 3\"");
    assert!(code != 0 && object.to_string().contains("the least occupancy is 6"), "{code} {object}");
}

#[test]
fn launches_no_gpu_can_make_are_refused_by_the_rules() {
    for (case, gate) in expected("hostile_cuda")["static"].as_object().unwrap() {
        for arch in ARCHS {
            let line = format!("gate tests/hostile_cuda --arch {arch} --config CASE={case} --static --json");
            let object = json(&line);
            assert_eq!(object["passed"], false, "{line}");
            let refused = object["rules"].as_array().unwrap().iter().filter(|r| r["verdict"] == "refuses");
            assert_eq!(refused.map(|r| &r["refusal"]["gate"]).collect::<Vec<_>>(), [gate], "{line}");
            assert!(object.get("build").is_none(), "nothing is built");
        }
    }
}
