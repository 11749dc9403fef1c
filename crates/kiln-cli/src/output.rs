//! Data on stdout, everything else on stderr.

use std::io::{self, Write};

use kiln_core::Report;

/// Prints data; a closed pipe is passed on as an error for the exit code to judge.
pub(crate) fn data(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints warnings.
pub(crate) fn warnings(reports: &[Report]) {
    reports.iter().for_each(|r| eprintln!("{r}\n"));
}
