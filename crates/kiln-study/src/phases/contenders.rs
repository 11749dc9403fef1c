//! How each implementation did in a study of several. In: what was tried, and the run of finalists against each other. Out: for
//! each its best configuration and how much longer that takes than the winner, or why there is none.

use std::collections::BTreeMap;

use kiln_bench::Kernel;
use kiln_core::{Config, IMPLEMENTATION};
use kiln_spec::Implementation;

use crate::course::Course;
use crate::phases::attempts::{Attempts, Tried};
use crate::phases::proof::Proven;
use crate::recording::summary::{Ablated, Contender};

/// Finalists with their times in the run against each other.
pub(crate) type Ranks = Vec<(Config, f64)>;

/// An entry for each implementation, in file order; none where the target has only one, without a name.
pub(crate) fn contenders(
    kernel: &Kernel<'_>,
    course: Course<'_>,
    attempts: &Attempts,
    proven: &Proven,
) -> Vec<Contender> {
    if !kernel.selection.competing() {
        return Vec::new();
    }
    let Proven { winner, unopposed, ablation, ablated, set_back_refused, late, ranks } = proven;
    let winner = winner.as_ref().map(|(config, _)| config).or(unopposed.as_ref());
    let ranked = attempts.ranked();
    let of = |one: &Implementation, config: &Config| config.implementation() == one.name.as_deref();
    let refused = |config: &Config| late.iter().any(|late| late.config == *config);
    // What a closer look refused is nobody's best.
    let best = |one: &Implementation| ranked.iter().copied().find(|t| of(one, &t.config) && !refused(&t.config));
    let own = |winner: &Config| ranked.iter().copied().find(|t| t.config.implementation() == winner.implementation());
    let won = winner.map(|winner| (winner, own(winner)));
    let set_back = |one: &Implementation| {
        let of = |entry: &&Ablated| entry.tunable == IMPLEMENTATION && Some(entry.to.as_str()) == one.name.as_deref();
        ablation.iter().find(of).and_then(|entry| entry.worth)
    };
    let mut found = Vec::new();
    for one in &kernel.selection.implementations {
        let mut counts = BTreeMap::new();
        let own = attempts.all.iter().filter(|tried| of(one, &tried.config));
        let early = own.clone().filter_map(|tried| Some(tried.evaluation.refusal()?.gate));
        let later = late.iter().filter(|late| of(one, &late.config)).map(|late| late.refusal.gate);
        let from_ablation = set_back_refused.iter().filter(|(config, _)| of(one, config)).map(|(_, gate)| *gate);
        early.chain(later).chain(from_ablation).for_each(|gate| *counts.entry(gate).or_insert(0) += 1);
        let is_winner = winner.is_some_and(|winner| of(one, winner));
        let best = best(one);
        let (ratio, measured_in) = match (&won, best) {
            _ if is_winner => (Some(1.0), None),
            _ if set_back(one).is_some() => (set_back(one), Some("ablation".into())),
            (Some((winner, tried)), Some(best)) => slower(best, winner, *tried, ranks),
            _ => (None, None),
        };
        let config = winner.filter(|_| is_winner).cloned().or_else(|| best.map(|tried| tried.config.clone()));
        found.push(Contender {
            workload: course.workload.map(String::from),
            name: one.name.as_deref().unwrap_or_default().into(),
            // With those of the ablation, as the study counts.
            trials: own.count() + ablated.iter().filter(|config| of(one, config)).count(),
            refused: counts,
            config,
            ratio,
            measured_in,
            left_out: None,
        });
    }
    let left_out = |one: &&Implementation| Contender {
        workload: course.workload.map(String::from),
        name: one.name.as_deref().unwrap_or_default().into(),
        trials: 0,
        refused: BTreeMap::new(),
        config: None,
        ratio: None,
        measured_in: None,
        left_out: Some(format!("runs on {}", one.places())),
    };
    found.extend(kernel.selection.left_out.iter().map(left_out));
    found
}

/// How much longer the best of an implementation takes than the winner, and where that was measured: side by side among the
/// finalists where both were there, else in the search, beside the best there of the winner's implementation.
fn slower(best: &Tried, winner: &Config, tried: Option<&Tried>, ranks: &Ranks) -> (Option<f64>, Option<String>) {
    let ranked = |config: &Config| ranks.iter().find(|(own, _)| own == config).map(|(_, cost)| *cost);
    if let (Some(own), Some(theirs)) = (ranked(&best.config), ranked(winner)) {
        return (Some(own / theirs), Some("run-off".into()));
    }
    let searched = best.evaluation.cost().zip(tried.and_then(|tried| tried.evaluation.cost()));
    let ratio = searched.map(|(own, theirs)| own / theirs).filter(|ratio| ratio.is_finite());
    (ratio, ratio.map(|_| "search".into()))
}
