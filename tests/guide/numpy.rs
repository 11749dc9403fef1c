//! The guide's baseline in Python works as written, where there is a NumPy to run it with.

use serde_json::Value;

use crate::transcript::{Step, steps};
use crate::{document, empty_folder, shell};

#[test]
fn the_python_baseline_of_the_guide_is_right() {
    let python = std::env::var("KILN_PYTHON").unwrap_or("python3".into());
    let folder = empty_folder("guide-numpy");
    if !shell(&folder, &format!("{python} -c 'import numpy' && echo there")).contains("there") {
        eprintln!("not tested: {python} has no NumPy");
        return;
    }
    for step in steps(&document("docs/guide.md")) {
        if let Step::File { path, text } = step {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    let line = "kiln bench row_sum --baseline numpy --samples 25 --max-samples 25 --json 2>log || cat log";
    let text = shell(&folder, line);
    let object: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(object["workloads"][0]["baselines"][0]["name"], "numpy", "{object}");
}
