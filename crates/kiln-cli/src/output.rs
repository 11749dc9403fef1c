//! Data on stdout, everything else on stderr; each in colour where it is for people and colour is wanted.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use kiln_app::{Ending, Report};
use kiln_show::{Colour, painted, visible, visible_json};

/// Set once, from the command line.
static VERBOSE: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);
static JSON_OUT: AtomicBool = AtomicBool::new(false);
static PAINT_OUT: AtomicBool = AtomicBool::new(false);
static PAINT_ERR: AtomicBool = AtomicBool::new(false);

/// How much is said beside results.
pub(crate) fn set_tone(verbose: bool, quiet: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether there is colour; what is for machines never has any on stdout.
pub(crate) fn set_colour(colour: Colour, for_people: bool) {
    let variable = |name: &str| std::env::var(name).ok();
    PAINT_OUT.store(for_people && colour.wanted(io::stdout().is_terminal(), variable), Ordering::Relaxed);
    PAINT_ERR.store(colour.wanted(io::stderr().is_terminal(), variable), Ordering::Relaxed);
}

/// Whether what goes to stdout is JSON.
pub(crate) fn set_json(json: bool) {
    JSON_OUT.store(json, Ordering::Relaxed);
}

/// The text as a stream takes it: nothing in it but kiln's own colours controls a terminal.
fn dressed(text: &str, paint: &AtomicBool) -> String {
    let text = visible(text);
    if paint.load(Ordering::Relaxed) { painted(&text) } else { text.into_owned() }
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
    let text = match JSON_OUT.load(Ordering::Relaxed) {
        true => visible_json(text).into_owned(),
        false => dressed(text, &PAINT_OUT),
    };
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The ending of something whose result could not be written where it was wanted: what it found counts first.
pub(crate) fn unwritten(ending: Ending) -> Ending {
    if ending == Ending::Done { Ending::Failed } else { ending }
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

/// Prints a result on stderr, where stdout belongs to something else.
pub(crate) fn beside(text: &str) -> io::Result<()> {
    io::stderr().lock().write_all(dressed(text, &PAINT_ERR).as_bytes())
}

/// A line on stderr; where even that fails, there is nobody left to tell.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", dressed(line, &PAINT_ERR));
}
