//! The peaks among the trials. In: trials from the best to the worst. Out: those that no better one is like: the bottoms of
//! separate valleys. Working on several of them in turn keeps one valley of many middling configurations from hiding
//! another of few excellent ones.

use crate::known::history::Tried;

/// The first `count` trials that differ from every one chosen before in more than `apart` tunables.
pub(crate) fn peaks(trials: &[Tried], count: usize, apart: usize) -> Vec<&Tried> {
    let mut peaks: Vec<&Tried> = Vec::new();
    for trial in trials {
        if peaks.len() == count {
            break;
        }
        let differs = |peak: &&Tried| peak.point.iter().zip(&trial.point).filter(|(a, b)| a != b).count() > apart;
        if peaks.iter().all(differs) {
            peaks.push(trial);
        }
    }
    peaks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_not_like_a_better_one() {
        let trial = |point: [u32; 3]| Tried { index: 0, point: Box::new(point), cost: Some(1.0) };
        let trials = [trial([1, 1, 1]), trial([1, 1, 2]), trial([2, 2, 1]), trial([2, 2, 2])];
        let points = |count, apart| peaks(&trials, count, apart).iter().map(|t| t.point[2]).collect::<Vec<_>>();
        assert_eq!(points(9, 1), [1, 1]);
        assert_eq!(points(9, 0), [1, 2, 1, 2]);
        assert_eq!(points(2, 0), [1, 2]);
        assert_eq!(points(9, 2), [1, 2]);
    }
}
