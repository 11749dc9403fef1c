//! Stamps differ once something was recorded, and only of what it was recorded of.

use crate::example::{self, place, study, trial};
use kiln_store::{Remark, RemarkSubject, State, Store};

#[test]
fn every_change_of_a_study_changes_its_stamp_and_no_other() {
    let (store, folder) = example::store();
    let other = Store::open(&place(&folder)).unwrap();
    let (changed, still) = (study("softmax", 2), study("matmul", 1));
    other.begin(&changed).unwrap();
    other.begin(&still).unwrap();
    let (mut last, calm) = (store.stamp(&changed.id).unwrap().unwrap(), store.stamp(&still.id).unwrap());
    assert_eq!((last.trials, last.state.as_str()), (0, "running"));
    let (mut number, rest) = (store.change().unwrap(), store.other_stamp().unwrap());
    assert_eq!(store.change().unwrap(), number, "looking changes nothing");
    let remark = Remark {
        id: "r".into(),
        at_ms: 1,
        about: RemarkSubject::Decision(changed.id.clone()),
        reviewer: "Ada".into(),
        text: "why?".into(),
        kiln_version: "0".into(),
    };
    let steps: [&dyn Fn(); 7] = [
        &|| other.record(&changed.id, &trial("search", 0), &[]).unwrap(),
        &|| other.note(&changed.id, 1, "load", "busy").unwrap(),
        &|| other.tag(&changed.id, "paper").unwrap(),
        &|| other.rename(&changed.id, Some("first")).unwrap(),
        &|| other.finish(&changed.id, State::Interrupted, None, None, 5, 1.0).unwrap(),
        &|| other.reopen(&changed.id, "18@host").unwrap(),
        &|| assert_eq!(other.record_remarks(std::slice::from_ref(&remark)).unwrap(), 1),
    ];
    for (step, change) in steps.iter().enumerate() {
        change();
        let now = store.stamp(&changed.id).unwrap().unwrap();
        assert_ne!(now.stamp, last.stamp, "step {step}");
        let seen = store.change().unwrap();
        assert_ne!(seen, number, "step {step}");
        (last, number) = (now, seen);
    }
    assert_eq!(store.stamp(&still.id).unwrap(), calm);
    assert_ne!(store.other_stamp().unwrap(), rest, "a remark may be about a cause");
    let all: Vec<String> = store.stamps().unwrap().into_iter().map(|own| own.id).collect();
    assert_eq!(all, [changed.id, still.id], "newest first");
    assert!(store.stamp("none").unwrap().is_none());
}
