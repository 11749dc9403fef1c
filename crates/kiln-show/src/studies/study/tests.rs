//! Stories of hand-made studies.

use kiln_store::{Kept, Note, State, Study};
use serde_json::json;

use crate::StudyView;
use crate::sample::{BEGAN, past, study, trial, trials};
use crate::studies::past::Past;

const REPEAT: &str = "kiln tune kernels/softmax --target cpu --seed 7";

fn view<'a>(past: &'a Past, trials: &'a [kiln_store::Trial], notes: &'a [Note]) -> StudyView<'a> {
    StudyView { past, trials, notes, repeat: REPEAT, kiln: "kiln" }
}

#[test]
fn the_whole_story() {
    let trials = trials();
    let notes = [Note { at_ms: BEGAN + 1000, kind: "baseline".into(), text: "numpy".into() }];
    insta::assert_snapshot!(view(&past(study(), false, &trials), &trials, &notes));
}

#[test]
fn every_refusal_and_every_trial() {
    let trials = trials();
    let past = past(study(), false, &trials);
    let view = view(&past, &trials, &[]);
    insta::assert_snapshot!(format!("{}\n{}", view.refusals(false), view.every_trial()));
}

#[test]
fn an_unfinished_study_is_told_as_far_as_it_goes() {
    let unfinished = |state| Study { state, ended_ms: None, verdict: None, summary: None, seconds: 0.0, ..study() };
    let trials = trials();
    let end = |state, gone| view(&past(unfinished(state), gone, &trials), &trials, &[]).to_string();
    assert!(end(State::Running, false).contains("still running, as process 4242@host"));
    let hint = "interrupted after 5 configurations; continue with: kiln tune kernels/softmax --target cpu --variant T=f32 --resume abcd0123";
    assert!(end(State::Running, true).contains(hint), "{}", end(State::Running, true));
    assert!(end(State::Failed, true).contains("ended by a fault after 5"));
    // What its trials took is all that is known while it runs.
    assert!(end(State::Running, false).contains("for 4.5 s"));
    let empty = view(&past(unfinished(State::Running), true, &[]), &[], &[]).to_string();
    assert!(empty.contains("no trials are recorded") && empty.contains("interrupted after 0"));
}

#[test]
fn a_summary_of_another_kiln_costs_only_its_figures() {
    let strange = Study { summary: Some(Kept::found(json!({ "verdict": "splendid" }))), ..study() };
    let text = view(&past(strange, false, &[]), &[], &[]).to_string();
    assert!(text.contains("reached; the figures cannot be read by this kiln"), "{text}");
}

#[test]
fn many_improvements_are_thinned_and_workloads_apart_are_told_apart() {
    let mut trials: Vec<_> =
        (0..30).map(|i| trial("a/search", i, &format!("LANES={i}"), 1.0 / (i + 1) as f64)).collect();
    trials.push(trial("b/seed", 0, "LANES=1", 5.0));
    let text = view(&past(study(), false, &trials), &trials, &[]).to_string();
    let list = text.split("how the best improved on a\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_eq!(list.lines().count(), 10, "{list}");
    assert!(list.contains("21 improvements left out") && list.contains("LANES 0 -> 22"), "{list}");
    assert!(text.contains("how the best improved on b\n") && text.contains("fastest while searching on b,"));
}

#[test]
fn a_winner_of_the_ablation_stands_behind_the_improvements_of_the_search() {
    let winner = "LANES=8,FUSED=true";
    let mut searched = trials();
    searched.retain(|trial| trial.phase != "search");
    let text = view(&past(study(), false, &searched), &searched, &[]).to_string();
    let line = format!(
        "  seed 0     2.50 ms  1.20x  LANES 4 -> 8\n  the ablation then found the winner, which the search had not tried: {winner} (2.00 ms when confirmed)\n"
    );
    assert!(text.contains(&line), "{text}");
    // The search may have tried it, too, and measured it as slower.
    let mut tried = trials();
    tried.iter_mut().filter(|trial| trial.config == winner).for_each(|trial| trial.cost = Some(2.6e-3));
    let note = |text: &str| Note {
        at_ms: BEGAN,
        kind: "challenger".into(),
        text: format!("ablation measured {winner} as faster than the winner: {text}"),
    };
    let told = |notes: &[Note]| view(&past(study(), false, &tried), &tried, notes).to_string();
    let took = told(&[note("confirmed 1.50x instead of 1.20x, it takes its place")]);
    assert!(took.contains(&format!("  the ablation then found the winner: {winner}\n")), "{took}");
    assert!(!told(&[note("it was refused by numerics")]).contains("the ablation then found"));
}

#[test]
fn json_keeps_its_keys() {
    let trials = trials();
    let object = view(&past(study(), false, &trials), &trials, &[]).json();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    insta::assert_snapshot!(format!(
        "{}\n\nstudy\n{}\n\ntrial\n{}",
        keys(&object),
        keys(&object["study"]),
        keys(&object["trials"][0])
    ));
    assert_eq!(object["study"]["state"], "finished");
    assert_eq!(object["trials"][2]["refusal"]["gate"], "numerics");
    assert!(!object.to_string().contains("\"samples\":["));
}
