//! `kiln doctor`: on this machine, and on ones that are made to look broken.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::planted::toolkit;
use crate::run::{empty_folder, kiln_in, root};

/// The findings in a folder with an environment variable set, and the exit code.
fn findings(folder: &Path, words: &[&str], variable: (&str, &str)) -> (Value, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let output = command.args(words).arg("--json").current_dir(folder).env(variable.0, variable.1).output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code().unwrap())
}

/// One finding's state and words.
fn of<'a>(object: &'a Value, id: &str) -> (&'a str, &'a str) {
    let found = object["findings"].as_array().unwrap().iter().find(|f| f["id"] == id).unwrap();
    (found["state"].as_str().unwrap(), found["what"].as_str().unwrap())
}

#[test]
fn a_machine_that_can_build_is_fit() {
    let folder = empty_folder("doctor_fit");
    let (object, code) = findings(&folder, &["doctor"], ("KILN_TEST", ""));
    assert_eq!((code, &object["healthy"]), (0, &Value::Bool(true)), "{object}");
    let ids: Vec<&str> = object["findings"].as_array().unwrap().iter().map(|f| f["id"].as_str().unwrap()).collect();
    // What only a GPU or a machine in a cloud has.
    let everywhere = |id: &&str| !id.starts_with("gpu_") && *id != "spot";
    let ids: Vec<&str> = ids.into_iter().filter(everywhere).collect();
    let all = [
        "compiler",
        "disk",
        "shared_memory",
        "memory",
        "build",
        "worker",
        "confinement",
        "python",
        "torch",
        "triton",
        "load",
        "processors",
        "frequency",
        "store",
        "cache",
        "driver",
        "gpu",
        "nvcc",
        "nvrtc",
        "profiler",
        "sanitizer",
    ];
    assert_eq!(ids, all);
    assert_eq!(of(&object, "worker"), ("ok", "starts, loads the library and calls it"));
    let (state, what) = of(&object, "confinement");
    assert_eq!(state == "ok", what.starts_with("workers are confined: landlock ABI "), "{what}");
    assert!(!folder.join(".kiln").exists(), "looking changes nothing");
}

#[test]
fn a_gpu_is_described_or_it_is_said_what_works_without() {
    let folder = empty_folder("doctor_gpu");
    let (object, code) = findings(&folder, &["doctor"], ("CUDA_VISIBLE_DEVICES", ""));
    assert_eq!(code, 0, "{object}");
    let (state, what) = of(&object, "gpu");
    if of(&object, "driver").1.contains("runs programs up to CUDA") {
        assert!(state == "warn" && what.contains("CUDA_VISIBLE_DEVICES=\"\" hides every GPU"), "{what}");
        let topics = ["gpu_state", "gpu_processes", "gpu_ecc", "gpu_mig", "gpu_persistence"];
        assert!(topics.iter().all(|id| !of(&object, id).1.is_empty()), "{object}");
    } else {
        assert!(state == "ok" && what.starts_with("none to run on: "), "{what}");
        assert!(what.contains("kernels of the cpu and python targets work without one"), "{what}");
        let nvcc = of(&object, "nvcc");
        assert_eq!(nvcc.0, "ok", "nothing to compile for, nothing to warn of");
        let compiles = what.contains("compiling for any architecture works with");
        assert_eq!(compiles, [nvcc, of(&object, "nvrtc")].iter().any(|f| !f.1.starts_with("not found")), "{object}");
    }
}

/// What is said to work without a GPU does, and what does not says why.
#[test]
fn without_a_gpu_the_rest_works_as_the_doctor_says() {
    let folder = empty_folder("doctor_promise");
    let (object, _) = findings(&folder, &["doctor"], ("KILN_TEST", ""));
    if !of(&object, "gpu").1.starts_with("none to run on: ") {
        return;
    }
    let path = |name: &str| root().join("kernels").join(name).to_str().unwrap().to_string();
    let (float, triton) = (path("matmul_float"), path("softmax_triton"));
    for kernel in [&float, &triton] {
        let ran = kiln_in(&folder, &["tune", kernel]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("needs a GPU") && ran.err.contains("`kiln doctor` shows more"), "{}", ran.err);
        assert_eq!(kiln_in(&folder, &["space", kernel]).code, 0);
        let ran = kiln_in(&folder, &["gate", kernel]);
        assert!(ran.code == 0 && ran.out.contains(" rule"), "{}{}", ran.out, ran.err);
        assert!(ran.err.contains("there is no GPU for this code to run on"), "{}", ran.err);
    }
    // The second of its targets is taken, because it runs here.
    let ran = kiln_in(&folder, &["check", &path("matmul")]);
    assert!(ran.code == 0 && ran.out.contains("cpu"), "{}{}", ran.out, ran.err);
    let ran = kiln_in(&folder, &["gate", &float, "--until", "build"]);
    let compiles = of(&object, "gpu").1.contains("compiling for any architecture works with");
    assert!(compiles || !toolkit(), "{object}");
    if compiles {
        assert!(ran.code == 0 && ran.out.contains("registers"), "{}{}", ran.out, ran.err);
    } else {
        assert!(of(&object, "gpu").1.contains("not compiled"), "{object}");
        assert!(ran.code == 1 && ran.err.contains("pip install nvidia-cuda-nvrtc"), "{}{}", ran.out, ran.err);
    }
}

#[test]
fn a_missing_compiler_fails_with_a_fix() {
    let folder = empty_folder("doctor_compiler");
    let (object, code) = findings(&folder, &["doctor"], ("CC", "/nonexistent"));
    assert_eq!((code, &object["healthy"]), (1, &Value::Bool(false)));
    assert_eq!(of(&object, "compiler").0, "fail");
    assert_eq!(object["findings"][0]["fix"], "install gcc or clang, or set CC");
    assert_eq!(of(&object, "worker"), ("ok", "starts and answers; there was no library to load"));
}

#[test]
fn a_compiler_that_cannot_compile_fails_in_its_own_words() {
    let folder = empty_folder("doctor_build");
    let (object, code) = findings(&folder, &["doctor"], ("CC", "cc -DSHORT -include /nowhere/at_all.h"));
    assert_eq!(code, 1);
    assert_eq!(of(&object, "compiler").0, "ok");
    let (state, what) = of(&object, "build");
    assert!(state == "fail" && what.contains("at_all.h"), "{what}");
}

#[test]
fn a_folder_that_cannot_be_written_fails() {
    // Nobody can make a file there, not even root.
    let ran = kiln_in(Path::new("/proc"), &["doctor"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("this folder cannot be written") && ran.out.contains("kiln is not ready"), "{}", ran.out);
    let folder = empty_folder("doctor_file");
    std::fs::write(folder.join(".kiln"), "mine").unwrap();
    let (object, code) = findings(&folder, &["doctor", "--fix"], ("KILN_TEST", ""));
    assert_eq!((code, of(&object, "disk")), (1, ("fail", ".kiln is not a folder")));
    assert_eq!(std::fs::read_to_string(folder.join(".kiln")).unwrap(), "mine");
}

#[test]
fn a_damaged_store_fails() {
    let folder = empty_folder("doctor_store");
    std::fs::create_dir(folder.join(".kiln")).unwrap();
    std::fs::write(folder.join(".kiln/kiln.db"), "this is no database at all, ".repeat(100)).unwrap();
    let (object, code) = findings(&folder, &["doctor"], ("KILN_TEST", ""));
    assert_eq!((code, of(&object, "store").0), (1, "fail"), "{object}");
}

#[test]
fn fixing_gives_python_an_environment_with_numpy() {
    let folder = empty_folder("doctor_venv");
    let bare = folder.join("bare");
    // An interpreter without any package, as a fresh machine has it.
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&bare).status().unwrap();
    assert!(made.success());
    let path = format!("{}:{}", bare.join("bin").display(), std::env::var("PATH").unwrap());
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command.args(words).arg("--json").current_dir(&folder).env("PATH", &path);
        let output = command.env_remove("KILN_PYTHON").env_remove("VIRTUAL_ENV").output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert!(of(&run(&["doctor"]), "python").1.contains("no NumPy"));
    let object = run(&["doctor", "--fix"]);
    let venv = folder.join(".kiln/venv");
    if object["fixed"].as_array().unwrap().iter().any(|done| done == "installed NumPy into .kiln/venv") {
        assert!(of(&object, "python").1.contains("NumPy ") && venv.is_dir(), "{object}");
    } else {
        // Without a network: said, with what to do, and nothing is left half made.
        let failed = object["findings"].as_array().unwrap().iter().find(|f| f["id"] == "fix").unwrap();
        assert!(failed["fix"].as_str().unwrap().contains("pip install numpy") && !venv.exists(), "{object}");
    }
}

#[test]
fn fixing_makes_the_folder_and_sweeps_what_killed_builds_left() {
    let folder = empty_folder("doctor_fix");
    let (object, _) = findings(&folder, &["doctor", "--fix"], ("KILN_TEST", ""));
    assert_eq!(object["fixed"], serde_json::json!(["made .kiln"]));
    let left = folder.join(".kiln/cache/tmp/abc.1.0");
    std::fs::create_dir_all(&left).unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    std::fs::File::open(&left).unwrap().set_modified(long_ago).unwrap();
    let (object, code) = findings(&folder, &["doctor"], ("KILN_TEST", ""));
    assert_eq!((code, of(&object, "cache").0), (0, "warn"));
    let (object, _) = findings(&folder, &["doctor", "--fix"], ("KILN_TEST", ""));
    assert_eq!(object["fixed"], serde_json::json!(["removed 1 left by builds that were killed"]));
    assert!(!left.exists());
    assert_eq!(of(&object, "cache").0, "ok");
    // Nothing of the doctor's own is left behind either.
    assert_eq!(std::fs::read_dir(folder.join(".kiln/cache/tmp")).unwrap().count(), 0);
}

#[test]
fn a_kernel_that_asks_for_other_versions_is_refused_with_what_was_found() {
    let folder = crate::history::tiny("doctor_environment");
    let file = folder.join("tiny/kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let ask = |lines: &str| std::fs::write(&file, format!("{text}\n[environment]\n{lines}\n")).unwrap();
    ask("compiler = \">=1,<999\"\npython = \">=3\"");
    assert_eq!(kiln_in(&folder, &["check", "tiny"]).code, 0);
    let (object, code) = findings(&folder, &["doctor", "tiny"], ("KILN_TEST", ""));
    let asked = object["findings"].as_array().unwrap().iter().filter(|f| f["id"] == "environment");
    assert_eq!((code, asked.count()), (0, 2), "{object}");
    ask("compiler = \">=999\"");
    for words in [["check", "tiny"], ["tune", "tiny"], ["gate", "tiny"], ["bench", "tiny"]] {
        let ran = kiln_in(&folder, &words);
        assert_eq!(ran.code, 1, "{words:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("the file asks for >=999") && ran.err.contains("set CC"), "{}", ran.err);
    }
    let (object, code) = findings(&folder, &["doctor", "tiny"], ("KILN_TEST", ""));
    assert_eq!((code, of(&object, "environment").0), (1, "fail"), "{object}");
    ask("compiler = \"latest\"\nnumpi = \">=1\"");
    let wrong = kiln_in(&folder, &["space", "tiny"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("expected versions, such as") && wrong.err.contains("numpy"), "{}", wrong.err);
}
