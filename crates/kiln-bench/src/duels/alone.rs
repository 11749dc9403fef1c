//! What a call on a device takes by itself, against what it takes in a row of others. In: both times of each subject, round by
//! round. Out: seconds to add to each subject's times.
//!
//! A sample is a row of calls whose inputs are all there when the first one begins. Who computes all of them with the first,
//! or keeps a device busy that a single call leaves idle, seems faster than it is; alone it takes as long as ever. Starting
//! takes all subjects alike, and whoever is least delayed by it says how long. What a subject takes beyond that, and beyond what programs
//! and caches differ in, is its own, and counts: nobody is refused for it.

use kiln_stats::median;

/// Seconds that starting alone may take longer than it takes others: programs differ in size.
const STARTING: f64 = 0.5e-6;
/// A share of what a call takes in a row: what it finds in caches and on its way to memory depends on who was there before.
const SHARE: f64 = 0.1;
/// Standard errors by which it has to stand out.
const STANDS_OUT: f64 = 3.0;
/// Rounds below which nothing is concluded.
const LEAST_ROUNDS: usize = 3;

/// Times of one subject on one workload, round by round: seconds of a call alone, and of one in a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alone {
    pub(crate) rounds: Vec<(f64, f64)>,
}

impl Alone {
    /// How much longer a call takes alone, and how well that is known; none where too little was seen.
    fn longer(&self) -> Option<(f64, f64)> {
        if self.rounds.len() < LEAST_ROUNDS {
            return None;
        }
        let longer: Vec<f64> = self.rounds.iter().map(|(alone, row)| alone - row).collect();
        let middle = median(&longer).ok()?;
        let apart: Vec<f64> = longer.iter().map(|one| (one - middle).abs()).collect();
        // Of a normal distribution: the deviation from the median of distances, and the error of a median from that.
        let deviation = 1.4826 * median(&apart).ok()?;
        Some((middle, 1.2533 * deviation / (longer.len() as f64).sqrt()))
    }

    fn in_a_row(&self) -> f64 {
        let rows: Vec<f64> = self.rounds.iter().map(|(_, row)| *row).collect();
        median(&rows).unwrap_or(0.0)
    }
}

/// Seconds to add to the times of each subject, 0 for most.
pub(crate) fn charges(subjects: &[Alone]) -> Vec<f64> {
    let longer: Vec<Option<(f64, f64)>> = subjects.iter().map(Alone::longer).collect();
    let starting = longer.iter().flatten().map(|(middle, _)| *middle).fold(f64::INFINITY, f64::min);
    let charge = |(subject, longer): (&Alone, &Option<(f64, f64)>)| match longer {
        Some((middle, error)) => {
            let own = middle - starting.max(0.0);
            let allowed = STARTING + SHARE * subject.in_a_row() + STANDS_OUT * error;
            // Only what is beyond: who is a little over must not be worse off than who is a little under.
            (own - allowed).max(0.0)
        }
        None => 0.0,
    };
    subjects.iter().zip(&longer).map(charge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds with some noise.
    fn subject(alone: f64, row: f64) -> Alone {
        let noise = [0.1, -0.2, 0.0, 0.3, -0.1, 0.2, -0.3, 0.1];
        Alone { rounds: noise.iter().map(|noise| ((alone + noise) * 1e-6, row * 1e-6)).collect() }
    }

    #[test]
    fn what_is_done_with_the_first_call_of_a_row_counts_for_every_call() {
        let charges = charges(&[subject(22.4, 0.4), subject(22.5, 20.0)]);
        assert_eq!(charges[1], 0.0);
        assert!((18.0e-6..19.5e-6).contains(&charges[0]), "{charges:?}");
    }

    #[test]
    fn starting_takes_everybody_longer() {
        // Also one who takes a little longer than the others, and one that is long itself.
        assert_eq!(charges(&[subject(8.8, 6.4), subject(9.0, 7.0), subject(9.6, 6.9)]), [0.0; 3]);
        assert_eq!(charges(&[subject(220.0, 200.0), subject(182.0, 180.0)]), [0.0; 2]);
        // One who is alone has nobody to be compared with.
        assert_eq!(charges(&[subject(50.0, 10.0)]), [0.0]);
    }

    #[test]
    fn a_little_more_than_is_allowed_costs_a_little() {
        let found = charges(&[subject(12.7, 8.3), subject(13.5, 11.0)]);
        assert!(found[0] < 0.5e-6, "{found:?}");
        let more = charges(&[subject(13.7, 8.3), subject(13.5, 11.0)]);
        assert!((more[0] - found[0] - 1e-6).abs() < 0.5e-6 && more[0] > 0.0, "{more:?}");
    }

    #[test]
    fn few_rounds_say_nothing() {
        let mut one = subject(22.0, 1.0);
        one.rounds.truncate(LEAST_ROUNDS - 1);
        assert_eq!(charges(&[one, subject(22.0, 20.0)]), [0.0; 2]);
        assert_eq!(charges(&[Alone::default(), Alone::default()]), [0.0; 2]);
    }
}
