//! Files that kiln exchanges. In: the bytes of a T1 description, a Kernel Tuner cache or a T4 file, gzipped or not. Out: the same
//! [`KernelSpec`] a kernel.toml gives, so that everything else works on it unchanged, or what was recorded in it as a
//! [`Recording`]; and T4 again from such a recording. Measured runs, kiln's own and other benchmarks', become a [`RunFile`]. Ratchets ([`Ratchet`]) and claims ([`Claim`]) are TOML. Refuses JSON of another kind, and says what it found; a file that
//! was cut off while it was written is read as far as it goes.

mod build;
mod cache;
mod cases;
mod claims;
mod gzip;
mod json;
mod object;
mod ratchet;
mod recording;
mod remarks;
mod reports;
mod rows;
mod runs;
mod scan;
mod series;
pub mod source;
mod t1;
mod t4;

use std::borrow::Cow;

use kiln_core::Report;
use kiln_spec::KernelSpec;

pub use cases::{CASES_FILE, KeptCase, KeptState, read_cases, write_cases};
pub use claims::{Claim, ClaimedFigure, read_claims};
pub use ratchet::{RATCHET, Ratchet, RatchetBaseline, RatchetEntry, read_ratchet};
pub use recording::{Invalidity, Recorded, Recording, Row, read_recording};
pub use remarks::{FileRemark, RemarkAbout, read_remarks, remark_keys, write_remarks};
pub use reports::{ReportOutcome, ReportRow, bencher, benchmark_action, junit, sarif};
pub use runs::{Beside, RUN_FILE, RunFile, read_run};
pub use series::{FileSeries, read_series};
pub use t4::{Attempt, Results, write_t4};

/// A larger file is refused: no recorded space comes near it, unpacked.
pub const LARGEST_FILE: u64 = 256 << 20;

/// A spec from another tuner's file.
#[derive(Debug, Clone)]
pub struct Imported {
    /// What the file says, in kiln's terms.
    pub spec: KernelSpec,
    /// How many configurations a cache has recorded; none for a T1 file.
    pub recorded: Option<u64>,
    /// What is odd about it.
    pub warnings: Vec<Report>,
}

/// Reads either format, whichever it is.
pub fn read(name: &str, bytes: &[u8]) -> Result<Imported, Vec<Report>> {
    let bytes = &*plain_bytes(name, bytes)?;
    match kind(bytes) {
        Some(Kind::T1) => t1::read(name, bytes),
        Some(Kind::Cache) => cache::read(name, bytes),
        None => Err(unknown(name, bytes)),
    }
}

/// A file's text, unpacked if it is gzipped.
fn plain_bytes<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, Vec<Report>> {
    match gzip::is_gzip(bytes) {
        true => gzip::unpack(name, bytes).map(Cow::Owned),
        false => Ok(Cow::Borrowed(bytes)),
    }
}

/// The formats that describe a space.
enum Kind {
    T1,
    Cache,
}

/// Which format it is, by the first key that only one of them has; a cache may be long, but has its key near the start.
fn kind(bytes: &[u8]) -> Option<Kind> {
    let quotes = (0..bytes.len()).filter(|i| bytes[*i] == b'"');
    quotes.map(|i| &bytes[i..]).find_map(|rest| {
        if rest.starts_with(b"\"ConfigurationSpace\"") {
            Some(Kind::T1)
        } else if rest.starts_with(b"\"tune_params\"") {
            Some(Kind::Cache)
        } else {
            None
        }
    })
}

/// Neither key is there: either it is no JSON at all, or JSON of another kind.
fn unknown(name: &str, bytes: &[u8]) -> Vec<Report> {
    if let Err(broken) = json::check(name, bytes) {
        return broken;
    }
    let words =
        "this looks like T4, which holds results but not the values a tunable may take; `kiln simulate` reads it";
    let hint = recording::t4::is_t4(bytes).then(|| words.to_string());
    vec![
        Report::error(format!("{name} holds no tuning space"))
            .maybe_hint(hint)
            .label("expected a T1 file (with ConfigurationSpace) or a Kernel Tuner cache (with tune_params)"),
    ]
}
