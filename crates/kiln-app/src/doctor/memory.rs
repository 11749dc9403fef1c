//! Memory that is not in use.

use crate::doctor::Finding;
use kiln_core::size;

const ID: &str = "memory";
const WHY: &str = "a worker that is refused memory is killed, and pages that are swapped out spoil timings";
/// Below this, larger workloads do not fit.
const LITTLE: u64 = 2_000_000_000;
/// Below this, hardly a worker does.
const TOO_LITTLE: u64 = 256_000_000;

/// Asks the system.
pub(crate) fn look() -> Finding {
    let Some(free) = available(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default()) else {
        return Finding::ok(ID, WHY, "the system does not say how much is free");
    };
    let (what, fix) = (format!("{} free", size(free)), "end what uses it, or choose smaller workloads");
    match free {
        free if free < TOO_LITTLE => Finding::fail(ID, WHY, what, fix),
        free if free < LITTLE => Finding::warn(ID, WHY, what, fix),
        _ => Finding::ok(ID, WHY, what),
    }
}

/// Bytes, of the system's own words.
fn available(words: &str) -> Option<u64> {
    let line = words.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_are_read() {
        assert_eq!(available("MemTotal: 10 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemTotal: 10 kB\n"), None);
    }
}
