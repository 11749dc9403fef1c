//! docs/json.md names every key that a verb prints with `--json`, and no other. An object whose keys the document does not
//! list (a configuration, the environment) is taken as a whole.

use std::collections::{BTreeMap, BTreeSet};

use kiln_core::Gate;
use kiln_stats::Verdict;
use kiln_study::TuneVerdict;
use serde_json::Value;

use crate::{cuda, document, empty_folder, shell};

/// Keys listed under each heading `## kiln VERB`, as paths, `workloads[].name`, and whether they may be missing.
fn documented() -> BTreeMap<String, BTreeMap<String, bool>> {
    let mut sections: BTreeMap<String, BTreeMap<String, bool>> = BTreeMap::new();
    let mut verb = None;
    for line in document("docs/json.md").lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            verb = heading.strip_prefix("kiln ").map(String::from);
        }
        let key = line.strip_prefix("| `").and_then(|rest| rest.split_once('`'));
        if let (Some(verb), Some((key, rest))) = (&verb, key) {
            let optional = rest.split('|').nth(1).is_some_and(|value| value.trim().ends_with("optional"));
            let old = sections.entry(verb.clone()).or_default().insert(key.into(), optional);
            assert!(old.is_none(), "docs/json.md lists {key} of kiln {verb} twice");
        }
    }
    sections
}

/// What a verb printed, in all its runs, gone through along the documented paths.
#[derive(Default)]
struct Keys {
    there: BTreeSet<String>,
    /// Objects and lists that were empty or null in some run: where no other filled them, nothing is known of what they hold.
    hollow: BTreeSet<String>,
}

/// Whether a path leads through another.
fn within(key: &str, outer: &str) -> bool {
    key.strip_prefix(outer).is_some_and(|rest| rest.starts_with(['.', '[']))
}

impl Keys {
    fn known(&self, key: &str) -> bool {
        let never_filled = |outer: &&String| !self.there.iter().any(|there| within(there, outer));
        self.there.contains(key) || self.hollow.iter().filter(never_filled).any(|outer| within(key, outer))
    }

    fn walk(&mut self, value: &Value, prefix: &str, documented: &BTreeMap<String, bool>) {
        let listed = |path: &str| documented.keys().any(|key| key.starts_with(path));
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    self.there.insert(path.clone());
                    if listed(&format!("{path}.")) || listed(&format!("{path}[")) {
                        self.walk(inner, &path, documented);
                    }
                }
            }
            Value::Array(items) => {
                let path = format!("{prefix}[]");
                for item in items {
                    self.walk(item, &path, documented);
                }
                if items.is_empty() {
                    self.hollow.insert(prefix.into());
                }
            }
            Value::Null => {
                self.hollow.insert(prefix.into());
            }
            _ => {}
        }
    }
}

#[test]
fn the_json_reference_names_every_key() {
    let folder = empty_folder("guide-json");
    let documented = documented();
    shell(&folder, "kiln init sample");
    let claim = "[[claims]]\nclaim = \"c\"\nkernel = \"sample\"\ntarget = \"cpu\"\nbaseline = \"naive\"\nspeedup = [1e-6, 1e6]\n";
    std::fs::write(folder.join("claims.toml"), claim).unwrap();
    // What is compiled for a GPU has more to say than what is compiled for the processor.
    let target = if cuda() { "cuda" } else { "cpu" };
    let built = format!("kiln gate sample --target {target} --until build --json");
    let until = if cuda() { " --until build" } else { "" };
    let built_everywhere = format!("kiln gate sample --arch all --json{until}");
    let all_built = format!("kiln tune sample --target {target} --until build --trials 2 --json");
    let log =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer/h200/b01_tileload_planted.memcheck.limit3.txt");
    let diagnosed = format!("kiln diagnose --sanitizer {log} --json");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/h200/p03_smallmat_planted.raw.csv");
    let profiled = format!("kiln diagnose --ncu {page} --json");
    let why = format!("kiln diagnose --ncu {page} --why shared_bank_conflict --json");
    let fixed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/h200/p03_smallmat_fixed.raw.csv");
    let compared = format!("kiln diagnose --ncu {page} --against {fixed} --json");
    // The call of expf in the loop, and its fix.
    let profile = "kiln profile fixing --target cpu --json > profiled.json 2>&1";
    let calibrated = format!(
        "cp -r sample fixing && {profile} && sed -i 's/#if POLY/#if 1/' fixing/sample.c && {profile} && kiln diagnose --calibration --json"
    );
    // A copy of the sample whose baseline forgets the last column.
    shell(&folder, "mkdir broken; cp sample/* broken; sed -i 's/c < cols/c < cols - 1/' broken/naive.c");
    // Two levels, and a repository whose second commit does not build.
    let times: Vec<String> =
        (0..30).map(|i| format!("c{i},{}", if i < 15 { 100 + i % 3 } else { 120 + i % 3 })).collect();
    std::fs::write(folder.join("times.csv"), format!("commit,time\n{}\n", times.join("\n"))).unwrap();
    let commit = "git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qam";
    shell(
        &folder,
        &format!(
            "mkdir repository; cp -r sample repository; cd repository; git init -q; git add sample; {commit} one; \
             kiln check sample --target cpu 2>log >log; echo '#error no' >> sample/sample.c; {commit} two"
        ),
    );
    // Three implementations, and two of which one does not run on the architecture.
    let versions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tune/implementations");
    shell(&folder, &format!("cp -r {versions} versions"));
    let attention = concat!("kiln space ", env!("CARGO_MANIFEST_DIR"), "/../../kernels/attention --arch sm_80 --json");
    let runs = [
        ("space", "kiln space sample --sample 2 --json"),
        ("space", attention),
        ("gate", "kiln gate sample --json"),
        ("gate", &built),
        ("gate --arch all", "kiln gate sample --arch all --json"),
        ("gate --arch all", &built_everywhere),
        ("check", "kiln check sample --json"),
        ("fuzz", "kiln fuzz sample --target cpu --runs 100 --json"),
        ("fuzz", "kiln fuzz broken --target cpu --baseline naive --json"),
        ("bench", "kiln bench sample --samples 25 --max-samples 25 --save run.json --json"),
        ("compare", "kiln compare run.json last --json"),
        (
            "sweep",
            "kiln sweep sample --target cpu --dim COLS=600,1024 --dim ROWS=COLS --samples 25 --max-samples 25 --json",
        ),
        ("ci", "kiln ci sample --update --samples 25 --max-samples 25 --json"),
        ("claims", "kiln claims claims.toml --samples 25 --max-samples 25 --json"),
        ("reproduce", "kiln reproduce run.json --regression 900 --json"),
        ("next", "kiln next sample --json"),
        ("next --tree", "kiln next sample --tree --json"),
        ("next --checklist", "kiln next sample --checklist --json"),
        ("bench --baselines", "kiln bench sample --baselines --samples 25 --max-samples 25 --json"),
        ("diagnose", &diagnosed),
        ("diagnose --ncu", &profiled),
        ("diagnose --ncu --why", &why),
        ("diagnose --ncu --against", &compared),
        ("diagnose --predict", "kiln diagnose sample --predict --board h200 --json"),
        ("profile", "kiln profile sample --target cpu --json"),
        ("diagnose --calibration", &calibrated),
        ("sanitize", "kiln sanitize sample --json"),
        ("debug", "kiln debug sample --json"),
        ("tune", "kiln tune versions --trials 4 --samples 25 --json"),
        ("tune", "kiln tune sample --trials 4 --samples 25 --json"),
        ("tune --until build", &all_built),
        ("export", "kiln export sample --target cpu --json"),
        ("history", "kiln history --json"),
        ("history --changes", "kiln history sample --changes --json"),
        ("history --series", "kiln history --series times.csv --json"),
        ("history --last-good", "cd repository && kiln history sample --last-good build --json"),
        ("bisect", "cd repository && kiln bisect sample --target cpu --until build --good HEAD~1 --json"),
        ("show", "kiln show last --json"),
        ("simulate", "kiln simulate last --strategy random --repeats 2 --json"),
        ("init", "kiln init another --json"),
        ("init --from", "kiln init --from sample/naive.c from_naive --json"),
        ("doctor", "kiln doctor --json"),
        ("cache", "kiln cache --json"),
        ("explain", "kiln explain spills --json"),
        ("session start", "kiln session start sample --goal '1.2x' --budget 1h --price 3/h --json"),
        ("session status", "kiln session status --json"),
        ("session decide", "kiln session decide --choose 1 --because 'it is early' --json"),
        ("session end", "kiln session end --json"),
        ("session list", "kiln session list --json"),
        ("lessons", "kiln lessons --json"),
        ("lessons --calibration", "kiln lessons --calibration --json"),
        ("lessons show", "kiln lessons show hang --json"),
        ("report", "kiln report sample -o report.html --json"),
        ("plot", "kiln plot gates sample --json"),
        (
            "serve",
            "kiln serve --port 0 --token --json > served.json 2> /dev/null & while [ ! -s served.json ]; do sleep 0.05; done; kill -INT $!; wait; cat served.json",
        ),
        ("review export", "kiln review export sample -o reviewed --json"),
        (
            "review add",
            "printf 'version = 1\nreviewer = \"A\"\n[[remark]]\nabout = \"decision\"\nstudy = \"sample\"\ntext = \"t\"\n' > r.toml && kiln review add r.toml --json",
        ),
        ("lessons add", "kiln lessons add --title Ours --text zebra --json"),
        ("lessons retire", "kiln lessons retire hang --because 'we never hang' --json"),
        ("lessons export", "kiln lessons export team.json hang --json"),
        ("lessons import", "kiln lessons import team.json --json"),
    ];
    let verbs: BTreeSet<&str> = runs.iter().map(|(verb, _)| *verb).collect();
    assert_eq!(documented.keys().map(String::as_str).collect::<BTreeSet<_>>(), verbs);
    let mut printed: BTreeMap<&str, Keys> = BTreeMap::new();
    for (verb, line) in runs {
        let text = shell(&folder, &format!("{line} 2>log"));
        let object: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}\n{text}"));
        assert!(object.get("errors").is_none(), "{line}: {object}");
        printed.entry(verb).or_default().walk(&object, "", &documented[verb]);
    }
    for (verb, keys) in printed {
        let documented = &documented[verb];
        let unknown: Vec<&String> = keys.there.iter().filter(|key| !documented.contains_key(*key)).collect();
        assert!(unknown.is_empty(), "docs/json.md does not name these keys of kiln {verb}: {unknown:?}");
        let absent = documented.iter().filter(|(key, optional)| !**optional && !keys.known(key));
        let absent: Vec<&String> = absent.map(|(key, _)| key).collect();
        assert!(absent.is_empty(), "kiln {verb} does not print these keys of docs/json.md: {absent:?}");
    }
}

#[test]
fn every_event_is_documented() {
    let folder = empty_folder("guide-events");
    let documented: BTreeSet<String> = list("Events").into_iter().collect();
    shell(&folder, "kiln init sample");
    shell(&folder, "kiln tune sample --trials 4 --samples 25 --no-stop --json --events tune.jsonl 2>log");
    shell(&folder, "kiln check sample --config LANED=4 --json --events check.jsonl 2>log");
    let mut told = BTreeSet::new();
    for file in ["tune.jsonl", "check.jsonl"] {
        for line in std::fs::read_to_string(folder.join(file)).unwrap().lines() {
            let object: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            let event = object["event"].as_str().unwrap();
            let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
            assert_eq!(keys[..4], ["version", "at_ms", "study", "event"], "{line}");
            told.extend(keys[..4].iter().map(ToString::to_string));
            told.extend(keys[4..].iter().map(|key| format!("{event}.{key}")));
            if keys.len() == 4 {
                told.insert(event.to_string());
            }
        }
    }
    let unknown: Vec<&String> = told.difference(&documented).collect();
    assert!(unknown.is_empty(), "docs/json.md does not name {unknown:?}");
    // These do not happen in every study.
    let rare = ["warning.", "note.", "silence.", "ablation."];
    let absent = documented.difference(&told).filter(|key| !rare.iter().any(|event| key.starts_with(event)));
    let absent: Vec<&String> = absent.collect();
    assert!(absent.is_empty(), "docs/json.md names {absent:?}, which no event has");
}

/// The names in the first column of the table under a heading.
fn list(heading: &str) -> Vec<String> {
    let text = document("docs/json.md");
    let rest = text.split(&format!("## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no heading {heading}"));
    let rows = rest.split("\n## ").next().unwrap_or_default().lines();
    rows.filter_map(|l| Some(l.strip_prefix("| `")?.split_once('`')?.0.to_string())).collect()
}

#[test]
fn the_closed_lists_are_complete() {
    assert_eq!(list("Verdicts of a study"), TuneVerdict::ALL.map(|v| v.name().to_string()));
    assert_eq!(list("Verdicts of a comparison"), Verdict::ALL.map(|v| v.name().to_string()));
    assert_eq!(list("Gates"), Gate::ALL.iter().map(|g| g.name().to_string()).collect::<Vec<_>>());
    let folder = empty_folder("guide-refusal");
    shell(&folder, "kiln init sample");
    let text = shell(&folder, "kiln gate sample --config LANES=16 --json");
    let object: Value = serde_json::from_str(&text).unwrap();
    let refusal = object["rules"][0]["refusal"].as_object().unwrap();
    assert_eq!(refusal.keys().cloned().collect::<Vec<_>>(), list("A refusal"));
}
