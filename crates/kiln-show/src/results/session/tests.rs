//! The report says everything in every form, whatever words it holds.

use kiln_app::{SessionReport, SessionRow};
use serde_json::json;

use super::*;

fn report() -> SessionReport {
    let session = json!({ "id": "01999999-0000-7000-8000-00000000abcd", "started_ms": 0, "ended_ms": 7_200_000, "state": "ended",
        "folder": "/p", "user": "u", "kernel": "k", "goal": { "text": "1.2x s512", "speedup": 1.2, "workload": "s512" },
        "budget_s": 10800.0, "prices": { "gpu": 3.5, "engineer": null, "assistant": null }, "worth": null, "gpu": "H200",
        "baseline": "sdpa", "smallest": "s128", "criteria": "a|b" });
    let row = |id: &str, attempts: usize, to_best: usize, grade: &str| {
        json!({ "session": id, "started_ms": 0, "kernel": "k", "goal": "1.2x s512", "attempts": attempts,
            "attempts_to_best": to_best, "elapsed_s": 7200.0, "time_to_build_s": 600.0, "time_to_bottleneck_s": null, "speedup": 1.28,
            "cost": 7.0, "blind": 1, "repeated": 0, "grade": grade })
    };
    serde_json::from_value(json!({
        "session": session, "row": row("01999999-0000-7000-8000-00000000abcd", 4, 3, "B"),
        "phases": [{ "phase": "build", "commands_s": 60.0, "elapsed_s": 600.0, "attempts": 2 }],
        "expected": [{ "phase": "build", "commands_s": 70.0, "elapsed_s": 900.0, "attempts": 1 }],
        "cost": { "gpu": 7.0, "engineer": null, "assistant": null, "total": 7.0 }, "best": null,
        "blind": [{ "attempt": "a", "at_ms": 5, "kernel": "k", "before": 0.12, "after": 0.09,
            "changed": { "config": [], "sources": true, "environment": [] } }],
        "crowded": [], "repeated": [], "lessons_used": [["hang", true]], "lessons_learned": ["ours"],
        "promises": [{ "cause": "bank_conflicts", "kernel": "k", "promised": 2.0, "measured": 1.5 }],
        "hypotheses": [{ "at_ms": 6, "hypothesis": "need a 3-D grid", "command": "fuzz kernels/k", "outcome": "refused",
            "words": "numerics", "speedup": null, "seconds": 3.0 }],
        "decisions": [], "warnings": [{ "rule": "same_cause", "about": "k", "what": "k failed 3 times", "hint": "kiln lessons show hang" }],
        "grade": { "letter": "B", "targets": [{ "target": "no blind change", "found": "1", "met": false }] },
        "next": ["kiln profile kernels/k"], "earlier": [row("01999999-0000-7000-8000-000000001111", 9, 9, "D")]
    }))
    .unwrap()
}

#[test]
fn words_markdown_and_figure_tell_the_same_story() {
    let report = report();
    let view = SessionView { report: &report, over: true };
    let text = view.to_string();
    for part in [
        "00abcd (ended) on k",
        "2 h 00 min of 3 h 00 min",
        "blind change",
        "0.12x -> 0.090x",
        "need a 3-D grid",
        "grade B",
        "missed",
        "beside earlier sessions",
        "9 attempts, 120 min, 1.28x, grade D",
        "shorter: 3 attempts to 1.28x; session 001111 took 9 to 1.28x",
        "cost",
        "7.00 (GPU 7.00)",
        "bank_conflicts: promised 2.00x, gave 1.50x",
        "k failed 3 times",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let page = view.markdown();
    for part in [
        "# Session 00abcd on k: grade B",
        "| criteria | a\\|b |",
        "| lessons learned | ours |",
        "## Hypotheses",
        "| build | 2 | 1 min 00 s | 10 min 00 s | 15 min 00 s |",
        "## Beside earlier sessions",
        "shorter: 3 attempts to 1.28x",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let svg = view.svg();
    assert!(svg.starts_with("<svg") && svg.matches("class=\"bar\"").count() == 2);
    assert_eq!(view.json()["budgets"][1]["name"], "build");
}

#[test]
fn a_list_of_none_says_how_to_begin() {
    assert!(SessionsView { rows: &[], older: 0 }.to_string().contains("kiln session start"));
    let row: SessionRow = report().row;
    assert!(SessionsView { rows: std::slice::from_ref(&row), older: 0 }.to_string().contains("00abcd"));
    let first = SessionRow { attempts_to_best: Some(1), grade: "-".into(), ..row.clone() };
    let listed = SessionsView { rows: &[first, row], older: 3 }.to_string();
    assert!(listed.contains("1 attempt, 120 min, 1.28x, no grade\n"), "{listed}");
    assert!(listed.ends_with("\n3 sessions older: --limit 5\n"), "{listed}");
}

#[test]
fn a_session_without_a_result_has_no_bar() {
    let mut none = report();
    let earlier = &mut none.earlier[0];
    (earlier.attempts_to_best, earlier.speedup) = (None, None);
    let view = SessionView { report: &none, over: true };
    let text = view.to_string();
    let line = text.lines().find(|line| line.contains("nothing measured in 9 attempts, 120 min, grade D"));
    assert!(line.is_some_and(|line| !line.contains('#')), "{text}");
    // The other one is the longest then.
    assert!(text.contains(&"#".repeat(32)), "{text}");
    assert_eq!(view.svg().matches("class=\"bar\"").count(), 1);
}

#[test]
fn a_report_shows_the_newest_of_many_sessions() {
    let mut many = report();
    many.earlier = vec![many.earlier[0].clone(); 30];
    let view = SessionView { report: &many, over: true };
    let (text, page) = (view.to_string(), view.markdown());
    assert_eq!(text.matches("9 attempts, 120 min").count(), 10, "{text}");
    assert!(text.contains("20 sessions older: kiln session list") && page.contains("20 sessions older"), "{text}");
}

#[test]
fn words_of_users_stay_words_in_markdown() {
    let mut own = report();
    let odd = "<img src=x> a|b [c](d)";
    own.session.kernel = Some("<b>k".into());
    own.session.criteria = Some(odd.into());
    own.hypotheses[0].hypothesis = odd.into();
    own.next = vec![odd.into()];
    own.decisions = vec![
        serde_json::from_value(json!({ "id": "d", "at_ms": 1, "session": null, "kernel": "k", "path": "", "kind": "chosen",
            "options": [{ "what": odd, "time_s": null, "cost": null, "best_case": null }], "choice": odd, "because": odd, "user": "u" }))
        .unwrap(),
    ];
    let page = SessionView { report: &own, over: true }.markdown();
    assert_eq!(page.matches("&lt;img src=x&gt; a\\|b \\[c\\](d)").count(), 6, "{page}");
    assert!(page.starts_with("# Session 00abcd on &lt;b&gt;k: grade B\n") && !page.contains("<img"), "{page}");
}

#[test]
fn a_best_speedup_says_what_it_is_of_and_a_reached_goal_is_no_warning() {
    let mut own = report();
    let best = |speedup: f64, words: Option<&str>, config: &str| -> kiln_app::Best {
        let object = json!({ "speedup": speedup, "kernel": "k", "workload": "s512", "config": config, "attempt": "a", "words": words });
        serde_json::from_value(object).unwrap()
    };
    own.best =
        Some(best(7.14, Some("7.14x, faster, mean over 2 workloads (w0 10.0x, w1 5.10x), against naive"), "A=4"));
    own.newest = Some(best(4.0, None, "A=4"));
    own.warnings.push(
        serde_json::from_value(
            json!({ "rule": "goal_reached", "about": "", "what": "the goal is reached", "hint": "x" }),
        )
        .unwrap(),
    );
    let view = SessionView { report: &own, over: true };
    let (text, page) = (view.to_string(), view.markdown());
    let of = "7.14x, faster, mean over 2 workloads (w0 10.0x, w1 5.10x), against naive, A=4";
    let newest = "4.00x on s512, A=4: slower than the best, with other sources";
    for part in [format!("{of} (goal 1.20x)").as_str(), newest, "1.2x s512 (reached)"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for (name, value) in [("best speedup", of), ("newest", newest), ("goal", "1.2x s512 (reached)")] {
        let part = format!("| {name} | {value} |");
        assert!(page.contains(&part), "{part}\n{page}");
    }
    assert!(!text.contains("the goal is reached") && !page.contains("the goal is reached"), "{text}\n{page}");
    assert!(text.contains("k failed 3 times"), "other warnings stay\n{text}");
}

#[test]
fn long_hypotheses_are_cut_on_a_terminal_and_whole_elsewhere() {
    let mut own = report();
    let (thought, command) = ("t".repeat(300), format!("sh -c 'echo \"a  b\" | {}'", "x".repeat(500)));
    own.hypotheses[0].hypothesis = thought.clone();
    own.hypotheses[0].command = command.clone();
    own.hypotheses[0].result = "0.820x, slower, on w0, against LANES=16".into();
    let view = SessionView { report: &own, over: true };
    let (text, page) = (view.to_string(), view.markdown());
    let line = text.lines().find(|line| line.contains("tttt")).unwrap();
    assert!(line.chars().count() < 180 && line.contains("…") && line.ends_with("against LANES=16"), "{line}");
    assert!(line.contains("echo \"a  b\""), "{line}");
    let row = format!("| {thought} | `{}` | 0.820x, slower, on w0, against LANES=16 |", command.replace('|', "\\|"));
    assert!(page.contains(&row), "{row}\n{page}");
    assert_eq!(view.json()["hypotheses"][0]["command"], command);
    own.hypotheses[0].result = String::new();
    assert!(SessionView { report: &own, over: true }.to_string().contains("refused: numerics"), "of an older kiln");
}
