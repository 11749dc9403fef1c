//! Remarks of reviewers come back as they were recorded, each once.

#![allow(clippy::unwrap_used)]

use kiln_store::{Remark, RemarkSubject, Store};

fn remark(place: i64, about: RemarkSubject) -> Remark {
    Remark {
        id: format!("r{place}"),
        at_ms: place,
        about,
        reviewer: "Ada".into(),
        text: format!("words \"{place}\"\nand more"),
        kiln_version: "0".into(),
    }
}

#[test]
fn remarks_read_back_and_the_same_words_are_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("kiln.db").to_string_lossy()).unwrap();
    let all = vec![
        remark(1, RemarkSubject::Trial("s1".into(), "search".into(), 0)),
        remark(2, RemarkSubject::Decision("s1".into())),
        remark(3, RemarkSubject::Lesson("hang".into())),
        remark(4, RemarkSubject::Cause("matmul".into(), "small_grid".into())),
        remark(5, RemarkSubject::Decision("s2".into())),
    ];
    assert_eq!(store.record_remarks(&all).unwrap(), 5);
    assert_eq!(store.remarks().unwrap(), all);
    let again: Vec<Remark> = all.iter().map(|own| Remark { id: format!("{}b", own.id), ..own.clone() }).collect();
    assert_eq!(store.record_remarks(&again).unwrap(), 0);
    assert_eq!(store.remarks_of("s1").unwrap(), all[..2]);
    assert_eq!((all[0].about.part(), all[0].about.name()), ("search 0".to_string(), "trial"));
    // Two in one file count once, and one that cannot be recorded takes the others with it.
    let twice = [
        remark(6, RemarkSubject::Decision("s3".into())),
        Remark { id: "other".into(), ..remark(6, RemarkSubject::Decision("s3".into())) },
    ];
    assert_eq!(store.record_remarks(&twice).unwrap(), 1);
    let bad = [
        remark(7, RemarkSubject::Lesson("x".into())),
        remark(8, RemarkSubject::Trial("s".into(), "p".into(), u64::MAX)),
    ];
    assert!(store.record_remarks(&bad).unwrap_err().to_string().contains("too large"));
    assert_eq!(store.remarks().unwrap().len(), 6);
}

#[test]
fn the_same_words_added_twice_at_once_are_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("kiln.db").to_string_lossy().into_owned();
    let store = Store::open(&place).unwrap();
    let begin = std::sync::Barrier::new(4);
    for round in 0..20 {
        let subjects = [RemarkSubject::Decision("s".into()), RemarkSubject::Trial("s".into(), "search".into(), 3)];
        let added: usize = std::thread::scope(|scope| {
            let add = |adder: usize| {
                let (begin, place, subjects) = (&begin, &place, &subjects);
                scope.spawn(move || {
                    let store = Store::open(place).unwrap();
                    let own = |about: &RemarkSubject| Remark {
                        id: format!("{round} {adder} {}", about.name()),
                        ..remark(round, about.clone())
                    };
                    let both: Vec<Remark> = subjects.iter().map(own).collect();
                    begin.wait();
                    store.record_remarks(&both).unwrap()
                })
            };
            let adders: Vec<_> = (0..4).map(add).collect();
            adders.into_iter().map(|adder| adder.join().unwrap()).sum()
        });
        assert_eq!(added, 2);
    }
    assert_eq!(store.remarks().unwrap().len(), 40);
}
