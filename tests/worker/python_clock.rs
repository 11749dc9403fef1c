//! What of a call is on the clock of a Python worker: asked of the worker's own program, with a clock that is played.

use std::fs;
use std::path::Path;
use std::process::Command;

use kiln_run::python_command;

use super::with_numpy;

#[test]
fn a_plain_array_that_is_returned_is_copied_after_the_clock() {
    let Some(python) = with_numpy() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program.py");
    // The very text that workers are started with.
    let text = python_command(&python.interpreter).get_args().last().unwrap().to_str().unwrap().to_string();
    fs::write(&program, text).unwrap();
    let checks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/worker/python_clock.py");
    let output = Command::new(&python.interpreter).arg(checks).arg(program).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}
