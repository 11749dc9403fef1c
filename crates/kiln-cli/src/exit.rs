//! Exit codes, and how errors are shown. The closed list, documented in docs/exit-codes.md.

use std::io;
use std::process::ExitCode;

use kiln_core::Report;

use crate::output;
use crate::work;

/// Everything worked.
const DONE: u8 = 0;
/// The environment failed: a file could not be read, the disk is full.
const FAULT: u8 = 1;
/// What was given is wrong: the command line (also clap's own code), a kernel file.
const BAD_INPUT: u8 = 2;
/// A candidate was refused by a gate.
const REFUSED: u8 = 3;

/// The speedup aimed at was not reached, or the study stopped early on purpose.
const NOT_REACHED: u8 = 4;
/// Ctrl-C; what was done is saved. The shell's own code for it.
pub(crate) const INTERRUPTED: u8 = 130;

/// How a verb can end other than well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong, in one or more ways.
    Input(Vec<Report>),
    /// The environment failed.
    Fault(anyhow::Error),
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Failure::Input(vec![report])
    }
}

impl From<Vec<Report>> for Failure {
    fn from(reports: Vec<Report>) -> Self {
        Failure::Input(reports)
    }
}

impl From<kiln_core::Fault> for Failure {
    fn from(fault: kiln_core::Fault) -> Self {
        Failure::Fault(fault.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Fault(error.into())
    }
}

/// How a verb ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Success {
    Done,
    Refused,
    NotReached,
    /// The environment was examined, and something in it fails.
    Unfit,
    Interrupted,
}

/// Shows what went wrong, on stderr (as one JSON object on stdout where JSON was asked for), and gives the code.
pub(crate) fn code(result: Result<Success, Failure>, json: bool) -> ExitCode {
    ExitCode::from(match result {
        Ok(Success::Done) => DONE,
        Ok(Success::Refused) => REFUSED,
        Ok(Success::NotReached) => NOT_REACHED,
        Ok(Success::Unfit) => FAULT,
        Ok(Success::Interrupted) => INTERRUPTED,
        Err(Failure::Input(reports)) => {
            let shown: Vec<String> = reports.iter().map(Report::to_string).collect();
            output::failure(json.then(|| serde_json::json!({ "errors": reports })), &shown.join("\n\n"));
            BAD_INPUT
        }
        Err(Failure::Fault(error)) => {
            // The reader of a pipe that has seen enough is no fault.
            let closed = error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
            if closed {
                return ExitCode::from(DONE);
            }
            output::failure(json.then(|| told(&error)), &format!("error: {error:#}"));
            // A step that was broken off by Ctrl-C may say so in its own words.
            if work::interrupted() { INTERRUPTED } else { FAULT }
        }
    })
}

/// A fault as machines read it.
fn told(error: &anyhow::Error) -> serde_json::Value {
    let report = match error.downcast_ref::<kiln_core::Fault>() {
        Some(fault) => Report::error(format!("{}: {}", fault.what, fault.why)).maybe_hint(fault.hint.clone()),
        None => Report::error(error.to_string()),
    };
    serde_json::json!({ "errors": [report] })
}
