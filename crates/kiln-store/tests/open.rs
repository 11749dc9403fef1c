//! Opening what is there: an older store, a newer one, something else, something broken, nowhere.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;

use kiln_store::{Damaged, Filter, Remark, RemarkSubject, Store};
use sqlx::{AnyConnection, Connection, Executor};

use crate::example::{measurement, place, study, trial};

/// Runs statements on the bare database file.
pub(crate) fn bare(place: &str, scripts: &[&str]) {
    sqlx::any::install_default_drivers();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut connection = AnyConnection::connect(&format!("sqlite://{place}?mode=rwc")).await.unwrap();
        for script in scripts {
            connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(script.to_string()))).await.unwrap();
        }
        connection.close().await.unwrap();
    });
}

#[test]
fn a_store_of_version_1_opens_with_its_records() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let id = "01999999-0000-7000-8000-00000000abcd";
    bare(
        &place,
        &[
            include_str!("../migrations/0001_studies.sql"),
            "INSERT INTO kiln_schema VALUES (1, 0, '0.1.0')",
            &format!(
                "INSERT INTO studies VALUES ('{id}', 7, NULL, 'running', '1@h', 'softmax', 'p', 'cpu', NULL, '', '3', \
                 'random', '{{}}', '{{}}', NULL, 'h', 't', '0.1.0', NULL, NULL, 0.0, 1)"
            ),
            &format!(
                "INSERT INTO trials VALUES ('{id}', 0, 'search', 0, 'A=1', 'passed', 1e-6, NULL, NULL, NULL, 8, 0, 0, \
                 0, 0, 'null')"
            ),
            &format!("INSERT INTO measurements VALUES ('{id}', 0, 0, 'w', 'candidate', 0, '[1e-6]', 1, 'warm')"),
        ],
    );
    for _ in 0..2 {
        let store = Store::open(&place).unwrap();
        assert_eq!(store.find("softmax").unwrap().seed, 3);
        assert_eq!(store.trials(id).unwrap()[0].cost, Some(1e-6));
        assert_eq!(store.measurements(id).unwrap()[0].samples, [1e-6]);
        store.note(id, 1, "load", "0.3").unwrap();
    }
    let store = Store::open(&place).unwrap();
    assert_eq!(store.notes(id).unwrap().len(), 2);
    store.record(id, &trial("search", 1), &[]).unwrap();
}

#[test]
fn a_store_of_a_newer_kiln_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    drop(Store::open(&place).unwrap());
    bare(&place, &["INSERT INTO kiln_schema VALUES (99, 0, '7.0.0')"]);
    let before = fs::read(&place).unwrap();
    let fault = Store::open(&place).unwrap_err();
    assert!(fault.why.contains("version 99") && fault.why.contains("kiln 7.0.0"), "{fault}");
    assert!(fault.hint.unwrap().contains("newer"));
    assert_eq!(fs::read(&place).unwrap(), before);
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    bare(&place, &["CREATE TABLE recipes (name text)"]);
    let before = fs::read(&place).unwrap();
    let fault = Store::open(&place).unwrap_err();
    assert_eq!(fs::read(&place).unwrap(), before);
    assert!(fault.why.contains("not kiln's") && fault.why.contains("`recipes`"), "{fault}");

    let text = "not a database, but long enough to look like one if nobody checks\n".repeat(100);
    fs::write(&place, &text).unwrap();
    let fault = Store::open(&place).unwrap_err();
    assert!(fault.what.contains(&place) && fault.why.contains("not a database"), "{fault}");
    assert!(fault.hint.unwrap().contains("move it away"));
    assert_eq!(fs::read_to_string(&place).unwrap(), text);

    // Nothing was written to it yet: an empty file is an empty store.
    fs::write(&place, "").unwrap();
    assert_eq!(Store::open(&place).unwrap().studies(&Filter::default()).unwrap(), []);
}

#[test]
fn a_damaged_store_is_a_fault_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let begun = study("softmax", 1);
    let store = Store::open(&place).unwrap();
    store.begin(&begun).unwrap();
    for number in 0..50 {
        let trial = trial("search", number);
        store.record(&begun.id, &trial, &[measurement(&trial, 0, vec![1.0 / 3.0; 50])]).unwrap();
    }
    drop(store);
    let whole = fs::read(&place).unwrap();
    let read = || -> Result<(), kiln_core::Fault> {
        let store = Store::open(&place)?;
        store.studies(&Filter::default())?;
        store.trials(&begun.id)?;
        store.measurements(&begun.id).map(|_| ())
    };
    read().unwrap();

    let mut scratched = whole.clone();
    scratched[4096..].fill(0xAA);
    fs::write(&place, &scratched).unwrap();
    let fault = read().unwrap_err();
    assert!(fault.hint.as_deref().unwrap().contains("damaged"), "{fault}");

    fs::write(&place, &whole[..whole.len() / 2]).unwrap();
    let fault = read().unwrap_err();
    assert!(fault.hint.as_deref().unwrap().contains("damaged"), "{fault}");
}

#[test]
fn a_record_nobody_understands_names_its_column() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let begun = study("softmax", 1);
    let store = Store::open(&place).unwrap();
    store.begin(&begun).unwrap();
    store.record(&begun.id, &trial("search", 0), &[]).unwrap();
    bare(&place, &["UPDATE trials SET refusal = replace(refusal, 'numerics', 'astrology')"]);
    let fault = store.trials(&begun.id).unwrap_err();
    assert!(fault.why.contains("column refusal") && fault.why.contains("no gate `astrology`"), "{fault}");
    bare(&place, &["UPDATE studies SET state = 'pondering'"]);
    assert!(store.find(&begun.id).unwrap_err().why.contains("column state cannot be read: pondering"));
    assert!(store.find("last").unwrap_err().why.contains("none of them can be read"));
}

#[test]
fn a_damaged_row_is_left_out_of_lists_named_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let (good, bad) = (study("softmax", 1), study("softmax", 2));
    let store = Store::open(&place).unwrap();
    for study in [&good, &bad] {
        store.begin(study).unwrap();
        store.record(&study.id, &trial("search", 0), &[]).unwrap();
    }
    assert!(store.examine().is_ok());
    bare(&place, &[&format!("UPDATE studies SET seed = 'x' WHERE id = '{}'", bad.id)]);
    assert_eq!(store.studies(&Filter::default()).unwrap(), std::slice::from_ref(&good));
    assert_eq!((store.find("last").unwrap().id, store.find("softmax").unwrap().id), (good.id.clone(), good.id.clone()));
    assert_eq!(store.damaged(), std::slice::from_ref(&bad.id));
    let fault = store.examine().unwrap_err();
    assert!(fault.why.contains(&bad.id) && fault.hint.unwrap().contains("kiln studies delete"), "{}", fault.why);
    let end = &bad.id[bad.id.len() - 8..];
    assert_eq!(store.id_of(end).unwrap().as_deref(), Some(&*bad.id));
    store.remove(&bad.id).unwrap();
    assert!(Store::open(&place).unwrap().examine().is_ok());
    assert_eq!(store.id_of(end).unwrap(), None);
}

#[test]
fn a_record_that_is_not_utf8_costs_itself_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let (good, bad) = (study("softmax", 1), study("softmax", 2));
    let store = Store::open(&place).unwrap();
    for study in [&good, &bad] {
        store.begin(study).unwrap();
        store.rename(&study.id, Some(&format!("named-{}", study.started_ms))).unwrap();
    }
    let remark = |place: i64| Remark {
        id: format!("01999999-0000-7000-8000-00000000000{place}"),
        at_ms: place,
        about: RemarkSubject::Lesson("hang".into()),
        reviewer: "Ada".into(),
        text: format!("words {place}"),
        kiln_version: "0".into(),
    };
    store.record_remarks(&[remark(1), remark(2)]).unwrap();
    let garbled = "CAST(X'ff8041' AS TEXT)";
    bare(
        &place,
        &[
            &format!("UPDATE studies SET path = {garbled} WHERE id = '{}'", bad.id),
            &format!("UPDATE remarks SET words = {garbled} WHERE at_ms = 1"),
            &format!("UPDATE study_names SET name = {garbled} WHERE study = '{}'", bad.id),
        ],
    );
    let store = Store::open(&place).unwrap();
    assert_eq!(store.studies(&Filter::default()).unwrap(), std::slice::from_ref(&good));
    assert_eq!(store.remarks().unwrap(), [remark(2)]);
    assert_eq!(store.labels().unwrap().len(), 1);
    assert_eq!(store.find("softmax").unwrap().id, good.id);
    let mut both = vec![bad.id.clone(), remark(1).id];
    both.sort();
    assert_eq!(store.damaged(), both);
    let fault = Store::open(&place).unwrap().examine().unwrap_err();
    assert!(fault.why.contains("2 of its records") && fault.why.contains(&bad.id), "{}", fault.why);
    for id in &both {
        assert_eq!(store.id_of(id).unwrap().as_ref(), Some(id));
        store.remove(id).unwrap();
    }
    assert!(Store::open(&place).unwrap().examine().is_ok());
}

#[test]
fn stores_tell_what_they_could_not_read_and_forget_it() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = Damaged::default();
    let open = || Store::open(&place(&folder)).unwrap().telling(&damaged);
    open().leave_out("one");
    open().leave_out("one");
    assert_eq!(damaged.ids(), ["one"]);
    assert!(open().damaged().is_empty(), "it may be repaired by now");
}

#[test]
fn a_place_that_cannot_be_written_is_a_fault_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let mut places = vec![file.join("kiln.db"), file.join("deeper/kiln.db")];
    if cfg!(target_os = "linux") {
        // Not even the superuser makes files there.
        places.push("/proc/kiln.db".into());
        places.push("/proc/kiln/kiln.db".into());
    }
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    let old = fs::metadata(&closed).unwrap().permissions();
    let mut shut = old.clone();
    shut.set_readonly(true);
    fs::set_permissions(&closed, shut).unwrap();
    if fs::write(closed.join("probe"), "").is_err() {
        places.push(closed.join("kiln.db"));
        places.push(closed.join("deeper/kiln.db"));
    }
    for place in places {
        let fault = Store::open(place.to_str().unwrap()).unwrap_err();
        assert!(fault.what.contains(place.to_str().unwrap()) && fault.hint.is_some(), "{fault}");
    }
    fs::set_permissions(&closed, old).unwrap();
}

#[test]
fn a_store_is_one_file_once_closed_wherever_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a b/50%41/c?d#é/x.db");
    drop(Store::open(place.to_str().unwrap()).unwrap());
    let names: Vec<_> =
        fs::read_dir(place.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["x.db"]);
    let url = format!("sqlite://{}", place.to_str().unwrap());
    assert!(Store::open(&url).unwrap().studies(&Filter::default()).unwrap().is_empty());
    assert!(Store::open("postgres://localhost/kiln").unwrap_err().why.contains("no PostgreSQL yet"));
}
