//! From what the search found to a winner that is proven: finals, confirmation, the whole suite of questions, ablation. In:
//! attempts and an opponent. Out: the winner with its figures, if there is one. A set-back configuration that ablation finds
//! faster than the winner has to prove itself too, and then takes its place.

use kiln_bench::{Apparatus, Trouble};
use kiln_core::{Config, Gate};
use kiln_judge::Level;
use kiln_stats::{Estimate, overall};

use crate::course::Course;
use crate::phases::ablation::{Ablation, ablation};
use crate::phases::attempts::Attempts;
use crate::phases::confirm::{Confirmation, Opponent};
use crate::phases::contenders::Ranks;
use crate::phases::finals::{Finalist, Finals, look, suite};
use crate::recording::summary::{Ablated, Confirmed, Late};

/// How often a winner may be replaced by what ablation finds.
const REPLACED: usize = 3;

/// What finals and confirmation came to.
#[derive(Default)]
pub(crate) struct Proven {
    /// The winner and its figures.
    pub(crate) winner: Option<(Config, Vec<Confirmed>)>,
    /// The first of the finalists, where there is nobody to measure it against.
    pub(crate) unopposed: Option<Config>,
    pub(crate) ablation: Vec<Ablated>,
    /// Configurations that only the ablation tried, each once.
    pub(crate) ablated: Vec<Config>,
    /// What a gate refused in the ablation.
    pub(crate) set_back_refused: Vec<(Config, Gate)>,
    /// Refusals of finalists and of the confirmation.
    pub(crate) late: Vec<Late>,
    /// What the last run of finalists against each other came to.
    pub(crate) ranks: Ranks,
}

/// Proves the best of what was tried.
pub(crate) fn prove<A: Apparatus>(
    bench: &mut A,
    course: Course<'_>,
    attempts: &Attempts,
    opponent: Option<&Opponent<A::Subject>>,
) -> Result<Proven, Trouble> {
    let mut found = Proven::default();
    let mut finals = Finals::new(bench, attempts, course);
    let Some(opponent) = opponent else {
        let ranked = finals.ranked(bench, &mut found.late)?;
        found.unopposed = ranked.first().map(|finalist| finalist.config.clone());
        found.ranks = finals.ranks;
        return Ok(found);
    };
    let confirmation = Confirmation::new(bench, opponent, course)?;
    let mut trial = Ordeal { confirmation, course, suites: 0 };
    while found.winner.is_none() {
        let ranked = finals.ranked(bench, &mut found.late)?;
        if ranked.is_empty() {
            break;
        }
        for finalist in &ranked {
            match trial.of(bench, finalist)? {
                Ok(workloads) => found.winner = Some((finalist.config.clone(), workloads)),
                Err(refused) => found.late.push(refused),
            }
            if found.winner.is_some() {
                break;
            }
        }
    }
    found.ranks = finals.ranks;
    if bench.settings().ablation {
        improve(bench, course, attempts, &mut trial, &mut found)?;
    }
    Ok(found)
}

/// Sets the winner's tunables back one by one; what is faster so takes its place once it is proven.
fn improve<A: Apparatus>(
    bench: &mut A,
    course: Course<'_>,
    attempts: &Attempts,
    trial: &mut Ordeal<'_, A>,
    found: &mut Proven,
) -> Result<(), Trouble> {
    let (mut next, beyond) = (0, attempts.all.len());
    for again in 0..=REPLACED {
        let Some((winner, figures)) = &found.winner else { return Ok(()) };
        let Ablation { entries, faster, untried, refused, next: number } =
            ablation(bench, course, attempts, winner, next)?;
        found.set_back_refused.extend(refused);
        (found.ablation, next) = (entries, number);
        for config in untried {
            if !found.ablated.contains(&config) {
                found.ablated.push(config);
            }
        }
        let Some(faster) = faster.filter(|_| again < REPLACED) else { return Ok(()) };
        // What a gate refused once gets no second try by another way.
        if let Some(gate) = found.late.iter().find(|late| late.config == faster).map(|late| late.refusal.gate) {
            return challenged(bench, course, &faster, &format!("it stays refused by {gate}"));
        }
        let in_record = course.record.holds(&course.phase("final"), (beyond + again) as u64);
        let proof = bench.level_takes(Level::Full) + course.rest_takes(bench);
        let short = course.budget.left(bench.now()).is_some_and(|left| left <= proof);
        if !in_record && (course.record.is_replay() || short) {
            return challenged(bench, course, &faster, "there was no time left to confirm it");
        }
        // Numbers of trials are behind those of the queue.
        let looked = look(bench, course, ("final", Level::Full), beyond + again, &faster)?;
        let proven = match looked {
            Ok(finalist) => trial.of(bench, &finalist)?,
            Err(refused) => Err(refused),
        };
        match proven {
            Ok(own) if speed(&own) > speed(figures) => {
                let (new, old) = (speed(&own), speed(figures));
                challenged(
                    bench,
                    course,
                    &faster,
                    &format!("confirmed {new:.2}x instead of {old:.2}x, it takes its place"),
                )?;
                found.winner = Some((faster, own));
            }
            Ok(own) => {
                let (new, old) = (speed(&own), speed(figures));
                return challenged(
                    bench,
                    course,
                    &faster,
                    &format!("confirmed {new:.2}x, not above {old:.2}x, it does not replace it"),
                );
            }
            Err(refused) => {
                challenged(bench, course, &faster, &format!("it was refused by {}", refused.refusal.gate))?;
                found.late.push(refused);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Says, and records, what became of a configuration that ablation found faster than the winner.
fn challenged<A: Apparatus>(bench: &A, course: Course<'_>, config: &Config, what: &str) -> Result<(), Trouble> {
    let on = course.workload.map_or(String::new(), |workload| format!(" on {workload}"));
    let words = format!("ablation measured {config} as faster than the winner{on}: {what}");
    course.record.note(CHALLENGER, &words)?;
    bench.note(words);
    Ok(())
}

/// The kind of note that says so.
const CHALLENGER: &str = "challenger";

/// Everything a finalist has to pass to win.
struct Ordeal<'c, A: Apparatus> {
    confirmation: Confirmation<'c, A>,
    course: Course<'c>,
    suites: usize,
}

impl<A: Apparatus> Ordeal<'_, A> {
    /// Its figures, or how it was refused.
    fn of(&mut self, bench: &mut A, finalist: &Finalist<A::Subject>) -> Result<Result<Vec<Confirmed>, Late>, Trouble> {
        let number = self.suites;
        self.suites += 1;
        Ok(match self.confirmation.of(bench, finalist)? {
            Ok(figures) => match suite(bench, self.course, number, finalist)? {
                None => Ok(figures),
                Some(refused) => Err(refused),
            },
            Err(refused) => Err(refused),
        })
    }
}

/// The weighted speedup over workloads.
pub(crate) fn together<'w>(tuned: impl Iterator<Item = &'w Confirmed>) -> Option<Estimate> {
    let row = |w: &Confirmed| (w.weight, Estimate { value: w.speedup, interval: w.speedup_ci95 });
    overall(&tuned.filter(|w| !w.holdout).map(row).collect::<Vec<_>>()).ok()
}

fn speed(figures: &[Confirmed]) -> f64 {
    together(figures.iter()).map_or(0.0, |estimate| estimate.value)
}
