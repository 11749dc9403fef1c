//! What each choice is worth: the winner with one tunable at a time set back to its default, measured next to the winner.

use std::sync::Arc;

use kiln_bench::{Apparatus, Duel, Event, Fought, Kernel, Staged, Trouble, geomean, now_ms};
use kiln_core::{Config, Gate, IMPLEMENTATION, Outcome, Value};

use crate::course::Course;
use crate::phases::attempts::{Attempts, Tried};
use crate::phases::face::{Match, face};
use crate::phases::finals::medians;
use crate::recording::record::{Defeat, ENDED, Entry, Record};
use crate::recording::summary::Ablated;

/// Rounds and samples: enough to tell what a choice is worth to a few per cent.
const ROUNDS: usize = 4;
const SAMPLES: usize = 3;
/// The share of the winner's time below which a set-back configuration is worth a closer look.
const FASTER: f64 = 0.97;

/// What was found: an entry for each tunable that is not at its default, most worth first, and what is faster than the winner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ablation {
    pub(crate) entries: Vec<Ablated>,
    pub(crate) faster: Option<Config>,
    /// What it measured and the search had not tried.
    pub(crate) untried: Vec<Config>,
    /// What a gate refused there.
    pub(crate) refused: Vec<(Config, Gate)>,
    /// The number of the next one on record.
    pub(crate) next: u64,
}

/// Sets one tunable after the other back, as long as there is time. Those on record begin with the number `first`.
pub(crate) fn ablation<A: Apparatus>(
    bench: &mut A,
    course: Course<'_>,
    attempts: &Attempts,
    winner: &Config,
    first: u64,
) -> Result<Ablation, Trouble> {
    let (phase, record) = (course.phase("ablation"), course.record);
    let changed: Vec<(String, Value, Value)> = winner
        .iter()
        .filter_map(|(name, value)| {
            let default = match &**name {
                IMPLEMENTATION => Value::Str(usual(bench.kernel())?),
                _ => bench.kernel().default_value(winner, name)?.clone(),
            };
            (default != *value).then(|| (name.to_string(), value.clone(), default))
        })
        .collect();
    bench.tell(&Event::Phase { phase: &phase, planned: changed.len() });
    let mut found = Ablation { next: first, ..Ablation::default() };
    let mut least = FASTER;
    for (tunable, from, to) in changed {
        let number = found.next;
        bench.go_on()?;
        if record.end(&phase).is_some_and(|end| number >= end) {
            break;
        }
        if course.budget.is_over(bench.now()) && !record.holds(&phase, number) {
            record.note(ENDED, &format!("{phase} {number}"))?;
            break;
        }
        found.next += 1;
        let set_back = match tunable == IMPLEMENTATION {
            // Another implementation has other tunables: its best stands for it.
            true => best_of(attempts, &to),
            false => {
                let set =
                    |(n, v): (&Arc<str>, &Value)| (n.clone(), if **n == *tunable { to.clone() } else { v.clone() });
                Some(Config::new(winner.iter().map(set).collect()))
            }
        };
        let workload = course.workload.map(String::from);
        let (from, to) = (from.to_string(), to.to_string());
        let mut entry = Ablated { workload, tunable, from, to, worth: None, why: None };
        match &set_back {
            Some(set_back) if bench.kernel().allows(set_back) => {
                if !attempts.all.iter().any(|tried| tried.config == *set_back) {
                    found.untried.push(set_back.clone());
                }
                match worth(bench, record, winner, set_back, &phase, number)? {
                    Ok(worth) => entry.worth = Some(worth),
                    Err(gate) => {
                        entry.why = Some(format!("refused by {gate}"));
                        found.refused.push((set_back.clone(), gate));
                    }
                }
            }
            Some(_) => entry.why = Some("a constraint refuses it alone".into()),
            None => entry.why = Some("none of its configurations passed".into()),
        }
        bench.tell(&Event::Ablation { tunable: &entry.tunable, worth: entry.worth });
        if let Some(worth) = entry.worth.filter(|worth| *worth < least) {
            (least, found.faster) = (worth, set_back);
        }
        found.entries.push(entry);
    }
    found.entries.sort_by(|a, b| b.worth.unwrap_or(0.0).total_cmp(&a.worth.unwrap_or(0.0)));
    Ok(found)
}

/// The implementation that is the default: that of the default configuration, else the first.
fn usual(kernel: &Kernel<'_>) -> Option<Arc<str>> {
    let stated = kernel.stated_default();
    let first = || kernel.selection.first().name.clone();
    stated.as_ref().and_then(Config::implementation).map(Arc::from).or_else(first)
}

/// The best that was tried of an implementation.
fn best_of(attempts: &Attempts, implementation: &Value) -> Option<Config> {
    let own = |tried: &&Tried| tried.config.get(IMPLEMENTATION) == Some(implementation);
    attempts.ranked().into_iter().find(own).map(|tried| tried.config.clone())
}

/// Time of the set-back configuration over the winner's, or the gate that refused it.
fn worth<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    winner: &Config,
    set_back: &Config,
    phase: &str,
    number: u64,
) -> Result<Result<f64, Gate>, Trouble> {
    let recorded = record.evaluation(phase, number, set_back)?.is_some();
    let mut subjects: Vec<(String, A::Subject)> = Vec::new();
    for (name, config) in [("candidate", set_back), ("winner", winner)] {
        let mut subject = A::nothing();
        if !recorded {
            let build = bench.build(config)?;
            match bench.built(build)? {
                Outcome::Passed(built) => subject = built,
                Outcome::Refused(refusal) => {
                    let gate = refusal.gate;
                    let (started_ms, wall_s) = (now_ms(), 0.0);
                    let entry = Entry { phase, number, config: set_back, artifact: None, started_ms, wall_s };
                    record.keep_rounds(entry, &[], &[], Err(&Defeat { subject: 0, refusal, workload: None }))?;
                    return Ok(Err(gate));
                }
            }
        }
        subjects.push((name.into(), subject));
    }
    let duel = Duel { subjects: &subjects, rounds: ROUNDS, samples: SAMPLES, purpose: phase, deadline: None };
    let weights: Vec<f64> = bench.stages().iter().map(Staged::weight).collect();
    Ok(
        match face(
            bench,
            record,
            bench.stages(),
            Match { phase, number, config: set_back, duel, shown: false, peers: false },
        )? {
            Ok(Fought { rounds, .. }) => {
                Ok(geomean(medians(&rounds, &weights, 0)) / geomean(medians(&rounds, &weights, 1)))
            }
            Err(defeat) => Err(defeat.refusal.gate),
        },
    )
}
