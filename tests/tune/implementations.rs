//! Three versions of one kernel in one study: one is a hundred times slower, one is wrong. What is asserted of times is only
//! what holds on a busy machine: a hundred times the work takes longer.

use std::path::Path;

use serde_json::Value;

use crate::{command, folder, root, run};

fn kernel(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    for file in ["kernel.toml", "baseline.c", "slow.c", "fast.c", "wrong.c"] {
        std::fs::copy(root().join("tests/tune/implementations").join(file), folder.join(file)).unwrap();
    }
    folder
}

fn said(folder: &Path, line: &str) -> (String, i32) {
    let output = command(folder, line).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code().unwrap())
}

fn of<'v>(summary: &'v Value, name: &str) -> &'v Value {
    summary["implementations"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
}

const STUDY: &str = "tune . --trials 8 --samples 25 --seed 3 --no-stop --no-prior --no-profile --no-sanitize --json";

#[test]
fn the_fast_one_wins_the_wrong_one_is_refused_and_everything_carries_it() {
    let folder = kernel("implementations");
    let (summary, _) = run(&folder, &format!("{STUDY} --adopt"));
    assert_eq!(summary["config"]["implementation"], "fast", "{summary}");
    assert_eq!(of(&summary, "fast")["ratio"], 1.0);
    assert!(of(&summary, "slow")["ratio"].as_f64().unwrap() > 2.0, "{summary}");
    let wrong = of(&summary, "wrong");
    assert_eq!((&wrong["config"], wrong["refused"]["numerics"].as_u64()), (&Value::Null, Some(2)), "{wrong}");

    // Every configuration is of one implementation, with its tunables alone; the default of each comes first.
    let trials = run(&folder, "show last --json").0["trials"].as_array().unwrap().clone();
    let configs: Vec<&str> = trials.iter().map(|trial| trial["config"].as_str().unwrap()).collect();
    assert_eq!(configs[..3], ["implementation=slow", "implementation=fast,UNROLL=8", "implementation=wrong,K=1"]);
    assert!(configs.iter().all(|c| !c.contains("fast") || !c.contains("K=")), "{configs:?}");

    // The same again from the record, and nothing is measured.
    let (again, _) = run(&folder, "tune . --replay last --json");
    assert_eq!((&again["config"], &again["implementations"]), (&summary["config"], &summary["implementations"]));
    let (text, _) = said(&folder, "show last");
    assert!(text.contains("implementations: the best of each") && text.contains("none passed"), "{text}");

    // Files: the table that studies begin with, best.toml and the header.
    let table = std::fs::read_to_string(folder.join("tuned.toml")).unwrap();
    assert!(table.contains("config = { implementation = \"fast\", UNROLL ="), "{table}");
    let best = folder.join(".kiln/best/scale");
    let toml = std::fs::read_to_string(best.join("best.toml")).unwrap();
    assert!(toml.contains("implementation = \"fast\"\n"), "{toml}");
    let header = std::fs::read_to_string(best.join("best_cpu.h")).unwrap();
    assert!(header.contains("#define KILN_IMPLEMENTATION_fast 1\n") && !header.contains("#define implementation"));
    let (gated, code) = run(&folder, "gate . --json");
    assert_eq!((&gated["config"]["implementation"], code), (&"fast".into(), 0), "{gated}");

    // The winner by its study, and another implementation beside it.
    let (bench, _) = run(&folder, "bench . --study last --samples 25 --json");
    assert_eq!(bench["config"]["implementation"], "fast", "{bench}");
    let (priors, _) =
        run(&folder, "tune . --trials 2 --samples 25 --seed 4 --no-stop --no-profile --no-ablation --json");
    assert_eq!(priors["config"]["implementation"], "fast", "{priors}");
}

#[test]
fn one_of_them_can_be_chosen_and_a_wrong_choice_is_explained() {
    let folder = kernel("implementations-chosen");
    let (space, _) = run(&folder, "space . --json");
    assert_eq!((space["raw"].as_u64(), space["valid"].as_u64()), (Some(5), Some(5)), "{space}");
    let (space, _) = run(&folder, "space . --implementation fast --json");
    assert_eq!(space["valid"].as_u64(), Some(2));
    let (gated, code) = run(&folder, "gate . --implementation wrong --json");
    assert_eq!((&gated["config"]["implementation"], code), (&"wrong".into(), 3), "{gated}");
    let (gated, _) = run(&folder, "gate . --config implementation=fast,UNROLL=16 --static --json");
    assert_eq!(gated["config"]["UNROLL"], 16, "{gated}");

    // A tunable that only one of them has says which is meant; one that the named one lacks is refused.
    let (gated, _) = run(&folder, "gate . --config UNROLL=16 --static --json");
    assert_eq!(gated["config"]["implementation"], "fast", "{gated}");
    let (text, code) = said(&folder, "gate . --config implementation=slow,UNROLL=16");
    assert!(code == 2 && text.contains("UNROLL is not a tunable of implementation slow"), "{code} {text}");
    assert!(text.contains("implementation=fast has it"), "{text}");
    let (text, code) = said(&folder, "tune . --implementation fats");
    assert!(
        code == 2 && text.contains("there is no implementation `fats`") && text.contains("did you mean fast?"),
        "{text}"
    );
    let (text, _) = said(&folder, "gate . --config implementation=fats");
    assert!(text.contains("expected one of slow, fast, wrong"), "{text}");
}
