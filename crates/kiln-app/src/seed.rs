//! The seed of a run: the one asked for, else a new one, since inputs must not be the same every time.

use std::io::Read;

use crate::failure::Failure;

pub(crate) fn seed(asked: Option<u64>) -> Result<u64, Failure> {
    if let Some(seed) = asked {
        return Ok(seed);
    }
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    // Small enough to be typed, and exact in every JSON reader.
    Ok(u64::from_le_bytes(bytes) >> 32)
}
