//! Exit codes, and how errors are shown. The closed list, documented in docs/exit-codes.md.

use std::io;
use std::process::ExitCode;

use kiln_app::{Ending, Failure, Project, lesson};
use kiln_show::{lesson_line, taught};
use serde_json::json;

use crate::output;

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
/// A run is slower than the one it was compared with, or a claim is not so.
const REGRESSED: u8 = 5;
/// Ctrl-C; what was done is saved. The shell's own code for it.
pub(crate) const INTERRUPTED: u8 = 130;

/// Shows what went wrong, on stderr (as one JSON object on stdout where JSON was asked for), and gives the code.
pub(crate) fn code(result: Result<Ending, Failure>, json: bool, project: &Project) -> ExitCode {
    let failure = match result {
        Ok(ending) => return ExitCode::from(of(ending)),
        Err(failure) => failure,
    };
    // The reader of a pipe that has seen enough is no fault.
    if matches!(&failure, Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::from(DONE);
    }
    let lesson = lesson(project, &failure, None);
    let object = json.then(|| taught(json!({ "errors": failure.reports() }), lesson.as_ref()));
    output::failure(object, &failure.to_string());
    lesson.iter().for_each(|lesson| output::complain(lesson_line(lesson).trim_end()));
    ExitCode::from(match failure {
        Failure::Input(_) => BAD_INPUT,
        // A step that was broken off by Ctrl-C may say so in its own words.
        Failure::Fault(_) | Failure::Io(_) if project.is_stopped() => INTERRUPTED,
        Failure::Fault(_) | Failure::Io(_) => FAULT,
    })
}

fn of(ending: Ending) -> u8 {
    match ending {
        Ending::Done => DONE,
        Ending::Refused => REFUSED,
        Ending::NotReached => NOT_REACHED,
        Ending::Regressed | Ending::Refuted => REGRESSED,
        Ending::Unfit | Ending::Failed => FAULT,
        Ending::BadInput => BAD_INPUT,
        Ending::Interrupted => INTERRUPTED,
    }
}

/// The code for a command line that cannot be read.
pub(crate) fn bad_input() -> ExitCode {
    ExitCode::from(BAD_INPUT)
}
