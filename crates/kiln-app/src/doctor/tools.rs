//! NVIDIA's tools that look into kernels: the profiler, and whether this user may read the GPU's counters; the sanitizer.
//! In: whether there is a GPU. Out: a finding for each. What is missing is a warning only where there is a GPU.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::Duration;

use crate::doctor::{Finding, Health};

use crate::doctor::program::{ask, find};

const PROFILER: &str = "profiler";
const PROFILER_WHY: &str = "with ncu it can be seen what holds a kernel back; tuning needs it not";
const SANITIZER: &str = "sanitizer";
const SANITIZER_WHY: &str = "compute-sanitizer finds races and reads out of bounds that leave the answer right";
const INSTALL: &str = "install the CUDA toolkit, or put it on the PATH";
/// What the driver was loaded with.
const PARAMETERS: &str = "/proc/driver/nvidia/params";
const PATIENCE: Duration = Duration::from_secs(10);

/// Both tools.
pub(crate) fn look(gpu: bool) -> [Finding; 2] {
    let parameters = std::fs::read_to_string(PARAMETERS).unwrap_or_default();
    // The folder of a process belongs to whoever it acts for.
    let root = std::fs::metadata("/proc/self").is_ok_and(|folder| folder.uid() == 0);
    let found = |name: &str| version(name).map_err(|why| (why, gpu));
    [profiler(found("ncu"), &parameters, root), sanitizer(found("compute-sanitizer"))]
}

/// A tool's version, or why it cannot be had.
fn version(name: &str) -> Result<String, String> {
    let path = find(name).ok_or_else(|| format!("{name} was not found"))?;
    let mut command = Command::new(path);
    command.arg("--version");
    let words = ask(command, PATIENCE).map_err(|why| format!("{name} does not answer: {why}"))?;
    Ok(format!("{name} {}", number(&words).unwrap_or("of unknown version")))
}

/// The word after `Version` in what NVIDIA's tools say of themselves.
fn number(words: &str) -> Option<&str> {
    let mut words = words.split_whitespace();
    words.find(|word| word.eq_ignore_ascii_case("version"))?;
    words.next()
}

fn missing(id: &'static str, why: &'static str, (words, gpu): (String, bool)) -> Finding {
    let state = if gpu { Health::Warn } else { Health::Ok };
    Finding { state, ..Finding::warn(id, why, words, INSTALL) }
}

fn profiler(found: Result<String, (String, bool)>, parameters: &str, root: bool) -> Finding {
    let version = match found {
        Ok(version) => version,
        Err(why) => return missing(PROFILER, PROFILER_WHY, why),
    };
    let restricted = parameters.lines().find_map(|line| line.strip_prefix("RmProfilingAdminOnly:"));
    match restricted.map(str::trim) {
        Some("1") if !root => {
            let what = format!("{version}; only root may read the GPU's counters");
            let fix =
                "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then restart; or run as root";
            Finding::warn(PROFILER, PROFILER_WHY, what, fix)
        }
        Some(_) => Finding::ok(PROFILER, PROFILER_WHY, format!("{version}; this user may read the GPU's counters")),
        None => Finding::ok(PROFILER, PROFILER_WHY, version),
    }
}

fn sanitizer(found: Result<String, (String, bool)>) -> Finding {
    match found {
        Ok(version) => Finding::ok(SANITIZER, SANITIZER_WHY, version),
        Err(why) => missing(SANITIZER, SANITIZER_WHY, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_for_root_where_the_driver_says_so() {
        let ncu = || Ok("ncu 2025.3.1".to_string());
        let only = "EnableMSI: 1\nRmProfilingAdminOnly: 1\n";
        assert!(profiler(ncu(), only, false).fix.unwrap().contains("NVreg_RestrictProfilingToAdminUsers=0"));
        assert_eq!(profiler(ncu(), only, true).state, Health::Ok);
        let open = profiler(ncu(), "RmProfilingAdminOnly: 0\n", false);
        assert_eq!(open.what, "ncu 2025.3.1; this user may read the GPU's counters");
        assert_eq!(profiler(ncu(), "", false).what, "ncu 2025.3.1");
    }

    #[test]
    fn a_missing_tool_matters_where_there_is_a_gpu() {
        let gone = |gpu| sanitizer(Err(("compute-sanitizer was not found".into(), gpu)));
        assert_eq!((gone(true).state, gone(false).state), (Health::Warn, Health::Ok));
        assert!(gone(false).fix.is_some());
    }

    #[test]
    fn versions_are_read_from_what_the_tools_say() {
        let words =
            "NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025\nVersion 2025.3.1.0 (build 1)";
        assert_eq!(number(words), Some("2025.3.1.0"));
        assert_eq!(number("nothing of the kind"), None);
    }
}
