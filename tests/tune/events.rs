//! `kiln tune --events`: the whole course of a study, line by line, also of one that is broken off.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{folder, run, spawn, trials};

const SEARCHING: [&str; 3] = ["default", "seed", "search"];

/// Every line as an object; the last line must be whole.
fn lines(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut off: {text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn named<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

/// Waits until so many trials were told of.
fn wait_for(folder: &Path, child: &mut Child, count: usize) {
    let begun = Instant::now();
    // A line that is just being written is not whole yet.
    let told = || {
        let text = std::fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
        text.matches("\"event\":\"trial\"").count()
    };
    while told() < count {
        assert!(child.try_wait().unwrap().is_none(), "the study ended by itself");
        assert!(begun.elapsed() < Duration::from_secs(120), "no {count} trials in two minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What every file of events keeps: one study, which all that follows belongs to, and moments in order.
fn keeps_order(lines: &[Value]) -> String {
    assert!(lines.iter().all(|line| line["version"] == 1));
    assert!(lines.is_sorted_by_key(|line| line["at_ms"].as_i64().unwrap()), "moments go back");
    let begun = lines.iter().position(|line| line["event"] == "study").expect("no study");
    assert_eq!(named(lines, "study").len(), 1);
    let before =
        |line: &Value| ["warning", "note", "phase", "step", "phase_end"].contains(&line["event"].as_str().unwrap());
    assert!(lines[..begun].iter().all(|line| before(line) && line["study"].is_null()));
    let id = lines[begun]["study"].as_str().unwrap();
    assert!(lines[begun..].iter().all(|line| line["study"] == id));
    // A trial belongs to the phase that was begun last.
    let mut phase = Value::Null;
    for line in &lines[begun..] {
        match line["event"].as_str().unwrap() {
            "phase" => phase = line["phase"].clone(),
            "trial" | "step" => assert_eq!(line["phase"], phase, "{line}"),
            _ => {}
        }
    }
    id.to_string()
}

#[test]
fn the_events_of_a_study_tell_its_whole_course() {
    let folder = folder("events");
    let line = "tune @kernels/softmax --json --trials 6 --samples 25 --seed 5 --no-stop --events events.jsonl";
    let (summary, code) = run(&folder, line);
    let told = lines(&folder);
    assert_eq!(keeps_order(&told), summary["study"].as_str().unwrap());
    let first = named(&told, "study")[0];
    assert_eq!((&first["kernel"], &first["seed"], &first["recorded"]), (&"softmax".into(), &5.into(), &0.into()));
    assert_eq!(named(&told, "baseline").len(), 2, "one for each tuned workload");
    // What is told is what is recorded.
    let searching = |trial: &&Value| SEARCHING.contains(&trial["phase"].as_str().unwrap());
    let events: Vec<&Value> = named(&told, "trial").into_iter().filter(searching).collect();
    let all = trials(&folder);
    let recorded: Vec<&Value> = all.iter().filter(searching).collect();
    assert_eq!(events.len(), recorded.len());
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!(events.len() as u64, count("trials") - count("ablated"));
    for (event, trial) in events.iter().zip(&recorded) {
        assert_eq!((&event["phase"], &event["number"]), (&trial["phase"], &trial["number"]));
        assert_eq!(event["state"], trial["state"]);
        let (ms, seconds) = (event["cost_ms"].as_f64(), trial["cost"].as_f64());
        assert!(ms.zip(seconds).is_none_or(|(ms, s)| (ms - s * 1e3).abs() < 1e-9 * ms), "{event} {trial}");
    }
    let end = told.last().unwrap();
    let ending = match code {
        0 => "done",
        4 => "not_reached",
        other => panic!("code {other}"),
    };
    assert_eq!((end["event"].as_str(), end["ending"].as_str()), (Some("end"), Some(ending)));
    assert_eq!(end["reason"], summary["reason"]);
    // A replay tells the same trials, all of them from the record.
    let id = summary["study"].as_str().unwrap();
    run(&folder, &format!("tune @kernels/softmax --json --replay {id} --events events.jsonl"));
    let again = lines(&folder);
    assert_eq!(keeps_order(&again), id);
    let replayed: Vec<&Value> = named(&again, "trial").into_iter().filter(searching).collect();
    assert!(replayed.len() == events.len() && replayed.iter().all(|trial| trial["recorded"] == true));
}

#[test]
fn a_study_that_is_broken_off_leaves_whole_lines() {
    let folder = folder("events-broken");
    let mut child = spawn(&folder, "tune @kernels/softmax --trials 60 --seed 9 --events events.jsonl");
    wait_for(&folder, &mut child, 2);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let told = lines(&folder);
    let id = keeps_order(&told);
    let end = told.last().unwrap();
    assert_eq!((end["event"].as_str(), end["ending"].as_str()), (Some("end"), Some("interrupted")));

    // Killed, it has no time to say so; what it said is whole all the same.
    let mut child = spawn(&folder, "tune @kernels/softmax --resume --events events.jsonl");
    let known = named(&told, "trial").len();
    wait_for(&folder, &mut child, known + 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let told = lines(&folder);
    assert_eq!(keeps_order(&told), id);
    assert!(named(&told, "end").is_empty());
    let first = named(&told, "study")[0];
    assert!(first["recorded"].as_u64().unwrap() >= 2, "{first}");
    assert!(named(&told, "trial")[0]["recorded"] == true);
}
