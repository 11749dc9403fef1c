//! Records of other kilns: settings, environments, summaries and details in the form of today's, with fields that are missing and
//! fields that nobody knows. They read back as far as they are understood, and are printed as they were written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::Gate;
use kiln_store::{Kept, Store, Study, Trial, TuneVerdict};
use serde_json::{Value, json};

use crate::example;

/// As the kiln of before typed records wrote them.
const OPTIONS: &str = r#"{"seed":18446744073709551615,"strategy":"auto","priors":["a.json"],"seed_trials":20,"search_trials":100,
    "search_samples":9,"pairs":20,"most_pairs":100,"width":0.01,"pair_samples":5,"workload":"s128","baseline":null,
    "stop_rule":true,"cache":"warm","threads":1,"pin":true,"ahead":4,"patience":5.0,"memory":null,"build_timeout":120.0,
    "finalists":3,"ablation":true,"target_speedup":null}"#;
const ENVIRONMENT: &str = r#"{"host":"h","processor":"a CPU","cpus":[0,1],"measuring_on":[1],"threads":1,
    "memory_available":8589934592,"load":0.25,"megahertz":2999.6,"governor":null,"system":"6.1","gpu":{"name":"a GPU","uuid":
    "GPU-1","capability":[9,0],"state":{}},"other_gpus":[],"cuda":"13.0","compiler":"cc 13.3","python":{"version":"3.12.1",
    "numpy":"2.1.0","torch":null},"peaks":{"flops":1e12,"cold":null,"bandwidths":[[1.0,2.0]]},"kiln":"0.1.0","folder":"/k"}"#;
const SUMMARY: &str = r#"{"verdict":"reached","reason":"confirmed","workloads":[{"name":"small","best_ms":2.0,
    "best_ci95_ms":[1.9,2.1],"baseline_ms":3.0,"baseline_ci95_ms":[2.9,3.1],"speedup":1.5,"speedup_ci95":[1.45,1.55],
    "cliffs_delta":1.0,"p_value":1e-9,"verdict":"faster","samples":100,"warnings":[],"checked":{"timed":9,"compared":8,
    "reference":7,"detects":0.5},"notes":["n"],"kernels":[],"baseline_kernels":[],"holdout":false}],
    "config":{"Z":8,"A":"true"},"speedup":1.5,"speedup_ci95":[1.45,1.55],"target_speedup":1.1,"baseline":"numpy","trials":5,
    "refused":{"numerics":1},"late":[],"sanitized":[],"ablation":[{"tunable":"Z","from":"8","to":"4","worth":1.2}],"seed":7,"seconds":83.0,
    "study":"id"}"#;
const DETAILS: &str = r#"{"scrutiny":{"z":{"checked":{"timed":9,"compared":8,"reference":7,"detects":null},"notes":[],
    "hidden":0.25},"a":{"checked":{"timed":1,"compared":0,"reference":0,"detects":null},"notes":[]}},
    "kernels":{"z":[["k1"],[]]}}"#;

/// Written into a store, and read from it again.
fn stored(options: &Value, environment: &Value, summary: &Value, details: &Value) -> (Study, Trial) {
    let (store, folder) = example::store();
    let study = Study {
        options: Kept::found(options.clone()),
        environment: Kept::found(environment.clone()),
        summary: Some(Kept::found(summary.clone())),
        ..example::study("softmax", 1)
    };
    store.begin(&study).unwrap();
    let trial = Trial { details: Kept::found(details.clone()), ..example::trial("confirm", 0) };
    store.record(&study.id, &trial, &[]).unwrap();
    drop(store);
    let store = Store::open(&example::place(&folder)).unwrap();
    let (study, trial) = (store.find("last").unwrap(), store.trials(&study.id).unwrap().remove(0));
    // Printed as it was, to the order of its fields.
    for (read, written) in [
        (json!(study.options), options),
        (json!(study.environment), environment),
        (json!(study.summary), summary),
        (json!(trial.details), details),
    ] {
        assert_eq!(read.to_string(), written.to_string());
    }
    (study, trial)
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_record_of_todays_form_is_understood() {
    let (study, trial) = stored(&json_of(OPTIONS), &json_of(ENVIRONMENT), &json_of(SUMMARY), &json_of(DETAILS));
    let options = study.options.read().unwrap();
    assert_eq!((options.seed, options.pairs, options.workload.as_deref()), (Some(u64::MAX), Some(20), Some("s128")));
    // Typed, it is written as it was.
    assert_eq!(serde_json::to_string(options).unwrap(), json_of(OPTIONS).to_string());

    let environment = study.environment.read().unwrap();
    assert_eq!((environment.device(), environment.folder.as_deref()), (Some("a GPU"), Some("/k")));
    assert_eq!((environment.memory_available, environment.governor.clone()), (Some(8 << 30), None));
    assert_eq!(environment.python.clone().unwrap().numpy.as_deref(), Some("2.1.0"));

    let summary = study.summary.as_ref().unwrap().read().unwrap();
    assert_eq!((summary.verdict, summary.refused[&Gate::Numerics]), (TuneVerdict::Reached, 1));
    assert_eq!(summary.workloads[0].checked.unwrap().compared, 8);
    assert_eq!(serde_json::to_string(summary).unwrap(), json_of(SUMMARY).to_string());
    assert_eq!(study.winner().unwrap().to_string(), "Z=8,A=true");

    let details = trial.details.read().unwrap();
    assert_eq!(details.scrutiny.as_ref().unwrap().get("z").unwrap().hidden, 0.25);
    // Not yet recorded then.
    assert_eq!(details.scrutiny.as_ref().unwrap().get("a").unwrap().hidden, 0.0);
    assert_eq!(details.kernels.as_ref().unwrap().get("z").unwrap()[0], ["k1"]);
    assert!(details.kernels.as_ref().unwrap().get("a").is_none());
}

/// A record without one of its fields and with one that nobody knows.
fn changed(text: &str, missing: &str, odd: (&str, Value)) -> Value {
    let Value::Object(mut fields) = json_of(text) else { panic!("{text}") };
    fields.remove(missing).unwrap();
    fields.insert("from_tomorrow".into(), json!([1]));
    fields.insert(odd.0.into(), odd.1);
    Value::Object(fields)
}

#[test]
fn missing_and_unknown_fields_cost_as_little_as_they_can() {
    let options = changed(OPTIONS, "pairs", ("width", json!(0.5)));
    let environment = changed(ENVIRONMENT, "host", ("cpus", json!("all")));
    let summary = changed(SUMMARY, "late", ("seed", json!(8)));
    let details = changed(DETAILS, "kernels", ("subject", json!("first")));
    let (study, trial) = stored(&options, &environment, &summary, &details);
    // A setting this kiln does not know: the study cannot go on, and what lists need is there.
    assert!(study.options.read().unwrap_err().contains("from_tomorrow"));
    assert_eq!(study.workload().as_deref(), Some("s128"));
    // Elsewhere an unknown field is no harm, and one of another form costs itself.
    let environment = study.environment.read().unwrap();
    assert_eq!((&environment.cpus, &environment.host, environment.load), (&None, &None, Some(0.25)));
    let summary = study.summary.as_ref().unwrap().read().unwrap();
    assert!(summary.late.is_empty() && summary.seed == 8);
    let details = trial.details.read().unwrap();
    assert!(details.subject.is_none() && details.kernels.is_none() && details.scrutiny.is_some());

    // A setting of before it was recorded.
    let Value::Object(mut old) = json_of(OPTIONS) else { panic!() };
    old.remove("pairs").unwrap();
    let study = Study { options: Kept::found(Value::Object(old)), ..study };
    assert_eq!(study.options.read().unwrap().pairs, None);
}

#[test]
fn what_is_not_understood_as_a_whole_is_read_in_part() {
    let summary = changed(SUMMARY, "reason", ("verdict", json!("splendid")));
    let strange = json!("strange");
    let (study, trial) = stored(&strange, &strange, &summary, &strange);
    assert!(study.options.read().is_err() && study.environment.read().is_err() && trial.details.read().is_err());
    assert_eq!((study.workload(), study.device()), (None, None));
    assert!(study.summary.as_ref().unwrap().read().unwrap_err().contains("splendid"));
    assert_eq!((study.tried(), study.speedup()), (Some(5), Some((1.5, [1.45, 1.55]))));
    assert_eq!(study.winner().unwrap().to_string(), "Z=8,A=true");
    let apart = json!({"config": null, "workloads": [{"name": "w", "config": {"A": 1}}, {"name": "v", "new": 1}, {}]});
    let study = Study { summary: Some(Kept::found(apart)), ..study };
    assert!(study.winner().is_none());
    assert_eq!(study.winners().iter().map(|(w, c)| format!("{w}: {c}")).collect::<Vec<_>>(), ["w: A=1"]);
}
