//! Profiles read back as they went in, oldest first.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use kiln_store::{Kept, ProfileRecord, Store, Study};

fn made(kernel: &str, at_ms: i64) -> ProfileRecord {
    ProfileRecord {
        id: Study::new_id(),
        at_ms,
        study: Some(Study::new_id()),
        kernel: kernel.into(),
        path: "/kernels/k".into(),
        target: "cuda".into(),
        arch: Some("sm_90a".into()),
        variant: "T=f16".into(),
        config: "BLOCK=64,WAY=a".into(),
        workload: "large".into(),
        shape: "N=4096".into(),
        device: "a GPU".into(),
        level: "quick".into(),
        coarse: false,
        code: "4567".into(),
        cause: Some("small_grid".into()),
        expected_speedup: 12.5,
        ranked: Kept::new(vec![("small_grid".into(), 12.5), ("tail_effect".into(), 1.2)]),
        time_us: Some(0.1 + 0.2),
        activity: Kept::new(BTreeMap::from([("dram".into(), Some(12.25)), ("tensor".into(), None)])),
        page: Some(".kiln/profiles/k/raw.csv".into()),
        kiln_version: "0.1.0".into(),
    }
}

#[test]
fn profiles_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
    assert_eq!(store.profiles(None).unwrap(), []);
    let none =
        ProfileRecord { study: None, arch: None, cause: None, time_us: None, page: None, coarse: true, ..made("k", 3) };
    let (old, other) = (made("k", 1), made("l", 2));
    for one in [&none, &old, &other] {
        store.record_profile(one).unwrap();
    }
    assert_eq!(store.profiles(None).unwrap(), [old.clone(), other, none.clone()]);
    assert_eq!(store.profiles(Some("k")).unwrap(), [old.clone(), none]);
    assert!(store.record_profile(&old).is_err());
    let infinite = ProfileRecord { expected_speedup: f64::INFINITY, ..made("k", 4) };
    assert!(store.record_profile(&infinite).unwrap_err().to_string().contains("expected_speedup"));
}
