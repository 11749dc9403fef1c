//! Whether an answer about times is one. A worker shares its process with the candidate, so its figures are claims; what
//! they are worth is found elsewhere, from what the system accounts. Here: as many as were asked for, and not more time than
//! the parent waited. In: what was asked, what was claimed, the wait. Out: nothing, or why it cannot be.

use std::time::Duration;

use crate::protocol::Timing;

/// Why no honest worker can have said this.
pub(crate) fn impossible(asked: (u32, u32), timing: &Timing, waited: Duration) -> Option<String> {
    let (batches, calls) = (timing.nanoseconds.len(), timing.calls);
    if (batches, calls) != (asked.0 as usize, asked.1) {
        return Some(format!("{batches} batches of {calls} calls, not {} of {}", asked.0, asked.1));
    }
    let timed = Duration::from_nanos(timing.nanoseconds.iter().fold(0, |sum, n| sum.saturating_add(*n)));
    (timed > waited).then(|| format!("the worker says {}, the parent waited {}", shown(timed), shown(waited)))
}

fn shown(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn timing(each: u64, batches: usize) -> Timing {
        Timing { nanoseconds: vec![each; batches], calls: 1, ..Timing::default() }
    }

    fn waited(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_wait_may_be_longer_than_what_is_claimed_by_any_amount() {
        assert_eq!(impossible((10, 1), &timing(10 * MS, 10), waited(101)), None);
        assert_eq!(impossible((10, 1), &timing(50, 10), waited(60_000)), None);
        assert_eq!(impossible((0, 1), &timing(0, 0), waited(1)), None);
    }

    #[test]
    fn more_than_the_wait_is_impossible() {
        let words = "the worker says 1.20 s, the parent waited 1.00 s";
        assert_eq!(impossible((2, 1), &timing(600 * MS, 2), waited(1000)).as_deref(), Some(words));
        assert!(impossible((2, 1), &timing(u64::MAX, 2), waited(1000)).is_some());
    }

    #[test]
    fn the_numbers_asked_for_are_the_numbers_answered() {
        assert!(impossible((3, 1), &timing(MS, 2), waited(10)).is_some());
        assert!(impossible((3, 2), &timing(MS, 3), waited(10)).is_some());
    }
}
