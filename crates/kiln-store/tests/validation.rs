//! Validations read back as they went in, newest first.

#![allow(clippy::unwrap_used, clippy::panic)]

use kiln_store::{Store, Study, Validation};

fn made(kernel: &str, at_ms: i64) -> Validation {
    Validation {
        id: Study::new_id(),
        at_ms,
        kernel: kernel.into(),
        path: "kernels/k".into(),
        target: "cuda".into(),
        arch: Some("sm_90a".into()),
        variant: "T=f16".into(),
        config: "BLOCK=64,WAY=a".into(),
        runs: 100,
        shapes: Some(83),
        seed: u64::MAX,
        device: "a GPU".into(),
        spec_hash: "0123".into(),
        sources: "4567".into(),
        kiln_version: "0.1.0".into(),
    }
}

#[test]
fn validations_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
    assert_eq!(store.validations(None).unwrap(), []);
    let (old, new) = (made("k", 1), Validation { arch: None, shapes: None, ..made("k", 3) });
    let other = made("l", 2);
    for one in [&old, &new, &other] {
        store.record_validation(one).unwrap();
    }
    assert_eq!(store.validations(None).unwrap(), [new.clone(), other, old.clone()]);
    assert_eq!(store.validations(Some("k")).unwrap(), [new, old.clone()]);
    assert!(store.record_validation(&old).is_err());
    store.remove(&old.id).unwrap();
    assert_eq!(store.validations(Some("k")).unwrap().len(), 1);
}
