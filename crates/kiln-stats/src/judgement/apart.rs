//! Two runs that were measured apart, such as today's against a stored one. In: the rounds of both, and where both have it the
//! rounds of a yardstick: the same code, measured in turns with either run. Out: a [`Comparison`]. Refuses empty runs, times
//! that are not positive, and a yardstick that does not have as many rounds.
//!
//! What changed on the machine between the runs looks like a difference of the kernels. A yardstick shows it: every sample
//! counts in units of what the yardstick took in the same round, so that a machine that became 10 % slower slows both and
//! changes nothing. But not everything slows down alike: where others use the machine, a yardstick that took 60 % longer had
//! a kernel that took 30 to 50 % longer. So intervals are wider by half of what the yardstick moved, and by a fifth of how
//! it scatters between rounds. Without a yardstick, the comparison carries a warning.

use crate::error::StatsError;
use crate::judgement::compare::{Comparison, judge};
use crate::judgement::reason::Warning;
use crate::judgement::thresholds::Thresholds;
use crate::resampling::block::Side;
use crate::resampling::ratio::Ratio;
use crate::series::order;

/// Samples drawn again at most, a second or two.
const MOST_DRAWS: usize = 200_000_000;
/// Resamples at least.
const LEAST_RESAMPLES: usize = 1_000;
/// How much less or more than the yardstick a kernel may be slowed down, as a share of that.
const UNLIKE: f64 = 0.5;
/// The same for what comes and goes between rounds.
const UNSTEADY: f64 = 0.2;
/// Slack worth a word.
const WORTH_A_WORD: f64 = 0.01;

/// One run.
#[derive(Debug, Clone, Copy)]
pub struct Apart<'a> {
    /// Times, round by round. Each round had a fresh worker.
    pub rounds: &'a [Vec<f64>],
    /// Times of the yardstick in the same rounds.
    pub yardstick: Option<&'a [Vec<f64>]>,
}

/// Compares runs that were measured apart.
pub fn compare_runs(
    baseline: Apart<'_>,
    candidate: Apart<'_>,
    thresholds: &Thresholds,
    seed: u64,
) -> Result<Comparison, StatsError> {
    thresholds.check()?;
    let middle = [baseline, candidate].map(|run| run.yardstick.map(|unit| order::median(&unit.concat())));
    let (sides, moved) = match middle {
        [Some(one), Some(other)] => {
            // In seconds again: of the yardstick between both runs.
            let second = (one * other).sqrt();
            let sides = [baseline.levelled(second)?, candidate.levelled(second)?];
            let scatter = baseline.scatter().hypot(candidate.scatter());
            (sides, Some((other / one, UNLIKE * (other / one).ln().abs() + UNSTEADY * scatter)))
        }
        _ => ([baseline.rounds.to_vec(), candidate.rounds.to_vec()], None),
    };
    // A round is what may be drawn again, where there are enough of them.
    let enough = sides.iter().all(|side| side.len() >= thresholds.min_blocks.max(2));
    let flat = sides.each_ref().map(|side| side.concat());
    let made = |place: usize| match enough {
        true => Side::new(sides[place].iter().map(Vec::as_slice)),
        false => Side::new(flat[place].chunks(1)),
    };
    let resamples = affordable(thresholds.resamples, flat[0].len() + flat[1].len());
    let mut drawn = Ratio::apart(&made(0)?, &made(1)?, resamples, seed)?;
    drawn.slack = moved.map_or(0.0, |(_, slack)| slack);
    let blocks = match enough {
        true => sides[0].len().min(sides[1].len()),
        false => flat[0].len().min(flat[1].len()),
    };
    let raw = [baseline.rounds.concat(), candidate.rounds.concat()];
    let mut comparison = judge([&raw[0], &raw[1]], [&flat[0], &flat[1]], &drawn, blocks, thresholds)?;
    match moved {
        None => comparison.warnings.push(Warning::NotInterleaved),
        Some((yardstick, slack)) if slack > WORTH_A_WORD => {
            comparison.warnings.push(Warning::Moved { yardstick, slack });
        }
        Some(_) => {}
    }
    Ok(comparison)
}

/// Resamples that end in seconds: of so many samples that fewer are drawn, the interval is narrow, and its ends move little.
fn affordable(resamples: usize, samples: usize) -> usize {
    resamples.min((MOST_DRAWS / samples.max(1)).max(LEAST_RESAMPLES))
}

impl Apart<'_> {
    /// Times as they would be if the yardstick took that long.
    fn levelled(&self, second: f64) -> Result<Vec<Vec<f64>>, StatsError> {
        let yardstick = self.yardstick.unwrap_or_default();
        if yardstick.len() != self.rounds.len() {
            return Err(StatsError::Unpaired { baseline: yardstick.len(), candidate: self.rounds.len() });
        }
        // Checked as the samples are: what a time is divided by must be one.
        Side::new(yardstick.iter().map(Vec::as_slice))?;
        let level = |(round, unit): (&Vec<f64>, &Vec<f64>)| {
            let unit = order::median(unit);
            round.iter().map(|time| time / unit * second).collect()
        };
        Ok(self.rounds.iter().zip(yardstick).map(level).collect())
    }

    /// How the yardstick scatters from round to round, on the log scale.
    fn scatter(&self) -> f64 {
        let logs: Vec<f64> = self.yardstick.unwrap_or_default().iter().map(|unit| order::median(unit).ln()).collect();
        let count = logs.len().max(1) as f64;
        let mean = logs.iter().sum::<f64>() / count;
        (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / count).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::verdict::Verdict;

    /// Twenty rounds of five samples with 1 % of noise, on a machine that is so many times as slow.
    fn rounds(seconds: f64, slow: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut state = seed;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1.0 + 0.02 * ((state >> 40) as f64 / (1u64 << 24) as f64 - 0.5)
        };
        (0..20).map(|_| (0..5).map(|_| seconds * slow * noise()).collect()).collect()
    }

    /// The verdict, and whether the machine was known.
    fn verdict(change: f64, slow: f64, with_yardstick: bool) -> (Verdict, bool) {
        let (base, unit) = (rounds(1.0, 1.0, 1), rounds(3.0, 1.0, 2));
        let (head, unit_then) = (rounds(change, slow, 3), rounds(3.0, slow, 4));
        let one = Apart { rounds: &base, yardstick: with_yardstick.then_some(&unit) };
        let other = Apart { rounds: &head, yardstick: with_yardstick.then_some(&unit_then) };
        let found = compare_runs(one, other, &Thresholds::mission(), 1).unwrap();
        (found.verdict, !found.warnings.contains(&Warning::NotInterleaved))
    }

    #[test]
    fn a_machine_that_became_slower_accuses_nobody_where_there_is_a_yardstick() {
        assert_eq!(verdict(1.0, 1.02, true), (Verdict::Same, true));
        assert_eq!(verdict(1.0, 1.2, false), (Verdict::Slower, false));
        assert_eq!(verdict(1.05, 1.02, true), (Verdict::Slower, true));
        assert_eq!(verdict(0.8, 1.1, true), (Verdict::Faster, true));
    }

    #[test]
    fn a_machine_that_changed_much_says_little() {
        // A third of what the yardstick moved, up or down, proves nothing; most of it does.
        for slow in [1.3, 0.8] {
            assert_eq!(verdict(1.0, slow, true), (Verdict::TooNoisy, true));
            assert_eq!(verdict(1.08, slow, true), (Verdict::TooNoisy, true));
            assert_eq!(verdict(1.3, slow, true), (Verdict::Slower, true));
        }
        let (base, unit, then) = (rounds(1.0, 1.0, 1), rounds(3.0, 1.0, 2), rounds(3.0, 1.3, 4));
        let run = |unit| Apart { rounds: &base, yardstick: Some(unit) };
        let found = compare_runs(run(&unit), run(&then), &Thresholds::mission(), 1).unwrap();
        let warned = |warning: &&Warning| matches!(warning, Warning::Moved { .. });
        let warning = found.warnings.iter().find(warned).unwrap().to_string();
        assert!(warning.contains("moved by +30") && warning.contains("13."), "{warning}");
    }

    #[test]
    fn one_long_round_counts_by_its_samples() {
        let one = [vec![1.0; 30]];
        let other: [Vec<f64>; 1] = [(0..30).map(|i| 1.1 + 0.001 * f64::from(i % 3)).collect()];
        let run = |rounds| Apart { rounds, yardstick: None };
        let found = compare_runs(run(&one), run(&other), &Thresholds::mission(), 1).unwrap();
        assert_eq!((found.verdict, found.blocks), (Verdict::Slower, 30));
        assert!(compare_runs(run(&one), run(&[]), &Thresholds::mission(), 1).is_err());
    }

    #[test]
    fn a_yardstick_that_does_not_fit_is_refused() {
        let base = rounds(1.0, 1.0, 1);
        let short = Apart { rounds: &base, yardstick: Some(&base[..3]) };
        assert!(compare_runs(short, short, &Thresholds::mission(), 1).is_err());
        let zero = vec![vec![0.0]; 20];
        let odd = Apart { rounds: &base, yardstick: Some(&zero) };
        assert!(compare_runs(odd, odd, &Thresholds::mission(), 1).is_err());
    }
}
