use super::*;
use crate::lessons::{shipped, write};
use proptest::prelude::*;

const WHOLE: &str = r#"
id = "row_alignment"
title = "Rows begin at 16 bytes"
[[symptom]]
gate = ["runtime_failed"]
text = ['misaligned address', "0x[0-9a-f]+"]
arch = ["sm_80"]
[[symptom]]
causes = ["misaligned_shared"]
[symptom.metrics]
l2_hit = { below = 0.7, above = 1e-2 }
waves = { above = 1 }
[lesson]
cause = "Padding by one element."
remedy = "Pad by 16 bytes."
action = "kiln sanitize {path}"
"#;

#[test]
fn a_whole_lesson_is_read_and_written_back() {
    let lesson = parse("a/row_alignment.toml", WHOLE).unwrap();
    assert_eq!(lesson.symptoms.len(), 2);
    assert_eq!(lesson.symptoms[1].metrics["l2_hit"].below, Some(0.7));
    assert_eq!(lesson.symptoms[0].text[0].source(), "misaligned address");
    assert_eq!(parse("row_alignment.toml", &write(&lesson)).unwrap(), lesson);
    for lesson in shipped() {
        assert_eq!(&parse(&format!("{}.toml", lesson.id), &write(lesson)).unwrap(), lesson);
    }
}

/// What is wrong, where and what was expected, of a file with one mistake.
fn mistake(text: &str) -> String {
    let reports = parse("row_alignment.toml", text).unwrap_err();
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports[0].to_string()
}

#[test]
fn mistakes_say_what_where_and_what_was_expected() {
    let said = mistake(&WHOLE.replace("runtime_failed", "runtime_fail"));
    assert_eq!(
        said,
        "error: there is no gate `runtime_fail`\n  --> row_alignment.toml:5:9\n  |\n5 | gate = [\"runtime_fail\"]\n  |         ^^^^^^^^^^^^^^ expected a gate\n  = hint: did you mean runtime_failed?"
    );
    let said = mistake(&WHOLE.replace("misaligned_shared", "misaligned_share"));
    assert!(said.contains(":9:11") && said.contains("did you mean misaligned_shared?"), "{said}");
    let said = mistake(&WHOLE.replace("'misaligned address'", "'(misaligned'"));
    assert!(said.contains("is no regular expression: unclosed group") && said.contains(":6:9"), "{said}");
    let said = mistake(&WHOLE.replace("'misaligned address'", "'(mis.*)*'"));
    assert!(said.contains("it matches everything"), "{said}");
    let said = mistake(&WHOLE.replace("action =", "acton ="));
    assert!(said.contains("unknown key lesson.acton") && said.contains("did you mean action?"), "{said}");
    let said = mistake(&WHOLE.replace("{ above = 1 }", "1"));
    assert!(said.contains("symptom.metrics.waves is a number") && said.contains("{ below = 0.7 }"), "{said}");
    let said = mistake(&WHOLE.replace("above = 1e-2", "above = 1"));
    assert!(said.contains("no number is within"), "{said}");
    let said = mistake(&WHOLE.replace("id = \"row", "id = \"line"));
    assert!(said.contains("expected \"row_alignment\""), "{said}");
    let said = mistake(&WHOLE.replace("[\"sm_80\"]", "\"sm_80\""));
    assert!(said.contains("symptom.arch is a string") && said.contains("expected a list of strings"), "{said}");
    let said = mistake(&WHOLE.replace("arch = [\"sm_80\"]", "findings = [\"gpu_stat\"]"));
    assert!(
        said.contains("no finding of kiln doctor `gpu_stat`") && said.contains("did you mean gpu_state?"),
        "{said}"
    );
    let said = mistake(&WHOLE.replace("at 16 bytes", "at\\n16 bytes"));
    assert!(said.contains("the title has more than one line") && said.contains(":3:9"), "{said}");
    let said = mistake("id = \"row_alignment\ntitle = \"x\"");
    assert!(said.contains(":1:"), "{said}");
}

#[test]
fn a_symptom_that_says_nothing_is_refused() {
    let text = WHOLE.replace("gate = [\"runtime_failed\"]\ntext = ['misaligned address', \"0x[0-9a-f]+\"]\n", "");
    assert!(mistake(&text).contains("a symptom that every failure has"));
}

#[test]
fn all_mistakes_are_reported_in_the_order_of_the_file() {
    let text =
        WHOLE.replace("runtime_failed", "x").replace("misaligned_shared", "y").replace("cause = \"P", "why = \"P");
    let reports = parse("row_alignment.toml", &text).unwrap_err();
    let lines: Vec<usize> = reports.iter().filter_map(|report| Some(report.place.as_ref()?.line)).collect();
    assert_eq!(lines, [5, 9, 14]);
    let empty = parse("row_alignment.toml", "").unwrap_err();
    assert_eq!(empty.len(), 4, "{empty:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever is in the file, it is read or refused with a reason that can be shown.
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let reports = parse("a.toml", &text).unwrap_err();
        prop_assert!(!reports.is_empty() && reports.iter().all(|report| !report.to_string().is_empty()));
    }

    /// The same of a lesson that somebody damaged: a part is cut out and something else put there.
    #[test]
    fn a_damaged_lesson_is_read_or_refused(from in 0..WHOLE.len(), length in 0usize..40, new in "[\\[\\]=\"'a-z0-9{}.\\n]{0,6}") {
        let to = (from + length).min(WHOLE.len());
        let text = [&WHOLE[..from], &new, &WHOLE[to..]].concat();
        match parse("row_alignment.toml", &text) {
            Ok(lesson) => prop_assert_eq!(parse("row_alignment.toml", &write(&lesson)).unwrap(), lesson),
            Err(reports) => prop_assert!(reports.iter().all(|report| !report.message.is_empty())),
        }
    }

    /// Whatever words a lesson has, they are read back from what is written.
    #[test]
    fn what_is_written_is_read_back(title in "\\PC{1,40}", cause in "[^\\p{Cc}]{1,60}|a\\n\"'''\\\\b", below in -1e9f64..1e9) {
        prop_assume!(!title.trim().is_empty() && !cause.trim().is_empty());
        let mut lesson = parse("row_alignment.toml", WHOLE).unwrap();
        (lesson.title, lesson.cause) = (title.trim().into(), cause.trim().into());
        lesson.symptoms[1].metrics.insert("a.b c".into(), crate::lessons::Range { above: None, below: Some(below) });
        prop_assert_eq!(parse("row_alignment.toml", &write(&lesson)).unwrap(), lesson);
    }
}
