//! A store in company: threads and processes that write and read at once, and writers that are killed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use kiln_store::{Filter, Store};

use crate::example::{measurement, place, study, trial};

const BLOCKS: u64 = 20;

/// Each trial comes with this many measurements of samples that say whose they are.
fn record(store: &Store, id: &str, number: u64) {
    let trial = trial("search", number);
    let taken: Vec<_> = (0..BLOCKS).map(|b| measurement(&trial, b, vec![number as f64 + 0.1; 50])).collect();
    store.record(id, &trial, &taken).unwrap();
}

/// Trials 0 to n, none missing, each with all that it came with. Returns how many.
fn whole(store: &Store, id: &str) -> u64 {
    // Measurements after trials: a writer may be adding to both.
    let trials = store.trials(id).unwrap();
    let mut taken: HashMap<u64, u64> = HashMap::new();
    for m in store.measurements(id).unwrap() {
        assert_eq!(m.samples, vec![m.trial as f64 + 0.1; 50]);
        *taken.entry(m.trial).or_default() += 1;
    }
    assert!(taken.values().all(|n| *n == BLOCKS), "half a trial: {taken:?}");
    for (n, trial) in (0..).zip(&trials) {
        assert_eq!((trial.number, taken.get(&n)), (n, Some(&BLOCKS)));
    }
    trials.len() as u64
}

/// Not a test of its own: the other process, started by the tests below.
#[test]
fn other_process() {
    let Ok(place) = std::env::var("KILN_STORE_TEST_PLACE") else { return };
    let last: u64 = std::env::var("KILN_STORE_TEST_TRIALS").unwrap().parse().unwrap();
    let store = Store::open(&place).unwrap();
    let begun = study("softmax", 1);
    store.begin(&begun).unwrap();
    println!("\nbegun {}", begun.id);
    for number in 0..last {
        record(&store, &begun.id, number);
        println!("recorded {number}");
    }
}

fn start(place: &str, trials: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "company::other_process", "--nocapture"])
        .env("KILN_STORE_TEST_PLACE", place)
        .env("KILN_STORE_TEST_TRIALS", trials.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_writer_leaves_whole_trials() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    for patience in [0, 1, 2, 7, 30, 60] {
        let mut child = start(&place, u64::MAX);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let id = lines.find_map(|l| l.strip_prefix("begun ").map(String::from)).unwrap();
        for _ in 0..patience {
            lines.next().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let said = patience + lines.filter(|l| l.starts_with("recorded ")).count() as u64;
        let store = Store::open(&place).unwrap();
        let kept = whole(&store, &id);
        // What it said to be recorded is; at most one more was, unsaid.
        assert!(kept == said || kept == said + 1, "said {said}, kept {kept}");
        assert_eq!(store.unfinished("softmax", "cpu").unwrap().unwrap().id, id);
        // Another goes on where it stopped.
        store.reopen(&id, "2@host").unwrap();
        record(&store, &id, kept);
        assert_eq!(whole(&store, &id), kept + 1);
    }
}

#[test]
fn processes_write_one_new_store_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let mut children: Vec<Child> = (0..4).map(|_| start(&place, 40)).collect();
    let store = Store::open(&place).unwrap();
    while children.iter_mut().any(|c| c.try_wait().unwrap().is_none()) {
        for study in store.studies(&Filter::default()).unwrap() {
            // Read while it grows: the trials seen first are whole when the measurements are read.
            let seen = store.trials(&study.id).unwrap().len() as u64;
            let taken = store.measurements(&study.id).unwrap().len() as u64;
            assert!(taken.is_multiple_of(BLOCKS) && taken >= seen * BLOCKS, "{seen} trials, {taken} measurements");
        }
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let studies = store.studies(&Filter::default()).unwrap();
    assert_eq!(studies.iter().map(|s| whole(&store, &s.id)).collect::<Vec<_>>(), [40; 4]);
}

#[test]
fn threads_share_a_store_and_open_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let own: Vec<_> = (0..4)
        .map(|_| {
            let place = place.clone();
            thread::spawn(move || Store::open(&place).unwrap())
        })
        .collect();
    let stores: Vec<Store> = own.into_iter().map(|t| t.join().unwrap()).collect();
    let ids: Vec<_> = (0..8).map(|_| study("softmax", 1)).collect();
    thread::scope(|scope| {
        for (i, study) in ids.iter().enumerate() {
            let store = &stores[i / 2];
            scope.spawn(move || {
                store.begin(study).unwrap();
                for number in 0..20 {
                    record(store, &study.id, number);
                    assert_eq!(store.trials(&study.id).unwrap().len() as u64, number + 1);
                }
            });
        }
    });
    assert!(ids.iter().all(|study| whole(&stores[0], &study.id) == 20));
}

#[test]
fn of_two_who_record_the_same_trial_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let (one, two) = (Store::open(&place).unwrap(), Store::open(&place).unwrap());
    let begun = study("softmax", 1);
    one.begin(&begun).unwrap();
    let told: usize = thread::scope(|scope| {
        let runs = [&one, &two].map(|store| {
            let id = &begun.id;
            scope.spawn(move || (0..50).filter(|n| store.record(id, &trial("search", *n), &[]).is_err()).count())
        });
        runs.map(|run| run.join().unwrap()).into_iter().sum()
    });
    assert_eq!(told, 50);
    assert_eq!(one.trials(&begun.id).unwrap().len(), 50);
}
