//! What may not change while a study waits to be gone on with.

use crate::{folder, root, run, spawn, wait_for_trials};

#[test]
fn a_study_is_not_mixed_with_times_of_other_sources_workloads_or_processes() {
    let folder = folder("change");
    for file in ["kernel.toml", "softmax.c", "naive.c", "baseline.py"] {
        std::fs::copy(root().join("kernels/softmax").join(file), folder.join(file)).unwrap();
    }
    let mut child = spawn(&folder, "tune . --json --trials 60 --seed 2");
    wait_for_trials(&folder, &mut child, 2);
    let said = |line: &str| {
        let (object, code) = run(&folder, line);
        assert_eq!(code, 2, "{object}");
        object["errors"][0]["message"].as_str().unwrap().to_string()
    };
    assert!(said("tune . --resume --json").contains("is being run by process"));
    child.kill().unwrap();
    child.wait().unwrap();
    let source = std::fs::read_to_string(folder.join("softmax.c")).unwrap();
    std::fs::write(folder.join("softmax.c"), format!("{source}\n/* faster now */\n")).unwrap();
    assert!(said("tune . --resume --json").contains("the sources have changed"));
    std::fs::write(folder.join("softmax.c"), source).unwrap();
    assert!(said("tune . --resume --workload short --json").contains("other workloads"));
    // A replay of what did not end says what is missing.
    let (object, code) = run(&folder, "tune . --replay last --json");
    assert_eq!(code, 1);
    assert!(object["errors"][0]["hint"].as_str().unwrap().contains("--resume"), "{object}");
}
