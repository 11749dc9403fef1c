//! What a GPU's clocks were while each side of a comparison was timed. In: how the device felt just after samples. Out:
//! remarks, where one side had faster clocks than another or the card was at its power limit. A comparison under different
//! clocks is one of power as much as of code, and whoever reads it must know.

use std::time::{Duration, Instant};

use kiln_core::DeviceState;
use kiln_run::{GpuState, Sensor};
use kiln_stats::median;

/// Asking a GPU how it feels takes milliseconds, so each side is looked at this often at most.
const PAUSE: Duration = Duration::from_millis(25);

/// Medians further apart than this are different clocks.
const SAME: f64 = 0.02;

/// What one side saw.
#[derive(Debug, Clone, Default)]
struct Clocks {
    megahertz: Vec<f64>,
    capped: usize,
    looks: usize,
}

impl Clocks {
    fn see(&mut self, state: &GpuState) {
        self.looks += 1;
        self.capped += usize::from(state.throttled.iter().any(|reason| reason == "sw_power_cap"));
        self.megahertz.extend(state.sm_mhz.map(f64::from));
    }
}

/// Looks at a GPU while sides take turns on it.
pub(crate) struct Watch {
    sensor: Sensor,
    sides: Vec<(Clocks, Option<Instant>)>,
    /// The workload and the round that are on.
    now: (usize, usize),
    /// What was seen, by workload and side.
    seen: Vec<(usize, usize, DeviceState)>,
}

impl Watch {
    /// None where the GPU does not tell.
    pub(crate) fn of(uuid: &str, sides: usize) -> Option<Watch> {
        let (sides, now) = (vec![Default::default(); sides], (0, 0));
        Some(Watch { sensor: Sensor::of(uuid)?, sides, now, seen: Vec::new() })
    }

    /// Goes on to a round on a workload.
    pub(crate) fn go_on(&mut self, workload: usize, round: usize) {
        self.now = (workload, round);
    }

    /// To be called right after a sample of the side at `place`.
    pub(crate) fn look(&mut self, place: usize) {
        let Some((clocks, last)) = self.sides.get_mut(place) else { return };
        if last.is_none_or(|last| last.elapsed() > PAUSE) {
            let state = self.sensor.state();
            clocks.see(&state);
            let (workload, round) = self.now;
            let GpuState { sm_mhz, memory_mhz, power: power_w, temperature: temperature_c, throttled, .. } = state;
            self.seen.push((
                workload,
                place,
                DeviceState { round, sm_mhz, memory_mhz, power_w, temperature_c, throttled },
            ));
            *last = Some(Instant::now());
        }
    }

    /// How the GPU was doing on a workload, by side.
    pub(crate) fn states(&self, workload: usize) -> Vec<Vec<DeviceState>> {
        let of = |side: usize| {
            self.seen.iter().filter(move |seen| (seen.0, seen.1) == (workload, side)).map(|s| s.2.clone())
        };
        (0..self.sides.len()).map(|side| of(side).collect()).collect()
    }

    /// What must be said about the sides of these names.
    pub(crate) fn remarks<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        let sides: Vec<(&str, &Clocks)> = names.zip(self.sides.iter().map(|(clocks, _)| clocks)).collect();
        remarks(&sides)
    }
}

/// What must be said about the sides of a comparison.
fn remarks(sides: &[(&str, &Clocks)]) -> Vec<String> {
    let mut remarks = Vec::new();
    let capped: usize = sides.iter().map(|(_, clocks)| clocks.capped).sum();
    let looks: usize = sides.iter().map(|(_, clocks)| clocks.looks).sum();
    if capped > 0 {
        remarks.push(format!("the GPU was at its power limit at {capped} of {looks} looks"));
    }
    let medians: Vec<(&str, f64)> =
        sides.iter().filter_map(|(name, clocks)| Some((*name, median(&clocks.megahertz).ok()?))).collect();
    let slowest = medians.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let fastest = medians.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    if let (Some((slow, low)), Some((fast, high))) = (slowest, fastest)
        && high > low * (1.0 + SAME)
    {
        remarks.push(format!("the sides did not see the same clocks: {slow} {low:.0} MHz, {fast} {high:.0} MHz"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(megahertz: &[u32], capped: bool) -> Clocks {
        let mut clocks = Clocks::default();
        for mhz in megahertz {
            let throttled = if capped { vec!["sw_power_cap".to_string()] } else { Vec::new() };
            clocks.see(&GpuState { sm_mhz: Some(*mhz), throttled, ..GpuState::default() });
        }
        clocks
    }

    #[test]
    fn equal_clocks_are_nothing_to_speak_of() {
        let (a, b) = (seen(&[1980, 1980, 1965], false), seen(&[1980, 1950, 1980], false));
        assert!(remarks(&[("candidate", &a), ("baseline", &b)]).is_empty());
        assert!(remarks(&[("candidate", &Clocks::default()), ("baseline", &a)]).is_empty());
    }

    #[test]
    fn different_clocks_and_a_cap_are_told() {
        let (a, b) = (seen(&[1980, 1980], false), seen(&[1500, 1510, 1490], true));
        let said = remarks(&[("candidate", &a), ("baseline", &b)]);
        assert_eq!(said[0], "the GPU was at its power limit at 3 of 5 looks");
        assert_eq!(said[1], "the sides did not see the same clocks: baseline 1500 MHz, candidate 1980 MHz");
    }
}
