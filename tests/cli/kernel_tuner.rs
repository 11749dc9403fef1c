//! Kernel Tuner's CUDA examples as kernel files: all of them read, and with their sources at hand
//! (`KILN_KERNEL_TUNER_EXAMPLES`) compile as they are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln_in};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernel_tuner");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert!(folders.len() >= 12, "{folders:?}");
    folders
}

fn object(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

#[test]
fn every_example_has_a_space() {
    let here = empty_folder("kernel-tuner-space");
    let mut counts = Vec::new();
    for folder in examples() {
        let ran = kiln_in(&here, &["space", folder.to_str().unwrap(), "--arch", "sm_90", "--json"]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        let name = folder.file_name().unwrap().to_str().unwrap().to_string();
        counts.push((name, object(&ran)["raw"].as_u64().unwrap()));
    }
    // As many as the scripts have, filter sizes aside.
    for (name, count) in [
        ("matmul", 288),
        ("spmv", 128),
        ("stencil", 48),
        ("reduction", 2376),
        ("pnpoly", 5456),
        ("zeromean_vertical", 48),
    ] {
        let found = counts.iter().find(|(known, _)| known == name).unwrap();
        assert_eq!(found.1, count, "{counts:?}");
    }
}

#[test]
fn every_example_compiles_as_it_is() {
    let Some(sources) = std::env::var_os("KILN_KERNEL_TUNER_EXAMPLES").map(PathBuf::from) else {
        println!("skipped: KILN_KERNEL_TUNER_EXAMPLES does not name the folder with the sources");
        return;
    };
    for folder in examples() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let own = empty_folder(&format!("kernel-tuner-{name}"));
        let described = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let given = std::fs::read_dir(&sources).unwrap().map(|entry| entry.unwrap().path());
        for file in described.chain(given.filter(|file| file.extension().is_some_and(|ending| ending == "cu"))) {
            std::fs::copy(&file, own.join(file.file_name().unwrap())).unwrap();
        }
        let ran = kiln_in(&own, &["gate", ".", "--arch", "sm_90", "--until", "build", "--json"]);
        assert_eq!((ran.code, &object(&ran)["passed"]), (0, &Value::Bool(true)), "{name}: {}{}", ran.out, ran.err);
    }
}
