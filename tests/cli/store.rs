//! `--store` and `KILN_STORE`: where studies are recorded and looked for.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::history::{json, tiny, tune};
use crate::run::kiln_in;

/// What `history --json` prints with the variable set.
fn history(folder: &Path, variable: &str, more: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let output = command
        .args(["history", "--json"])
        .args(more)
        .current_dir(folder)
        .env("KILN_STORE", variable)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn studies(object: &Value) -> usize {
    object["studies"].as_array().unwrap().len()
}

#[test]
fn a_store_elsewhere_is_written_read_and_named_in_hints() {
    let folder = tiny("store_elsewhere");
    let ran = tune(&folder, &["--store", "team/all studies.db"]);
    assert!(matches!(ran.code, 0 | 4), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("kiln --store 'team/all studies.db' show "), "{}", ran.out);
    assert!(folder.join("team/all studies.db").is_file());
    assert!(!folder.join(".kiln/kiln.db").exists(), "the usual store was made too");
    assert!(folder.join(".kiln/cache").is_dir(), "builds stay here");
    // Before the verb or behind it.
    let found = json(&folder, &["--store", "team/all studies.db", "history", "--json"]);
    assert_eq!((studies(&found), found["store"].as_str().unwrap()), (1, "team/all studies.db"));
    let shown = kiln_in(&folder, &["show", "last", "--store", "team/all studies.db"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert_eq!(studies(&json(&folder, &["history", "--json"])), 0);
    assert!(kiln_in(&folder, &["show", "last", "--store", "none.db"]).err.contains("there is no none.db here"));
    assert!(!folder.join("none.db").exists(), "looking made a store");

    // By the environment; what is typed goes before it, and an empty one counts as none.
    assert_eq!(studies(&history(&folder, "team/all studies.db", &[])), 1);
    assert_eq!(studies(&history(&folder, "team/all studies.db", &["--store", "none.db"])), 0);
    let usual = history(&folder, "", &[]);
    assert_eq!((studies(&usual), usual["store"].as_str().unwrap()), (0, ".kiln/kiln.db"));
}

#[test]
fn a_place_that_cannot_be_a_store_is_told() {
    let folder = tiny("store_wrong");
    let ran = tune(&folder, &["--store", "tiny"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("this is a folder") && ran.err.contains("e.g. kiln.db"), "{}", ran.err);
    let ran = kiln_in(&folder, &["history", "--store", "postgres://me:secret@host/db"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("no PostgreSQL yet") && !ran.err.contains("secret"), "{}", ran.err);
    let doctor = json(&folder, &["doctor", "--json", "--store", "tiny"]);
    let found = doctor["findings"].as_array().unwrap().iter().find(|f| f["id"] == "store").unwrap().clone();
    assert_eq!(found["state"], "fail", "{found}");
}

#[test]
fn a_record_that_cannot_be_read_is_counted_named_and_can_be_deleted() {
    let folder = tiny("store_damaged");
    assert!(matches!(tune(&folder, &["--target", "cpu"]).code, 0 | 4));
    assert!(matches!(tune(&folder, &["--target", "cpu", "--seed", "2"]).code, 0 | 4));
    let id = json(&folder, &["history", "--json"])["studies"][0]["id"].as_str().unwrap().to_string();
    let script = "import sqlite3, sys\nstore = sqlite3.connect('.kiln/kiln.db')\n\
                  store.execute(\"UPDATE studies SET seconds = 'x' WHERE id = ?\", sys.argv[1:])\nstore.commit()\n";
    let damaged = Command::new("python3").args(["-c", script, &id]).current_dir(&folder).status().unwrap();
    assert!(damaged.success());
    let listed = kiln_in(&folder, &["history"]);
    assert_eq!((listed.code, listed.out.lines().count()), (0, 2), "{}", listed.out);
    assert!(listed.err.contains("1 record in the store cannot be read"), "{}", listed.err);
    let ran = tune(&folder, &["--target", "cpu", "--seed", "3"]);
    assert!(matches!(ran.code, 0 | 4) && ran.err.contains("1 record in the store cannot be read"), "{}", ran.err);
    let doctor = json(&folder, &["doctor", "--json"]);
    let found = doctor["findings"].as_array().unwrap().iter().find(|f| f["id"] == "store").unwrap().clone();
    let fix = found["fix"].as_str().unwrap();
    assert!(found["state"] == "fail" && fix.contains(&format!("`kiln studies delete {id} --yes`")), "{found}");
    let deleted = kiln_in(&folder, &["studies", "delete", &id, "--yes"]);
    assert_eq!(deleted.code, 0, "{}", deleted.err);
    assert_eq!(kiln_in(&folder, &["history"]).err, "");
}

#[test]
fn a_record_that_is_not_utf8_hides_no_other_and_is_named_once() {
    let folder = tiny("store_garbled");
    for seed in ["1", "2"] {
        let ran = kiln_in(&folder, &["check", "tiny", "--target", "cpu", "--seed", seed]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let script = "import sqlite3\nstore = sqlite3.connect('.kiln/kiln.db')\n\
                  first = store.execute('SELECT MIN(id) FROM attempts').fetchone()[0]\n\
                  store.execute(\"UPDATE attempts SET words = CAST(X'ff8041' AS TEXT) WHERE id = ?\", (first,))\n\
                  store.commit()\nprint(first)\n";
    let damaged = Command::new("python3").args(["-c", script]).current_dir(&folder).output().unwrap();
    let id = String::from_utf8(damaged.stdout).unwrap().trim().to_string();
    let next = kiln_in(&folder, &["next", "tiny"]);
    let warned = next.err.matches("1 record in the store cannot be read").count();
    assert!(next.code == 0 && warned == 1 && next.err.contains("kiln doctor"), "{}{}", next.out, next.err);
    let doctor = json(&folder, &["doctor", "--json"]);
    let found = doctor["findings"].as_array().unwrap().iter().find(|f| f["id"] == "store").unwrap().clone();
    assert!(found["state"] == "fail" && found["what"].as_str().unwrap().contains(&id), "{found}");
    assert_eq!(kiln_in(&folder, &["studies", "delete", &id, "--yes"]).code, 0);
    assert_eq!(kiln_in(&folder, &["next", "tiny"]).err, "");
}
