//! NVIDIA's compute-sanitizer around a worker with a GPU. In: where it lies. Out: its version, what this one can do, and for each
//! of its tools a [`Wrapper`] that leaves its words in a file. Refuses a program that does not answer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kiln_core::Fault;

use super::wrapper::Wrapper;

/// Bytes of padding behind every allocation: what runs over one by less lands in nobody's memory, and is seen.
const PADDING: &str = "1024";
/// Errors printed of a run, at most.
const PRINTED: &str = "200";

/// One of its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SanitizerTool {
    /// Accesses out of bounds and misaligned ones.
    Memcheck,
    /// Races in shared memory.
    Racecheck,
    /// Reads of memory that nobody has written.
    Initcheck,
    /// Barriers.
    Synccheck,
}

impl SanitizerTool {
    /// All of them, in the order they are run.
    pub const ALL: [SanitizerTool; 4] =
        [SanitizerTool::Memcheck, SanitizerTool::Racecheck, SanitizerTool::Initcheck, SanitizerTool::Synccheck];

    /// Its name, as compute-sanitizer has it.
    pub fn name(self) -> &'static str {
        match self {
            SanitizerTool::Memcheck => "memcheck",
            SanitizerTool::Racecheck => "racecheck",
            SanitizerTool::Initcheck => "initcheck",
            SanitizerTool::Synccheck => "synccheck",
        }
    }
}

/// A compute-sanitizer that was found and answers.
#[derive(Debug, Clone)]
pub struct ComputeSanitizer {
    program: PathBuf,
    version: String,
    /// What it says about its options.
    help: String,
}

impl ComputeSanitizer {
    /// The one in this file.
    pub fn at(program: &Path) -> Result<ComputeSanitizer, Fault> {
        let fault = |why: String| {
            Fault::new(format!("asking {} what it can do", program.display()), why).hint("reinstall the CUDA toolkit")
        };
        let output = Command::new(program).arg("--help").stdin(Stdio::null()).output();
        let output = output.map_err(|e| fault(e.to_string()))?;
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        if !help.contains("--tool") {
            return Err(fault(format!("it ended with {} and said nothing about tools", output.status)));
        }
        let mut words = help.split_whitespace();
        words.find(|word| word.eq_ignore_ascii_case("version"));
        let version = words.next().unwrap_or("of unknown version").to_string();
        Ok(ComputeSanitizer { program: program.into(), version, help })
    }

    /// Such as `2025.3.1.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether this version has a tool.
    pub fn has(&self, tool: SanitizerTool) -> bool {
        self.help.contains(tool.name())
    }

    /// Whether initcheck looks at shared memory too.
    pub fn sees_uninitialised_shared(&self) -> bool {
        self.help.to_ascii_lowercase().contains("shared memory initialization")
            || self.knows("--initcheck-address-space")
    }

    /// A tool of it, with its words in a file.
    pub fn wrapper(&self, tool: SanitizerTool, log: &Path) -> Wrapper {
        let mut words: Vec<OsString> = vec![self.program.clone().into(), "--tool".into(), tool.name().into()];
        words.extend(["--log-file".into(), log.into()]);
        // Errors of calls are the worker's own to report: some it makes to find out what there is.
        let mut more = vec![
            ("--print-limit", PRINTED),
            ("--target-processes", "application-only"),
            ("--report-api-errors", "no"),
            ("--show-backtrace", "device"),
        ];
        if tool == SanitizerTool::Memcheck {
            more.push(("--padding", PADDING));
        }
        for (name, value) in more {
            if self.knows(name) {
                words.extend([name.into(), value.into()]);
            }
        }
        Wrapper::program(words)
    }

    fn knows(&self, option: &str) -> bool {
        self.help.contains(&format!("{option} "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_told_only_what_it_knows() {
        let help = "Version 2025.3.1.0 (build 1)\n  --tool arg (=memcheck)  memcheck racecheck\n  --padding arg (=0)\n  --print-limit arg (=100)\n";
        let tool = ComputeSanitizer { program: "cs".into(), version: "1".into(), help: help.into() };
        assert!(tool.has(SanitizerTool::Racecheck) && !tool.has(SanitizerTool::Synccheck));
        let words = |of: SanitizerTool| {
            let command = tool.wrapper(of, Path::new("/tmp/log")).around(Command::new("kiln"));
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let memcheck = "--tool memcheck --log-file /tmp/log --print-limit 200 --padding 1024 kiln";
        assert_eq!(words(SanitizerTool::Memcheck), memcheck);
        assert_eq!(words(SanitizerTool::Racecheck), "--tool racecheck --log-file /tmp/log --print-limit 200 kiln");
    }

    #[test]
    fn what_does_not_answer_is_a_fault() {
        assert!(ComputeSanitizer::at(Path::new("/nowhere/compute-sanitizer")).is_err());
        assert!(ComputeSanitizer::at(Path::new("/bin/true")).is_err());
    }
}
