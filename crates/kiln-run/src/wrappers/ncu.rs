//! NVIDIA's Nsight Compute around a worker with a GPU. In: where it lies, what to collect, and where its report and its words go. Out: a
//! [`Wrapper`] under which only the calls that a worker announces are profiled, and the command that makes a page of the
//! report. Refuses a program that does not answer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kiln_core::Fault;

use super::wrapper::Wrapper;

/// Launches of one call that are profiled at most: each is repeated for every pass.
const LAUNCHES: &str = "32";

/// What is collected of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collect<'m> {
    /// These metrics, in as few passes as they take.
    Metrics(&'m [&'m str]),
    /// These sections: names of metrics differ from one architecture to the next, those of sections do not.
    Sections(&'m [&'m str]),
    /// Everything, with the source's lines.
    Full,
}

/// An ncu that was found and answers.
#[derive(Debug, Clone)]
pub struct Ncu {
    program: PathBuf,
    version: String,
}

impl Ncu {
    /// The one in this file.
    pub fn at(program: &Path) -> Result<Ncu, Fault> {
        let fault = |why: String| {
            let fault = Fault::new(format!("asking {} for its version", program.display()), why);
            fault.hint("reinstall Nsight Compute, or the CUDA toolkit that it comes with")
        };
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(|e| fault(e.to_string()))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = said.split_whitespace();
        words.find(|word| word.eq_ignore_ascii_case("version"));
        let numbered = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        match words.next().filter(numbered) {
            Some(version) => Ok(Ncu { program: program.into(), version: version.into() }),
            None => Err(fault(format!("it ended with {} and named none", output.status))),
        }
    }

    /// Such as `2025.3.1.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Around a worker. Its report and its words go to files: a worker's output is not mixed with anything. Clocks are left as they
    /// are, as in every other measurement of kiln.
    pub fn wrapper(&self, collect: Collect<'_>, report: &Path, log: &Path) -> Wrapper {
        let mut words: Vec<OsString> = vec![self.program.clone().into()];
        let fixed = [
            ("--target-processes", "application-only"),
            ("--profile-from-start", "off"),
            ("--replay-mode", "kernel"),
            ("--clock-control", "none"),
            ("--launch-count", LAUNCHES),
        ];
        words.extend(fixed.into_iter().flat_map(|(name, value)| [name.into(), value.into()]));
        match collect {
            Collect::Metrics(metrics) => words.extend(["--metrics".into(), metrics.join(",").into()]),
            Collect::Sections(sections) => {
                words.extend(sections.iter().flat_map(|name| ["--section".into(), (*name).into()]));
            }
            Collect::Full => words.extend(["--set", "full", "--import-source", "yes"].map(OsString::from)),
        }
        words.extend(["--force-overwrite".into(), "--export".into(), report.into(), "--log-file".into(), log.into()]);
        Wrapper::program(words)
    }

    /// What prints the raw page of a report, in base units.
    pub fn raw_page(&self, report: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--import").arg(report).args(["--csv", "--page", "raw", "--print-units", "base"]);
        // Numbers in another locale's form could not be read.
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(collect: Collect<'_>) -> String {
        let ncu = Ncu { program: "ncu".into(), version: "1".into() };
        let command = ncu.wrapper(collect, Path::new("/p/r.ncu-rep"), Path::new("/p/log")).around(Command::new("kiln"));
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_level_collects_its_own_and_watches_announced_calls_alone() {
        let before = "--target-processes application-only --profile-from-start off --replay-mode kernel --clock-control none \
            --launch-count 32";
        let after = "--force-overwrite --export /p/r.ncu-rep --log-file /p/log kiln";
        assert_eq!(words(Collect::Metrics(&["a.sum", "b.avg"])), format!("{before} --metrics a.sum,b.avg {after}"));
        assert_eq!(words(Collect::Sections(&["A", "B"])), format!("{before} --section A --section B {after}"));
        assert_eq!(words(Collect::Full), format!("{before} --set full --import-source yes {after}"));
    }

    #[test]
    fn what_does_not_answer_is_a_fault() {
        assert!(Ncu::at(Path::new("/nowhere/ncu")).is_err());
        assert!(Ncu::at(Path::new("/bin/true")).is_err());
    }
}
