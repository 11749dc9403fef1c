//! `kiln reproduce`: a run file and a study measured again, what differs, and what it refuses.

use serde_json::{Value, json};

use crate::run::{Ran, kiln_in};
use crate::twice;

fn found(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

#[test]
fn a_run_is_measured_again_and_differences_are_listed() {
    let folder = twice::folder("reproduce-run");
    let bench =
        ["bench", "twice", "--variant", "T=f32", "--samples", "25", "--max-samples", "25", "--save", "run.json"];
    assert_eq!(kiln_in(&folder, &bench).code, 0);
    let ran = kiln_in(&folder, &["reproduce", "run.json", "--json", "--regression", "900"]);
    let found = found(&ran);
    assert_eq!(ran.code, 0, "{found:#}");
    assert_eq!((found["code"].to_string().as_str(), &found["same_device"]), ("[]", &Value::Bool(true)), "{found:#}");
    assert_eq!((&found["kernel"], &found["config"]), (&"twice".into(), &"WAY=1".into()));
    // Slower by far (no noise comes near three hundred times), with another code and another compiler then.
    let slow = "for (int again = 0; again < 300; ++again) { __asm__ volatile(\"\" ::: \"memory\");\nfor (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }";
    twice::rewrite(&folder, "twice.c", "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];", slow);
    let mut file: Value = serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap();
    file["environment"]["compiler"] = "an older one".into();
    std::fs::write(folder.join("run.json"), file.to_string()).unwrap();
    let ran = kiln_in(&folder, &["reproduce", "run.json"]);
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    for part in ["not reproduced: it is slower now", "machine code of the kernel", "an older one", "regression"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    // Another device: nothing is judged.
    file["device"] = "a GPU".into();
    std::fs::write(folder.join("run.json"), file.to_string()).unwrap();
    let ran = kiln_in(&folder, &["reproduce", "run.json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("another device"), "{}", ran.out);
    // Moved, and found again where it is said to be.
    std::fs::rename(folder.join("twice"), folder.join("moved")).unwrap();
    let lost = kiln_in(&folder, &["reproduce", "run.json"]);
    assert!(lost.code == 2 && lost.err.contains("is not where it was") && lost.err.contains("--path"), "{}", lost.err);
    let found = kiln_in(&folder, &["reproduce", "run.json", "--path", "moved"]);
    assert_eq!(found.code, 0, "{}", found.err);
    let broken = std::fs::read_to_string(folder.join("moved/twice.c")).unwrap().replace("2 * x[i]", "5 * x[i]");
    std::fs::write(folder.join("moved/twice.c"), broken).unwrap();
    let wrong = kiln_in(&folder, &["reproduce", "run.json", "--path", "moved"]);
    assert_eq!(wrong.code, 3, "{}{}", wrong.out, wrong.err);
    assert!(wrong.out.contains("the configuration is refused now"), "{}", wrong.out);
}

#[test]
fn a_study_is_reproduced_from_its_confirmation() {
    let folder = twice::folder("reproduce-study");
    twice::tune(&folder, "twice", &["--variant", "T=f32"]);
    let ran = kiln_in(&folder, &["reproduce", "last", "--json", "--regression", "900"]);
    let found = found(&ran);
    assert_eq!(ran.code, 0, "{found:#}");
    assert!(found["what"].as_str().unwrap().starts_with("study "), "{found:#}");
    assert_eq!(
        (&found["comparison"]["yardstick"], found["code"].to_string().as_str()),
        (&"plain".into(), "[]"),
        "{found:#}"
    );
}

#[test]
fn what_cannot_be_measured_again_is_refused() {
    let folder = twice::folder("reproduce-refused");
    std::fs::write(folder.join("times.txt"), "1 ms\n2 ms\n").unwrap();
    std::fs::write(folder.join("cut.json"), "{\"kiln_run\": 1, ").unwrap();
    let sides = json!([{ "name": "candidate", "rounds": [[1e-6, 1e-6]] }]);
    let run = json!({
        "kiln_run": 1, "source": "kiln 0.1.0", "kernel": "twice", "path": "twice", "config": "WAY=1",
        "cache": "warm", "threads": 1, "workloads": [{ "name": "only", "shape": "N=65536", "sides": sides }],
    });
    for (name, place, value) in [
        ("cache.json", "/cache", json!("hot")),
        ("threads.json", "/threads", json!(0)),
        ("shape.json", "/workloads/0/shape", json!("N=9")),
    ] {
        let mut odd = run.clone();
        *odd.pointer_mut(place).unwrap() = value;
        std::fs::write(folder.join(name), odd.to_string()).unwrap();
    }
    for (name, words) in [
        ("cache.json", "run cache.json has cache `hot`"),
        ("threads.json", "run threads.json has threads 0"),
        ("shape.json", "run shape.json measured only with N=9; twice has N=65536"),
        ("times.txt", "kiln cannot build it"),
        ("cut.json", "ends too early"),
        ("nothing", "there is no file `nothing`"),
    ] {
        let ran = kiln_in(&folder, &["reproduce", name]);
        assert_eq!(ran.code, 2, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{name}: {}", ran.err);
    }
}
