//! Every branch of the tree, from evidence to advice.

use std::collections::BTreeSet;

use super::fill::names;
use super::*;

fn kernel() -> KernelAt {
    KernelAt {
        name: "softmax".into(),
        path: "k/soft max".into(),
        folder: "k/soft max".into(),
        target: Some("cpu".into()),
        variant: Some("T=f32".into()),
        has_baseline: Some(true),
        has_reference: Some(true),
        smallest_workload: Some("short".into()),
        guarded: Some(false),
    }
}

/// A kernel of which nothing is known but its file.
fn fresh() -> Evidence {
    Evidence { kernel: Some(kernel()), environment_fault: Look::Nothing, ..Evidence::default() }
}

/// One that was measured.
fn measured(speedup: f64) -> Evidence {
    let result = LastResult {
        speedup,
        interval: Some([speedup * 0.9, speedup * 1.1]),
        workload: Some("short".into()),
        baseline: "naive".into(),
        config: Some("A=1".into()),
        other_workload: Look::Nothing,
        ..LastResult::default()
    };
    let git = GitState { uncommitted: Look::Nothing, unpushed: Look::Nothing, last_good: None, broken_here: None };
    Evidence { recorded: true, edited: Some(false), result: Some(result), git, ..fresh() }
}

fn profiled(cause: Option<(&str, f64)>) -> Option<ProfileNow> {
    let cause = cause.map(|(cause, promise)| (cause.to_string(), promise));
    let limit = cause.as_ref().map_or("at_roofline_dram".to_string(), |(cause, _)| cause.clone());
    Some(ProfileNow { limit: Some(limit), cause, fix: Some("pad the rows".into()) })
}

fn refused(kind: RefusalKind, gate: &str) -> Evidence {
    let refusal = OpenRefusal {
        gate: gate.into(),
        kind,
        words: "y[0] is 3".into(),
        config: Some("A=1".into()),
        alike: None,
        cause: None,
        case: None,
    };
    Evidence { refusal: Some(refusal), ..measured(1.5) }
}

fn fix(gain: f64) -> Evidence {
    let tried = FixTried {
        cause: Some(("shared_bank_conflict".into(), 4.0)),
        workload: "short".into(),
        gain,
        before_s: 1e-3,
        before: "A=1".into(),
        revert: Some("git -C k restore --source=abc -- .".into()),
        stashes: false,
        other: Some(("narrow_loads".into(), 1.6)),
    };
    Evidence { fix: Some(tried), ..measured(0.3) }
}

fn with(mut evidence: Evidence, change: impl FnOnce(&mut Evidence)) -> Evidence {
    change(&mut evidence);
    evidence
}

fn advice(evidence: &Evidence) -> Advice {
    let tree = tree().unwrap();
    let thresholds = Thresholds::usual(tree);
    advise(tree, &evidence.facts(&thresholds), &thresholds).unwrap()
}

/// Evidence and where it leads.
fn cases() -> Vec<(&'static str, Evidence)> {
    use RefusalKind::{Build, Fault, Rule, Unbelievable, Wrong};
    let tuned = |speedup: f64, confirmed: bool| {
        with(measured(speedup), |e| {
            let target = Some(1.1);
            e.search = LastSearch { tuned: true, confirmed, target, seconds: Some(60.0), ..LastSearch::default() };
            let result = e.result.as_mut().unwrap();
            result.study = Some("4a1ed6ff".into());
        })
    };
    let alike = |kind, gate: &str| with(refused(kind, gate), |e| e.refusal.as_mut().unwrap().alike = Some(3));
    vec![
        ("init", Evidence::default()),
        ("use_another", with(fresh(), |e| e.retired = Look::Found("the baseline is better".into()))),
        (
            "stop",
            with(measured(0.9), |e| {
                let stop_rule = Some("it was decided: use the baseline".into());
                e.session = Look::Found(SessionNow { stop_rule, settled: Some(true), ..SessionNow::default() });
            }),
        ),
        (
            "decide",
            with(measured(0.9), |e| {
                let stop_rule = Some("3 h of 3 h spent".into());
                e.session = Look::Found(SessionNow { stop_rule, settled: Some(false), ..SessionNow::default() });
            }),
        ),
        (
            "mend",
            with(fresh(), |e| e.environment_fault = Look::Found(("no compiler".into(), Some("install gcc".into())))),
        ),
        ("wait", with(fresh(), |e| e.search.running = Some("4a1ed6ff".into()))),
        ("assess", fresh()),
        ("name_reference", with(fresh(), |e| e.kernel.as_mut().unwrap().has_reference = Some(false))),
        ("first_check", with(fresh(), |e| e.examined = Some(true))),
        ("bisect", with(alike(Build, "build_failed"), |e| e.git.last_good = Some("abc".into()))),
        (
            "look_at_changes",
            with(alike(Build, "build_failed"), |e| {
                (e.git.last_good, e.git.broken_here) = (Some("abc".into()), Some(true));
                e.git.uncommitted = Look::Found("1 file".into());
            }),
        ),
        (
            "put_right",
            with(refused(Build, "build_failed"), |e| {
                e.fault = Some(LastFault { verb: "check".into(), words: "asking the reference: no module".into() });
            }),
        ),
        ("smallest_case", alike(Wrong, "numerics")),
        ("loosen", refused(Rule, "smem_overflow")),
        // Of what never built there is no case to look at.
        ("build", alike(Build, "build_failed")),
        ("build", refused(Build, "build_failed")),
        (
            "fix_fault",
            with(refused(Fault, "runtime_failed"), |e| {
                e.refusal.as_mut().unwrap().cause = Some("misaligned_shared".into());
            }),
        ),
        ("sanitize", refused(Fault, "runtime_failed")),
        (
            "debug",
            with(refused(Wrong, "numerics"), |e| {
                e.refusal.as_mut().unwrap().case = Some("S=65,D=64; inputs=spike; seed=3".into());
            }),
        ),
        ("shrink", refused(Wrong, "numerics")),
        ("disbelieve", refused(Unbelievable, "below_roofline")),
        ("resume", with(measured(1.5), |e| e.search.unfinished = Some("4a1ed6ff".into()))),
        ("measure", with(measured(1.0), |e| e.result = None)),
        (
            "measure",
            with(measured(1.0), |e| {
                e.result = None;
                e.kernel.as_mut().unwrap().has_baseline = None;
            }),
        ),
        (
            "name_baseline",
            with(measured(1.0), |e| {
                e.result = None;
                e.kernel.as_mut().unwrap().has_baseline = Some(false);
            }),
        ),
        ("profile_blind", with(measured(0.09), |e| e.edited = Some(true))),
        ("check", with(measured(0.9), |e| (e.edited, e.unchecked) = (Some(true), Some(true)))),
        ("remeasure", with(measured(0.9), |e| e.edited = Some(true))),
        (
            "remeasure",
            with(measured(0.09), |e| {
                (e.edited, e.profile) = (Some(true), profiled(Some(("narrow_loads", 1.6))));
            }),
        ),
        ("quiet", with(measured(1.5), |e| e.result.as_mut().unwrap().noisy = true)),
        (
            "longer",
            with(measured(1.4), |e| {
                let result = e.result.as_mut().unwrap();
                (result.noisy, result.too_short) = (true, true);
            }),
        ),
        ("revert", fix(0.9)),
        ("revert", fix(1.02)),
        ("revert_by_hand", with(fix(0.9), |e| e.fix.as_mut().unwrap().revert = None)),
        ("revert", with(fix(0.2), |e| (e.fix.as_mut().unwrap().cause, e.result) = (None, measured(3.0).result))),
        ("another_fix", fix(1.5)),
        ("profile", with(fix(1.5), |e| e.fix.as_mut().unwrap().other = None)),
        ("profile", fix(1.7)),
        ("profile", measured(0.09)),
        ("profile", measured(0.4999)),
        ("fix", with(measured(0.09), |e| e.profile = profiled(Some(("narrow_loads", 1.6))))),
        ("compare_baseline", with(measured(0.09), |e| e.profile = profiled(None))),
        ("tune_behind", measured(0.5)),
        ("profile", tuned(0.8, false)),
        ("fix", with(tuned(0.8, false), |e| e.profile = profiled(Some(("narrow_loads", 1.6))))),
        ("use_baseline", with(tuned(0.8, false), |e| e.profile = profiled(Some(("narrow_loads", 1.1))))),
        ("use_baseline", with(tuned(0.8, false), |e| e.profile = profiled(None))),
        (
            "measure_others",
            with(measured(1.0), |e| {
                e.result.as_mut().unwrap().other_workload = Look::Found("long".into());
            }),
        ),
        ("tune", measured(1.5)),
        ("profile_short", tuned(1.05, false)),
        ("fix", with(tuned(1.05, false), |e| e.profile = profiled(Some(("narrow_loads", 1.6))))),
        ("enough", with(tuned(1.05, false), |e| e.profile = profiled(Some(("narrow_loads", 1.04))))),
        ("commit", with(tuned(1.5, true), |e| e.git.uncommitted = Look::Found("2 files".into()))),
        ("commit", with(measured(2.0), |e| e.git.uncommitted = Look::Found("2 files".into()))),
        ("next_bottleneck", measured(2.0)),
        ("fix", with(measured(2.5), |e| e.profile = profiled(Some(("narrow_loads", 1.6))))),
        ("tune", with(measured(2.5), |e| e.profile = profiled(None))),
        ("validate", with(tuned(2.5, true), |e| e.profile = profiled(None))),
        ("validate", tuned(1.5, true)),
        ("guard", with(tuned(1.5, true), |e| e.validated = Some(true))),
        (
            "push",
            with(tuned(1.5, true), |e| {
                e.validated = Some(true);
                e.kernel.as_mut().unwrap().guarded = Some(true);
                e.git.unpushed = Look::Found("2 commits".into());
            }),
        ),
        (
            "done",
            with(tuned(1.5, true), |e| {
                e.validated = Some(true);
                e.kernel.as_mut().unwrap().guarded = Some(true);
            }),
        ),
    ]
}

#[test]
fn evidence_leads_to_its_advice() {
    for (node, evidence) in cases() {
        let found = advice(&evidence);
        assert_eq!(found.node, node, "{:#?}", found.path);
    }
}

#[test]
fn every_way_of_every_question_is_gone() {
    let (mut gone, mut reached) = (BTreeSet::new(), BTreeSet::new());
    for (_, evidence) in cases() {
        let found = advice(&evidence);
        gone.extend(found.path.iter().map(|step| (step.node.clone(), step.answer == Answer::Yes)));
        reached.insert(found.node);
    }
    let tree = tree().unwrap();
    for question in &tree.question {
        for way in [true, false] {
            assert!(gone.contains(&(question.id.clone(), way)), "{} {way}", question.id);
        }
    }
    for leaf in &tree.advice {
        assert!(reached.contains(&leaf.id), "{}", leaf.id);
    }
}

#[test]
fn advice_is_whole() {
    for (_, evidence) in cases() {
        let found = advice(&evidence);
        let whole = [&found.command, &found.because, &found.action, found.then.as_ref().unwrap_or(&found.action)];
        for words in whole {
            assert!(!words.contains(['{', '}']), "{words}");
            let left = words.split([' ', '\'']).any(|word| {
                word.len() > 3 && word != "HEAD" && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            });
            assert!(!left, "{}: {words}", found.node);
        }
        assert!(found.command.starts_with("kiln ") || found.command.starts_with("git -C "), "{}", found.command);
    }
}

#[test]
fn every_name_in_the_tree_is_one() {
    let tree = tree().unwrap();
    let known = |name: &str| FACTS.contains(&name) || tree.threshold.contains_key(name);
    for question in &tree.question {
        assert!(FACTS.contains(&question.fact.as_str()), "{}", question.id);
        assert!(names(&question.ask).iter().all(|name| known(name)), "{}", question.id);
        let compared = [&question.below, &question.at_least];
        assert!(compared.into_iter().flatten().all(|name| tree.threshold.contains_key(name)), "{}", question.id);
        let tests = compared.into_iter().flatten().count() + question.is.iter().count();
        assert!(tests <= 1, "{}", question.id);
    }
    for leaf in &tree.advice {
        let templates = [
            Some(&leaf.r#do),
            Some(&leaf.command),
            leaf.then.as_ref(),
            Some(&leaf.because),
            leaf.gain.as_ref(),
            leaf.time.as_ref(),
        ];
        for template in templates.into_iter().flatten() {
            assert!(names(template).iter().all(|name| known(name)), "{}: {template}", leaf.id);
        }
    }
    for item in &tree.item {
        assert!(FACTS.contains(&item.fact.as_str()), "{}", item.says);
        let templates = [item.tells.as_ref(), item.command.as_ref()];
        assert!(templates.into_iter().flatten().flat_map(|t| names(t)).all(known), "{}", item.says);
    }
    let ids: Vec<&String> = tree.question.iter().map(|q| &q.id).chain(tree.advice.iter().map(|a| &a.id)).collect();
    let once: BTreeSet<&&String> = ids.iter().collect();
    assert_eq!(ids.len(), once.len(), "a name twice hides one of the two");
}

#[test]
fn advice_has_its_numbers() {
    let slow = advice(&measured(0.0931));
    assert_eq!(slow.because, "0.0931x of naive on short, and no profile shows why as it is now");
    assert_eq!(slow.command, "kiln profile 'k/soft max' --target cpu --variant T=f32 --workload short --config A=1");
    assert_eq!((slow.gain, slow.time), (None, None));
    assert_eq!(slow.path.last().unwrap().value, None);
    assert!(
        slow.path
            .iter()
            .any(|step| step.ask == "Is it below 0.5x of the baseline?" && step.value.as_deref() == Some("0.0931x"))
    );
    let other = advice(&fix(1.5));
    assert_eq!(
        other.because,
        "the change for shared_bank_conflict promised 4.00x and gave 1.50x, under 20 % of the promise"
    );
    assert_eq!(other.gain.as_deref(), Some("at most 1.60x"));
    let stopped = |speedup| {
        let rule = Some("the time is spent".into());
        let session = SessionNow { stop_rule: rule, settled: Some(false), ..SessionNow::default() };
        advice(&with(measured(speedup), |e| e.session = Look::Found(session))).command
    };
    assert!(stopped(0.9).contains("--choose 'use the baseline' --because 'the time is spent'"));
    assert!(stopped(1.9).contains("--choose 'stop here'"), "nobody gives up a kernel that beats its baseline");
    // The session's best, and not what was tried last.
    let best = Some((1.3, "1.30x on short".to_string()));
    let rule = Some("the time is spent".to_string());
    let session = SessionNow { best, stop_rule: rule, settled: Some(false), ..SessionNow::default() };
    let late = advice(&with(measured(0.9), |e| e.session = Look::Found(session)));
    assert!(late.command.contains("'stop here'") && late.because.contains("best so far 1.30x on short"), "{late:?}");
    let guard = advice(&with(measured(2.5), |e| {
        (e.validated, e.profile) = (Some(true), profiled(None));
        e.search.tuned = true;
    }));
    assert!(guard.command.ends_with(" --update --config A=1"), "what was measured: {}", guard.command);
    assert_eq!(advice(&fix(0.9)).command, "git -C k restore --source=abc -- .");
    assert!(advice(&fix(0.9)).then.unwrap().ends_with("--workload short --config A=1"), "what was measured before");
    assert_eq!(advice(&fix(0.9)).gain.as_deref(), Some("back to 1.00 ms a call"));
}

#[test]
fn thresholds_move_the_borders() {
    let tree = tree().unwrap();
    let own = Thresholds::read(tree, "config.toml", "[thresholds]\nprofile_below = 0.9\nfix_share = 0.1").unwrap();
    let node = |evidence: &Evidence| advise(tree, &evidence.facts(&own), &own).unwrap().node;
    assert_eq!((node(&measured(0.8)), advice(&measured(0.8)).node), ("profile".into(), "tune_behind".into()));
    assert_eq!((node(&fix(1.5)), advice(&fix(1.5)).node), ("profile".into(), "another_fix".into()));
}

#[test]
fn checklists_say_what_is_done_open_and_not_known() {
    let tree = tree().unwrap();
    let thresholds = Thresholds::usual(tree);
    let evidence = with(measured(1.5), |e| {
        e.git.uncommitted = Look::Found("2 files".into());
        e.examined = Some(false);
    });
    let all = checklists(tree, &evidence.facts(&thresholds), &thresholds);
    let item = |says: &str| all.iter().find(|item| item.says == says).unwrap().clone();
    assert_eq!(item("Nothing is broken on this machine").state, ItemState::Done);
    let doctor = item("The doctor has passed it");
    assert_eq!((doctor.state, doctor.command.as_deref()), (ItemState::Open, Some("kiln doctor 'k/soft max'")));
    assert_eq!(item("Attempts are logged").state, ItemState::Unknown);
    let files = item("The kernel's files are committed");
    assert_eq!((files.state, files.evidence.as_deref()), (ItemState::Open, Some("2 files")));
    assert_eq!(item("Commits are pushed").state, ItemState::Done);
    assert_eq!(item("The GPU is stopped").state, ItemState::Unknown);
    assert_eq!(files.command.as_deref(), Some("git -C 'k/soft max' status"));
    // What is ticked is what was measured, and not the default.
    let winner = item("The winner is validated").command.unwrap();
    assert_eq!(winner, "kiln fuzz 'k/soft max' --target cpu --variant T=f32 --config A=1 --runs 100");
    let shown = item("A profile shows what limits it as it is now").command.unwrap();
    assert!(shown.ends_with("--workload short --config A=1"), "{shown}");
    let lists: BTreeSet<&str> = all.iter().map(|item| item.list.as_str()).collect();
    assert_eq!(lists.into_iter().collect::<Vec<_>>(), ["closing", "during", "pre-flight"]);
}

/// A later benchmark of 0.99x is no evidence of what a study confirmed.
#[test]
fn what_a_study_confirmed_is_ticked_with_its_own_figures() {
    let (tree, own) = (tree().unwrap(), Thresholds::usual(tree().unwrap()));
    let of = |confirmed: bool, confirmation: Option<&str>| {
        let confirmation = confirmation.map(String::from);
        let evidence = with(measured(0.992), |e| {
            e.search = LastSearch { tuned: true, confirmed, confirmation, ..LastSearch::default() };
        });
        let all = checklists(tree, &evidence.facts(&own), &own);
        all.into_iter().find(|item| item.says == "The target speedup is confirmed").unwrap()
    };
    let ticked = of(true, Some("1.50x of numpy, by study abcd0123"));
    assert_eq!(
        (ticked.state, ticked.evidence.as_deref()),
        (ItemState::Done, Some("1.50x of numpy, by study abcd0123"))
    );
    let open = of(false, Some("1.01x of numpy, by study abcd0123"));
    assert_eq!((open.state, open.evidence), (ItemState::Open, None));
    assert_eq!(of(true, None).evidence, None);
}

#[test]
fn a_checklist_has_no_command_that_cannot_be_typed() {
    let (tree, none) = (tree().unwrap(), Evidence::default());
    let thresholds = Thresholds::usual(tree);
    let commands = |evidence: &Evidence| -> Vec<String> {
        let all = checklists(tree, &evidence.facts(&thresholds), &thresholds);
        all.into_iter().filter_map(|item| item.command).collect()
    };
    // Without a kernel only what needs none is left.
    let alone = BTreeSet::from_iter(commands(&none));
    assert_eq!(alone.iter().map(String::as_str).collect::<Vec<_>>(), ["kiln doctor", "kiln history"]);
    // A baseline that is not named is not measured.
    let bare = commands(&with(fresh(), |e| e.kernel.as_mut().unwrap().has_baseline = Some(false)));
    assert!(!bare.iter().any(|own| own.ends_with("--baselines")), "{bare:?}");
    // Outside of a repository nothing is pushed.
    let outside = commands(&fresh());
    assert!(outside.iter().any(|own| own.starts_with("kiln bench ")), "{outside:?}");
    assert!(outside.iter().all(|own| own.starts_with("kiln ")), "{outside:?}");
}
