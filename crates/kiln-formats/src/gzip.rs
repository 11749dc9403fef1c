//! Gzipped files, by their first bytes. Refuses what unpacks beyond [`LARGEST_FILE`](crate::LARGEST_FILE).

use std::io::Read;

use flate2::read::MultiGzDecoder;
use kiln_core::Report;

use crate::LARGEST_FILE;

pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

// Not inlined: the decoder's tables would make the stack frame of every caller 40 KB large.
#[inline(never)]
pub(crate) fn unpack(name: &str, bytes: &[u8]) -> Result<Vec<u8>, Vec<Report>> {
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(LARGEST_FILE + 1)
        .read_to_end(&mut unpacked)
        .map_err(|e| vec![Report::error(format!("{name} cannot be unpacked: {e}"))])?;
    if unpacked.len() as u64 > LARGEST_FILE {
        return Err(vec![Report::error(format!("{name} unpacks to more than {} MiB", LARGEST_FILE >> 20))]);
    }
    Ok(unpacked)
}
