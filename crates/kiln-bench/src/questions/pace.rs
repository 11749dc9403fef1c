//! How long questions take to make, and so how long checks to come will take. In: what was made, with its bytes and
//! seconds. Out: seconds for what will be asked. Without anything made there is nothing to tell.

use std::sync::Mutex;
use std::time::Duration;

use kiln_core::Workload;
use kiln_judge::Level;

use crate::bench::Bench;
use crate::duels::duel::SETS;
use crate::questions::check::listed;
use crate::questions::stage::Stage;

/// A question that is asked, with its answer compared, takes so many times what making it takes.
const ASKED: f64 = 1.5;

/// Bytes of questions and seconds they took, one for each workload that was set up.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    made: Mutex<Vec<(u128, f64)>>,
}

impl Pace {
    /// So many bytes were made in so many seconds.
    pub(crate) fn saw(&self, bytes: u128, seconds: f64) {
        if let Ok(mut made) = self.made.lock()
            && bytes > 0
        {
            made.push((bytes, seconds));
        }
    }

    /// Seconds for so many bytes, at the pace of what was nearest in size.
    fn seconds(&self, bytes: u128) -> f64 {
        let distance = |of: u128| (of.max(1) as f64 / bytes.max(1) as f64).ln().abs();
        let Ok(made) = self.made.lock() else { return 0.0 };
        // Of several alike the last: it is nearest in time too.
        let nearest = made.iter().rev().min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
        nearest.map_or(0.0, |(of, seconds)| seconds * bytes as f64 / *of as f64)
    }
}

impl<'a> Bench<'a> {
    /// About how long it takes to make the questions of a level, and to ask them.
    pub(crate) fn level_takes(&self, level: Level) -> Duration {
        let plan = level.plan();
        let made = self.take(listed(self, &plan).into_iter().filter_map(|workload| {
            let signature = Stage::signature(self.kernel, workload).ok()?.0;
            Some((workload, plan.questions(&signature, 0).len()))
        }));
        made.mul_f64(ASKED)
    }

    /// About how long it takes to make the inputs of a confirmation, with workloads that were kept back if they are wanted.
    pub(crate) fn proving_takes(&self, kept_back: bool) -> Duration {
        let own = self.stages.iter().map(|stage| stage.workload);
        let kept = kept_back.then(|| self.kept_back()).into_iter().flatten();
        self.take(own.chain(kept).map(|workload| (workload, SETS.len())))
    }

    fn take(&self, asked: impl Iterator<Item = (Option<&'a Workload>, usize)>) -> Duration {
        let seconds = asked.map(|(workload, questions)| self.pace.seconds(self.needed(workload, questions))).sum();
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearest_in_size_says_how_long() {
        let pace = Pace::default();
        assert_eq!(pace.seconds(100), 0.0);
        // A small one has its own costs; a large one goes by its bytes.
        pace.saw(0, 9.0);
        pace.saw(1000, 0.1);
        pace.saw(1_000_000, 1.0);
        assert_eq!(pace.seconds(2000), 0.2);
        assert_eq!(pace.seconds(4_000_000), 4.0);
        assert_eq!(pace.seconds(0), 0.0);
    }
}
