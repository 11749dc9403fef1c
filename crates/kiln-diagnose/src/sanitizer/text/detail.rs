//! The lines below a record's first. In: the record and one such line. Out: the record with what the line adds.

use super::{head, number_after};
use crate::sanitizer::place::hex;
use crate::sanitizer::{Access, Nearest, Party, Place, Record, Side, What};

/// Adds a line to the record; false if it is none of its lines.
pub(super) fn take(record: &mut Record, body: &str) -> bool {
    if let Some(rest) = body.strip_prefix("Device Frame:") {
        record.frames.push(frame(rest));
    } else if let Some(rest) = body.strip_prefix("Host Frame:") {
        host(record, rest);
    } else if let Some(rest) = body.strip_prefix("at ") {
        record.place.get_or_insert_with(|| Place::read(rest));
    } else if let Some(rest) = body.strip_prefix("by thread ") {
        record.thread = index(rest);
        record.block = rest.find("in block ").and_then(|at| index(&rest[at + 9..]));
    } else if let Some(rest) = body.strip_prefix("and is ") {
        near(record, rest);
    } else if body.starts_with("Access ") || body.starts_with("Address ") {
        address(record, body);
    } else if let Some(rest) = body.strip_prefix("and ")
        && let What::Race { parties } = &mut record.what
        && let Some(party) = head::party(rest)
    {
        parties.push(party);
    } else if let What::Hazard(hazard) = &mut record.what
        && let Some(party) = thread_party(body)
    {
        hazard.async_copy |= body.contains("memcpy_async");
        hazard.parties.push(party);
    } else if let What::UninitialisedCopy { api, .. } = &mut record.what
        && let Some((_, rest)) = body.split_once("on access by ")
    {
        *api = rest.split_whitespace().next().unwrap_or_default().trim_end_matches('.').into();
    } else {
        return is_frame(body);
    }
    true
}

/// Lines of backtraces and the like, which add nothing.
pub(super) fn is_frame(body: &str) -> bool {
    ["Saved host backtrace", "Current Value", "Barrier is located", "in /", "Sync mask"]
        .iter()
        .any(|s| body.starts_with(s))
}

/// `(32,0,0) in block (4,0,0)`: the first triple.
pub(super) fn index(text: &str) -> Option<[u32; 3]> {
    let inside = text.trim_start().strip_prefix('(')?.split(')').next()?;
    let mut parts = inside.split(',').map(|part| part.trim().parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

/// A frame on the device: `load_tile(const __half *)+0x150 in b01.cu:37`; before 2023, `/src/b01.cu:37:load_tile [0x150]`.
fn frame(text: &str) -> Place {
    let text = text.trim();
    match text.rsplit_once('[') {
        Some((place, offset)) if offset.starts_with("0x") => {
            let offset = offset.trim_end().trim_end_matches(']');
            Place::read(&format!("{offset} in {}", place.trim()))
        }
        _ => Place::read(text),
    }
}

/// `main [0x9083] in b01_tileload_planted`.
fn host(record: &mut Record, text: &str) {
    let name = text.split(" [0x").next().unwrap_or_default().trim();
    if !name.is_empty() && !name.starts_with('[') {
        record.host.push(name.into());
    }
}

fn accessed(record: &mut Record) -> Option<&mut Access> {
    match &mut record.what {
        What::Access(access) | What::Uninitialised(access) => Some(access),
        _ => None,
    }
}

/// `Access to 0x608 is misaligned`, `Address 0x7ff2a4863c80`, `Address 0x1000400 is located in a block that ...`.
fn address(record: &mut Record, body: &str) {
    let Some(access) = accessed(record) else { return };
    access.address = body.split_whitespace().find_map(hex).or(access.address);
    if body.contains(" is ") {
        access.problem = head::problem(body);
    }
}

/// `1,409 bytes after the nearest allocation at 0x7ff87b000000 of size 4,224,000 bytes`.
fn near(record: &mut Record, text: &str) {
    let Some(access) = accessed(record) else { return };
    let distance = number_after(text, "").unwrap_or(0);
    let side = match text {
        _ if text.contains("bytes after") || text.contains("byte after") => Side::After(distance),
        _ if text.contains("bytes before") || text.contains("byte before") => Side::Before(distance),
        _ if text.starts_with("inside") => Side::Inside,
        _ => return,
    };
    let base = text.split_once("allocation at ").and_then(|(_, rest)| hex(rest.split_whitespace().next()?));
    if let (Some(base), Some(size)) = (base, number_after(text, "of size ")) {
        access.nearest = Some(Nearest { side, base, size });
    }
}

/// `Write Thread (95,0,0) at reverse(float *)+0x100 in b09.cu:26`.
fn thread_party(body: &str) -> Option<Party> {
    let (word, rest) = body.split_once(' ')?;
    let direction = head::direction(word)?;
    let rest = rest.strip_prefix("Thread ")?;
    let place = rest.split_once(" at ").map(|(_, place)| Place::read(place));
    Some(Party { direction, place, thread: index(rest), hazards: 0 })
}
