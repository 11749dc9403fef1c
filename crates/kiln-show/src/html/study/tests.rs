//! Views of hand-made studies.

use kiln_app::{Improvement, Story, StudyLook, StudyNow, TrialFilter};
use kiln_core::{MeasuredSide, MeasuredWorkload};
use kiln_store::{Labels, Note, Remark, RemarkSubject, State, Study, Trial};

use crate::html::{View, document, study_sections};
use crate::sample::{BEGAN, study, trials};

/// A look at a study with these trials.
pub(in crate::html) fn look(study: Study, trials: Vec<Trial>) -> StudyLook {
    let notes = vec![Note { at_ms: BEGAN, kind: "baseline".into(), text: "<img src=x onerror=alert(1)>".into() }];
    let remark = Remark {
        id: "r".into(),
        at_ms: BEGAN,
        about: RemarkSubject::Decision(study.id.clone()),
        reviewer: "<script>alert('who')</script>".into(),
        text: "\"><script>alert('what')</script>".into(),
        kiln_version: "0".into(),
    };
    let labels = Labels { name: None, tags: vec!["<b>tag</b>".into()] };
    let now = StudyNow { study, gone: false, trials, labels, validated: Vec::new(), remarks: vec![remark] };
    let samples = |at: f64| vec![vec![at, at * 1.01, at * 0.99, at * 1.02, at * 0.98]; 4];
    let side = |name: &str, at: f64| MeasuredSide { name: name.into(), rounds: samples(at), ..MeasuredSide::default() };
    let workload = MeasuredWorkload {
        name: "small".into(),
        shape: None,
        sides: vec![side("candidate", 2e-3), side("baseline:numpy", 3e-3)],
    };
    let duel = kiln_app::Duel {
        phase: "confirm".into(),
        number: 0,
        config: "LANES=8,FUSED=true".into(),
        workloads: vec![workload],
        grain: kiln_app::Grain::default(),
    };
    StudyLook {
        story: Story { now, notes },
        duels: vec![duel],
        improvements: vec![Improvement { place: 0, ci95: None }],
        important: Vec::new(),
        against: Vec::new(),
        faster: Vec::new(),
        together: 1,
        profiles: Vec::new(),
        at_ms: BEGAN,
    }
}

fn shown(look: &StudyLook, filter: &TrialFilter, view: &View) -> String {
    document("t", &study_sections(look, filter, view))
}

#[test]
fn every_view_of_a_study_is_there_and_names_are_text() {
    let mut hostile = trials();
    for trial in &mut hostile {
        trial.config = trial.config.replace("LANES=8", "LANES=8,KIND=<script>alert(2)</script>");
    }
    let kernel = Study { kernel: "</title><script>alert(3)</script>".into(), ..study() };
    let look = look(kernel, hostile);
    for view in [View::page("kiln"), View::file("kiln")] {
        let html = shown(&look, &TrialFilter::default(), &view);
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>"), "{html}");
        for id in [
            "study",
            "phases",
            "result",
            "gates",
            "convergence",
            "configurations",
            "slices",
            "distributions",
            "timeline",
            "trials",
            "notes",
        ] {
            assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
        }
        assert_eq!(html.contains("<form"), view.is_page);
        assert!(!html.contains("NaN") && !html.contains("http://www.w3.org"), "{html}");
    }
}

#[test]
fn a_filter_filters_figures_and_table() {
    let look = look(study(), trials());
    let count = |pairs: &[(&str, &str)]| {
        let html = shown(&look, &TrialFilter::parse(pairs.iter().copied()).unwrap(), &View::page("kiln"));
        let rows = html.matches("<tr id=\"trial-").count();
        (rows, html.matches("data-trial=\"seed/1\"").count())
    };
    assert_eq!(count(&[]).0, 6);
    assert!(count(&[]).1 > 0);
    assert_eq!(count(&[("state", "refused")]).0, 1);
    assert_eq!(count(&[("refused", "hide")]), (6, 0));
    assert_eq!(count(&[("top", "2")]), (2, 0));
}

#[test]
fn a_running_study_says_what_is_left() {
    let running = Study { state: State::Running, verdict: None, summary: None, ended_ms: None, ..study() };
    let options = kiln_store::Kept::new(kiln_study::options(&kiln_study::Settings::default()));
    let look = look(Study { options, ..running }, trials()[..2].to_vec());
    let html = shown(&look, &TrialFilter::default(), &View::page("kiln"));
    assert!(html.contains("Phases and what is left"), "{html}");
    assert!(html.contains("<data value=\"19\">19</data>"), "{html}");
}

#[test]
fn a_trial_that_is_looked_at_shows_its_evidence_and_its_command() {
    let look = look(study(), trials());
    let filter = TrialFilter::parse([("trial", "seed/1")]).unwrap();
    let html = shown(&look, &filter, &View::page("kiln"));
    assert!(html.contains("expected 1.0, found 1.5") && html.contains("Hint: look at the tail"), "{html}");
    assert!(
        html.contains(
            "kiln gate kernels/softmax --target cpu --variant T=f32 --workload small --config LANES=16,FUSED=false"
        ),
        "{html}"
    );
    let none = shown(&look, &TrialFilter::parse([("trial", "<b>/9")]).unwrap(), &View::page("kiln"));
    assert!(none.contains("There is no trial &lt;b&gt;/9."), "{none}");
}

#[test]
fn a_hundred_thousand_trials_make_a_small_page() {
    let many: Vec<Trial> = (0..100_000)
        .map(|at| {
            crate::sample::trial(
                "search",
                at,
                &format!("A={},B={}", at % 64, at % 7),
                1e-3 + (at * 7919 % 1000) as f64 * 1e-6,
            )
        })
        .collect();
    let look = look(study(), many);
    let html = shown(&look, &TrialFilter::default(), &View::page("kiln"));
    assert!(html.len() < 2_000_000, "{}", html.len());
    assert!(html.contains("1,200 of 100,000") && html.contains("50 of them on this page"), "{}", html.len());
}

#[test]
fn two_studies_stand_beside_each_other_and_what_differs_is_marked() {
    let other = Study { id: "019caa00-1111-7222-8333-4444dcba9999".into(), seed: 8, ..study() };
    let (a, b) = (look(study(), trials()), look(other, trials()[..3].to_vec()));
    let html = document("t", &crate::html::compare_sections(&a, &b, &View::page("kiln")));
    assert!(html.contains("softmax abcd0123 beside softmax dcba9999"), "{html}");
    assert!(html.contains("/study/dcba9999") && html.contains("<section id=\"convergence\""), "{html}");
    assert!(html.contains("Nothing that is recorded of them."), "{html}");
}

#[test]
fn why_names_every_faster_candidate_and_its_reason() {
    let mut seen = look(study(), trials());
    let refusal = trials()[2].refusal.clone().unwrap();
    let why = |place, why| kiln_app::FasterCandidate { place, ratio: 0.9, why };
    let ratio = kiln_stats::Estimate { value: 1.25, interval: kiln_stats::Interval { low: 1.2, high: 1.3 } };
    seen.faster = vec![
        why(1, kiln_app::WhyNot::Refused { phase: "final".into(), refusal }),
        why(0, kiln_app::WhyNot::SideBySide { phase: "run-off".into(), ratio }),
        why(4, kiln_app::WhyNot::NotAFinalist),
    ];
    let html = document("t", &crate::html::why_sections(&seen, &View::file("kiln")));
    assert!(html.contains("refused by numerics in final: error 0.5 at [0, 3]"), "{html}");
    assert!(html.contains("1.250x as long as the winner [1.200, 1.300], side by side in run-off"), "{html}");
    assert!(html.contains("not among the finalists") && html.contains("1.20x as long"), "{html}");
    let none = look(Study { summary: None, ..study() }, trials());
    assert!(document("t", &crate::html::why_sections(&none, &View::file("kiln"))).contains("no winner"));
}

#[test]
fn a_comparison_names_baselines_and_what_differs() {
    let with = |baseline: &str, samples: u64| {
        let mut own = study();
        own.options = kiln_store::Kept::found(serde_json::json!({ "baseline": baseline, "pair_samples": samples }));
        let json = own.summary.as_ref().unwrap().read().map(|summary| serde_json::to_value(summary).unwrap()).unwrap();
        let mut json = json;
        json["baseline"] = baseline.into();
        own.summary = Some(kiln_store::Kept::found(json));
        look(own, trials())
    };
    let shown = |a: &StudyLook, b: &StudyLook| document("t", &crate::html::compare_sections(a, b, &View::file("kiln")));
    let html = shown(&with("naive", 20), &with("numpy", 40));
    assert!(html.contains("1.50x over naive") && html.contains("1.50x over numpy"), "{html}");
    assert!(html.contains("speedups do not compare") && !html.contains("Nothing that is recorded"), "{html}");
    assert!(html.contains(">pair samples<") && html.contains(">40<"), "{html}");
    let same = shown(&with("numpy", 20), &with("numpy", 20));
    assert!(same.contains("their speedup over numpy;") && same.contains("Nothing that is recorded of them."), "{same}");
}

#[test]
fn a_result_says_what_it_rests_on() {
    let mut own = study();
    let mut summary = serde_json::to_value(own.summary.as_ref().unwrap().read().unwrap()).unwrap();
    summary["workloads"][0]["notes"] = serde_json::json!(["smaller gains do not count as faster"]);
    summary["workloads"][0]["checked"] =
        serde_json::json!({ "timed": 30, "compared": 30, "reference": 4, "detects": 0.822 });
    own.summary = Some(kiln_store::Kept::found(summary));
    let html = shown(&look(own, trials()), &TrialFilter::default(), &View::file("kiln"));
    assert!(html.contains("smaller gains do not count as faster"), "{html}");
    assert!(
        html.contains("4 checked against the reference; errors in 82.2 % of calls or more would be found"),
        "{html}"
    );
}

#[test]
fn a_study_that_a_fault_ended_says_which_and_how_to_go_on() {
    let failed = Study { state: State::Failed, verdict: None, summary: None, ..study() };
    let mut seen = look(failed, trials());
    seen.story.notes.push(Note { at_ms: BEGAN, kind: "fault".into(), text: "the disk is <full>".into() });
    let html = shown(&seen, &TrialFilter::default(), &View::page("kiln"));
    assert!(html.contains("Ended by a fault after 5 configurations: the disk is &lt;full&gt;."), "{html}");
    assert!(html.contains("--resume abcd0123"), "{html}");
}
