//! Several devices in one study. Machines with several GPUs are rare, so the processor takes their place three times: the
//! same trials are made as on one device, at the same time, each recorded once and told in order.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use camino::Utf8PathBuf;
use kiln_build::Cache;
use kiln_spec::Choice;
use kiln_study::{Bench, Budget, CacheState, Event, Kernel, Record, Settings, Surroundings, tune};
use serde_json::Value;

use crate::{folder, root};

#[test]
fn devices_share_the_trials_of_a_study_and_refuse_the_same() {
    let folder = Utf8PathBuf::from_path_buf(folder("devices")).unwrap();
    let kernel_folder = Utf8PathBuf::from_path_buf(root().join("tests/hostile")).unwrap();
    let expected: Value = serde_json::from_slice(&std::fs::read(kernel_folder.join("expected.json")).unwrap()).unwrap();
    let file = kernel_folder.join("kernel.toml");
    let (spec, _) = kiln_spec::parse(file.as_str(), &std::fs::read(&file).unwrap()).unwrap();
    let kernel = Kernel::new(spec.select(Choice::default()).unwrap(), &kernel_folder).unwrap();
    let settings = Settings { seed: 3, ablation: false, pairs: 5, ..Settings::default() };
    let stopped = AtomicBool::new(false);
    let told = Mutex::new(Vec::new());
    let listener = |event: &Event<'_>| {
        if let Event::Trial { phase, number, config, .. } = event {
            told.lock().unwrap().push((phase.to_string(), *number, config.to_string()));
        }
    };
    let around = Surroundings {
        program: env!("CARGO_BIN_EXE_kiln").into(),
        cache: Cache::at(folder.join("cache")),
        listener: &listener,
        stopped: &stopped,
        gpu: None,
        live: true,
        many: true,
        build_limit: None,
    };
    let mut bench = Bench::new(&kernel, &settings, around).unwrap();
    bench.add_device(None).unwrap();
    bench.add_device(None).unwrap();
    let summary = tune(
        &mut bench,
        &Record::nowhere("three", CacheState::Warm),
        &Budget::since(Instant::now(), None),
        "three",
        0.0,
        &mut |_, _| (),
    )
    .unwrap();
    let refused: Value = serde_json::to_value(&summary.refused).unwrap();
    assert_eq!(refused, expected["refused"]);
    assert_eq!(serde_json::to_value(&summary.config).unwrap(), expected["config"]);

    let told = told.into_inner().unwrap();
    for phase in ["seed", "search"] {
        let numbers: Vec<u64> = told.iter().filter(|(p, ..)| p == phase).map(|(_, number, _)| *number).collect();
        assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{phase}: {numbers:?}");
    }
    let mut configs: Vec<&String> =
        told.iter().filter(|(phase, ..)| phase == "seed" || phase == "search").map(|(.., config)| config).collect();
    let trials = configs.len();
    configs.sort();
    configs.dedup();
    assert_eq!(configs.len(), trials, "a configuration was tried twice");
    assert!(trials > 3, "three devices had hardly anything to share");
}
