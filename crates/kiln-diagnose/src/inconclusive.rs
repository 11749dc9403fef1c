//! Why a diagnosis names no cause, and what to try. In: the reason, with details where there are any. Out: a finding whose cause is
//! `inconclusive`, with the reason as a fact. Every inconclusive verdict has exactly one: a script reads the reason, a person the
//! words. Whoever ran the program knows reasons that no log has, and makes such a finding with [`inconclusive`].

use serde::{Deserialize, Serialize};

use crate::{Cause, Facts, Finding, Tool};

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident => $id:literal,)+) => {
        /// Why no cause is known. Identifiers are stable and documented in docs/causes.md.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Reason {
            $($(#[doc = $doc])+ #[serde(rename = $id)] $name,)+
        }

        impl Reason {
            /// Every reason, in the order of the documentation.
            pub const ALL: &[Reason] = &[$(Reason::$name,)+];

            /// The stable identifier, the fact `reason`.
            pub fn id(self) -> &'static str {
                match self {
                    $(Reason::$name => $id,)+
                }
            }
        }
    };
}

reasons! {
    /// The log ends before the tool was done, or lacks its beginning.
    LogCut => "log_cut",
    /// The program did not end.
    Hang => "hang",
    /// A signal ended the program.
    Killed => "killed",
    /// The program aborted itself.
    Aborted => "aborted",
    /// The program ended with an error.
    NonzeroExit => "nonzero_exit",
    /// The kernel was never loaded.
    NotLoaded => "not_loaded",
    /// The program reports an error of CUDA.
    ProgramError => "program_error",
    /// The result is wrong.
    ResultWrong => "result_wrong",
    /// The result varies from run to run.
    ResultVaries => "result_varies",
    /// The tool did not end in time, on a program that does.
    ToolTimedOut => "tool_timed_out",
    /// The tool says that it missed something, or one of several tools did not run.
    ToolIncomplete => "tool_incomplete",
    /// The tool itself failed.
    ToolFailed => "tool_failed",
    /// Errors were counted, and none of them is in the log.
    NotPrinted => "not_printed",
    /// XML without a record says nothing about the program.
    NoRecords => "no_records",
    /// A report of a kind that kiln does not know.
    UnknownReport => "unknown_report",
}

/// A finding that names no cause, but why there is none. The detail may be empty.
pub fn inconclusive(reason: Reason, detail: &str, on_gpu: bool) -> Finding {
    Doubt::new(reason, detail, on_gpu).finding(Facts::default())
}

/// A reason with what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) reason: Reason,
    /// The tool's or the program's words; may be empty.
    pub(crate) detail: String,
    /// Whether it is about a kernel on a GPU.
    pub(crate) on_gpu: bool,
}

impl Doubt {
    pub(crate) fn new(reason: Reason, detail: impl Into<String>, on_gpu: bool) -> Doubt {
        Doubt { reason, detail: detail.into(), on_gpu }
    }

    /// The finding, with more facts after the reason.
    pub(crate) fn finding(&self, more: Facts) -> Finding {
        let mut facts = Facts::default();
        facts.set("reason", self.reason.id());
        if !self.detail.is_empty() {
            facts.set("detail", self.detail.as_str());
        }
        more.iter().for_each(|(name, value)| facts.set(name, value.clone()));
        let suspects = self.suspects();
        if !suspects.is_empty() {
            facts.set("suspects", suspects.iter().map(|cause| cause.id()).collect::<Vec<_>>());
        }
        let (explanation, fix) = (self.explanation(), self.fix().into());
        let (kernel, file, line) = (None, None, None);
        Finding {
            cause: Cause::Inconclusive,
            tool: Tool::Program,
            kernel,
            file,
            line,
            count: 1,
            facts,
            explanation,
            fix,
        }
    }

    /// What may be behind it, the likeliest first.
    fn suspects(&self) -> Vec<Cause> {
        match (self.reason, self.on_gpu) {
            (Reason::LogCut, true) => vec![Cause::Hang, Cause::DivergentBarrier, Cause::BarrierProtocol],
            (Reason::ProgramError, _) => {
                vec![Cause::MisalignedGlobal, Cause::OobGlobalRead, Cause::LaunchFailureConfig]
            }
            (Reason::ResultVaries, true) => {
                vec![Cause::RaceGlobalInterblock, Cause::UninitShared, Cause::AsyncCopyNoWait]
            }
            (Reason::ResultVaries, false) => vec![Cause::DataRace, Cause::UninitValue],
            (Reason::ResultWrong, true) => {
                vec![
                    Cause::SemanticIndex,
                    Cause::RaceGlobalInterblock,
                    Cause::UninitShared,
                    Cause::OobGlobalWriteSilent,
                ]
            }
            (Reason::ResultWrong, false) => vec![Cause::SemanticIndex, Cause::UninitValue],
            _ => Vec::new(),
        }
    }

    /// What is known.
    fn explanation(&self) -> String {
        let detail = match self.detail.as_str() {
            "" => String::new(),
            words => format!(" ({words})"),
        };
        match (self.reason, self.on_gpu) {
            (Reason::LogCut, true) => format!(
                "The log ends early{detail}: what the tool found after that is not known. A program that hangs and is stopped leaves \
                 such a log, too."
            ),
            (Reason::LogCut, false) => format!("The log has only part of a report{detail}: the rest decides what it is."),
            (Reason::Hang, _) => {
                format!("The program did not end in time{detail}. The tools found nothing, and none of them sees why a loop does not end.")
            }
            (Reason::Killed, _) => {
                format!("A signal ended the program{detail}, and no tool reports why.")
            }
            (Reason::Aborted, _) => {
                format!("The program aborted itself{detail}, and no tool reports why: an assertion, an exception that nothing catches, or a check in a library.")
            }
            (Reason::NonzeroExit, _) => format!("The tools found nothing, but the program ended with an error{detail}."),
            (Reason::NotLoaded, _) => format!("The kernel was not loaded{detail}: the tools had nothing to check."),
            (Reason::ProgramError, _) => {
                format!("This tool found nothing, but the program failed{detail}: the tool checks something else.")
            }
            (Reason::ResultVaries, true) => "The tools found nothing, but the results differ from run to run. None of the tools sees \
                races between blocks through global memory, and before version 2025.4 none sees uninitialised shared memory."
                .into(),
            (Reason::ResultVaries, false) => "The sanitizers found nothing, but the results differ from run to run. These sanitizers see \
                neither races between threads nor uninitialised memory."
                .into(),
            (Reason::ResultWrong, true) => "The tools found nothing, but the program's result is wrong. Accesses are valid; their meaning \
                may not be: swapped indices, a wrong stride or a missed edge look like this, and so do races between blocks."
                .into(),
            (Reason::ResultWrong, false) => "The sanitizers found nothing, but the program's result is wrong. Accesses are valid; their \
                meaning may not be: swapped indices, a wrong stride or a missed edge look like this."
                .into(),
            (Reason::ToolTimedOut, _) => format!("A tool did not end in time{detail}; the program does without it."),
            (Reason::ToolIncomplete, _) => format!("The tools did not see everything{detail}."),
            (Reason::ToolFailed, _) => format!("The sanitizer itself failed{detail}."),
            (Reason::NotPrinted, _) => format!("The tool counted errors that are not in the log{detail}."),
            (Reason::NoRecords, _) => "The XML has no records: it does not show whether the program ran to its end, or with which \
                result."
                .into(),
            (Reason::UnknownReport, _) => format!("The log has a report of a kind that kiln does not know{detail}."),
        }
    }

    /// What to try.
    fn fix(&self) -> &'static str {
        match (self.reason, self.on_gpu) {
            (Reason::LogCut, true) => {
                "Give the whole log, up to `ERROR SUMMARY`. If the program does not end, give the source (--source): kiln looks for \
                 barriers that only some threads reach. Otherwise look for a __syncthreads() in a branch, an mbarrier that expects \
                 more arrivals than come, and a loop that waits for another block."
            }
            (Reason::LogCut, false) => {
                "Give the whole log, from `ERROR:` or `WARNING:` to `SUMMARY:`. log_path=FILE in ASAN_OPTIONS, UBSAN_OPTIONS or \
                 TSAN_OPTIONS keeps the reports apart from the program's output."
            }
            (Reason::Hang, true) => {
                "Look for a __syncthreads() in a branch, an mbarrier that expects more arrivals than come, and a loop that waits for \
                 another block."
            }
            (Reason::Hang, false) => {
                "Look for a loop whose condition never changes and a lock that is never released; a debugger attached to the \
                 process (gdb -p) shows the line. If it is merely slow under the tool, use a smaller workload or a larger limit."
            }
            (Reason::Killed, _) => {
                "Check memory first: run a smaller input, and look for SIGKILL in the system's log. If it is killed without the tool \
                 too, a debugger shows the line."
            }
            (Reason::Aborted, _) => {
                "Read the last lines the program printed: they name the assertion or the exception. A debug build with assertions \
                 (`kiln debug`) shows more."
            }
            (Reason::NonzeroExit, _) => {
                "Read what the program printed before it ended, and run it without the tool: if it fails there too, start with its \
                 own message."
            }
            (Reason::NotLoaded, _) => {
                "Check that the library has the entry and every symbol it needs: `kiln gate` shows the compiler's and the loader's \
                 words."
            }
            (Reason::ProgramError, _) => "Run memcheck: it names the access or the call behind such an error.",
            (Reason::ResultVaries, true) => {
                "Look for global memory that several blocks write without atomics, for a block that reads what another writes, and \
                 for shared memory that is read before it is written; run the kernel with one block and compare."
            }
            (Reason::ResultVaries, false) => {
                "Build with -fsanitize=thread and run with several threads; look for variables that are read before they are set \
                 (clang's -fsanitize=memory, or Valgrind)."
            }
            (Reason::ResultWrong, true) => {
                "Compare with the reference on the smallest input that fails, element by element: wrong rows, columns or edges show \
                 which index it is. Run it several times: a result that varies is a race. Run memcheck with --padding 256: without \
                 it, a write into the neighbouring allocation goes unseen."
            }
            (Reason::ResultWrong, false) => {
                "Compare with the reference on the smallest input that fails, element by element: wrong rows, columns or edges show \
                 which index it is. `kiln fuzz` finds the smallest input, `kiln debug` shows what the kernel prints on it."
            }
            (Reason::ToolTimedOut, _) => "Use a larger --limit or a smaller workload.",
            (Reason::ToolIncomplete, _) => {
                "Run the tools that are missing, on fewer kernels or smaller inputs if memory was short."
            }
            (Reason::ToolFailed, true) => {
                "Run it again on one kernel (--kernel-regex kns=NAME) or a smaller input, with a version of compute-sanitizer that knows \
                 this driver and device."
            }
            (Reason::ToolFailed, false) => {
                "Run it again: the program and the sanitizer's runtime must come from the same compiler, and no other library may be \
                 loaded before the runtime."
            }
            (Reason::NotPrinted, _) => "Use a larger --print-limit, and give the whole log.",
            (Reason::NoRecords, _) => "Give what the tool prints without --xml too.",
            (Reason::UnknownReport, _) => "Read the report itself: the log has its kind, and most often its line.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_words_of_its_own() {
        for on_gpu in [false, true] {
            let mut seen: Vec<String> = Vec::new();
            for reason in Reason::ALL {
                let finding = Doubt::new(*reason, "why", on_gpu).finding(Facts::default());
                assert_eq!((finding.cause, finding.facts.text("reason")), (Cause::Inconclusive, Some(reason.id())));
                assert!(finding.explanation.ends_with('.') && finding.fix.ends_with('.'), "{finding:?}");
                assert!(!seen.contains(&finding.explanation), "{}", finding.explanation);
                seen.push(finding.explanation);
                assert_eq!(serde_json::to_value(reason).unwrap(), reason.id());
            }
        }
    }

    #[test]
    fn every_reason_is_documented_and_nothing_else_is() {
        let page = include_str!("../../../docs/causes.md");
        let (_, table) = page.split_once("| reason | meaning |\n").unwrap();
        let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
        let documented: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.id()).collect();
        assert_eq!(documented, known, "docs/causes.md lists every reason, in this order");
    }
}
