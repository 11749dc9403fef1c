//! Workloads tuned apart, and together.

use kiln_core::Config;
use kiln_study::TuneVerdict;

use crate::memory::Memory;
use crate::script::{At, Script, bowl, refusal};

const TWO: &str =
    "[[workloads]]\nname = \"small\"\ndims = { N = 8 }\n[[workloads]]\nname = \"large\"\ndims = { N = 16 }\n";

/// On the large workload the best is elsewhere.
fn mirrored(config: &Config, workload: &str) -> f64 {
    if workload == "large" {
        let value = |name: &str| config.get(name).and_then(|v| v.to_string().parse::<f64>().ok()).unwrap_or(0.0);
        return 2e-3 * (1.0 + 0.1 * value("A") + 0.1 * value("B"));
    }
    bowl(config, workload)
}

fn apart() -> Script {
    let mut script = Script::new(&format!("[objective]\nper_workload = true\n{TWO}"));
    (script.time, script.settings.search_trials, script.baseline) = (Box::new(mirrored), 120, Some(8e-3));
    script
}

#[test]
fn every_workload_has_its_own_winner() {
    let played = apart().play();
    let summary = played.summary();
    assert_eq!(summary.config, None);
    let winners: Vec<String> =
        summary.workloads.iter().map(|w| w.config.as_ref().map_or(String::new(), ToString::to_string)).collect();
    assert_eq!(winners[0], "A=7,B=5,C=1");
    assert!(winners[1].starts_with("A=0,B=0"), "{winners:?}");
    assert!(played.heard("phase small/search") && played.heard("phase large/confirm"));
    assert!(summary.ablation.iter().all(|entry| entry.workload.is_some()));
    let least = summary.workloads.iter().min_by(|a, b| a.speedup.total_cmp(&b.speedup)).unwrap();
    let words = format!("confirmed {:.2}x on {}, the smallest of 2 workloads (target", least.speedup, least.name);
    assert!(summary.reason.starts_with(&words), "{}: expected {words}", summary.reason);
}

#[test]
fn what_the_ablation_found_faster_is_named_with_its_workload() {
    let mut script = apart();
    script.time = Box::new(|config, workload| match (workload, &*config.to_string()) {
        ("small", "A=7,B=5,C=0") => 0.8e-3,
        _ => mirrored(config, workload),
    });
    // In the search it is refused for once, as if the machine had failed it.
    let seen = std::cell::Cell::new(false);
    script.refuse = Box::new(move |config, at| {
        let first = at == At::Trial && config.to_string() == "A=7,B=5,C=0" && !seen.replace(true);
        first.then(|| refusal(kiln_core::Gate::Timeout, "60 s"))
    });
    let played = script.play();
    assert!(played.heard("ablation measured A=7,B=5,C=0 as faster than the winner on small: confirmed"));
}

#[test]
fn together_there_is_one_for_all() {
    let mut script = Script::new(TWO);
    (script.time, script.settings.search_trials, script.baseline) = (Box::new(mirrored), 120, Some(8e-3));
    let played = script.play();
    let summary = played.summary();
    assert_eq!((summary.workloads.len(), summary.workloads[0].config.as_ref()), (2, None));
    assert!(summary.config.is_some());
    let speedups: Vec<f64> = summary.workloads.iter().map(|w| w.speedup).collect();
    let together = (speedups[0] * speedups[1]).sqrt();
    assert!((summary.speedup.unwrap() / together - 1.0).abs() < 0.01);
}

#[test]
fn the_worst_verdict_is_that_of_the_study() {
    for (at, verdict) in [(At::Trial, TuneVerdict::NoValidCandidate), (At::Ablation, TuneVerdict::Reached)] {
        let mut script = apart();
        let times = std::cell::Cell::new(0);
        // The second campaign's trials are all refused: they come after the first one's.
        script.refuse = Box::new(move |config, here| {
            if here == At::Trial {
                times.set(times.get() + 1);
            }
            (here == at && times.get() > 60).then(|| refusal(kiln_core::Gate::Numerics, &config.to_string()))
        });
        script.settings.search_trials = 51;
        let played = script.play();
        assert_eq!(played.summary().verdict, verdict, "{at:?}: {}", played.summary().reason);
    }
}

#[test]
fn time_is_shared_between_them() {
    let mut script = apart();
    script.minutes = Some(1.0);
    let played = script.play();
    let of = |name: &str| played.told.iter().filter(|line| line.starts_with(&format!("trial {name}/"))).count();
    assert!(of("small") > 10 && of("large") > 10, "{} and {}", of("small"), of("large"));
    assert!(played.seconds <= 70.0, "{}", played.seconds);
}

#[test]
fn each_goes_on_where_it_was() {
    let (script, memory) = (apart(), Memory::default());
    let whole = script.play_on(&memory, false);
    for kept in (0..memory.len()).step_by(memory.len() / 6) {
        let again = script.play_on(&memory.cut(kept), false);
        let (one, other) = (again.summary(), whole.summary());
        assert_eq!(
            (&one.workloads, &one.late, one.trials),
            (&other.workloads, &other.late, other.trials),
            "after {kept}"
        );
    }
}

#[test]
fn one_that_is_far_behind_stops_and_the_other_goes_on() {
    // The default takes 2.25 ms on the small workload and 2 ms on the large one.
    let mut script = apart();
    script.baseline = Some(1.1e-3);
    let played = script.play();
    assert_eq!(played.summary().verdict, TuneVerdict::Stopped);
    assert!(played.heard("slow"), "told at once: the summary has no configuration to profile");
    assert_eq!((played.count("duel small/standing"), played.count("duel large/standing")), (1, 0));
    assert!(!played.heard("phase small/seed") && played.heard("phase large/confirm"));
}
