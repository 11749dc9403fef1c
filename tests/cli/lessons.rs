//! `kiln lessons`, and the line beside what went wrong.

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln, kiln_in};

fn object(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}\n{}{}", ran.out, ran.err))
}

const MISALIGNED: &str = "gate tests/attention_gallery --config PAD=1 --static";

#[test]
fn a_refusal_ends_with_its_lesson_and_the_lesson_is_there() {
    let ran = kiln(MISALIGNED);
    assert_eq!(ran.code, 3);
    // How often it was met here may follow it.
    let last = ran.out.lines().find(|line| line.starts_with("lesson:")).unwrap();
    assert_eq!(
        last,
        "lesson: A 16-byte async copy needs rows that begin at multiples of 16 bytes (kiln lessons show async_copy_row_alignment)"
    );
    assert_eq!(ran.out.matches("lesson:").count(), 1, "{}", ran.out);
    let found = object(&kiln(&format!("{MISALIGNED} --json")));
    assert_eq!(found["lesson"]["id"], "async_copy_row_alignment", "{found:#}");
    assert_eq!(found["lesson"]["action"], "kiln sanitize tests/attention_gallery --config INDEX=in_tile,PAD=1");
    let shown = kiln("lessons show async_copy_row_alignment");
    assert!(shown.code == 0 && shown.out.contains("\nremedy\n  Pad rows by 16 bytes"), "{}", shown.out);
    assert!(!kiln("gate tests/attention_gallery --static").out.contains("lesson:"));
}

#[test]
fn logs_profiles_and_faults_have_theirs() {
    let log = "diagnose --sanitizer fixtures/sanitizer/h200/b12_guardedsync_planted.synccheck.txt";
    assert!(kiln(log).out.ends_with("(kiln lessons show divergent_barrier)\n"));
    let clean = "diagnose --sanitizer fixtures/sanitizer/h200/b12_guardedsync_fixed.synccheck.txt";
    assert!(!kiln(clean).out.contains("lesson:"));
    let page = "diagnose --ncu fixtures/ncu/h200/p03_smallmat_planted.raw.csv";
    assert!(kiln(page).out.ends_with("(kiln lessons show bank_conflicts)\n"));
    assert_eq!(object(&kiln(&format!("{page} --json")))["lesson"]["id"], "bank_conflicts");
    // One rule's numbers are what was asked for.
    assert!(!kiln(&format!("{page} --why shared_bank_conflict")).out.contains("lesson:"));
    let mistaken = kiln("gate nowhere");
    assert!(!mistaken.err.contains("lesson:"), "{}", mistaken.err);
}

#[test]
fn a_lesson_of_ones_own_is_added_found_shown_and_retired() {
    let folder = empty_folder("lessons-own");
    let refusal = r#"{"refusal":{"gate":"build_failed","rule":"","measured":"k.cu(7): error: zebra 12 of 40","limit":"","evidence":""}}"#;
    std::fs::write(folder.join("failed.json"), refusal).unwrap();
    let draft = kiln_in(&folder, &["lessons", "add", "--from-refusal", "failed.json", "--id", "zebra"]);
    assert!(draft.out.starts_with("wrote .kiln/lessons/zebra.toml; not used before"), "{}{}", draft.out, draft.err);
    assert!(
        draft.err.contains("warning: lesson.cause is empty") && draft.err.contains("lesson.remedy is empty"),
        "{}",
        draft.err
    );
    let listed = kiln_in(&folder, &["lessons"]);
    assert!(listed.err.contains("lesson.cause is empty") && !listed.out.contains("zebra"), "{}", listed.err);
    let again = kiln_in(&folder, &["lessons", "add", "--from-refusal", "failed.json", "--id", "zebra"]);
    assert!(again.code == 2 && again.err.contains("--replace"), "{}", again.err);
    let whole = [
        "lessons",
        "add",
        "--from-refusal",
        "failed.json",
        "--id",
        "zebra",
        "--replace",
        "--cause",
        "C.",
        "--remedy",
        "R.",
    ];
    assert_eq!(kiln_in(&folder, &whole).out, "wrote .kiln/lessons/zebra.toml\n");
    let shown = object(&kiln_in(&folder, &["lessons", "show", "zebra", "--json"]));
    let number = r"[-+]?\d+(\.\d+)*(e[-+]?\d+)?";
    let text = format!("zebra {number} of {number}");
    assert_eq!((&shown["origin"], &shown["symptoms"][0]["text"][0]), (&"own".into(), &text.into()));
    // A wrong number says nothing for a title, and the next one is at another element.
    let wrong = r#"{"refusal":{"gate":"numerics","rule":"y","measured":"y[32, 380] is 5.7e-2","limit":"6.1e-2 within 3e-7","evidence":""}}"#;
    std::fs::write(folder.join("wrong.json"), wrong).unwrap();
    let ran = kiln_in(&folder, &["lessons", "add", "--from-refusal", "wrong.json", "--cause", "C.", "--remedy", "R."]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let id = ran.out.trim_start_matches("wrote .kiln/lessons/").trim_end().trim_end_matches(".toml").to_string();
    let shown = object(&kiln_in(&folder, &["lessons", "show", &id, "--json"]));
    assert_eq!(shown["title"], "numerics: an output differs from the reference by more than the tolerance");
    assert_eq!(shown["symptoms"][0]["text"][0], format!(r"y\[[\d, ]+\] is {number}"));
    assert!(shown["evidence"].as_str().unwrap().contains("y[32, 380] is 5.7e-2, expected 6.1e-2"), "{shown:#}");
    std::fs::remove_file(folder.join(format!(".kiln/lessons/{id}.toml"))).unwrap();
    let found = kiln_in(&folder, &["lessons", "search", "ZEBRA"]);
    assert!(found.out.starts_with("  zebra  own") && found.out.contains("1 lesson;"), "{}", found.out);

    let other = empty_folder("lessons-other");
    let bundle = other.join("team.json");
    let bundle = bundle.to_str().unwrap();
    assert_eq!(kiln_in(&folder, &["lessons", "add", "--title", "Half", "--gate", "numerics"]).code, 0);
    let exported = kiln_in(&folder, &["lessons", "export", bundle]);
    assert!(
        exported.code == 0 && exported.err.contains("warning: the lesson `half` is not exported"),
        "{}",
        exported.err
    );
    let mine = kiln_in(&folder, &["lessons", "export", "failed.json"]);
    assert!(mine.code == 2 && mine.err.contains("--force"), "{}", mine.err);
    assert_eq!(kiln_in(&other, &["lessons", "import", bundle]).out, "imported zebra\n");
    assert_eq!(kiln_in(&other, &["lessons", "import", bundle]).out, "already here: zebra\n");
    assert_eq!(object(&kiln_in(&other, &["lessons", "show", "zebra", "--json"]))["remedy"], "R.");

    let retired = kiln_in(&other, &["lessons", "retire", "zebra", "--because", "extinct"]);
    assert_eq!(retired.out, "retired: zebra\n", "{}", retired.err);
    assert!(kiln_in(&other, &["lessons", "show", "zebra"]).out.contains("retired: extinct"));
    assert!(kiln_in(&other, &["lessons", "search", "zebra"]).out.starts_with("no lesson"));
    assert_eq!(kiln_in(&other, &["lessons", "retire", "zebra", "--undo"]).out, "shown again: zebra\n");
    assert!(kiln_in(&other, &["lessons", "search", "zebra"]).out.starts_with("  zebra"));
}

#[test]
fn mistakes_are_told_with_what_was_meant() {
    let ran = kiln("lessons show bank_conflict");
    assert!(ran.code == 2 && ran.err.contains("did you mean bank_conflicts?"), "{}", ran.err);
    let folder = empty_folder("lessons-wrong");
    let ran = kiln_in(&folder, &["lessons", "add", "--title", "Ours", "--gate", "numeric"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean numerics?"), "{}", ran.err);
    let ran = kiln_in(&folder, &["lessons", "add", "--title", "Ours", "--finding", "gpu_stat"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean gpu_state?"), "{}", ran.err);
    let ran = kiln_in(&folder, &["lessons", "add", "--title", "One\nTwo", "--gate", "numerics"]);
    assert!(ran.code == 2 && ran.err.contains("the title has more than one line"), "{}", ran.err);
    let ran = kiln_in(&folder, &["lessons", "add"]);
    assert!(ran.code == 2 && ran.err.contains("a lesson needs --title"), "{}", ran.err);
    assert!(kiln_in(&folder, &["lessons", "retire", "hang"]).err.contains("--because"));
}

#[test]
fn a_lesson_may_name_whatever_the_doctor_finds() {
    let folder = empty_folder("lessons-findings");
    let found = object(&kiln_in(&folder, &["doctor", "--json"]));
    let ids: Vec<&str> = found["findings"].as_array().unwrap().iter().filter_map(|own| own["id"].as_str()).collect();
    assert!(ids.len() > 10, "{ids:?}");
    let flags = ids.iter().flat_map(|id| ["--finding", id]);
    let words: Vec<&str> = ["lessons", "add", "--title", "Ours"].into_iter().chain(flags).collect();
    let ran = kiln_in(&folder, &words);
    assert_eq!(ran.code, 0, "{}", ran.err);
}
