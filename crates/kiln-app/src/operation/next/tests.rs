//! A kernel from nothing to a committed win: what is recorded at each step, and what is said next. Times are set, nothing is run.

mod scene;

use camino::Utf8Path;
use kiln_core::Gate;
use kiln_store::{
    CommitJudged, CommitVerdict, Kept, Measurement, State, Study, Trial, TrialState, TuneVerdict, Validation,
};
use serde_json::json;

use super::*;
use crate::repository::git;
use scene::{BEGINNING, KERNEL, Scene, summary};

#[test]
fn from_nothing_to_a_committed_win() {
    let scene = Scene::new();
    let first = scene.next().advice;
    assert_eq!(
        (first.node.as_str(), first.command.as_str()),
        ("assess", format!("kiln doctor {}", scene.folder).as_str())
    );
    assert_eq!(scene.hashes().0.len(), 40);

    // A slow result, and no profile.
    let commit = git(&scene.folder, &["rev-parse", "HEAD"]).unwrap().unwrap();
    scene.run(10, "A=1", &commit, &[("short", 1e-3, 0.09)]);
    let slow = scene.next().advice;
    assert_eq!(slow.node, "profile");
    assert_eq!(slow.because, "0.0900x of plain on short, and no profile shows why as it is now");
    assert_eq!(slow.command, format!("kiln profile {} --target cpu --workload short --config A=1", scene.folder));
    // A change without one is a guess; with one it is to be measured.
    scene.write("twice.c", "void twice(void) { }", 20);
    assert_eq!(scene.node(), "profile_blind");
    scene.write("twice.c", "void twice(void) {}", 0);
    scene.profile(15, "A=1", &[("call_in_loop", 4.0), ("narrow_vectors", 1.6)]);
    let fix = scene.next().advice;
    assert_eq!((fix.node.as_str(), fix.command.as_str()), ("fix", "kiln explain call_in_loop"));
    assert_eq!(fix.gain.as_deref(), Some("at most 4.00x"));
    assert_eq!(fix.time.as_deref(), Some("the last run took 3.00 s"));
    scene.write("twice.c", "void twice(void) { }", 20);
    assert_eq!(scene.node(), "remeasure");

    // It gave too little, then nothing, then as much as it promised.
    scene.run(30, "A=1", &format!("{commit}+"), &[("short", 1e-3 / 1.5, 0.13)]);
    let other = scene.next().advice;
    assert_eq!((other.node.as_str(), other.command.as_str()), ("another_fix", "kiln explain narrow_vectors"));
    scene.run(31, "A=1", &format!("{commit}+"), &[("short", 1.1e-3, 0.08)]);
    let revert = scene.next().advice;
    let exact = format!("git -C {} stash push --include-untracked -- twice.c", scene.folder);
    assert_eq!((revert.node.as_str(), &revert.command), ("revert", &exact));
    assert!(revert.because.ends_with("`git stash` keeps the edits that were not committed"), "{}", revert.because);
    // The command that is offered does it.
    scene.paste(&revert.command);
    assert_eq!(std::fs::read_to_string(scene.folder.join("twice.c")).unwrap(), "void twice(void) {}");
    scene.write("twice.c", "void twice(void) { ; }", 20);
    scene.run(32, "A=1", &format!("{commit}+"), &[("short", 1e-3 / 3.9, 0.35)]);
    assert_eq!(scene.node(), "profile");

    // As fast as the baseline: the larger workload, then the search.
    scene.run(40, "A=1", &format!("{commit}+"), &[("short", 1e-4, 1.2)]);
    let larger = scene.next().advice;
    assert_eq!(larger.node, "measure_others", "{larger:#?}");
    assert!(larger.command.ends_with("--workload long --config A=1"), "{}", larger.command);
    scene.run(41, "A=1", &format!("{commit}+"), &[("long", 1e-4, 1.1)]);
    assert_eq!(scene.node(), "tune");
    scene.study(50, &summary(TuneVerdict::Reached, Some(1.5)), State::Interrupted);
    assert_eq!(scene.node(), "resume");

    // A confirmed win is committed, validated and guarded.
    let study = scene.study(60, &summary(TuneVerdict::Reached, Some(1.5)), State::Finished);
    let win = scene.next().advice;
    assert_eq!(win.node, "measure_others");
    scene.run(200, "A=4", &commit, &[("short", 1e-4, 1.5), ("long", 1e-4, 1.5)]);
    let win = scene.next().advice;
    assert_eq!(win.node, "commit", "{win:#?}");
    assert!(win.command.ends_with("commit -m 'twice: 1.50x of plain on short'"), "{}", win.command);
    scene.commit();
    assert_eq!(scene.node(), "validate");
    let (sources, spec_hash) = scene.hashes();
    let validation = Validation {
        id: Study::new_id(),
        at_ms: 1,
        kernel: "twice".into(),
        path: scene.folder.to_string(),
        target: "cpu".into(),
        arch: None,
        variant: String::new(),
        config: "A=4".into(),
        runs: 100,
        shapes: None,
        seed: 1,
        device: String::new(),
        spec_hash,
        sources,
        kiln_version: "0".into(),
    };
    scene.store.record_validation(&validation).unwrap();
    assert_eq!(scene.node(), "guard");
    scene.write("kiln-ratchet.toml", "", 300);
    scene.commit();
    let done = scene.next();
    assert_eq!(done.advice.node, "done", "{:#?}", done.advice.path);
    assert!(!study.is_empty());
    let item = |says: &str| done.checklists.iter().find(|item| item.says == says).unwrap();
    use kiln_diagnose::next::ItemState::{Done, Open};
    assert_eq!(item("The kernel's files are committed").state, Done);
    assert_eq!(item("The decision is written").state, Open);
    assert_eq!(item("The GPU is stopped").evidence.as_deref(), Some("no GPU was used"));
    assert_eq!(item("Attempts are logged").evidence.as_deref(), Some("2 studies, 7 runs, 1 profile"));
}

#[test]
fn sources_that_were_brought_back_have_what_was_known_of_them() {
    let scene = Scene::new();
    let commit = git(&scene.folder, &["rev-parse", "HEAD"]).unwrap().unwrap();
    let bench = |at: i64, speedup: f64| {
        // Notes beside the kernel were being written.
        scene.run(at, "A=1", &format!("{commit}+"), &[("short", 1e-3 / speedup, speedup)]);
        scene.attempted(at, "bench", "A=1", Some(("short", speedup)));
    };
    bench(10, 0.3);
    scene.attempted(15, "profile", "A=1", None);
    scene.profile(15, "A=1", &[("call_in_loop", 4.0), ("narrow_vectors", 1.6)]);
    scene.write("twice.c", "void twice(void) { }", 20);
    bench(30, 0.29);
    assert_eq!(scene.node(), "revert");
    // As it was: no guess, and what was tried in vain is not tried again.
    scene.write("twice.c", "void twice(void) {}", 40);
    let back = scene.next().advice;
    assert_eq!((back.node.as_str(), back.command.as_str()), ("fix", "kiln explain narrow_vectors"), "{back:#?}");
    assert!(back.because.starts_with("0.300x of plain on short"), "{}", back.because);
    // A file that was only touched has not changed.
    scene.write("plain.c", "", 50);
    assert_eq!(scene.node(), "fix");
    scene.write("twice.c", "void twice(void) { ; }", 60);
    bench(70, 0.28);
    scene.write("twice.c", "void twice(void) {}", 80);
    assert_eq!(scene.node(), "compare_baseline", "both causes were tried");
}

#[test]
fn a_slower_change_is_reverted_however_often_it_is_measured() {
    let scene = Scene::new();
    let head = || git(&scene.folder, &["rev-parse", "HEAD"]).unwrap().unwrap();
    let bench = |at: i64, speedup: f64| {
        scene.run(at, "A=1", &format!("{}+", head()), &[("short", 1e-3 / speedup, speedup), ("long", 1e-3, 20.0)]);
        scene.attempted(at, "bench", "A=1", Some(("short", speedup)));
    };
    bench(10, 16.0);
    scene.attempted(15, "profile", "A=1", None);
    scene.profile(15, "A=1", &[("call_in_loop", 1.5)]);
    scene.write("twice.c", "void twice(void) { }", 20);
    let slow = std::fs::read_to_string(scene.folder.join("twice.c")).unwrap();
    for at in [30, 40] {
        bench(at, 4.0);
        let revert = scene.next().advice;
        assert_eq!(revert.node, "revert", "{revert:#?}");
        assert!(revert.because.starts_with("the last change gave 0.250x on short"), "{}", revert.because);
    }
    // Touching a file changes nothing, and a profile of the slow state is no reason to keep it.
    scene.write("twice.c", &slow, 45);
    scene.attempted(46, "profile", "A=1", None);
    scene.profile(46, "A=1", &[]);
    assert_eq!(scene.node(), "revert");
    // Committed, it is brought back from the commit before; a header of its own goes.
    scene.write("twice.h", "", 47);
    let slow_commit = scene.commit();
    bench(50, 4.0);
    let revert = scene.next().advice;
    assert!(!revert.command.contains("stash") && !revert.because.contains("stash"), "{revert:#?}");
    scene.paste(&revert.command);
    assert!(!scene.folder.join("twice.h").exists());
    assert_eq!(std::fs::read_to_string(scene.folder.join("twice.c")).unwrap(), "void twice(void) {}");
    let back = scene.next().advice;
    assert!(back.node == "commit" && back.because.contains("16.0x"), "{back:#?}");
    // A state that was measured with edits and committed since is known by what it holds, and a faster one that was wrong is none to go
    // back to.
    scene.write("twice.c", "void twice(void) { ; }", 60);
    bench(70, 17.0);
    let fast = scene.commit();
    assert_ne!(fast, slow_commit);
    scene.write("twice.c", "void twice(void) { ; ; }", 80);
    bench(90, 3.0);
    let revert = scene.next().advice;
    assert_eq!(revert.node, "revert", "{revert:#?}");
    scene.paste(&revert.command);
    assert_eq!(std::fs::read_to_string(scene.folder.join("twice.c")).unwrap(), "void twice(void) { ; }");
    scene.refused(95, "fuzz", "A=1", "numerics");
    // A benchmark asks less, and is no answer.
    bench(97, 17.0);
    scene.write("twice.c", "void twice(void) { ; ; ; }", 101);
    bench(102, 15.9);
    assert_ne!(scene.node(), "revert", "17x was wrong, and 16x is no clear difference");
}

#[test]
fn what_cannot_be_compared_is_not_reverted() {
    let scene = Scene::new();
    let bench = |at: i64, figures: &[(&str, f64, f64)]| {
        scene.run(at, "A=1", "c", figures);
        scene.attempted(at, "bench", "A=1", None);
    };
    bench(10, &[("short", 1e-4, 16.0), ("long", 1e-3, 20.0)]);
    scene.write("twice.c", "void twice(void) { ; }", 20);
    // The kernel takes a tenth longer, and the baseline a tenth of what it took: another one under its name.
    bench(30, &[("short", 1.1e-4, 1.5), ("long", 1e-3, 20.0)]);
    assert_ne!(scene.node(), "revert");
    // A workload that nobody measured before says nothing; one that was lost does, though another is the slowest.
    bench(40, &[("short", 4e-4, 4.0), ("long", 1e-3, 3.0)]);
    assert_ne!(scene.node(), "revert", "long is a workload of another length");
    bench(50, &[("short", 4e-4, 4.0), ("new", 1e-3, 3.0), ("long", 1e-3, 20.0)]);
    let revert = scene.next().advice;
    assert!(revert.node == "revert" && revert.because.contains("0.250x on short"), "{revert:#?}");
    // What is lost on one workload and won on another is the user's choice.
    bench(60, &[("short", 4e-4, 4.0), ("long", 5e-4, 40.0)]);
    assert_ne!(scene.node(), "revert");
}

#[test]
fn what_a_study_confirmed_is_a_state_to_go_back_to() {
    let scene = Scene::new();
    scene.study(10, &summary(TuneVerdict::Reached, Some(6.0)), State::Finished);
    scene.attempted(10, "tune", "A=4", Some(("short", 6.0)));
    scene.write("twice.c", "void twice(void) { ; }", 150);
    scene.run(200, "A=4", "c", &[("short", 3.3e-5, 1.8)]);
    scene.attempted(200, "bench", "A=4", Some(("short", 1.8)));
    let revert = scene.next().advice;
    assert_eq!(revert.node, "revert", "{revert:#?}");
    // A poorer study of the same sources makes its winner no worse.
    scene.write("twice.c", "void twice(void) {}", 250);
    let mut poor = summary(TuneVerdict::NotReached, Some(0.99));
    poor.config = Some(kiln_core::Config::parse("A=1").unwrap());
    scene.study(300, &poor, State::Finished);
    assert!(scene.next().advice.because.starts_with("6.00x of plain on short"));
}

#[test]
fn a_kernel_without_a_reference_is_given_one_first() {
    let scene = Scene::new();
    let (before, after) = KERNEL.split_once("[reference]").unwrap();
    scene.write("kernel.toml", &format!("{before}[baselines]{}", after.split_once("[baselines]").unwrap().1), 0);
    assert_eq!(scene.node(), "name_reference");
}

#[test]
fn a_result_is_that_of_the_slowest_workload_of_the_same_code() {
    let scene = Scene::new();
    scene.run(10, "A=1", "c", &[("long", 1e-3, 0.3)]);
    scene.run(20, "A=1", "c", &[("short", 1e-4, 1.3)]);
    let slow = scene.next().advice;
    assert!(slow.node == "profile" && slow.because.starts_with("0.300x of plain on long"), "{slow:#?}");
    // Another configuration is another result, and the newest on a workload counts.
    scene.run(30, "A=2", "c", &[("short", 1e-4, 1.3)]);
    assert_eq!(scene.node(), "measure_others");
    scene.run(40, "A=1", "c", &[("long", 1e-4, 1.2)]);
    assert!(scene.next().advice.because.starts_with("1.20x of plain on long"));
    // What a study measured of its winner counts with it.
    scene.study(50, &summary(TuneVerdict::Reached, Some(1.1)), State::Finished);
    scene.run(200, "A=4", "c", &[("long", 1e-4, 1.5)]);
    let own = scene.next();
    use kiln_diagnose::next::Datum;
    let said = (Some(&Datum::Times(1.1)), Some(&Datum::Is(false)));
    assert_eq!((own.facts.get("speedup"), own.facts.get("other_workload")), said);
}

#[test]
fn the_winner_of_a_study_stands_beside_a_slower_configuration() {
    let scene = Scene::new();
    scene.study(10, &summary(TuneVerdict::Reached, Some(1.5)), State::Finished);
    scene.run(200, "A=1", "c", &[("short", 1e-4, 1.2)]);
    let stands = scene.next().advice;
    assert!(stands.because.starts_with("1.50x of plain on short"), "{stands:#?}");
    scene.run(210, "A=2", "c", &[("short", 1e-4, 1.7)]);
    assert!(scene.next().advice.because.starts_with("1.70x of plain on short"), "a faster one was found by hand");
    // Of other sources it says nothing.
    scene.write("twice.c", "void twice(void) { ; }", 300);
    scene.run(310, "A=1", "c", &[("short", 1e-4, 1.2)]);
    assert!(scene.next().advice.because.starts_with("1.20x of plain on short"));
}

#[test]
fn a_study_of_other_sources_is_not_resumed() {
    let scene = Scene::new();
    scene.study(10, &summary(TuneVerdict::Reached, Some(1.5)), State::Interrupted);
    assert_eq!(scene.node(), "resume");
    scene.write("twice.c", "void twice(void) { ; }", 20);
    assert_eq!(scene.node(), "measure");
}

#[test]
fn a_kernel_without_a_baseline_is_not_as_fast_as_one() {
    let scene = Scene::new();
    scene.write("kernel.toml", &KERNEL.replace("[baselines]\nplain = \"plain.c:plain\"\n", ""), 0);
    let mut alone = summary(TuneVerdict::Reached, Some(5.0));
    alone.baseline = None;
    scene.study(10, &alone, State::Finished);
    assert_eq!(scene.node(), "name_baseline");
}

#[test]
fn a_kernel_that_was_moved_is_where_it_is_now() {
    let keep = tempfile::Builder::new().prefix("moved").tempdir_in(".").unwrap();
    let root = Utf8Path::from_path(keep.path()).unwrap();
    let (then, now) = (root.join("then"), root.join("now"));
    std::fs::create_dir_all(&now).unwrap();
    std::fs::write(now.join("kernel.toml"), KERNEL.replace("twice", "moved_away")).unwrap();
    std::fs::write(now.join("moved_away.c"), "").unwrap();
    std::fs::write(now.join("plain.c"), "").unwrap();
    let found = Asked::recorded("moved_away".into(), then.to_string());
    assert!(found.path.ends_with("now") && found.file.is_some(), "{}", found.path);
    let gone = Asked::recorded("nowhere".into(), then.to_string());
    assert!(gone.path == then && gone.file.is_none());
}

#[test]
fn refusals_come_before_speed() {
    let scene = Scene::new();
    let commit = git(&scene.folder, &["rev-parse", "HEAD"]).unwrap().unwrap();
    let verdict = |at: i64, judged, good, words: &str| CommitVerdict {
        id: Study::new_id(),
        at_ms: 1000 * (BEGINNING + at),
        kernel: "twice".into(),
        inside: "twice".into(),
        git_commit: commit.clone(),
        judged,
        good,
        target: "cpu".into(),
        variant: String::new(),
        device: String::new(),
        words: words.into(),
        kiln_version: "0".into(),
    };
    scene.store.record_commit(&verdict(5, CommitJudged::Build, false, "twice.c:1: error: no")).unwrap();
    let build = scene.next().advice;
    assert_eq!(build.node, "build");
    assert_eq!(build.because, "the last attempt was refused by the build: twice.c:1: error: no");
    scene.store.record_commit(&verdict(6, CommitJudged::Check, false, "y[0] is 3")).unwrap();
    assert_eq!(scene.node(), "shrink");
    // A change of the sources makes it another kernel, and a good verdict closes it.
    scene.write("twice.c", "void twice(void) { }", 7);
    assert_eq!(scene.node(), "measure");
    scene.write("twice.c", "void twice(void) {}", 0);
    scene.store.record_commit(&verdict(8, CommitJudged::Check, true, "correct")).unwrap();
    assert_eq!(scene.node(), "measure");
    // A study in which nothing passed.
    let study = scene.study(10, &summary(TuneVerdict::NoValidCandidate, None), State::Finished);
    let refusal = kiln_core::Refusal {
        gate: Gate::Numerics,
        rule: "y".into(),
        measured: "y[7] is 3".into(),
        limit: "2".into(),
        evidence: String::new(),
        hint: None,
    };
    let trial = Trial {
        number: 0,
        phase: "seed".into(),
        config: "A=2".into(),
        state: TrialState::Refused,
        cost: None,
        refusal: Some(refusal),
        workload: None,
        artifact: None,
        started_ms: 0,
        build_s: 0.0,
        check_s: 0.0,
        measure_s: 0.0,
        wall_s: 0.0,
        details: Kept::found(json!({})),
    };
    scene.store.record(&study, &trial, &[]).unwrap();
    let refused = scene.next().advice;
    assert_eq!(refused.node, "shrink");
    assert!(
        refused.command.ends_with("--config A=2") && refused.because.contains("numerics: y[7] is 3"),
        "{refused:#?}"
    );
}

#[test]
fn what_a_bisection_found_of_other_commits_is_no_evidence() {
    let scene = Scene::new();
    let first = git(&scene.folder, &["rev-parse", "HEAD"]).unwrap().unwrap();
    scene.write("twice.c", "void twice(void) { ; }", 1);
    let second = scene.commit();
    let verdict = |at: i64, commit: &str, judged, good| CommitVerdict {
        id: Study::new_id(),
        at_ms: 1000 * (BEGINNING + at),
        kernel: "twice".into(),
        inside: "twice".into(),
        git_commit: commit.into(),
        judged,
        good,
        target: String::new(),
        variant: String::new(),
        device: String::new(),
        words: "y[0] is 3".into(),
        kiln_version: "0".into(),
    };
    let record = |own: CommitVerdict| scene.store.record_commit(&own).unwrap();
    record(verdict(5, &second, CommitJudged::Check, true));
    record(verdict(6, &first, CommitJudged::Check, false));
    let advice = scene.next().advice;
    assert!(advice.node == "measure" && !advice.command.contains("--target"), "{advice:#?}");
    // Its own commit counts, also under another name: the kernel's folder is the same.
    std::fs::write(scene.folder.parent().unwrap().join("other"), "").unwrap();
    scene.commit();
    record(verdict(7, &second, CommitJudged::Check, false));
    assert_eq!(scene.node(), "shrink");
    // That it builds is no answer to that.
    record(verdict(8, &second, CommitJudged::Build, true));
    assert_eq!(scene.node(), "shrink");
    // What it measured in its worktrees is no result of these files.
    scene.write("twice.c", "void twice(void) { ; ; }", 9);
    scene.commit();
    scene.run_in("/tmp/kiln-base-1-x/base/twice", 10, "A=1", &first, &[("short", 1e-3, 0.09)]);
    assert_eq!(scene.node(), "measure");
}

#[test]
fn a_study_that_stopped_has_its_result_in_what_it_measured() {
    let scene = Scene::new();
    let mut stopped = summary(TuneVerdict::Stopped, None);
    stopped.config = Some(kiln_core::Config::parse("A=1").unwrap());
    let study = scene.study(10, &stopped, State::Finished);
    let trial = crate::record::sample::trial(Some(1e-3));
    let measured = |subject: &str, seconds: f64| Measurement {
        phase: "standing".into(),
        trial: 0,
        workload: "short".into(),
        subject: subject.into(),
        block: 0,
        samples: vec![seconds; 5],
        calls: 1,
        cache: "warm".into(),
    };
    scene.store.record(&study, &trial, &[measured("candidate", 1e-3), measured("baseline:plain", 9e-5)]).unwrap();
    let found = scene.next().advice;
    assert_eq!(found.node, "profile", "{found:#?}");
    assert!(found.because.starts_with("0.0900x of plain on short"), "{}", found.because);
    assert!(found.command.ends_with("--workload short --config A=1"), "{}", found.command);
    // A study that its process left is resumed.
    scene.study(100, &summary(TuneVerdict::Reached, Some(1.5)), State::Interrupted);
    assert_eq!(scene.node(), "resume");
}

#[test]
fn another_configuration_is_gone_back_from() {
    let scene = Scene::new();
    scene.run(10, "A=1", "c", &[("short", 1e-3, 0.3)]);
    scene.profile(15, "A=1", &[("call_in_loop", 4.0)]);
    scene.run(20, "A=2", "c", &[("short", 2e-3, 0.15)]);
    let back = scene.next().advice;
    assert_eq!(back.node, "revert");
    assert_eq!(back.command, format!("kiln bench {} --target cpu --workload short --config A=1", scene.folder));
}

#[test]
fn the_kernel_is_the_one_named_and_a_bad_threshold_is_told() {
    let scene = Scene::new();
    scene.run(10, "A=1", "c", &[("short", 1e-3, 0.8)]);
    let asked =
        |kernel: &str| next(&scene.project, &NextRequest { kernel: Some(kernel.into()), ..NextRequest::default() });
    assert_eq!(asked("twice").unwrap().kernel.as_deref(), Some("twice"));
    let said = asked("twise").err().unwrap().to_string();
    assert!(said.contains("nothing is recorded of a kernel `twise`") && said.contains("did you mean twice?"), "{said}");
    assert_eq!(scene.node(), "tune_behind");
    let config = Utf8Path::new(scene.project.folder()).join(CONFIG);
    std::fs::write(&config, "[thresholds]\nprofile_below = 0.9\n").unwrap();
    assert_eq!(scene.node(), "profile");
    std::fs::write(&config, "[thresholds]\nprofile_bellow = 0.9\n").unwrap();
    let said = asked("twice").err().unwrap().to_string();
    assert!(
        said.contains("unknown key thresholds.profile_bellow") && said.contains("did you mean profile_below?"),
        "{said}"
    );
}
