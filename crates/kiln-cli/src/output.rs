//! Data on stdout, everything else on stderr.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use kiln_app::Report;

/// Set once, from the command line.
static VERBOSE: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);

/// How much is said beside results.
pub(crate) fn set_tone(verbose: bool, quiet: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether more is to be shown.
pub(crate) fn verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Whether progress and notes are not wanted.
pub(crate) fn quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints data; a closed pipe is passed on as an error for the exit code to judge.
pub(crate) fn data(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints warnings.
pub(crate) fn warnings(reports: &[Report]) {
    reports.iter().for_each(|r| complain(&format!("{r}\n")));
}

/// Prints a remark.
pub(crate) fn note(words: &str) {
    if !quiet() {
        complain(&format!("note: {words}"));
    }
}

/// Prints what went wrong: for people on stderr, for machines that asked for it on stdout.
pub(crate) fn failure(object: Option<serde_json::Value>, words: &str) {
    if let Some(object) = object {
        let _ = data(&format!("{object}\n"));
    }
    complain(words);
}

/// A line on stderr; where even that fails, there is nobody left to tell.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
