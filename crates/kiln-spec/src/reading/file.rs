//! Bytes to text. In: a file's name and bytes. Out: its text. Refuses a file too large to be a kernel file, and bytes
//! that are not UTF-8, with the offset and line of the first wrong one.

use kiln_core::{Place, Report};

/// The largest kernel file in bytes: a program should refuse a larger one before reading it.
pub const LARGEST_FILE: u64 = 1 << 20;

/// The report about a file of `bytes` bytes, when that is too large.
pub fn too_large(name: &str, bytes: u64) -> Option<Report> {
    if bytes <= LARGEST_FILE {
        return None;
    }
    let megabytes = format!("{:.1}", bytes as f64 / 1e6);
    let megabytes = megabytes.strip_suffix(".0").unwrap_or(&megabytes);
    Some(Report::error(format!("{name} of {megabytes} MB")).label("expected at most 1 MiB"))
}

pub(crate) fn read_text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Vec<Report>> {
    if let Some(report) = too_large(name, bytes.len() as u64) {
        return Err(vec![report]);
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        // The lossy text begins like the file and has one replacement character at the wrong byte.
        let text = String::from_utf8_lossy(bytes);
        let place = Place::of(name, &text, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
        let line = place.line;
        let report = Report::error(format!("{name} is not UTF-8: byte 0x{byte:02X} at offset {at}, line {line}"));
        let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
        let hint = if utf16 { "it looks like UTF-16: save it as UTF-8" } else { "save the file as UTF-8" };
        vec![report.at(place).label("expected UTF-8").hint(hint)]
    })
}
