//! JSON errors as reports, and JSON scalars as values.

use kiln_core::{Place, Report, Value};
use serde::de::IgnoredAny;

/// Refuses text that is not JSON.
pub(crate) fn check(name: &str, bytes: &[u8]) -> Result<(), Vec<Report>> {
    serde_json::from_slice::<IgnoredAny>(bytes).map(|_| ()).map_err(|e| vec![report(name, bytes, &e)])
}

/// Whether reading stopped because the text does: a number cut in two is called a wrong one, at the very end.
pub(crate) fn is_cut_off(bytes: &[u8], error: &serde_json::Error) -> bool {
    error.is_eof() || (error.is_syntax() && line_start(bytes, error) + error.column() >= bytes.trim_ascii_end().len())
}

/// Where the line begins in which reading stopped.
fn line_start(bytes: &[u8], error: &serde_json::Error) -> usize {
    match error.line() {
        0 | 1 => 0,
        line => bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(line - 2).map_or(0, |(at, _)| at + 1),
    }
}

/// Where and why reading stopped.
pub(crate) fn report(name: &str, bytes: &[u8], error: &serde_json::Error) -> Report {
    let words = error.to_string();
    // serde_json puts the position at the end of its words; the report shows it in its own way.
    let message = words.split(" at line ").next().unwrap_or(&words);
    let start = line_start(bytes, error);
    // Only the surroundings are looked at: the file may be one line of many megabytes.
    let column = error.column().saturating_sub(1);
    let from = start.max((start + column).saturating_sub(SURROUNDINGS));
    let to = (start + column + SURROUNDINGS).min(bytes.len());
    let text = String::from_utf8_lossy(&bytes[from.min(to)..to]).into_owned();
    let at = start + column - from.min(start + column);
    let mut place = Place::of(name, &text, at..at + 1);
    (place.line, place.column) = (error.line().max(1), column + 1);
    Report::error(format!("{name}: {message}")).at(place).label("reading stopped here")
}

/// The text with `null` for every bare NaN and Infinity, which Python writes and JSON does not know; none if there are none.
pub(crate) fn without_nan(bytes: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
    let (mut mended, mut copied, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            // A quote inside a string stands behind a backslash.
            b'"' => {
                at += 1;
                while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'N' | b'-' | b'I' => match WORDS.iter().find(|word| bytes[at..].starts_with(word)) {
                Some(word) => {
                    mended.extend_from_slice(&bytes[copied..at]);
                    mended.extend_from_slice(b"null");
                    at += word.len();
                    copied = at;
                }
                None => at += 1,
            },
            _ => at += 1,
        }
    }
    if copied == 0 {
        return None;
    }
    mended.extend_from_slice(&bytes[copied..]);
    Some(mended)
}

/// Bytes shown around the place where reading stopped.
const SURROUNDINGS: usize = 60;

/// A JSON scalar; none for null, lists and objects, and for integers beyond 64 bits.
pub(crate) fn scalar(json: &serde_json::Value) -> Option<Value> {
    match json {
        serde_json::Value::Bool(v) => Some(Value::Bool(*v)),
        serde_json::Value::String(v) => Some(Value::Str(v.as_str().into())),
        serde_json::Value::Number(v) if v.is_f64() => v.as_f64().map(Value::Float),
        serde_json::Value::Number(v) => v.as_i64().map(Value::Int),
        _ => None,
    }
}
