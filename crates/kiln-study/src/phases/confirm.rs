//! The proof: the winner against the baseline on inputs nobody has seen, with a pair of fresh workers for every block, on the
//! tuned workloads and on holdouts.

use kiln_bench::{Apparatus, Baseline, Duel, Fought, Staged, Trouble, Turns, believed, derive, limits};
use kiln_core::{Config, Fault};
use kiln_judge::Level;
use kiln_stats::{Block, Thresholds, compare_blocks};

use crate::course::Course;
use crate::phases::face::{Match, face};
use crate::phases::finals::{Finalist, medians};
use crate::recording::record::Record;
use crate::recording::summary::{Confirmed, Late, confirmed};

/// Rounds and samples of a quick look.
const GLANCE: (usize, usize) = (3, 3);

/// Who the winner is measured against.
#[derive(Debug, Clone)]
pub(crate) struct Opponent<S> {
    pub(crate) name: String,
    pub(crate) subject: S,
}

/// Everything finalists are confirmed with: workloads set up with inputs nobody has seen.
pub(crate) struct Confirmation<'c, A: Apparatus> {
    stages: Vec<A::Stage>,
    tuned: usize,
    opponent: &'c Opponent<A::Subject>,
    course: Course<'c>,
    phase: String,
    /// Finalists so far.
    number: u64,
}

impl<'c, A: Apparatus> Confirmation<'c, A> {
    pub(crate) fn new(
        bench: &A,
        opponent: &'c Opponent<A::Subject>,
        course: Course<'c>,
    ) -> Result<Confirmation<'c, A>, Trouble> {
        let phase = course.phase("confirm");
        let stages = bench.proving_stages(course.workload.is_none(), &phase, !course.record.is_replay())?;
        Ok(Confirmation { stages, tuned: bench.stages().len(), opponent, course, phase, number: 0 })
    }

    /// A finalist's figures by workload, or how it was refused.
    pub(crate) fn of(
        &mut self,
        bench: &mut A,
        finalist: &Finalist<A::Subject>,
    ) -> Result<Result<Vec<Confirmed>, Late>, Trouble> {
        let subjects = [
            ("candidate".to_string(), finalist.subject.clone()),
            (format!("baseline:{}", self.opponent.name), self.opponent.subject.clone()),
        ];
        let (rounds, samples) = (bench.settings().pairs, bench.settings().pair_samples);
        let deadline = self.course.budget.deadline(bench.now(), 1.0, bench.level_takes(Level::Suite));
        let duel = Duel { subjects: &subjects, rounds, samples, purpose: &self.phase, deadline };
        let (phase, number, config) = (&*self.phase, self.number, &finalist.config);
        let found = Match { phase, number, config, duel, shown: true, peers: false };
        self.number += 1;
        // Where one workload was selected, a holdout may be none of this configuration's. Tuned ones always are, and stay in
        // front.
        let (fit, unfit): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.stages).into_iter().partition(|s| bench.fits(config, s.workload()));
        let used = fit.len();
        self.stages = fit.into_iter().chain(unfit).collect();
        let Fought { rounds, scrutiny, kernels, .. } =
            match face(bench, self.course.record, &self.stages[..used], found)? {
                Ok(fought) => fought,
                Err(defeat) => return Ok(Err(Late::new(&self.phase, &finalist.config, &defeat.refusal))),
            };
        let mut rows = Vec::with_capacity(used);
        for (place, (stage, rounds)) in self.stages.iter().zip(&rounds).enumerate() {
            let seed = derive(bench.settings().seed, &["bootstrap", stage.name()], 0);
            let blocks = blocks(rounds);
            let hidden = scrutiny.get(place).map_or(0.0, |found| found.hidden);
            let limits = limits(&Thresholds::default(), bench.kernel().on_gpu(), &blocks);
            let found = compare_blocks(&blocks, &limits, seed)
                .map_err(|e| Fault::new(format!("comparing on {}", stage.name()), e))?;
            let found = believed(found, hidden);
            let mut row = confirmed(stage.name(), stage.weight(), place >= self.tuned, &found, scrutiny.get(place));
            if let Some([candidate, baseline]) = kernels.get(place).map(Vec::as_slice) {
                (row.kernels, row.baseline_kernels) = (candidate.clone(), baseline.clone());
            }
            rows.push(row);
        }
        Ok(Ok(rows))
    }
}

/// Candidate at place 0, baseline at place 1.
pub(crate) fn blocks(rounds: &[Vec<Turns>]) -> Vec<Block> {
    let block = |turns: &Vec<Turns>| Block { baseline: turns[1].samples.clone(), candidate: turns[0].samples.clone() };
    rounds.iter().map(block).collect()
}

/// A quick look at a configuration next to the baseline, on the smallest workload: seconds of the baseline, and of the
/// configuration. None when it is refused.
pub(crate) fn glance<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    config: &Config,
    baseline: &Baseline<A::Subject>,
    phase: &str,
) -> Result<Option<(f64, f64)>, Fault> {
    let mut candidate = A::nothing();
    if !record.is_replay() {
        let build = bench.build(config)?;
        match bench.built(build)? {
            kiln_core::Outcome::Passed(built) => candidate = built,
            kiln_core::Outcome::Refused(_) => return Ok(None),
        }
    }
    let subjects =
        [("candidate".to_string(), candidate), (format!("baseline:{}", baseline.name), baseline.subject.clone())];
    let duel = Duel { subjects: &subjects, rounds: GLANCE.0, samples: GLANCE.1, purpose: phase, deadline: None };
    let smallest = &bench.stages()[..1.min(bench.stages().len())];
    let found = face(bench, record, smallest, Match { phase, number: 0, config, duel, shown: true, peers: false })?;
    Ok(found.ok().map(|Fought { rounds, .. }| {
        let seconds = |place| medians(&rounds, &[1.0], place).first().map_or(f64::INFINITY, |m| m.1);
        (seconds(1), seconds(0))
    }))
}
