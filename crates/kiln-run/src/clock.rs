//! The parent's clock against the worker's. A worker shares its process with the candidate, so its figures are claims; the
//! parent knows how long it waited. In: what was asked, what was claimed, the wait. Out: nothing, or why the claim is not
//! believed.

use std::time::Duration;

use crate::protocol::{Copy, Timing};

/// What a question and its answer may cost beside the work, however busy the machine is.
const SLACK: Duration = Duration::from_millis(20);
/// What a sample may cost beside its calls: reading clocks, a loop in Python, a number in the answer.
const PER_SAMPLE: Duration = Duration::from_micros(2);
/// Memory is put back and caches are cooled at least this fast, so more time than that is not owed to it.
const SLOWEST_BYTES_PER_SECOND: u64 = 200 << 20;

/// A worker with a device has more to do beside: it records a graph and replays it once, and finds memory to cool caches.
const DEVICE: Duration = Duration::from_millis(50);
/// For every sample such a worker cools caches the device's way, holds the device until all is enqueued, and waits for it
/// twice and for two events.
const DEVICE_PER_SAMPLE: Duration = Duration::from_micros(400);

/// The part of a [`crate::Ask::Time`] that bounds the answer.
pub(crate) struct Asked {
    samples: u32,
    calls: u32,
    /// Bytes moved outside the samples.
    moved: u64,
}

/// Why a claim is not believed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// No honest worker can say this.
    Impossible(String),
    /// More of the wait is unaccounted for than a worker has reason for; a machine that stalled may be the cause.
    Unexplained(String),
}

impl Asked {
    pub(crate) fn new(samples: u32, calls: u32, restore: &[Copy], flush: u64) -> Asked {
        let restored = restore.iter().map(|c| c.bytes as u64).fold(0, u64::saturating_add);
        // The memory that is walked is first made, which counts as one more walk.
        let walks = u64::from(samples).saturating_add(1);
        Asked { samples, calls, moved: restored.saturating_add(flush).saturating_mul(walks) }
    }

    /// Holds a claim against the time the parent waited for it.
    pub(crate) fn doubt(&self, timing: &Timing, waited: Duration) -> Option<Doubt> {
        let (samples, calls) = (timing.nanoseconds.len(), timing.calls);
        if samples != self.samples as usize || calls != self.calls {
            let (asked, of) = (self.samples, self.calls);
            return Some(Doubt::Impossible(format!("{samples} samples of {calls} calls, not {asked} of {of}")));
        }
        let timed = Duration::from_nanos(timing.nanoseconds.iter().fold(0, |sum, n| sum.saturating_add(*n)));
        let says = || format!("the worker says {}, the parent waited {}", shown(timed), shown(waited));
        if timed > waited {
            return Some(Doubt::Impossible(says()));
        }
        // Time spent on memory is a claim too, and bounded by what there was to do.
        let moving = Duration::from_nanos(self.moved.saturating_mul(1000) / (SLOWEST_BYTES_PER_SECOND / 1_000_000));
        // A worker that has a device says how it feels, or that its calls were replayed from a graph.
        let beside = match timing.gpu.is_some() || timing.graph {
            true => DEVICE.saturating_add(DEVICE_PER_SAMPLE.saturating_mul(self.samples)),
            false => Duration::ZERO,
        };
        let untimed = Duration::from_nanos(timing.untimed_nanoseconds).min(moving.saturating_add(beside));
        let unasked = waited.saturating_sub(SLACK).saturating_sub(PER_SAMPLE * self.samples);
        (timed.saturating_add(untimed).saturating_mul(2) < unasked).then(|| Doubt::Unexplained(says()))
    }
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
    use crate::protocol::GpuState;

    fn timing(each: u64, samples: usize, untimed: u64) -> Timing {
        Timing {
            nanoseconds: vec![each; samples],
            calls: 1,
            wall_nanoseconds: 0,
            untimed_nanoseconds: untimed,
            ..Timing::default()
        }
    }

    const MS: u64 = 1_000_000;

    fn waited(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn what_adds_up_is_believed() {
        let asked = Asked::new(10, 1, &[], 0);
        assert_eq!(asked.doubt(&timing(10 * MS, 10, 0), waited(101)), None);
        // A busy machine: half of the wait went elsewhere.
        assert_eq!(asked.doubt(&timing(10 * MS, 10, 0), waited(215)), None);
        // Little work, quickly answered.
        assert_eq!(asked.doubt(&timing(50, 10, 0), waited(15)), None);
        // Very little work, very often: clocks and the answer itself cost more than the calls.
        let often = Asked::new(1_000_000, 1, &[], 0);
        assert_eq!(often.doubt(&timing(30, 1_000_000, 0), waited(900)), None);
        assert_eq!(Asked::new(0, 1, &[], 0).doubt(&timing(0, 0, 0), waited(1)), None);
    }

    #[test]
    fn more_than_the_wait_is_impossible() {
        let doubt = Asked::new(2, 1, &[], 0).doubt(&timing(600 * MS, 2, 0), waited(1000));
        let words = "the worker says 1.20 s, the parent waited 1.00 s";
        assert_eq!(doubt, Some(Doubt::Impossible(words.into())));
        let huge = Asked::new(2, 1, &[], 0).doubt(&timing(u64::MAX, 2, u64::MAX), waited(1000));
        assert!(matches!(huge, Some(Doubt::Impossible(_))));
    }

    #[test]
    fn much_less_than_the_wait_is_unexplained() {
        let doubt = Asked::new(12, 1, &[], 0).doubt(&timing(MS / 10, 12, 0), waited(400));
        let words = "the worker says 1.2 ms, the parent waited 400.0 ms";
        assert_eq!(doubt, Some(Doubt::Unexplained(words.into())));
    }

    #[test]
    fn time_spent_on_memory_counts_as_far_as_there_was_memory_to_move() {
        let flushed = Asked::new(10, 1, &[], 64 << 20);
        assert_eq!(flushed.doubt(&timing(MS, 10, 300 * MS), waited(312)), None);
        let untold = Asked::new(10, 1, &[], 0);
        assert!(untold.doubt(&timing(MS, 10, 300 * MS), waited(312)).is_some());
        let small = Asked::new(10, 1, &[Copy { from: 0, to: 64, bytes: 64 }], 0);
        assert!(small.doubt(&timing(MS, 10, 300 * MS), waited(312)).is_some());
    }

    #[test]
    fn a_device_may_take_time_beside_its_calls_but_not_any_time() {
        let device =
            |each, samples, untimed| Timing { gpu: Some(GpuState::default()), ..timing(each, samples, untimed) };
        let asked = Asked::new(1, 1, &[], 0);
        // A graph was recorded for a kernel of 5 us.
        assert_eq!(asked.doubt(&device(5_000, 1, 45 * MS), waited(60)), None);
        assert!(asked.doubt(&timing(5_000, 1, 45 * MS), waited(60)).is_some());
        assert!(asked.doubt(&device(5_000, 1, 200 * MS), waited(200)).is_some());
        // What is not claimed explains nothing.
        assert!(asked.doubt(&device(5_000, 1, 0), waited(60)).is_some());
        let many = Asked::new(1000, 1, &[], 0);
        assert_eq!(many.doubt(&device(5_000, 1000, 180 * MS), waited(190)), None);
        assert!(many.doubt(&device(5_000, 1000, 2800 * MS), waited(2900)).is_some());
    }

    #[test]
    fn the_numbers_asked_for_are_the_numbers_answered() {
        let asked = Asked::new(3, 1, &[], 0);
        assert!(matches!(asked.doubt(&timing(MS, 2, 0), waited(10)), Some(Doubt::Impossible(_))));
        let more = Asked::new(3, 2, &[], 0);
        assert!(matches!(more.doubt(&timing(MS, 3, 0), waited(10)), Some(Doubt::Impossible(_))));
    }
}
