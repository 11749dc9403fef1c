//! `kiln profile` on a GPU: counters of a candidate and of a baseline, and what is said where there are none.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::{folder, root, run};

#[test]
fn counters_name_what_limits_a_kernel() {
    let Some(folder) = folder("profile") else { return };
    let (found, code) = run(&folder, "profile @kernels/matmul_float --workload square2048 --seed 1 --json");
    assert_eq!((code, &found["coarse"], &found["profiled"]["level"]), (0, &json!(false), &json!("quick")), "{found:#}");
    assert_eq!(found["not_collected"], Value::Null, "{found:#}");
    assert!(found["kernel"].as_str().unwrap().starts_with("matmul_float"), "{found:#}");
    assert!(found["profiled"]["passes"].as_u64().is_some_and(|passes| passes > 0), "{found:#}");
    for key in ["report", "page"] {
        assert!(folder.join(found["profiled"][key].as_str().unwrap()).is_file(), "{found:#}");
    }
    // The page that was kept says the same to whoever reads it again, but for what the build and the source add.
    let (again, _) = run(&folder, &format!("diagnose --ncu {} --json", found["profiled"]["page"].as_str().unwrap()));
    assert_eq!((&again["time_us"], &again["roofline"]), (&found["time_us"], &found["roofline"]), "{again:#}");
}

#[test]
fn a_baseline_in_python_is_profiled() {
    let Some(folder) = folder("profile-baseline") else { return };
    let (found, code) = run(&folder, "profile @kernels/matmul --baseline torch --seed 1 --json");
    assert_eq!((code, &found["coarse"]), (0, &json!(false)), "{found:#}");
    assert!(found["time_us"].as_f64().unwrap() > 10.0, "{found:#}");
}

/// An ncu that is played: what it writes to its log, and that it then runs the program.
fn played(folder: &std::path::Path, said: &str) -> (i32, String, String) {
    let tools = folder.join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let kiln = std::env::var("KILN_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_kiln").into());
    let kiln = std::fs::canonicalize(kiln).unwrap();
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo Version 2025.3.1.0 && exit 0\n\
         while [ \"$1\" != \"{}\" ]; do [ \"$1\" = --log-file ] && log=\"$2\"; shift; done\ncat > \"$log\" <<'E'\n{said}\nE\nexec \"$@\"\n",
        kiln.display()
    );
    std::fs::write(tools.join("ncu"), script).unwrap();
    std::fs::set_permissions(tools.join("ncu"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(&kiln);
    let kernel = root().join("kernels/matmul_float");
    command.args(["profile", kernel.to_str().unwrap(), "--seed", "1", "--json"]).env("PATH", path).current_dir(folder);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn without_permission_the_diagnosis_is_coarse_and_says_so() {
    let Some(folder) = folder("profile-forbidden") else { return };
    let said =
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters";
    let (code, out, err) = played(&folder, said);
    let found: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!((code, &found["coarse"]), (0, &json!(true)), "{found:#}");
    assert!(found["notes"][0].as_str().unwrap().contains("NVreg_RestrictProfilingToAdminUsers=0"), "{found:#}");
    assert!(found["time_us"].as_f64().unwrap() > 1.0 && found["roofline"]["compute_fraction"].is_f64(), "{found:#}");
}

#[test]
fn what_a_profiler_says_is_passed_on_with_a_remedy() {
    let Some(folder) = folder("profile-words") else { return };
    let fixture = |name: &str| std::fs::read_to_string(root().join("fixtures/ncu/h200").join(name)).unwrap();
    for (said, told) in [
        (fixture("no_match.txt"), "the call launched no kernel that ncu sees"),
        ("==ERROR== Profiling failed because a driver resource was unavailable.".into(), "dcgmi profile --pause"),
        (String::new(), "it left no report"),
    ] {
        let (code, out, err) = played(&folder, &said);
        assert!(code == 1 && (out.contains(told) || err.contains(told)), "{told}: {code} {out}{err}");
    }
}
