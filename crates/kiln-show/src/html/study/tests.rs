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
        successions: Vec::new(),
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
    let why = |place, why| kiln_app::FasterCandidate { place, ratio: 0.9, over: None, why };
    let ratio = kiln_stats::Estimate { value: 1.25, interval: kiln_stats::Interval { low: 1.2, high: 1.3 } };
    seen.faster = vec![
        why(1, kiln_app::WhyNot::Refused { phase: "final".into(), refusal }),
        why(0, kiln_app::WhyNot::SideBySide { phase: "run-off".into(), ratio }),
        why(4, kiln_app::WhyNot::NotAFinalist),
    ];
    let html = document("t", &crate::html::why_sections(&seen, &View::file("kiln")));
    assert!(html.contains("refused by numerics in final: error 0.5 at [0, 3] (expected 0.001)"), "{html}");
    assert!(html.contains("1.250x as long as the winner [1.200, 1.300], side by side in run-off"), "{html}");
    assert!(html.contains("not among the finalists") && html.contains("1.20x as long"), "{html}");
    let none = look(Study { summary: None, ..study() }, trials());
    assert!(document("t", &crate::html::why_sections(&none, &View::file("kiln"))).contains("no winner"));
}

/// The search found LANES=8,FUSED=false; the ablation found the winner, which the search had not tried.
fn replaced() -> StudyLook {
    let before = "LANES=8,FUSED=false";
    let searched: Vec<Trial> = trials().into_iter().filter(|trial| !trial.config.contains("8,FUSED=true")).collect();
    let confirmed = |number, config: &str| Trial { cost: None, ..crate::sample::trial("confirm", number, config, 0.0) };
    let more = [confirmed(0, before), confirmed(1, "LANES=8,FUSED=true")];
    let mut seen = look(study(), searched.into_iter().chain(more).collect());
    let like = |phase: &str, config: &str, names: [&str; 2]| {
        let mut duel = seen.duels[0].clone();
        (duel.phase, duel.config) = (phase.into(), config.into());
        for (side, name) in duel.workloads[0].sides.iter_mut().zip(names) {
            side.name = name.into();
        }
        duel
    };
    let all = [
        like("run-off", before, [before, "LANES=4,FUSED=false"]),
        like("confirm", before, ["candidate", "baseline:numpy"]),
        like("ablation", "LANES=8,FUSED=true", ["candidate", "winner"]),
        like("confirm", "LANES=8,FUSED=true", ["candidate", "baseline:numpy"]),
    ];
    seen.duels = all.into();
    let note = "ablation measured LANES=8,FUSED=true as faster than the winner: confirmed 1.50x instead of 1.20x, it takes its place";
    seen.successions = vec![kiln_app::Succession {
        workload: None,
        winner: "LANES=8,FUSED=true".into(),
        before: vec![before.into()],
        notes: vec![note.into()],
        searched: false,
    }];
    seen
}

#[test]
fn a_winner_that_the_ablation_found_is_named_beside_the_one_it_replaced() {
    let mut seen = replaced();
    let ratio = kiln_stats::Estimate { value: 1.25, interval: kiln_stats::Interval { low: 1.2, high: 1.3 } };
    let before = "LANES=8,FUSED=false".to_string();
    let behind = kiln_app::WhyNot::Behind { phase: "run-off".into(), ahead: before.clone(), ratio };
    let faster = kiln_app::FasterCandidate { place: 0, ratio: 0.9, over: Some(before), why: behind };
    let why = |seen: &StudyLook| document("t", &crate::html::why_sections(seen, &View::file("kiln")));
    let none = why(&seen);
    assert!(none.contains("None was faster while searching than the winner, or than the one it replaced"), "{none}");
    seen.faster = vec![faster];
    let text = "ablation measured LANES=4,FUSED=true as faster than the winner: it was refused by numerics".to_string();
    seen.story.notes.push(Note { at_ms: BEGAN, kind: "challenger".into(), text });
    let html = why(&seen);
    assert!(html.contains("<li>ablation measured LANES=4,FUSED=true as faster"), "{html}");
    assert!(html.contains("The search and its finals found LANES=8,FUSED=false."), "{html}");
    assert!(html.contains("Ablation measured LANES=8,FUSED=true as faster than the winner: confirmed 1.50x"), "{html}");
    assert!(html.contains("The search had not tried it."), "{html}");
    assert!(
        html.contains("1.250x as long as LANES=8,FUSED=false, which won the finals and was replaced later"),
        "{html}"
    );
    assert!(html.contains("than that of the one it replaced"), "{html}");
    seen.faster[0].why = kiln_app::WhyNot::Replaced { by: "LANES=8,FUSED=true".into(), ratio: Some(ratio) };
    seen.successions[0].notes.clear();
    let html = why(&seen);
    assert!(html.contains("until the ablation found LANES=8,FUSED=true faster: 1.250x as long side by side"), "{html}");
    assert!(html.contains("The ablation measured LANES=8,FUSED=true as faster; it was confirmed"), "{html}");
}

#[test]
fn what_the_ablation_cannot_show_alone_the_confirmation_decided() {
    let mut seen = replaced();
    let with = |verdict| kiln_app::Against {
        rival: kiln_app::RivalKind::Replaced,
        workload: None,
        what: "LANES=8,FUSED=false".into(),
        winner: kiln_core::Config::default(),
        phase: "ablation".into(),
        paired: true,
        workloads: vec![kiln_app::PairedWorkload {
            name: "small".into(),
            speedup: 1.1,
            speedup_ci95: kiln_stats::Interval { low: 0.9, high: 1.3 },
            winner_s: 1e-3,
            rival_s: 1.1e-3,
            verdict,
            samples: 5,
        }],
        overall: None,
    };
    let why = |seen: &StudyLook| document("t", &crate::html::why_sections(seen, &View::file("kiln")));
    seen.against = vec![with(kiln_stats::Verdict::TooNoisy)];
    let html = why(&seen);
    assert!(html.contains("too few to tell the two apart (too_noisy in the table below)"), "{html}");
    seen.against = vec![with(kiln_stats::Verdict::Faster)];
    assert!(!why(&seen).contains("too few to tell"));
    assert!(why(&seen).contains("its time cannot be held against the default"));
    // Where it is one tunable from the default, the ablation measured the two side by side.
    seen.against.push(kiln_app::Against {
        rival: kiln_app::RivalKind::Default,
        what: "LANES=4,FUSED=true".into(),
        ..with(kiln_stats::Verdict::Faster)
    });
    let html = why(&seen);
    assert!(html.contains("against the default (LANES=4,FUSED=true), measured in turns, in ablation"), "{html}");
    assert!(!html.contains("cannot be held against"), "{html}");

    let count = |seen: &StudyLook| shown(seen, &TrialFilter::default(), &View::file("kiln"));
    assert!(!count(&seen).contains("more in the ablation"));
    let challenger = crate::sample::trial("ablation", 0, "LANES=8,FUSED=true", 0.0);
    seen.story.now.trials.push(Trial { cost: None, ..challenger });
    // An older kiln's summary did not count it: no view counts it then.
    assert!(!count(&seen).contains("more in the ablation"));
    (seen.story.now.study.state, seen.story.now.study.summary) = (State::Interrupted, None);
    let html = count(&seen);
    assert!(html.contains("5 (4 while searching, 1 more in the ablation)"), "{html}");
}

#[test]
fn a_winner_that_the_ablation_found_is_drawn_where_the_filter_keeps_it() {
    let seen = replaced();
    let drawn = |pairs: &[(&str, &str)]| {
        let filter = TrialFilter::parse(pairs.iter().copied()).unwrap();
        let searched = crate::html::study::searches::Searched::of(&seen, &filter);
        let svg = searched.convergence()[0].standalone();
        (svg.contains("data-trial=\"confirm/1\""), svg.contains("winner: found by the ablation"))
    };
    assert_eq!(drawn(&[]), (true, true));
    assert_eq!(drawn(&[("refused", "hide")]), (true, true));
    assert_eq!(drawn(&[("t.FUSED", "false")]), (false, false));
    assert_eq!(drawn(&[("phase", "default,seed,search")]), (false, false));
}

#[test]
fn figures_keep_the_run_off_and_mark_a_winner_that_the_ablation_found() {
    let seen = replaced();
    let drawn = crate::html::study::measured::distributions(&seen);
    let titles: Vec<&str> = drawn.iter().map(|canvas| canvas.title()).collect();
    let expected = [
        "softmax, small: the winner and the baseline",
        "softmax, small: the winner and the one it replaced",
        "softmax, small: finalists of the search",
    ];
    assert_eq!(titles, expected);
    assert!(drawn[1].standalone().contains(">replaced, FUSED=false<"), "{}", drawn[1].standalone());
    let html = shown(&seen, &TrialFilter::default(), &View::page("kiln"));
    assert!(html.contains("winner: found by the ablation, not tried here; 2.00 ms when confirmed"), "{html}");
    assert!(html.contains("data-trial=\"confirm/1\""), "{html}");
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

#[test]
fn a_comparison_says_who_has_no_result_and_that_sources_differ() {
    let shown = |a: &StudyLook, b: &StudyLook| document("t", &crate::html::compare_sections(a, b, &View::file("kiln")));
    let ended = |sources: &str| {
        let mut seen = look(study(), trials());
        seen.story.notes.push(Note { at_ms: BEGAN, kind: "sources".into(), text: sources.into() });
        seen
    };
    let broken_off = look(Study { state: State::Interrupted, verdict: None, summary: None, ..study() }, trials());
    let html = shown(&ended("aa"), &broken_off);
    assert!(html.contains("its speedup over numpy; the second study has no result"), "{html}");
    let html = shown(&broken_off, &ended("aa"));
    assert!(html.contains("the second study's winner") || html.contains("the second study&#39;s winner"), "{html}");
    assert!(html.contains("the first study has no result") && !html.contains("do not compare"), "{html}");
    let html = shown(&ended("aa"), &ended("bb"));
    assert!(html.contains(">sources<") && html.contains("a ratio is of two versions"), "{html}");
    let html = shown(&ended("aa"), &ended("aa"));
    assert!(!html.contains(">sources<") && !html.contains("two versions"), "{html}");
}

/// A kernel file with one workload of N elements.
fn stated(n: u32) -> String {
    format!(
        "[kernel]\nname = \"softmax\"\nentry = \"softmax\"\n[tunables]\nLANES = [4, 8]\n[target.cpu]\nsource = \"softmax.cpp\"\n\
         [[arguments]]\nname = \"x\"\ntype = \"f32[N]\"\nrole = \"in\"\n[[arguments]]\nname = \"y\"\ntype = \"f32[N]\"\nrole = \"out\"\n\
         [[workloads]]\nname = \"small\"\ndims = {{ N = {n} }}\n[reference]\npython = \"baseline.py:softmax\"\n"
    )
}

#[test]
fn times_of_other_problems_have_no_ratio() {
    let with = |n: u32, kernel: &str| {
        look(Study { spec_text: stated(n), spec_hash: n.to_string(), kernel: kernel.into(), ..study() }, trials())
    };
    let shown = |a: &StudyLook, b: &StudyLook| document("t", &crate::html::compare_sections(a, b, &View::file("kiln")));
    let ratio = "<data value=\"1\">1.000</data>";
    let same = shown(&with(64, "softmax"), &with(64, "softmax"));
    assert!(same.contains(ratio) && !same.contains("No ratio"), "{same}");
    let dims = shown(&with(64, "softmax"), &with(4096, "softmax"));
    assert!(!dims.contains(ratio) && dims.contains("small: N=64 in the first study, N=4096 in the second"), "{dims}");
    let other = shown(&with(64, "softmax"), &with(64, "layernorm"));
    assert!(!other.contains(ratio) && other.contains("kernel: softmax and layernorm"), "{other}");
}

#[test]
fn a_comparison_of_runs_says_what_it_rests_on() {
    use kiln_stats::{Apart, Thresholds, compare_runs};
    let times = |scale: f64| -> Vec<Vec<f64>> {
        (0..6).map(|round| (0..9).map(|at| scale * (1.0 + 1e-3 * f64::from((at * 5 + round) % 7))).collect()).collect()
    };
    let (base, candidate) = (times(1.0), times(2.0));
    let side = |rounds| Apart { rounds, yardstick: None };
    let comparison = compare_runs(side(&base), side(&candidate), &Thresholds::default(), 1).unwrap();
    assert!(comparison.p_value < 1e-4);
    let verdict = kiln_app::CompareVerdict::Regression;
    let one = kiln_app::ComparedWorkload { workload: "small".into(), verdict, more_samples: Some(90), comparison };
    let run = || kiln_app::RunFile { kernel: "softmax".into(), ..Default::default() };
    let compared = kiln_app::Compared {
        base: run(),
        candidate: run(),
        side: "candidate".into(),
        yardstick: None,
        workloads: vec![one],
        overall: None,
        verdict,
        notes: vec!["compiler: cc 13, then cc 14".into()],
    };
    let html = document("t", &crate::html::compare_runs_sections(&compared));
    assert!(!html.contains(">0.0000<") && html.contains("&lt;0.001"), "{html}");
    assert!(html.contains("measured apart, without a baseline in common"), "{html}");
    assert!(html.contains("small: about 90 more samples on each side would tell"), "{html}");
    assert!(html.contains("compiler: cc 13, then cc 14"), "{html}");
}

#[test]
fn causes_of_refusals_and_refusals_after_the_search_are_shown() {
    let with = |sanitized: serde_json::Value| {
        let mut own = study();
        let mut summary = serde_json::to_value(own.summary.as_ref().unwrap().read().unwrap()).unwrap();
        summary["sanitized"] = sanitized;
        own.summary = Some(kiln_store::Kept::found(summary));
        assert!(own.summary.as_ref().unwrap().read().is_ok());
        let passed = trials().into_iter().filter(|trial| trial.refusal.is_none());
        look(own, passed.chain([crate::sample::wrong("ablation", 0, "LANES=4,FUSED=true")]).collect())
    };
    let finding = serde_json::json!({
        "cause": "misaligned_shared", "tool": "memcheck", "kernel": "k", "file": "softmax.cu", "line": 7, "count": 3,
        "facts": {}, "explanation": "an access <is> misaligned", "fix": "pad rows by 16 bytes",
    });
    let refusal = |gate: &str, verdict: &str, findings: Vec<&serde_json::Value>| {
        serde_json::json!({
            "gate": gate, "phase": "search", "number": 1, "config": { "LANES": 16 }, "verdict": verdict, "findings": findings,
        })
    };
    let some = [refusal("runtime_failed", "bugs_found", vec![&finding]), refusal("numerics", "clean", vec![])];
    for view in [View::page("kiln"), View::file("kiln")] {
        let html = shown(&with(some.to_vec().into()), &TrialFilter::default(), &view);
        assert!(html.contains("Causes of refusals, the first of each gate sanitized"), "{html}");
        assert!(html.contains("softmax.cu:7") && html.contains("an access &lt;is&gt; misaligned"), "{html}");
        assert!(html.contains("pad rows by 16 bytes") && html.contains("found no cause of numerics"), "{html}");
        assert!(html.contains("No gate refused anything while searching."), "{html}");
        assert!(html.contains("Refused after the search") && html.contains("error 0.5 at [0, 3] (expected 0.001)"));
    }
    let none = shown(&with(serde_json::json!([])), &TrialFilter::default(), &View::page("kiln"));
    assert!(!none.contains("Causes of refusals"), "{none}");
    let filter = TrialFilter::parse([("state", "passed")]).unwrap();
    let filtered = shown(&look(study(), trials()), &filter, &View::page("kiln"));
    assert!(filtered.contains("No gate refused anything that the filter keeps."), "{filtered}");
}

#[test]
fn figures_over_several_workloads_are_called_what_they_are() {
    let mut own = study();
    let mut summary = serde_json::to_value(own.summary.as_ref().unwrap().read().unwrap()).unwrap();
    let mut second = summary["workloads"][0].clone();
    second["name"] = "large".into();
    for row in [&mut summary["workloads"][0], &mut second] {
        row["config"] = serde_json::json!({ "LANES": 8 });
    }
    summary["workloads"].as_array_mut().unwrap().push(second);
    summary["config"] = serde_json::Value::Null;
    summary["reason"] = "confirmed 1.20x on large, the smallest of 2 workloads (target 1.10x)".into();
    own.summary = Some(kiln_store::Kept::found(summary));
    let seen = look(own, trials());
    let html = shown(&seen, &TrialFilter::default(), &View::page("kiln"));
    assert!(html.contains("Together: 1.50x [1.45, 1.55], geometric mean over 2 workloads."), "{html}");
    assert!(html.contains("tuned, together (geometric mean)"), "{html}");
    let beside = document("t", &crate::html::compare_sections(&seen, &seen, &View::file("kiln")));
    assert!(beside.contains("1.50x over numpy, geometric mean over 2 workloads"), "{beside}");
    let one = shown(&look(study(), trials()), &TrialFilter::default(), &View::page("kiln"));
    assert!(!one.contains("Together: "), "{one}");
}
