//! Whose study it is: kernels are known by name and folder, and nothing is taken from another one's record.

use std::path::Path;

use crate::history::{json, tiny, tune};
use crate::run::kiln_in;

/// A copy of the kernel under another name.
fn renamed(folder: &Path, name: &str) {
    let to = folder.join(name);
    std::fs::create_dir_all(&to).unwrap();
    for file in ["kernel.toml", "tiny.c", "tiny.cu", "naive.c"] {
        let text = std::fs::read_to_string(folder.join("tiny").join(file)).unwrap();
        let text = text.replace("name = \"tiny\"", &format!("name = \"{name}\""));
        std::fs::write(to.join(file), text).unwrap();
    }
}

#[test]
fn another_kernels_study_is_not_replayed_or_resumed_and_the_file_is_not_blamed() {
    let folder = tiny("whose_name");
    renamed(&folder, "other");
    let ran = tune(&folder, &[]);
    assert!(matches!(ran.code, 0 | 4), "{}{}", ran.out, ran.err);
    let id = json(&folder, &["history", "--json"])["studies"][0]["short_id"].as_str().unwrap().to_string();
    for flag in ["--replay", "--resume"] {
        let ran = kiln_in(&folder, &["tune", "other", "--target", "cpu", flag, &id]);
        assert_eq!(ran.code, 2, "{flag}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("study {id} tuned tiny, not other")), "{flag}: {}", ran.err);
        assert!(!ran.err.contains("has changed"), "{flag}: {}", ran.err);
    }
}
