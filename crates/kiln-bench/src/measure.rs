//! Timing a subject that is loaded, mapped and known to be right. In: a seat. Out: a pace (how many calls make a sample) and
//! samples.

use kiln_core::{Fault, Outcome};

use crate::seat::Seat;

/// A sample takes at least this long, thousands of times the clock's resolution.
const SAMPLE_SECONDS: f64 = 400e-6;
/// Warm-up ends after this long, stable or not.
const WARM_UP_SECONDS: f64 = 0.15;
/// Warm-up samples that must agree before it ends earlier.
const STABLE: usize = 3;
/// What agreeing means.
const AGREE: f64 = 0.05;
/// Calls shorter than this are made once untimed before a sample when somebody else ran in between.
const PRIMED_BELOW: f64 = 5e-3;

/// Calls of a sample on a device are one graph, and making it takes time too.
const MOST_IN_A_GRAPH: u32 = 500;

/// How a subject is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    /// Calls in a sample.
    pub(crate) calls: u32,
    /// Seconds of one call, roughly.
    pub(crate) estimate: f64,
}

/// Calls until times are stable.
pub(crate) fn warm_up(seat: &mut Seat) -> Result<Outcome<Pace>, Fault> {
    let mut times: Vec<f64> = Vec::new();
    let mut calls = 1;
    let mut spent = 0.0;
    loop {
        // On a device samples are short and questions are not.
        let samples = if seat.on_device() { STABLE as u32 } else { 1 };
        let taken = passed!(seat.time(samples, calls)?);
        spent += taken.iter().sum::<f64>() * f64::from(calls);
        times.extend(taken);
        let recent = &times[times.len().saturating_sub(STABLE)..];
        let low = recent.iter().copied().fold(f64::INFINITY, f64::min);
        let high = recent.iter().copied().fold(0.0, f64::max);
        calls = match (seat.single(), seat.on_device()) {
            (true, _) => 1,
            (false, true) => calls_for(low).min(MOST_IN_A_GRAPH),
            (false, false) => calls_for(low),
        };
        let stable = recent.len() == STABLE && high <= low * (1.0 + AGREE);
        if stable || spent > WARM_UP_SECONDS {
            return Ok(Outcome::Passed(Pace { calls, estimate: low }));
        }
    }
}

/// Calls that make a sample long enough.
fn calls_for(seconds: f64) -> u32 {
    (SAMPLE_SECONDS / seconds.max(1e-9)).ceil().clamp(1.0, 1e6) as u32
}

/// One sample of a subject that takes turns with others.
pub(crate) fn turn(seat: &mut Seat, pace: Pace) -> Result<Outcome<f64>, Fault> {
    if pace.estimate < PRIMED_BELOW
        && !seat.single()
        && let Outcome::Refused(refusal) = seat.call()?
    {
        return Ok(Outcome::Refused(refusal));
    }
    seat.sample(pace.calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_calls_are_batched_and_long_ones_are_not() {
        assert!((400..=401).contains(&calls_for(1e-6)));
        assert_eq!(calls_for(1e-3), 1);
        assert!((400_000..=400_001).contains(&calls_for(0.0)));
    }
}
