//! `kiln review`: a folder that a person reads without kiln, and the remarks that come back; and what promises were worth.

use serde_json::Value;

use crate::history::{json, tiny, tune};
use crate::run::{empty_folder, kiln, kiln_in};

#[test]
fn a_study_is_exported_and_remarks_come_back_to_where_they_apply() {
    let folder = tiny("review");
    // Whatever is tried: of five configurations one has other lanes than the four that build.
    let source = folder.join("tiny").join("tiny.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text.replace("#if LANES == 16\n", "#if LANES != 4\n")).unwrap();
    assert!([0, 4].contains(&tune(&folder, &[]).code));
    let ran = kiln_in(&folder, &["review", "export", "tiny", "-o", "handed"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(folder.join("handed").join(name)).unwrap();
    let report = read("report.md");
    assert!(report.starts_with("# Review of tiny\n") && report.contains("`build_failed`"), "{report}");
    assert!(report.contains("\n\nConfigurations tried: "), "{report}");
    for link in report.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(folder.join("handed").join(link).exists(), "{link} is linked and missing");
    }
    assert!(
        read("figures/gates.svg").ends_with("</svg>\n") && read("evidence/trials.csv").starts_with("phase,number,")
    );
    let study = serde_json::from_str::<Value>(&read("evidence/study.json")).unwrap();
    let id = study["study"]["id"].as_str().unwrap().to_string();
    // As it is written, the template has no remarks; filled in, its examples are right.
    let template = read("remarks.toml");
    std::fs::write(folder.join("empty.toml"), &template).unwrap();
    let empty = kiln_in(&folder, &["review", "add", "empty.toml"]);
    assert!(empty.code == 2 && empty.err.contains("has no remarks"), "{}", empty.err);
    let (_, examples) = template.split_once("version = 1\n").unwrap();
    let uncommented = |line: &str| match line.strip_prefix("# ").filter(|line| !line.ends_with('.')) {
        Some(line) => format!("{line}\n"),
        None => format!("{line}\n"),
    };
    let filled: String = examples.lines().map(uncommented).collect();
    let filled = filled.replace("reviewer = \"\"", "reviewer = \"Ada\"").replace("# Your words.", "look again");
    let filled = format!("version = 1\n{filled}");
    std::fs::write(folder.join("filled.toml"), &filled).unwrap();
    let added = json(&folder, &["review", "add", "filled.toml", "--json"]);
    assert!(added["added"].as_u64().unwrap() >= 3 && added["known"] == 0, "{added} {filled}");
    assert_eq!(json(&folder, &["review", "add", "filled.toml", "--json"])["added"], 0);
    let shown = kiln_in(&folder, &["show", "last"]).out;
    assert!(shown.contains("\nremarks\n  Ada, ") && shown.contains(" on the decision:\n    look again\n"), "{shown}");
    assert!(kiln_in(&folder, &["history"]).out.contains("remarks of reviewers: kiln show "));
    let lesson = kiln_in(&folder, &["lessons", "show", "measure_before_optimising"]).out;
    assert!(lesson.contains("\nremarks\n  Ada, "), "{lesson}");
    assert!(json(&folder, &["show", "last", "--json"])["study"]["remarks"].as_array().unwrap().len() >= 2);
    // The next export carries them on, without loss.
    assert_eq!(kiln_in(&folder, &["review", "export", &id, "-o", "handed"]).code, 0);
    let carried = json(&folder, &["review", "add", "handed/evidence/remarks.toml", "--json"]);
    assert!(carried["added"] == 0 && carried["known"].as_u64().unwrap() >= 2, "{carried}");
    // What a reviewer wrote is kept; the new template lies beside it.
    let words = format!("{template}# not done yet");
    std::fs::write(folder.join("handed/remarks.toml"), &words).unwrap();
    let again = kiln_in(&folder, &["review", "export", &id, "-o", "handed"]);
    assert!(again.code == 0 && again.err.contains("kept handed/remarks.toml"), "{}", again.err);
    assert!(again.out.contains("fill in handed/remarks-2.toml"), "{}", again.out);
    assert_eq!(read("remarks.toml"), words);
    assert_eq!(read("remarks-2.toml"), template);
    refusals(&folder, &id);
}

/// What is wrong with a file, each with its line, and nothing of it is recorded.
fn refusals(folder: &std::path::Path, id: &str) {
    let row = |rest: &str| format!("[[remark]]\nreviewer = \"A\"\ntext = \"x\"\n{rest}\n");
    let rows = [
        row("about = \"lesson\"\nlesson = \"hangs\""),
        row("about = \"cause\"\nkernel = \"k\"\ncause = \"small_grit\""),
        row(&format!("about = \"trial\"\nstudy = \"{id}\"\nphase = \"seed\"\nnumber = 999")),
        row("about = \"decision\"\nstudy = \"zebra\""),
        row("about = \"lesson\"\nlesson = \"hang\"\nat = \"yesterday\""),
    ];
    std::fs::write(folder.join("bad.toml"), format!("version = 1\n{}", rows.concat())).unwrap();
    let ran = kiln_in(folder, &["review", "add", "bad.toml"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    for words in [
        "bad.toml, line 2: there is no lesson `hangs`",
        "did you mean hang?",
        "did you mean small_grid?",
        "has no trial 999 in phase `seed`",
        "there is no study `zebra` here",
        "`yesterday` is no moment",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    assert!(!kiln_in(folder, &["lessons", "show", "hang"]).out.contains("remarks"));
    std::fs::create_dir(folder.join("mine")).unwrap();
    std::fs::write(folder.join("mine/thesis.md"), "words").unwrap();
    let ran = kiln_in(folder, &["review", "export", "-o", "mine"]);
    assert!(ran.code == 2 && ran.err.contains("mine is there already, and is not a review"), "{}", ran.err);
}

#[test]
fn promises_are_held_against_what_was_measured() {
    let folder = empty_folder("calibration");
    let found = json(&folder, &["lessons", "--calibration", "--json"]);
    let coverage = found["left_out"]["coverage"].as_f64().unwrap();
    assert!(found["outcomes"].as_u64().unwrap() >= 60 && (0.7..=0.9).contains(&coverage), "{found:#}");
    assert!(!folder.join(".kiln").exists(), "looking makes no store");
    let alone = kiln_in(&folder, &["lessons", "--calibration", "list"]);
    assert!(alone.code == 2 && alone.err.contains("takes no subcommand"), "{}", alone.err);
    let page = kiln("diagnose --ncu fixtures/ncu/h200/p03_smallmat_planted.raw.csv").out;
    assert!(page.contains("\n    expect ") && page.contains("measured outcomes of this cause"), "{page}");
}
