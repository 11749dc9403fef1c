//! Other tuners' files. In: the bytes of a T1 description or of a Kernel Tuner cache, gzipped or not. Out: the same
//! [`KernelSpec`] a kernel.toml gives, so that everything else works on it unchanged. Refuses JSON that is neither, and
//! says what it found; a cache that was cut off while it was written is read as far as it goes.

mod build;
mod cache;
mod gzip;
mod json;
mod t1;

use kiln_core::Report;
use kiln_spec::KernelSpec;

/// A larger file is refused unread: no recorded space comes near it.
pub const LARGEST_FILE: u64 = 1 << 30;

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
    let unpacked;
    let bytes = if gzip::is_gzip(bytes) {
        unpacked = gzip::unpack(name, bytes)?;
        &unpacked[..]
    } else {
        bytes
    };
    let holds = |word: &str| memchr::memmem::find(bytes, word.as_bytes()).is_some();
    if holds("\"ConfigurationSpace\"") {
        t1::read(name, bytes)
    } else if holds("\"tune_params\"") {
        cache::read(name, bytes)
    } else {
        // Neither key is there: either it is no JSON at all, or JSON of another kind.
        json::check(name, bytes)?;
        Err(vec![
            Report::error(format!("{name} holds no tuning space"))
                .label("expected a T1 file (with ConfigurationSpace) or a Kernel Tuner cache (with tune_params)"),
        ])
    }
}
