//! Sessions from the first command to the report: what joins, what is warned of, what is compared; and what makes no record.

use std::path::Path;

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln_in};

fn object(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}\n{}{}", ran.out, ran.err))
}

/// Runs kiln with words split at blanks.
fn kiln(folder: &Path, line: &str) -> Ran {
    kiln_in(folder, &line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn a_mistake_in_what_was_typed_makes_no_store_and_no_attempt() {
    let folder = empty_folder("learning-mistakes");
    let mistakes = [
        "tune nowhere",
        "gate nowhere",
        "bench nowhere",
        "check . --bad-flag",
        "session start nowhere",
        "session start --budget 4",
        "session start --price cheap",
        "session start --goal 1.2",
        "session start --goal 20%",
        "session start --goal 1.2x --worth 100",
        "session status",
        "session end",
        "retire nowhere --because x",
        "try guess -- kiln gate nowhere",
    ];
    for line in mistakes {
        let ran = kiln(&folder, line);
        assert_eq!(ran.code, 2, "{line}: {}{}", ran.out, ran.err);
        assert!(!folder.join(".kiln").exists(), "{line}");
    }
    assert!(kiln(&folder, "session start --budget 4").err.contains("expected a time such as 4h"));
    // One in an open session is no attempt either.
    assert_eq!(kiln(&folder, "session start --goal 1.2x").code, 0);
    assert_eq!(kiln(&folder, "gate nowhere").code, 2);
    assert_eq!(object(&kiln(&folder, "session status --json"))["row"]["attempts"], 0);
    let second = kiln(&folder, "session start");
    assert!(second.code == 2 && second.err.contains("is open in this folder (1.2x)"), "{}", second.err);
}

#[test]
fn a_session_is_told_from_its_first_failure_to_its_report_and_the_next_one_is_shorter() {
    let folder = empty_folder("learning-session");
    assert_eq!(kiln(&folder, "init sample").code, 0);
    let begun = kiln_in(
        &folder,
        &[
            "session",
            "start",
            "sample",
            "--goal",
            "1.2x",
            "--budget",
            "2h",
            "--price",
            "3/h",
            "--criteria",
            "it is fast",
        ],
    );
    assert!(
        begun.code == 0 && begun.out.contains("baseline") && begun.out.contains("naive"),
        "{}{}",
        begun.out,
        begun.err
    );

    let (file, build) = (folder.join("sample/sample.c"), "gate sample --target cpu --until build");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("#error no\n{right}")).unwrap();
    let failed: Vec<Ran> = (0..3).map(|_| kiln(&folder, build)).collect();
    let warned = "sample failed 3 times in a row by build_failed";
    assert!(failed.iter().all(|ran| ran.code == 3), "{}", failed[0].err);
    assert!(!failed[1].err.contains(warned) && failed[2].err.contains(warned), "{}", failed[2].err);
    std::fs::write(&file, &right).unwrap();
    assert_eq!(kiln(&folder, build).code, 0);

    let tried = kiln_in(&folder, &["try", "it was the #error", "--", "kiln", "check", "sample", "--target", "cpu"]);
    assert!(tried.code == 0 && tried.out.contains("sample"), "{}{}", tried.out, tried.err);
    let shell = kiln_in(&folder, &["try", "false is false", "--", "false"]);
    assert_eq!(shell.code, 3, "{}", shell.err);
    assert_eq!(kiln_in(&folder, &["try", " ", "--", "kiln", "check", "sample"]).code, 2, "it says nothing");
    let decided = kiln_in(
        &folder,
        &[
            "session",
            "decide",
            "--option",
            "go on; 1h; 1.3x",
            "--option",
            "stop",
            "--choose",
            "1",
            "--because",
            "it is early",
        ],
    );
    assert!(decided.out.starts_with("decided: go on (it is early)") && decided.out.contains("3.00"), "{}", decided.out);

    let status = object(&kiln(&folder, "session status --json"));
    assert_eq!(
        (&status["row"]["attempts"], status["hypotheses"].as_array().unwrap().len()),
        (&5.into(), 2),
        "{status:#}"
    );
    assert_eq!(status["hypotheses"][0]["outcome"], "passed");
    assert_eq!(status["hypotheses"][0]["command"], "kiln check sample --target cpu");
    assert_eq!(status["hypotheses"][1]["words"], "exit status: 1");
    assert_eq!(status["hypotheses"][1]["result"], "the command failed: exit status: 1");
    assert_eq!(status["session"]["path"], "sample");
    assert!(status["row"]["time_to_build_s"].as_f64().is_some_and(|seconds| seconds > 0.0), "{status:#}");

    let ended = kiln(&folder, "session end --out reports");
    // To go on is no choice to stop: the goal is missed.
    assert!(ended.code == 0 && ended.out.contains("grade B"), "{}{}", ended.out, ended.err);
    let page = std::fs::read_to_string(folder.join("reports/report.md")).unwrap();
    assert!(
        page.contains("| it was the #error | `kiln check sample --target cpu` | the command succeeded |"),
        "{page}"
    );
    assert!(folder.join("reports/sessions.svg").is_file() && folder.join("reports/report.json").is_file());

    // The same mistake again, put right at once: shorter, and yet a repeated mistake.
    assert_eq!(kiln(&folder, "session start sample --goal 1.2x").code, 0);
    std::fs::write(&file, format!("#error no\n{right}")).unwrap();
    let again = kiln(&folder, build);
    assert!(
        again.err.contains("a repeated mistake: ") && again.err.contains("was put right before this session"),
        "{}",
        again.err
    );
    std::fs::write(&file, &right).unwrap();
    assert_eq!(kiln(&folder, build).code, 0);
    let second = object(&kiln(&folder, "session end --json"));
    assert_eq!((&second["row"]["repeated"], &second["row"]["attempts"]), (&1.into(), &2.into()), "{second:#}");
    assert_eq!(second["earlier"][0]["attempts"], 5);
    let listed = kiln(&folder, "session list");
    assert!(listed.out.contains("attempts up to the best result"), "{}", listed.out);
    let past = kiln(&folder, "session report last --markdown");
    assert!(
        past.out.contains("## Repeated mistakes") && past.out.contains("## Beside earlier sessions"),
        "{}",
        past.out
    );
}

#[test]
fn a_failure_that_is_put_right_is_offered_as_a_lesson_and_counted_once_it_is_one() {
    let folder = empty_folder("learning-lesson");
    assert_eq!(kiln(&folder, "init sample").code, 0);
    let (file, check) = (folder.join("sample/sample.c"), "check sample --target cpu");
    let right = std::fs::read_to_string(&file).unwrap();
    let wrong = format!("#error zebra 7\n{right}");
    std::fs::write(&file, &wrong).unwrap();
    assert_eq!(kiln(&folder, check).code, 3);
    std::fs::write(&file, &right).unwrap();
    let passed = kiln(&folder, check);
    let offered =
        "sample passes after build_failed; changed: sample.c. Keep it as a lesson: kiln lessons add --from-last sample";
    assert!(passed.code == 0 && passed.err.contains(offered), "{}", passed.err);
    let added = kiln_in(
        &folder,
        &["lessons", "add", "--from-last", "sample", "--id", "zebra", "--cause", "A zebra.", "--remedy", "Remove it."],
    );
    assert_eq!(added.out, "wrote .kiln/lessons/zebra.toml\n", "{}", added.err);
    let shown = kiln(&folder, "lessons show zebra");
    assert!(shown.out.contains("sample.c: -#error zebra 7"), "{}", shown.out);
    // From now on it is known, and counted.
    std::fs::write(&file, &wrong).unwrap();
    let known = kiln(&folder, check);
    assert!(known.out.contains("(kiln lessons show zebra)\n") && !known.out.contains("met "), "{}", known.out);
    std::fs::write(&file, &right).unwrap();
    let again = kiln(&folder, check);
    assert!(!again.err.contains("Keep it as a lesson"), "{}", again.err);
    std::fs::write(&file, &wrong).unwrap();
    let counted = object(&kiln(&folder, &format!("{check} --json")));
    let here = &counted["lesson"]["here"];
    assert_eq!((&here["met"], &here["worked"]), (&2.into(), &1.into()), "{counted:#}");
}

#[test]
fn a_retired_kernel_says_so() {
    let folder = empty_folder("learning-retired");
    assert_eq!(kiln(&folder, "init sample").code, 0);
    let made = kiln_in(&folder, &["retire", "sample", "--because", "the baseline is faster"]);
    assert_eq!(made.out, "retired: sample (the baseline is faster)\n", "{}", made.err);
    let listed = kiln(&folder, "history sample");
    assert!(listed.out.starts_with("retired ") && listed.out.contains("the baseline is faster"), "{}", listed.out);
    assert_eq!(object(&kiln(&folder, "history sample --json"))["retired"]["because"], "the baseline is faster");
    assert_eq!(kiln(&folder, "retire sample --undo").out, "restored: sample\n");
    assert!(!kiln(&folder, "history sample").out.contains("retired"));
}

#[test]
fn a_kernels_session_takes_only_what_the_kernel_has_and_moves_with_its_project() {
    let folder = empty_folder("learning-moved/before");
    assert_eq!(kiln(&folder, "init sample").code, 0);
    for (line, words) in [
        ("--baseline numpy", "--baseline: there is no baseline `numpy`"),
        ("--smallest tiny", "--smallest: there is no workload `tiny`"),
    ] {
        let odd = kiln(&folder, &format!("session start sample {line}"));
        assert!(odd.code == 2 && odd.err.contains(words) && odd.err.contains("expected one of"), "{}", odd.err);
    }
    let odd = kiln_in(&folder, &["session", "start", "--goal", "1.2x nowhere"]);
    assert!(odd.code == 2 && odd.err.contains("no kernel here has a workload `nowhere`"), "{}", odd.err);
    assert!(!folder.join(".kiln").exists());
    assert_eq!(kiln_in(&folder, &["session", "start", "sample", "--goal", "1.2x small"]).code, 0);
    // Neither a command that is not kiln's nor a bisection is a working build.
    assert_eq!(kiln_in(&folder, &["try", "it is true", "--", "true"]).code, 0);
    let status = object(&kiln(&folder, "session status --json"));
    assert_eq!(
        (&status["row"]["attempts"], &status["row"]["time_to_build_s"]),
        (&0.into(), &Value::Null),
        "{status:#}"
    );
    // Another configuration is no baseline.
    let bench = "bench sample --target cpu --workload small --samples 25 --max-samples 25";
    assert_eq!(kiln(&folder, &format!("{bench} --against KEEP=true")).code, 0);
    let against = object(&kiln(&folder, "session status --json"));
    assert_eq!((&against["row"]["speedup"], &against["row"]["time_to_build_s"].is_number()), (&Value::Null, &true));
    assert_eq!(kiln(&folder, bench).code, 0);
    assert!(object(&kiln(&folder, "session status --json"))["best"]["workload"] == "small");
    let moved = folder.with_file_name("after");
    let _ = std::fs::remove_dir_all(&moved);
    std::fs::rename(&folder, &moved).unwrap();
    let there = object(&kiln(&moved, "session status --json"));
    assert_eq!(there["session"]["id"], status["session"]["id"]);
    let blocked = moved.join("blocked");
    std::fs::write(&blocked, "").unwrap();
    let unwritten = kiln(&moved, "session end --out blocked/reports");
    assert!(
        unwritten.code == 1 && unwritten.err.contains("making blocked/reports for the report"),
        "{}",
        unwritten.err
    );
    assert_eq!(kiln(&moved, "session end").code, 0);
    assert_eq!(object(&kiln(&moved, "session list --json"))["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_session_is_named_by_enough_of_its_id() {
    let folder = empty_folder("learning-ids");
    for _ in 0..3 {
        assert_eq!(kiln(&folder, "session start").code, 0);
        let ended = kiln(&folder, "session end");
        assert!(ended.out.contains("no grade: no command in it judged anything"), "{}", ended.out);
    }
    let none = kiln_in(&folder, &["session", "report", ""]);
    assert!(none.code == 2 && none.err.contains("expected the end of a session's id, or last"), "{}", none.err);
    let all = object(&kiln(&folder, "session list --json"));
    let ids: Vec<&str> =
        all["sessions"].as_array().unwrap().iter().map(|row| row["session"].as_str().unwrap()).collect();
    let ends = |end: char| ids.iter().filter(|id| id.ends_with(end)).count();
    if let Some(end) = "0123456789abcdef".chars().find(|end| ends(*end) > 1) {
        let several = kiln(&folder, &format!("session report {end}"));
        assert!(several.code == 2 && several.err.contains("sessions' ids"), "{}", several.err);
    }
    let one = kiln(&folder, &format!("session report {} --json", &ids[1][ids[1].len() - 12..]));
    assert_eq!(object(&one)["session"]["id"], ids[1]);
    let newest = kiln(&folder, "session list --limit 2");
    assert!(newest.out.contains("1 session older: --limit 3") && newest.out.contains("0 attempts, "), "{}", newest.out);
    let listed = object(&kiln(&folder, "session list --limit 2 --json"));
    assert_eq!((&listed["older"], listed["sessions"].as_array().unwrap().len()), (&1.into(), 2));
}

#[test]
fn an_attempt_that_cannot_be_recorded_says_so_and_the_command_goes_on() {
    let folder = empty_folder("learning-unrecorded");
    assert_eq!(kiln(&folder, "init sample").code, 0);
    std::fs::create_dir(folder.join(".kiln")).unwrap();
    std::fs::write(folder.join(".kiln/kiln.db"), "this is no store, and longer than a header of one would be").unwrap();
    let gated = kiln(&folder, "gate sample --target cpu --static");
    let said = "this gate is not recorded as an attempt: opening the store .kiln/kiln.db: ";
    assert!(gated.code == 0 && gated.err.matches(said).count() == 1, "{}", gated.err);
    let tried = kiln_in(&folder, &["try", "it is true", "--", "true"]);
    assert!(tried.code == 0 && tried.err.contains("the hypothesis is not recorded: opening"), "{}", tried.err);
    let lost = kiln(&folder, "lessons add --id x --from-refusal nowhere.json");
    assert!(lost.code == 1 && lost.err.contains("reading nowhere.json for --from-refusal"), "{}", lost.err);
}

#[test]
fn a_command_around_kiln_is_one_attempt_and_is_kept_as_it_was_typed() {
    let folder = empty_folder("learning-around");
    assert_eq!(kiln(&folder, "init sample").code, 0);
    assert_eq!(kiln(&folder, "session start sample").code, 0);
    let inner = format!("'{}' check sample --target cpu; echo \"a  b\"", env!("CARGO_BIN_EXE_kiln"));
    let tried = kiln_in(&folder, &["try", "is it right", "--", "sh", "-c", &inner]);
    assert!(tried.code == 0 && tried.out.ends_with("a  b\n"), "{}{}", tried.out, tried.err);
    assert_eq!(kiln_in(&folder, &["try", "two lines", "--", "sh", "-c", "true\nexit 7"]).code, 3);
    let status = object(&kiln(&folder, "session status --json"));
    let told: Vec<(&str, &str)> = status["hypotheses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["hypothesis"].as_str().unwrap(), one["result"].as_str().unwrap()))
        .collect();
    let failed = "the command failed: exit status: 7";
    assert_eq!(told, [("is it right", "the command succeeded"), ("two lines", failed)], "{status:#}");
    assert_eq!(status["row"]["attempts"], 1, "{status:#}");
    let command = |at: usize| status["hypotheses"][at]["command"].as_str().unwrap();
    assert!(command(0).starts_with("sh -c '") && command(0).ends_with("echo \"a  b\"'"), "{}", command(0));
    assert_eq!(command(1), r"sh -c $'true\nexit 7'");
    let long = kiln_in(&folder, &["try", &"x".repeat(301), "--", "kiln", "check", "sample"]);
    assert!(long.code == 2 && long.err.contains("the hypothesis has 301 characters"), "{}", long.err);
}
