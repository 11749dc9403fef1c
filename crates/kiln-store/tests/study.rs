//! The life of a study: begun, recorded, ended, resumed, found again; and what is refused on the way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_store::{Filter, Kept, State, Study};
use serde_json::json;

use crate::example;
use crate::example::{measurement, store, study, trial};

#[test]
fn a_study_ends_and_runs_again() {
    let (store, _folder) = store();
    let begun = study("softmax", 1000);
    store.begin(&begun).unwrap();
    assert_eq!(store.unfinished("softmax", "cpu").unwrap(), Some(begun.clone()));
    assert_eq!(store.unfinished("softmax", "cuda").unwrap(), None);

    let summary = example::summary();
    store.finish(&begun.id, State::Finished, Some("faster"), Some(&summary), 2000, 1.5).unwrap();
    let ended = store.find("last").unwrap();
    let expected = Study {
        ended_ms: Some(2000),
        state: State::Finished,
        verdict: Some("faster".into()),
        summary: Some(Kept::new(summary)),
        seconds: 1.5,
        ..begun.clone()
    };
    assert_eq!(ended, expected);
    assert_eq!(store.unfinished("softmax", "cpu").unwrap(), None);

    store.reopen(&begun.id, "18@host").unwrap();
    let again = store.find("last").unwrap();
    assert_eq!(again, Study { owner: "18@host".into(), seconds: 1.5, ..begun.clone() });
    store.finish(&begun.id, State::Interrupted, None, None, 3000, 2.5).unwrap();
    assert_eq!(store.unfinished("softmax", "cpu").unwrap().unwrap().state, State::Interrupted);
}

#[test]
fn a_study_is_begun_once_and_ended_once() {
    let (store, _folder) = store();
    let begun = study("softmax", 1000);
    store.begin(&begun).unwrap();
    assert!(store.begin(&begun).unwrap_err().why.contains("already a study"));
    assert!(store.begin(&Study { id: "mine".into(), ..begun.clone() }).unwrap_err().why.contains("not a UUID"));
    assert!(store.finish(&begun.id, State::Running, None, None, 1, 1.0).is_err());
    assert!(store.finish(&begun.id, State::Failed, None, None, 1, f64::NAN).is_err());
    store.finish(&begun.id, State::Failed, None, None, 1, 1.0).unwrap();
    assert!(store.finish(&begun.id, State::Finished, None, None, 1, 1.0).unwrap_err().why.contains("no running study"));
    assert!(store.reopen(&Study::new_id(), "1@h").unwrap_err().why.contains("no study"));
}

#[test]
fn a_trial_is_recorded_once_with_its_own_measurements_or_not_at_all() {
    let (store, _folder) = store();
    let begun = study("softmax", 1000);
    store.begin(&begun).unwrap();
    let first = trial("search", 0);
    let taken = [measurement(&first, 0, vec![1e-6, 2e-6])];
    store.record(&begun.id, &first, &taken).unwrap();
    let fault = store.record(&begun.id, &first, &[]).unwrap_err();
    assert!(fault.why.contains("already recorded") && fault.hint.is_some(), "{fault}");

    // The same number in another phase is another trial.
    store.record(&begun.id, &trial("confirm", 0), &[]).unwrap();

    let second = trial("search", 1);
    assert!(store.record(&begun.id, &second, &taken).unwrap_err().why.contains("names trial 0 of phase search"));
    let broken = [measurement(&second, 0, vec![1.0]), measurement(&second, 1, vec![f64::NAN])];
    assert!(store.record(&begun.id, &second, &broken).unwrap_err().why.contains("sample 0 is NaN"));
    assert_eq!(store.trials(&begun.id).unwrap(), [first, trial("confirm", 0)]);
    assert_eq!(store.measurements(&begun.id).unwrap(), taken);

    let nowhere = Study::new_id();
    assert!(store.record(&nowhere, &second, &[]).unwrap_err().why.contains("no study"));
    assert!(store.note(&nowhere, 0, "load", "x").unwrap_err().why.contains("no study"));
    assert!(store.trials(&nowhere).unwrap_err().why.contains("no study"));
    assert!(store.measurements(&nowhere).is_err() && store.notes(&nowhere).is_err());
}

#[test]
fn studies_come_newest_first() {
    let (store, _folder) = store();
    for (kernel, at) in [("a", 3), ("b", 1), ("a", 2), ("a", 3)] {
        store.begin(&study(kernel, at)).unwrap();
    }
    let list = |kernel: Option<&str>, limit| {
        let found = store.studies(&Filter { kernel: kernel.map(Into::into), limit }).unwrap();
        found.iter().map(|s| (s.kernel.clone(), s.started_ms, s.id.clone())).collect::<Vec<_>>()
    };
    let all = list(None, None);
    assert_eq!(all.iter().map(|(_, at, _)| *at).collect::<Vec<_>>(), [3, 3, 2, 1]);
    // Begun in the same millisecond, the id decides.
    assert!(all[0].2 > all[1].2);
    assert_eq!(list(Some("a"), None).len(), 3);
    assert_eq!(list(None, Some(2)), all[..2]);
    assert_eq!(list(Some("c"), None), []);
}

#[test]
fn a_study_is_found_by_id_piece_kernel_or_last() {
    let (store, _folder) = store();
    assert!(store.find("last").unwrap_err().why.contains("no studies yet"));
    let with_id = |id: &str, kernel: &str, at| Study { id: id.into(), ..study(kernel, at) };
    let one = with_id("01999999-0000-7000-8000-00000000abcd", "softmax", 1);
    let two = with_id("01999999-1111-7000-8000-11111111face", "attention", 3);
    let three = with_id("02999999-1111-7000-8000-11111111beef", "face", 2);
    for study in [&one, &two, &three] {
        store.begin(study).unwrap();
    }
    for (name, meant) in [
        (one.id.as_str(), &one),
        (&one.id.to_uppercase(), &one),
        ("abcd", &one),
        ("ABCD", &one),
        (one.short_id(), &one),
        ("01999999-0", &one),
        ("0299", &three),
        ("last", &two),
        ("softmax", &one),
        // A kernel's name, though an id ends like it; a longer piece is the id.
        ("face", &three),
        ("1face", &two),
    ] {
        assert_eq!(store.find(name).unwrap().id, meant.id, "{name}");
    }
    let ambiguous = store.find("0199").unwrap_err();
    assert!(ambiguous.why.contains(&one.id) && ambiguous.why.contains(&two.id), "{ambiguous}");
    assert!(!ambiguous.why.contains(&three.id), "{ambiguous}");
    let hint = |name: &str| store.find(name).unwrap_err().hint.unwrap();
    assert_eq!(hint("atention"), "did you mean `attention`?");
    assert_eq!(hint("0000abce"), format!("did you mean `{}`?", one.id));
    assert_eq!(hint("abc"), "a piece of an id has at least 4 characters");
    assert!(
        hint("%%%%").starts_with("kernels with studies: attention, face, softmax; the last study is 01999999-1111")
    );
    assert!(store.find("____").is_err() && store.find("").is_err() && store.find("ü'\"").is_err());
}

#[test]
fn remarks_keep_their_order() {
    let (store, _folder) = store();
    let begun = study("softmax", 1);
    store.begin(&begun).unwrap();
    for (at, text) in [(5, "b"), (3, "a"), (5, "b")] {
        store.note(&begun.id, at, "load", text).unwrap();
    }
    let notes = store.notes(&begun.id).unwrap();
    assert_eq!(notes.iter().map(|n| (n.at_ms, n.text.as_str())).collect::<Vec<_>>(), [(5, "b"), (3, "a"), (5, "b")]);
}

#[test]
fn what_a_record_says_is_read_whichever_kiln_wrote_it() {
    let mut old = study("old", 1);
    // A kiln that recorded none of it, or something else under the name.
    assert_eq!((old.workload(), old.device(), old.tried(), old.speedup()), (None, None, None, None));
    old.summary = Some(Kept::found(json!({"trials": "many", "speedup": 2.0})));
    assert_eq!((old.tried(), old.speedup()), (None, None));
    let mut new = study("new", 2);
    new.options = Kept::found(json!({"workload": "s128"}));
    new.environment = Kept::found(json!({"processor": "a CPU", "gpu": null}));
    new.summary = Some(Kept::found(json!({"trials": 17, "speedup": 2.0, "speedup_ci95": [1.5, 2.5]})));
    assert_eq!((new.workload().as_deref(), new.device(), new.tried()), (Some("s128"), Some("a CPU"), Some(17)));
    assert_eq!(new.speedup(), Some((2.0, [1.5, 2.5])));
    new.environment = Kept::found(json!({"processor": "a CPU", "gpu": {"name": "a GPU"}}));
    assert_eq!(new.device(), Some("a GPU"));
}

#[test]
fn studies_have_names_and_tags_and_are_deleted_whole() {
    let (store, _folder) = store();
    let (one, two) = (study("softmax", 1000), study("softmax", 2000));
    store.begin(&one).unwrap();
    store.begin(&two).unwrap();
    store.rename(&one.id, Some("before-fix")).unwrap();
    assert_eq!(store.find("before-fix").unwrap().id, one.id);
    let taken = store.rename(&two.id, Some("before-fix")).unwrap_err();
    assert!(taken.why.contains("another study is called `before-fix`"), "{taken}");
    for bad in ["", "last", "0abc", "dead-beef", "a b", "a=b", "-x", "a/b"] {
        assert!(store.rename(&two.id, Some(bad)).is_err(), "{bad}");
    }
    assert!(store.rename("nobody", Some("x-ray")).is_err());
    for tag in ["b", "a", "a"] {
        store.tag(&one.id, tag).unwrap();
    }
    let labels = store.labels().unwrap();
    let of = &labels[&one.id];
    assert_eq!((of.name.as_deref(), &of.tags[..]), (Some("before-fix"), &["a".to_string(), "b".into()][..]));
    assert!(!labels.contains_key(&two.id));
    assert!(store.untag(&one.id, "a").unwrap() && !store.untag(&one.id, "a").unwrap());

    let first = trial("search", 0);
    store.record(&one.id, &first, &[measurement(&first, 0, vec![1e-6])]).unwrap();
    store.note(&one.id, 1, "load", "0.3").unwrap();
    // It was read as running; now it has ended, so that what is deleted is not what was looked at.
    store.finish(&one.id, State::Finished, None, None, 2000, 1.0).unwrap();
    assert!(store.delete(&one).unwrap_err().why.contains("changed"));
    assert_eq!(store.trials(&one.id).unwrap().len(), 1);
    store.delete(&store.find(&one.id).unwrap()).unwrap();
    assert!(store.trials(&one.id).is_err() && store.find("before-fix").is_err());
    assert_eq!(store.studies(&Filter::default()).unwrap()[0].id, two.id);
    // The name is free again.
    store.rename(&two.id, Some("before-fix")).unwrap();
    store.rename(&two.id, None).unwrap();
    assert!(store.find("before-fix").is_err());
}
