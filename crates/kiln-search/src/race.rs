//! Early stopping of hopeless candidates. In: the time to beat and a candidate's first samples. Out: go on measuring, or
//! give up. Refuses nothing: samples that are no finite times above 0 are passed over, and without evidence, or without a
//! bound that is such a time, it goes on.
//!
//! What is promised. Call a candidate *worthy* when its median time is at most the bound times `1 + margin`. If samples
//! are independent, a worthy candidate is called hopeless with a probability of at most `error`, no matter how many samples
//! are taken and how often the question is asked on the way. Two things are assumed of a candidate's samples, nothing of the
//! shape of their distribution: half of them lie at or below their median (the definition), and at most the share `rarity`
//! of them take more than `gross` times their median. A bound from samples adds its own chance of being too low, 2.5 %.
//!
//! How. Evidence is the fortune of a gambler who bets against worthiness at fair or worse odds, starting with 1. If the
//! candidate is worthy, the fortune is not expected to grow, and by Ville's inequality it ever reaches `1 / error` with
//! a probability of at most `error`. The fortune is split over three bets: that every sample is above the bound (pays
//! 2 to 1, lost at the first miss: 8 samples suffice), that most are (slower, but survives misses), and that every sample
//! is grossly above (pays `1 / rarity` to 1: two samples suffice for a candidate twice too slow).
//!
//! When it errs. Samples taken while something else disturbed the machine are not independent; interleave them with the
//! incumbent's, or measure a candidate again in another batch, before it counts as refused for good.

/// Shares of the fortune put on the three bets; they sum to 1.
const ALL_ABOVE: f64 = 0.5;
const MOST_ABOVE: f64 = 0.125;
const ALL_GROSS: f64 = 0.375;

/// The chance that a bound from samples lies below the median it stands for.
const BOUND_ERROR: f64 = 0.025;

/// What to do with a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may still be worth its time.
    Continue,
    /// It is slower than the bound allows.
    Hopeless,
}

/// The time to beat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound(f64);

impl Bound {
    /// The upper end of the incumbent's interval (or its time, where that is known without error).
    pub fn upper(time: f64) -> Bound {
        Bound(time)
    }

    /// An upper limit for the median behind these samples of the incumbent: the smallest of them that is above it with a
    /// confidence of 97.5 %, or the largest where so few cannot tell. None without a sample.
    pub fn samples(samples: &[f64]) -> Option<Bound> {
        let mut sorted: Vec<f64> = samples.iter().copied().filter(|s| is_time(*s)).collect();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len() as f64;
        if sorted.len() > 1000 {
            // Two standard deviations of fair coins above the middle; the sum below would underflow.
            return sorted.get((count / 2.0 + count.sqrt()) as usize).map(|sample| Bound(*sample));
        }
        // The j-th smallest is below the median when at least j samples are: a tail of fair coins.
        let mut tail = 1.0;
        let mut chance = 0.5f64.powf(count);
        for (smaller, sample) in sorted.iter().enumerate() {
            tail -= chance;
            if tail <= BOUND_ERROR {
                return Some(Bound(*sample));
            }
            chance *= (count - smaller as f64) / (smaller as f64 + 1.0);
        }
        sorted.last().map(|largest| Bound(*largest))
    }
}

/// The rule of the race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Race {
    /// How much slower than the bound a candidate may be and still be worthy: 0.05 is 5 %.
    pub margin: f64,
    /// The chance of giving up a worthy candidate, over the whole race.
    pub error: f64,
    /// The multiple of its median that a sample rarely exceeds; above 1, or nothing is concluded from gross excess.
    pub gross: f64,
    /// How rarely; in (0, 1), or nothing is concluded from gross excess.
    pub rarity: f64,
}

impl Default for Race {
    fn default() -> Race {
        Race { margin: 0.05, error: 0.01, gross: 2.0, rarity: 0.05 }
    }
}

impl Race {
    /// Judges a candidate by all its samples so far, in the order they were taken. Once hopeless, it stays so.
    pub fn decide(&self, bound: Bound, samples: &[f64]) -> Decision {
        let limit = bound.0 * (1.0 + self.margin);
        if !is_time(limit) {
            return Decision::Continue;
        }
        let assumed = self.gross > 1.0 && self.rarity > 0.0 && self.rarity < 1.0;
        let payout = if assumed { 1.0 / self.rarity } else { 0.0 };
        let (mut all, mut most, mut gross) = (ALL_ABOVE, MOST_ABOVE, ALL_GROSS);
        for sample in samples.iter().filter(|s| is_time(**s)) {
            let above = *sample > limit;
            all *= if above { 2.0 } else { 0.0 };
            most *= if above { 1.5 } else { 0.5 };
            gross *= if *sample > limit * self.gross { payout } else { 0.0 };
            if (all + most + gross) * self.error >= 1.0 {
                return Decision::Hopeless;
            }
        }
        Decision::Continue
    }
}

fn is_time(sample: f64) -> bool {
    sample.is_finite() && sample > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_samples_suffice_for_the_gross_and_eight_for_the_slightly_slow() {
        let (race, bound) = (Race::default(), Bound::upper(1.0));
        assert_eq!(race.decide(bound, &[5.0]), Decision::Continue);
        assert_eq!(race.decide(bound, &[5.0, 5.0]), Decision::Hopeless);
        assert_eq!(race.decide(bound, &[1.1; 7]), Decision::Continue);
        assert_eq!(race.decide(bound, &[1.1; 8]), Decision::Hopeless);
        assert_eq!(race.decide(bound, &[1.04; 1000]), Decision::Continue);
        // One lucky sample delays the end, and does not prevent it.
        let lucky = [&[0.9][..], &[1.1; 30]].concat();
        assert_eq!(race.decide(bound, &lucky[..8]), Decision::Continue);
        assert_eq!(race.decide(bound, &lucky), Decision::Hopeless);
        // A start that was hopeless is not undone by what follows.
        assert_eq!(race.decide(bound, &[&[5.0; 2][..], &[0.1; 50]].concat()), Decision::Hopeless);
    }

    #[test]
    fn nonsense_never_gives_a_candidate_up() {
        let (race, bound) = (Race::default(), Bound::upper(1.0));
        assert_eq!(race.decide(bound, &[]), Decision::Continue);
        assert_eq!(race.decide(bound, &[f64::NAN, f64::INFINITY, -1.0, 0.0].repeat(50)), Decision::Continue);
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(race.decide(Bound::upper(none), &[9.0; 50]), Decision::Continue);
        }
        for odd in [0.0, -1.0, f64::NAN] {
            assert_eq!(Race { error: odd, ..race }.decide(bound, &[9.0; 50]), Decision::Continue);
            // Without the assumption the other two bets still decide.
            for plain in [Race { rarity: odd, ..race }, Race { gross: odd, ..race }] {
                assert_eq!(plain.decide(bound, &[9.0; 7]), Decision::Continue);
                assert_eq!(plain.decide(bound, &[9.0; 8]), Decision::Hopeless);
            }
        }
    }

    #[test]
    fn a_bound_from_samples_is_an_upper_limit_of_the_median() {
        assert_eq!(Bound::samples(&[]), None);
        assert_eq!(Bound::samples(&[f64::NAN]), None);
        assert_eq!(Bound::samples(&[3.0, 1.0, 2.0]), Some(Bound(3.0)));
        let ascending = |count: u32| -> Vec<f64> { (1..=count).map(f64::from).collect() };
        // Tables of the sign test: the upper limits for 6, 10 and 100 samples are the 6th, 9th and 61st.
        assert_eq!(Bound::samples(&ascending(6)), Some(Bound(6.0)));
        assert_eq!(Bound::samples(&ascending(10)), Some(Bound(9.0)));
        assert_eq!(Bound::samples(&ascending(100)), Some(Bound(61.0)));
        assert_eq!(Bound::samples(&ascending(10_000)), Some(Bound(5_101.0)));
    }
}
