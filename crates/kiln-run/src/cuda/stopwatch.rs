//! The measuring loop of the CUDA worker: samples of calls between two events, with memory filled anew and caches cooled in
//! between, off the clock. In: what to prepare and what to time. Out: the times, by the device's clock.

use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUevent};

use super::context::Context;
use super::driver::{Trouble, check};
use crate::protocol::Timing;
use crate::serving::stopwatch::Plan;

/// What waiting for an idle device takes at most. Beyond it the device was still busy.
const IDLE_WAIT: Duration = Duration::from_micros(20);

/// Times `work`, with `prepare` before every sample, which it is told the number of. `began` is when the question came; `held` says that `work` only
/// enqueues and waits for nothing, so that the device may be made to wait until all of it is there.
pub(super) fn measure(
    context: &Context,
    plan: &Plan,
    began: Instant,
    held: bool,
    mut prepare: impl FnMut(u32) -> Result<(), Trouble>,
    mut work: impl FnMut() -> Result<(), Trouble>,
) -> Result<Timing, Trouble> {
    let mut nanoseconds = Vec::with_capacity(plan.batches.min(1 << 20) as usize);
    let mut first = None;
    let mut last = Instant::now();
    for batch in 0..plan.batches {
        // Nothing of an earlier call may run into this sample. What prepares it need not be waited for where calls are
        // replayed: the first event comes after it in the stream, and while it runs the calls are put behind that event.
        // Other calls may work on a stream of their own, which would run beside it and before that event.
        context.synchronise()?;
        prepare(batch)?;
        if !held {
            context.synchronise()?;
        }
        first.get_or_insert_with(Instant::now);
        let hold = context.hold.as_ref().filter(|_| held);
        if let Some(hold) = hold {
            hold.begin(context.stream)?;
        }
        let enqueued =
            record(context, context.start).and_then(|()| work()).and_then(|()| record(context, context.stop));
        // Whatever went wrong, the device must not wait for ever.
        if let Some(hold) = hold {
            hold.release();
        }
        enqueued?;
        // SAFETY: the event is ours and recorded.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(context.stop) })?;
        let stopped = Instant::now();
        context.synchronise()?;
        last = Instant::now();
        nanoseconds.push(sample(elapsed(context)?, last.duration_since(stopped)));
    }
    let wall = first.map_or(Duration::ZERO, |first| last.duration_since(first));
    let timed = nanoseconds.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
    Ok(Timing {
        nanoseconds,
        calls: plan.calls,
        wall_nanoseconds: wall.as_nanos() as u64,
        untimed_nanoseconds: (last.duration_since(began).as_nanos() as u64).saturating_sub(timed),
        ..Timing::default()
    })
}

/// A sample's time: between its events, and on until all is over where work outside the stream went on after the second.
fn sample(events: f64, rest: Duration) -> u64 {
    let late = if rest > IDLE_WAIT { rest.as_nanos() as u64 } else { 0 };
    (events.max(0.0) * 1e6).round() as u64 + late
}

fn record(context: &Context, event: CUevent) -> Result<(), Trouble> {
    // SAFETY: event and stream are ours.
    check("cuEventRecord", unsafe { sys::cuEventRecord(event, context.stream) })
}

/// Milliseconds between the events.
fn elapsed(context: &Context) -> Result<f64, Trouble> {
    let mut milliseconds = 0.0_f32;
    // SAFETY: both events are ours, recorded and over; one number is filled in.
    let code = unsafe { sys::cuEventElapsedTime_v2(&mut milliseconds, context.start, context.stop) };
    check("cuEventElapsedTime", code)?;
    Ok(f64::from(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_outlasts_the_second_event_counts() {
        let us = Duration::from_micros;
        assert_eq!(sample(0.125, us(3)), 125_000);
        // A kernel of 400 us on a stream nobody waits for.
        assert_eq!(sample(0.005, us(400)), 405_000);
        assert_eq!(sample(-1.0, us(0)), 0);
    }
}
