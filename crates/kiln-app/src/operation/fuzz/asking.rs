//! Cases asked about, several at a time, until one fails or the time is over. In: lanes and a supply. Out: how many passed,
//! what was excluded, the first that failed. The first is the one that comes first, not the one that is done first: the
//! result does not depend on how many are asked about at once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use kiln_core::{Fault, Refusal};
use kiln_judge::{DrawnCase, Fit, FuzzCase, Shape};
use kiln_study::Tried;

use crate::event::What;
use crate::operation::fuzz::lane::Lane;
use crate::operation::fuzz::supply::Supply;
use crate::teller::Teller;

/// The work from which on a case's time is that of its work.
const TELLING: f64 = 1e8;

/// When to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) began: Instant,
    pub(super) most: Duration,
}

impl Clock {
    pub(super) fn left(&self) -> Duration {
        self.most.saturating_sub(self.began.elapsed())
    }

    pub(super) fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

/// What came of the cases.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Passed, by lane.
    pub(super) passed: Vec<usize>,
    /// The shapes of those that were asked about.
    pub(super) shapes: HashSet<Shape>,
    /// Shapes that were drawn on the way and that the rules exclude.
    pub(super) draws_excluded: usize,
    /// Not asked, by reason.
    pub(super) excluded: Vec<(String, usize)>,
    /// The first that could not be answered.
    pub(super) unanswered: Option<Fault>,
    /// The first that failed, with its lane.
    pub(super) failed: Option<(usize, FuzzCase, Refusal)>,
    /// Those for which there was no time.
    pub(super) not_run: usize,
    pub(super) not_run_first: Option<FuzzCase>,
}

impl Asked {
    fn exclude(&mut self, why: String) {
        match self.excluded.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, count)) => *count += 1,
            None => self.excluded.push((why, 1)),
        }
    }
}

/// Asks until the supply ends, a case fails or the time is over. A fault on the way ends it; what was found stays.
pub(super) fn ask_all(
    lanes: &[Lane<'_, '_>],
    supply: &mut Supply,
    jobs: usize,
    clock: Clock,
    teller: &Teller<'_>,
) -> (Asked, Option<Fault>) {
    let mut asked = Asked { passed: vec![0; lanes.len()], ..Asked::default() };
    let planned = supply.left();
    teller.tell(What::Phase { phase: "fuzz".into(), planned });
    // The largest case so far, and the seconds it took: what larger ones will take is judged by it.
    let mut largest = (1.0, 0.0);
    let mut ended = None;
    'all: while asked.failed.is_none() {
        let mut batch: Vec<(usize, FuzzCase, f64)> = Vec::new();
        let mut draws = Vec::new();
        while batch.len() < jobs {
            let Some((place, DrawnCase { case, excluded })) = supply.next(lanes) else { break };
            let size = match lanes[place].fit(&case.shape, &case.config) {
                Fit::Fits(work) => work.size(),
                Fit::Excluded(_) => 0.0,
            };
            let expected = if size > largest.0 { largest.1 * size / largest.0 } else { 0.0 };
            if clock.is_over() || expected > clock.left().as_secs_f64() {
                asked.not_run = 1 + supply.left() + batch.len();
                asked.not_run_first = Some(batch.first().map_or(case, |(_, first, _)| first.clone()));
                break 'all;
            }
            batch.push((place, case, size));
            draws.push(excluded);
        }
        if batch.is_empty() {
            break;
        }
        for (((place, case, size), draws), (outcome, seconds)) in batch.iter().zip(draws).zip(together(lanes, &batch)) {
            // What comes after the first that fails does not count: how many there are depends on the jobs.
            let counts = asked.failed.is_none() && ended.is_none();
            if counts {
                asked.draws_excluded += draws;
            }
            match outcome {
                Err(fault) => ended = ended.or(Some(fault)),
                Ok(_) if !counts => {}
                Ok(Tried::Passed) => {
                    asked.shapes.insert(case.shape.clone());
                    asked.passed[*place] += 1;
                    if *size >= largest.0 && *size > TELLING {
                        largest = (*size, seconds);
                    }
                }
                Ok(Tried::Excluded(why)) => {
                    supply.give_back(*place);
                    asked.exclude(why);
                }
                Ok(Tried::Unanswered(fault)) => {
                    supply.give_back(*place);
                    asked.exclude(format!("{}: {}", fault.what, fault.why));
                    asked.unanswered.get_or_insert(fault);
                }
                Ok(Tried::Refused(refusal)) => {
                    asked.shapes.insert(case.shape.clone());
                    asked.failed = Some((*place, case.clone(), refusal));
                }
            }
        }
        if ended.is_some() {
            break;
        }
        let done = asked.passed.iter().sum::<usize>() + usize::from(asked.failed.is_some());
        teller.tell(What::Step { phase: "fuzz".into(), done, planned });
    }
    teller.tell(What::PhaseEnd);
    (asked, ended)
}

/// Asks about several cases at once, and how long each took.
fn together(lanes: &[Lane<'_, '_>], batch: &[(usize, FuzzCase, f64)]) -> Vec<(Result<Tried, Fault>, f64)> {
    let one = |place: usize, case: &FuzzCase| {
        let began = Instant::now();
        let tried = lanes[place].ask(case);
        (tried, began.elapsed().as_secs_f64())
    };
    if let [(place, case, _)] = batch {
        return vec![one(*place, case)];
    }
    let lost = || (Err(Fault::new("asking about a case", "a thread ended before its time")), 0.0);
    std::thread::scope(|scope| {
        let asked: Vec<_> = batch.iter().map(|(place, case, _)| scope.spawn(move || one(*place, case))).collect();
        asked.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    })
}
