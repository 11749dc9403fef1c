//! What a diagnosis consists of. It serialises as
//! `{"findings":[{"cause","tool","kernel","file","line","count","facts","explanation","fix"}],"verdict"}`, with `notes`
//! where there are any.

use serde::{Deserialize, Serialize};

use crate::{Cause, Facts};

/// What the tools' output comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// What is wrong, the most telling first. One entry per cause and place: what follows from another finding is a fact of
    /// that one.
    pub findings: Vec<Finding>,
    /// All of it in one word.
    pub verdict: Verdict,
    /// What limits the verdict: a tool that could not run, a log that is cut, records that kiln does not know; and how many findings are not listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Diagnosis {
    /// Adds what other tools found in the same program: the gravest verdict counts. Where a cause is known, that another tool names
    /// none says nothing more.
    pub fn join(&mut self, other: Diagnosis) {
        let order = [Verdict::BugsFound, Verdict::Inconclusive, Verdict::NotRun, Verdict::Clean];
        let gravest = order.into_iter().find(|verdict| [self.verdict, other.verdict].contains(verdict));
        self.verdict = gravest.unwrap_or(self.verdict);
        self.findings.extend(other.findings);
        if self.verdict == Verdict::BugsFound {
            self.findings.retain(|finding| finding.cause != Cause::Inconclusive);
        }
        let new: Vec<String> = other.notes.into_iter().filter(|note| !self.notes.contains(note)).collect();
        self.notes.extend(new);
    }
}

/// The verdict of a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At least one cause is known.
    BugsFound,
    /// Every tool ran to its end and found nothing, and nothing speaks against the program. Not a proof.
    Clean,
    /// No cause is known, and nothing shows that there is none: the program failed, its result is wrong or varies, or a log ends too
    /// early. One finding has the reason.
    Inconclusive,
    /// No tool has checked anything.
    NotRun,
}

/// One cause, where it is, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub cause: Cause,
    /// Which tool found it.
    pub tool: Tool,
    /// The kernel, or the function on a processor, without its parameters.
    pub kernel: Option<String>,
    /// The source file as the tool names it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// How many errors of this kind the tool counted, printed or not.
    pub count: u64,
    /// What supports it. The names are listed in docs/causes.md.
    pub facts: Facts,
    /// What happened, in a sentence or two.
    pub explanation: String,
    /// What to change.
    pub fix: String,
}

/// Who found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// compute-sanitizer's check of accesses, API calls and leaks.
    Memcheck,
    /// compute-sanitizer's check for races in shared memory.
    Racecheck,
    /// compute-sanitizer's check for uninitialised reads.
    Initcheck,
    /// compute-sanitizer's check of barriers.
    Synccheck,
    /// One of the four; the log does not say which.
    ComputeSanitizer,
    /// AddressSanitizer of GCC or Clang.
    Asan,
    /// UndefinedBehaviorSanitizer of GCC or Clang.
    Ubsan,
    /// LeakSanitizer, usually part of AddressSanitizer.
    Lsan,
    /// ThreadSanitizer of GCC or Clang.
    Tsan,
    /// MemorySanitizer of Clang.
    Msan,
    /// No tool: the program said so itself.
    Program,
}

impl Tool {
    /// The name in messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Memcheck => "memcheck",
            Tool::Racecheck => "racecheck",
            Tool::Initcheck => "initcheck",
            Tool::Synccheck => "synccheck",
            Tool::ComputeSanitizer => "compute-sanitizer",
            Tool::Asan => "asan",
            Tool::Ubsan => "ubsan",
            Tool::Lsan => "lsan",
            Tool::Tsan => "tsan",
            Tool::Msan => "msan",
            Tool::Program => "program",
        }
    }

    /// The tool of compute-sanitizer whose name a text contains, such as a file name or a command line.
    pub fn named_in(text: &str) -> Option<Tool> {
        [Tool::Memcheck, Tool::Racecheck, Tool::Initcheck, Tool::Synccheck]
            .into_iter()
            .find(|tool| text.contains(tool.name()))
    }
}
