//! `kiln capture`: the package inside the binary runs a program, and the program's exit code is kiln's.

use std::path::Path;

use crate::run::{empty_folder, kiln_in};

const TRAIN: &str = "import sys\n\
class Array:\n    shape, dtype = (4, 64), 'float32'\n\
def rows(x):\n    return x\n\
for _ in range(3):\n    rows(Array())\n\
print('trained', sys.argv[1:])\n\
sys.exit(int(sys.argv[1]))\n";

fn python() -> String {
    std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into())
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = empty_folder(name);
    std::fs::write(folder.join("train.py"), TRAIN).unwrap();
    folder
}

fn workloads(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("workloads.toml")).unwrap_or_default()
}

#[test]
fn calls_of_a_program_become_workloads_and_its_exit_code_is_passed_on() {
    for (code, named) in [("0", true), ("7", false)] {
        let folder = folder(&format!("capture-{code}"));
        let python = python();
        // With its interpreter, or as a script alone.
        let program: Vec<&str> = if named { vec![&python, "-u", "train.py", code] } else { vec!["train.py", code] };
        let ran = kiln_in(&folder, &[&["capture", "--op", "__main__:rows", "--"][..], &program].concat());
        assert_eq!((ran.code.to_string().as_str(), ran.out), (code, format!("trained ['{code}']\n")), "{}", ran.err);
        assert!(ran.err.contains("__main__:rows (function): 3 calls, 1 kind; "), "{}", ran.err);
        assert!(workloads(&folder).contains("dims = { x_0 = 4, x_1 = 64 }\nweight = 100\n"), "{}", workloads(&folder));
        assert!(folder.join(".kiln/python/kiln/capture/__main__.py").is_file());
    }
}

#[test]
fn what_is_no_python_program_is_refused() {
    let folder = folder("capture-refused");
    for (program, says) in [("torchrun", "`torchrun` is no Python interpreter"), ("python3", "has no script to run")] {
        let ran = kiln_in(&folder, &["capture", "--op", "__main__:rows", "--", program]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
    let ran = kiln_in(&folder, &["capture", "--op", "__main__:nothing", "--", "train.py", "0"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("train.py defines no such function at its top level"), "{}", ran.err);
}
