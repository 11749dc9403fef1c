//! How an operation can end other than well: what it was given is wrong, or the environment failed.

use std::fmt;
use std::io;

use kiln_core::{Fault, Report};
use kiln_study::Trouble;

use crate::ending::{Ending, Ends};

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// The input is wrong, in one or more ways.
    Input(Vec<Report>),
    /// The environment failed.
    Fault(Fault),
    /// The system refused something; a closed pipe is one of these.
    Io(io::Error),
}

impl Failure {
    /// The same for machines: what `--json` prints under `errors`.
    pub fn reports(&self) -> Vec<Report> {
        match self {
            Failure::Input(reports) => reports.clone(),
            Failure::Fault(Fault { what, why, hint }) => {
                vec![Report::error(format!("{what}: {why}")).maybe_hint(hint.clone())]
            }
            Failure::Io(error) => vec![Report::error(error.to_string())],
        }
    }
}

impl Ends for Failure {
    fn ending(&self) -> Ending {
        match self {
            Failure::Input(_) => Ending::BadInput,
            Failure::Fault(_) | Failure::Io(_) => Ending::Failed,
        }
    }

    fn reason(&self) -> Option<String> {
        let reasons: Vec<String> = self.reports().into_iter().map(|report| report.message).collect();
        Some(reasons.join("; "))
    }
}

/// For people: every mistake as it is shown, or the fault behind `error:`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(reports) => {
                let shown: Vec<String> = reports.iter().map(Report::to_string).collect();
                f.write_str(&shown.join("\n\n"))
            }
            Failure::Fault(fault) => write!(f, "error: {fault}"),
            Failure::Io(error) => write!(f, "error: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Report> for Failure {
    fn from(report: Report) -> Failure {
        Failure::Input(vec![report])
    }
}

impl From<Vec<Report>> for Failure {
    fn from(reports: Vec<Report>) -> Failure {
        Failure::Input(reports)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Fault(fault)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        match trouble {
            Trouble::File(report) => report.into(),
            Trouble::Fault(fault) => fault.into(),
        }
    }
}
