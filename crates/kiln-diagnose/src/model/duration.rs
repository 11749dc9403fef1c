//! How long a phase will take. In: times of phases that ended. Out: an expected time with an 80 % interval. The logarithm of a time is pooled: a mean for
//! the phase, drawn towards that of all phases where it has few times, and an effect of the kernel in that phase.

use std::collections::BTreeMap;

use kiln_stats::{Pool, PooledValue, Spreads, normal};
use serde::Serialize;

/// A phase that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTime {
    /// The kernel.
    pub kernel: String,
    /// The phase.
    pub phase: String,
    /// How long it took.
    pub seconds: f64,
}

/// How long to expect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Duration {
    /// Seconds: as likely exceeded as not.
    pub seconds: f64,
    /// The lower end of the 80 % interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How many times of this phase it rests on.
    pub times: usize,
}

/// What phases take.
#[derive(Debug, Clone)]
pub struct Durations {
    pool: Pool,
    /// The mean of all logarithms, which the pool is around.
    middle: f64,
    phases: BTreeMap<String, (usize, usize)>,
    kernels: BTreeMap<(String, String), usize>,
}

/// Before any time is known: phases differ by a factor of ten, kernels and repetitions by two.
fn prior() -> Spreads {
    Spreads { mean: 1.0, groupings: vec![2.3, 0.7], noise: 0.7 }
}

impl Durations {
    /// Fits the model. Times of 0 or less say nothing.
    pub fn fit(times: &[PhaseTime]) -> Durations {
        let times: Vec<&PhaseTime> = times.iter().filter(|own| own.seconds > 0.0 && own.seconds.is_finite()).collect();
        let middle = times.iter().map(|own| own.seconds.ln()).sum::<f64>() / times.len().max(1) as f64;
        let mut phases: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let mut kernels: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut values = Vec::new();
        for own in times {
            let next = phases.len();
            let phase = phases.entry(own.phase.clone()).or_insert((next, 0));
            phase.1 += 1;
            let next = kernels.len();
            let kernel = *kernels.entry((own.phase.clone(), own.kernel.clone())).or_insert(next);
            let levels = vec![Some(phase.0), Some(kernel)];
            values.push(PooledValue { value: own.seconds.ln() - middle, variance: 0.0, levels });
        }
        Durations { pool: Pool::fit(&values, &prior(), 2.0), middle, phases, kernels }
    }

    /// How long a phase of a kernel will take; none where no such phase has ended yet.
    pub fn expect(&self, kernel: &str, phase: &str) -> Option<Duration> {
        let (level, times) = *self.phases.get(phase)?;
        let kernel = self.kernels.get(&(phase.to_string(), kernel.to_string())).copied();
        let found = self.pool.expect(&[Some(level), kernel]);
        let wide = normal::quantile(0.9) * found.spread;
        let at = |value: f64| (self.middle + value).exp();
        Some(Duration { seconds: at(found.mean), low: at(found.mean - wide), high: at(found.mean + wide), times })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(kernel: &str, phase: &str, seconds: f64) -> PhaseTime {
        PhaseTime { kernel: kernel.into(), phase: phase.into(), seconds }
    }

    #[test]
    fn a_kernel_with_times_of_its_own_is_expected_by_them() {
        let mut times = Vec::new();
        for (kernel, factor) in [("a", 1.0), ("b", 1.0), ("slow", 4.0)] {
            for repeat in [0.9, 1.0, 1.1, 1.05, 0.95] {
                times.push(time(kernel, "build", 20.0 * factor * repeat));
                times.push(time(kernel, "tune", 600.0 * factor * repeat));
            }
        }
        let model = Durations::fit(&times);
        let of = |kernel: &str, phase: &str| model.expect(kernel, phase).unwrap();
        assert!((18.0..22.0).contains(&of("a", "build").seconds), "{:?}", of("a", "build"));
        assert!((72.0..88.0).contains(&of("slow", "build").seconds), "{:?}", of("slow", "build"));
        // A kernel nobody has seen is somewhere between, and less is known of it.
        let new = of("new", "tune");
        assert!(new.low < 600.0 && new.high > 1200.0 && new.times == 15, "{new:?}");
        assert!(new.high / new.low > of("a", "tune").high / of("a", "tune").low);
        assert_eq!(model.expect("a", "confirm"), None);
    }

    #[test]
    fn no_times_and_odd_ones_say_nothing() {
        assert_eq!(Durations::fit(&[]).expect("a", "build"), None);
        let odd = [time("a", "build", 0.0), time("a", "build", f64::NAN), time("a", "build", 3.0)];
        let found = Durations::fit(&odd).expect("a", "build").unwrap();
        assert!(found.times == 1 && (2.0..4.0).contains(&found.seconds), "{found:?}");
    }
}
