//! `kiln simulate` and `kiln history --export t4`: recorded spaces of our own making, and a study really run.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::run::{empty_folder, kiln_in};

/// A Kernel Tuner cache of 300 configurations with one optimum; `slope` moves it, every thirteenth fails.
fn cache(slope: i64) -> String {
    let mut rows = Vec::new();
    for (block, tile, vec) in (1..=12).flat_map(|b| (1..=5).flat_map(move |t| (0..5).map(move |v| (b, t, 1 << v)))) {
        let time = 1.0 + ((block - slope) as f64).abs() * 0.3 + (tile as f64 - 3.0).abs() * 0.2 + f64::from(vec) * 0.05;
        let key = format!("{},{tile},{vec}", 32 * block);
        let tunables = format!("\"block_size\": {}, \"tile\": {tile}, \"vec\": {vec}", 32 * block);
        rows.push(match rows.len() % 13 {
            12 => format!("\"{key}\": {{{tunables}, \"time\": \"RuntimeFailedConfig\"}}"),
            _ => format!("\"{key}\": {{{tunables}, \"time\": {time}, \"times\": [{}, {}]}}", time * 0.9, time * 1.1),
        });
    }
    let mut text = String::from("{\"device_name\": \"A GPU\", \"kernel_name\": \"plain\", ");
    text.push_str("\"tune_params_keys\": [\"block_size\", \"tile\", \"vec\"], \"tune_params\": {\"block_size\": ");
    let blocks: Vec<i64> = (1..=12).map(|b| 32 * b).collect();
    writeln!(text, "{blocks:?}, \"tile\": [1, 2, 3, 4, 5], \"vec\": [1, 2, 4, 8, 16]}}, \"cache\": {{").unwrap();
    text + &rows.join(",\n") + "}\n}"
}

pub(crate) fn folder_with_caches(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    std::fs::write(folder.join("a.json"), cache(4)).unwrap();
    // Cut off in the middle of the last record, as by an interrupted tuner.
    let second = cache(9);
    std::fs::write(folder.join("b.json"), &second[..second.len() - 30]).unwrap();
    folder
}

fn simulate(folder: &Path, words: &[&str]) -> Value {
    let ran = kiln_in(folder, &[&["simulate"][..], words, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

fn without_times(mut object: Value) -> Value {
    for run in object["runs"].as_array_mut().unwrap() {
        assert!(run["ask_us"].as_f64().unwrap() > 0.0);
        run["ask_us"] = Value::Null;
    }
    object
}

#[test]
fn every_file_strategy_and_budget_has_a_run() {
    let folder = folder_with_caches("simulate_runs");
    let object = simulate(&folder, &["a.json", "b.json", "--strategy", "random,tpe", "--repeats", "8", "--seed", "3"]);
    let runs = object["runs"].as_array().unwrap();
    let mut wanted = Vec::new();
    for file in ["a.json", "b.json"] {
        for strategy in ["random", "tpe"] {
            wanted.extend([20, 50, 100, 220].map(|budget| (file, strategy, budget)));
        }
    }
    let named = |run: &'_ Value| -> (String, String, u64) {
        let word = |key: &str| run[key].as_str().unwrap().to_string();
        (word("file"), word("strategy"), run["budget"].as_u64().unwrap())
    };
    let found: Vec<_> = runs.iter().map(named).collect();
    let wanted: Vec<_> = wanted.iter().map(|(f, s, b)| (f.to_string(), s.to_string(), *b)).collect();
    assert_eq!(found, wanted);
    let keys = ["ask_us", "budget", "failed", "file", "mean", "p10", "repeats", "se", "strategy"];
    for run in runs {
        let mut there: Vec<&String> = run.as_object().unwrap().keys().collect();
        there.sort();
        assert_eq!(there, keys);
        let (mean, p10) = (run["mean"].as_f64().unwrap(), run["p10"].as_f64().unwrap());
        assert!(0.0 < p10 && p10 <= mean + 1e-12 && mean <= 1.0, "{run}");
        assert!(run["se"].as_f64().unwrap() >= 0.0 && run["failed"].as_f64().unwrap() > 0.0);
    }
    // More evaluations never make the best worse.
    for pair in runs.windows(2).filter(|pair| pair[0]["budget"].as_u64() < pair[1]["budget"].as_u64()) {
        assert!(pair[0]["mean"].as_f64() <= pair[1]["mean"].as_f64(), "{pair:?}");
    }
}

#[test]
fn the_seed_decides_and_the_number_of_threads_does_not() {
    let folder = folder_with_caches("simulate_seed");
    let words = ["a.json", "--strategy", "tpe", "--repeats", "6", "--budget", "50"];
    let run = |more: &[&str]| without_times(simulate(&folder, &[&words[..], more].concat()));
    let first = run(&["--seed", "7", "--threads", "1"]);
    assert_eq!(first, run(&["--seed", "7", "--threads", "3"]));
    assert_ne!(first, run(&["--seed", "8"]));
    assert_ne!(first, run(&["--seed", "7", "--noise"]));
}

#[test]
fn a_search_of_the_whole_space_finds_the_optimum() {
    let folder = folder_with_caches("simulate_whole");
    let object = simulate(&folder, &["a.json", "--strategy", "random", "--repeats", "2", "--budget", "300"]);
    assert_eq!(object["runs"].as_array().unwrap().len(), 4);
    assert_eq!(object["runs"][3]["failed"], 23.0, "every failed configuration was met");
}

#[test]
fn a_small_budget_and_a_prior_have_budgets_of_their_own() {
    let folder = folder_with_caches("simulate_budgets");
    let budgets = |words: &[&str]| -> Vec<u64> {
        let object = simulate(&folder, &[&["a.json", "--strategy", "random", "--repeats", "2"], words].concat());
        object["runs"].as_array().unwrap().iter().map(|run| run["budget"].as_u64().unwrap()).collect()
    };
    assert_eq!(budgets(&["--budget", "7"]), [7]);
    assert_eq!(budgets(&["--budget", "60"]), [20, 50]);
    assert_eq!(budgets(&["--budget", "60", "--prior", "b.json"]), [10, 20, 50]);
    assert_eq!(budgets(&["--budget", "12", "--prior", "b.json", "--invert-prior"]), [10]);
}

#[test]
fn tables_and_the_figure_are_for_people() {
    let folder = folder_with_caches("simulate_table");
    let words = ["simulate", "a.json", "b.json", "--strategy", "random,latin", "--repeats", "4", "--figure", "c.svg"];
    let ran = kiln_in(&folder, &words);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for words in ["of 4 repeats", "plain on A GPU, 300 configurations, 23 failed, optimum 1.05 ms", "mean over 2 files"]
    {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
    assert_eq!(ran.out.matches("latin ").count(), 3, "{}", ran.out);
    assert!(ran.err.contains("b.json ends in the middle of a record; the 299 configurations"), "{}", ran.err);
    assert!(ran.err.contains("random on a") && ran.err.contains("wrote c.svg"), "{}", ran.err);
    let svg = std::fs::read_to_string(folder.join("c.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<polyline").count(), 4);
}

#[test]
fn the_help_names_every_strategy() {
    let help = kiln_in(&empty_folder("simulate_help"), &["simulate", "--help"]).out;
    for kind in kiln_search::Kind::ALL {
        assert!(help.contains(kind.name()), "{kind}\n{help}");
    }
    assert!(help.contains("--invert-prior") && help.contains("kiln simulate last"), "{help}");
}

#[test]
fn mistakes_are_told() {
    let folder = folder_with_caches("simulate_mistakes");
    std::fs::write(folder.join("t1.json"), "{\"ConfigurationSpace\": {\"TuningParameters\": []}}").unwrap();
    let told = |words: &[&str], code: i32, part: &str| {
        let ran = kiln_in(&folder, &[&["simulate"], words].concat());
        assert_eq!(ran.code, code, "{words:?} {}", ran.err);
        assert!(ran.err.contains(part), "{words:?} {}", ran.err);
    };
    told(&["none.json", "--strategy", "random"], 2, "none.json is neither a file nor a study: there is no such file");
    told(&["softmax", "--strategy", "random"], 2, "softmax is neither a file nor a study: there are no studies here");
    told(&["a.json", "--strategy", "randon"], 2, "did you mean 'random'?");
    told(&["t1.json", "--strategy", "random"], 2, "is a T1 file: it describes a space, and records nothing");
    told(&["a.json", "--strategy", "random", "--invert-prior"], 2, "--prior");
    told(&["a.json", "--strategy", "random", "--budget", "0"], 2, "--budget");
    told(&["a.json", "--strategy", "random", "--constant", "startup"], 2, "expected NAME=NUMBER");
    told(&["a.json", "--strategy", "random", "--repeats", "2", "--figure", "no/where.svg"], 1, "writing no/where.svg");
    told(&[], 2, "FILE|STUDY");
    assert!(!folder.join(".kiln").exists(), "looking makes no store");
}

#[test]
fn ctrl_c_ends_it_with_nothing_half_written() {
    let folder = folder_with_caches("simulate_interrupt");
    let words = ["simulate", "b.json", "--strategy", "tpe", "--repeats", "100000", "--json", "--figure", "c.svg"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_kiln"));
    child.args(words).current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    // It has begun when it warns of the file that is cut off.
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    assert!(told.read_line(&mut line).unwrap() > 0 && line.contains("ends in the middle"), "{line}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{rest}");
    assert!(ended.stdout.is_empty() && rest.contains("nothing is written"), "{rest}");
    let mut left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.json", "b.json"]);
}

#[test]
fn a_study_is_exported_as_t4_and_replayed_from_both() {
    let folder = empty_folder("simulate_study");
    assert_eq!(kiln_in(&folder, &["init", "tiny"]).code, 0);
    let file = folder.join("tiny/kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let small = text.replace("ROWS = 64, COLS = 600", "ROWS = 2, COLS = 64");
    std::fs::write(&file, small.replace("ROWS = 256, COLS = 1024", "ROWS = 4, COLS = 64")).unwrap();
    let source = folder.join("tiny/tiny.c");
    let code = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("#if LANES == 16\n#error too many lanes\n#endif\n{code}")).unwrap();
    let words = ["tune", "tiny", "--trials", "12", "--samples", "25", "--no-ablation", "--no-stop", "--seed", "5"];
    let tuned = kiln_in(&folder, &words);
    assert!([0, 4].contains(&tuned.code), "{}{}", tuned.out, tuned.err);

    let printed = kiln_in(&folder, &["history", "last", "--export", "t4"]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    let written = kiln_in(&folder, &["history", "tiny", "--export", "t4", "--output", "tiny_T4.json"]);
    assert_eq!((written.code, written.out.as_str()), (0, ""), "{}", written.err);
    assert_eq!(std::fs::read_to_string(folder.join("tiny_T4.json")).unwrap(), printed.out);

    let object: Value = serde_json::from_str(&printed.out).unwrap();
    let results = object["results"].as_array().unwrap();
    let story: Value = serde_json::from_str(&kiln_in(&folder, &["show", "last", "--json"]).out).unwrap();
    let searched = |trial: &&Value| ["default", "seed", "search"].contains(&trial["phase"].as_str().unwrap());
    let trials: Vec<&Value> = story["trials"].as_array().unwrap().iter().filter(searched).collect();
    assert_eq!(results.len(), trials.len());
    for (result, trial) in results.iter().zip(&trials) {
        let refused = trial["state"] == "refused";
        assert_eq!(result["invalidity"], if refused { "compile" } else { "correct" });
        assert_eq!(result["correctness"], u8::from(!refused));
        assert_eq!(result["times"]["runtimes"].as_array().unwrap().is_empty(), refused);
        let keys: Vec<&String> = result["configuration"].as_object().unwrap().keys().collect();
        assert!(keys.iter().any(|key| *key == "LANES"), "{keys:?}");
    }

    // The store and the file are the same space.
    let words = ["--strategy", "random", "--repeats", "4", "--budget", "8"];
    let runs = ["last", "tiny_T4.json"].map(|name| {
        let mut object = without_times(simulate(&folder, &[&[name][..], &words].concat()));
        assert_eq!(object["runs"][0]["file"], name);
        object["runs"][0]["file"] = Value::Null;
        object["runs"][0]["mean"] = Value::from(format!("{:.9}", object["runs"][0]["mean"].as_f64().unwrap()));
        (object["runs"][0]["mean"].clone(), object["runs"][0]["failed"].clone())
    });
    assert_eq!(runs[0], runs[1]);

    let wrong = kiln_in(&folder, &["history", "last", "--export", "t4", "--workload", "small"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("tuned all its workloads together"), "{}", wrong.err);
    assert_eq!(kiln_in(&folder, &["history", "--export", "t4"]).code, 2);
}

/// Whole spaces that kiln recorded on an H200: attention's 3,944 configurations, the plain matmul's 828.
#[test]
fn on_recorded_kernels_of_our_own_auto_needs_fewer_evaluations_than_chance() {
    let folder = empty_folder("simulate_recorded");
    let file = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels").join(path);
    let recorded = [
        (file("attention/results/s2048_d64-h200.json.gz"), 3944),
        (file("matmul_float/results/n1024-h200.json.gz"), 828),
    ];
    for (path, count) in recorded {
        let words =
            [path.to_str().unwrap(), "--strategy", "auto,random", "--budget", "50", "--repeats", "16", "--seed", "1"];
        let ran = kiln_in(&folder, &[&["simulate"][..], &words].concat());
        let said = ran.out.replace(',', "");
        assert!(said.contains(&format!("{count} configurations 0 failed")), "{}", ran.out);
        let object = simulate(&folder, &words);
        let mean = |strategy: &str, budget: u64| {
            let runs = object["runs"].as_array().unwrap();
            let of = |run: &&Value| run["strategy"] == strategy && run["budget"] == budget;
            runs.iter().find(of).unwrap()["mean"].as_f64().unwrap()
        };
        // The same seed gives the same searches: these figures do not change from run to run.
        for budget in [20, 50] {
            let (auto, random) = (mean("auto", budget), mean("random", budget));
            assert!(auto > random && auto <= 1.0, "{}: {auto} against {random} at {budget}", path.display());
        }
    }
}
