//! The measuring loop of the CPU worker: batches of calls, with what comes before each off the clock.

use std::time::Instant;

use crate::processes::preemption::{Waits, preempted, process, siblings};
use crate::protocol::Timing;

/// How often, and how many calls each.
pub(crate) struct Plan {
    pub(crate) batches: u32,
    pub(crate) calls: u32,
}

/// Times `batch`, with `prepare` before each, which is told its number.
pub(crate) fn measure(plan: &Plan, waits: &Waits, mut prepare: impl FnMut(usize), mut batch: impl FnMut()) -> Timing {
    let mut nanoseconds = Vec::with_capacity(plan.batches.min(1 << 20) as usize);
    let mut preemptions = Vec::with_capacity(nanoseconds.capacity());
    let mut untimed_nanoseconds = 0;
    let mut first = None;
    let mut last = Instant::now();
    for number in 0..plan.batches {
        let preparing = Instant::now();
        prepare(number as usize);
        let (before, waited, others, running) = (preempted(), waits.nanoseconds(), siblings(), process());
        let start = Instant::now();
        batch();
        last = Instant::now();
        let wall = last.duration_since(start).as_nanos() as u64;
        let times = before.zip(preempted()).map_or(0, |(before, after)| after.saturating_sub(before));
        // All is read in any case: who is interrupted more often than an empty function must not look as if it did something
        // after the clock.
        let (running, others) = (process().saturating_sub(running), siblings().saturating_sub(others));
        let waited = waits.nanoseconds().saturating_sub(waited).saturating_sub(others);
        nanoseconds.push(if times == 0 { wall } else { own_time(wall, waited, running) });
        preemptions.push(times);
        untimed_nanoseconds += start.duration_since(preparing).as_nanos() as u64;
        first.get_or_insert(start);
    }
    let wall_nanoseconds = first.map_or(0, |first| last.duration_since(first).as_nanos() as u64);
    Timing { nanoseconds, calls: plan.calls, wall_nanoseconds, untimed_nanoseconds, preemptions, ..Timing::default() }
}

/// What is the function's of some time: not what it waited for a processor that somebody else had, but all in which it ran.
/// Both figures were taken around the time and may be a little too large.
fn own_time(wall: u64, waited: u64, running: u64) -> u64 {
    wall.saturating_sub(waited).max(running.min(wall))
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn waiting_for_a_processor_is_left_out_and_running_is_not() {
        assert_eq!(own_time(1000, 600, 380), 400);
        // A function that sleeps: it neither runs nor waits for a processor.
        assert_eq!(own_time(1000, 0, 50), 1000);
        // Somebody else came in between just before the clock was started.
        assert_eq!(own_time(1000, 4_000_000, 990), 990);
        assert_eq!(own_time(1000, 4_000_000, 5000), 1000);
    }

    #[test]
    fn preparing_is_off_the_clock_and_told() {
        let mut prepared = 0;
        let mut called = 0;
        let pause = Duration::from_millis(2);
        let plan = Plan { batches: 3, calls: 4 };
        let timing = measure(
            &plan,
            &Waits::open(),
            |number| {
                assert_eq!(number, prepared);
                prepared += 1;
                sleep(pause);
            },
            || called += 1,
        );
        assert_eq!((prepared, called, timing.nanoseconds.len(), timing.calls), (3, 3, 3, 4));
        assert!(timing.untimed_nanoseconds >= 3 * pause.as_nanos() as u64);
        // The first preparation lies before the first batch's start.
        assert!(timing.wall_nanoseconds >= 2 * pause.as_nanos() as u64);
        assert!(timing.nanoseconds.iter().sum::<u64>() < timing.wall_nanoseconds);
    }
}
