//! What each choice is worth: the winner with one tunable at a time set back to its default, measured next to the winner.

use kiln_bench::{Apparatus, Duel, Event, Fought, Staged, Trouble, geomean, now_ms};
use kiln_core::{Config, Outcome, Value};

use crate::face::{Match, face};
use crate::finals::medians;
use crate::record::{Defeat, Entry, Record};
use crate::summary::Ablated;

/// Rounds and samples: enough to tell what a choice is worth to a few per cent.
const ROUNDS: usize = 4;
const SAMPLES: usize = 3;

/// One entry for each tunable that is not at its default, most worth first.
pub(crate) fn ablation<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    winner: &Config,
    prefix: &str,
) -> Result<Vec<Ablated>, Trouble> {
    let phase = format!("{prefix}ablation");
    let changed: Vec<(String, Value, Value)> = winner
        .iter()
        .filter_map(|(name, value)| {
            let default = bench.kernel().default_value(name)?;
            (default != value).then(|| (name.to_string(), value.clone(), default.clone()))
        })
        .collect();
    bench.tell(&Event::Phase { phase: &phase, planned: changed.len() });
    let mut entries = Vec::with_capacity(changed.len());
    for (number, (tunable, from, to)) in changed.into_iter().enumerate() {
        bench.go_on()?;
        let set_back = Config::new(
            winner.iter().map(|(n, v)| (n.clone(), if **n == *tunable { to.clone() } else { v.clone() })).collect(),
        );
        let workload = prefix.strip_suffix('/').map(String::from);
        let (from, to) = (from.to_string(), to.to_string());
        let mut entry = Ablated { workload, tunable, from, to, worth: None, why: None };
        let valid = bench.kernel().space.locate(&set_back).is_some_and(|point| bench.kernel().space.contains(&point));
        if valid {
            match worth(bench, record, winner, &set_back, &phase, number as u64)? {
                Ok(worth) => entry.worth = Some(worth),
                Err(why) => entry.why = Some(why),
            }
        } else {
            entry.why = Some("a constraint refuses it alone".into());
        }
        bench.tell(&Event::Ablation { tunable: &entry.tunable, worth: entry.worth });
        entries.push(entry);
    }
    entries.sort_by(|a, b| b.worth.unwrap_or(0.0).total_cmp(&a.worth.unwrap_or(0.0)));
    Ok(entries)
}

/// Time of the set-back configuration over the winner's, or why there is none.
fn worth<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    winner: &Config,
    set_back: &Config,
    phase: &str,
    number: u64,
) -> Result<Result<f64, String>, Trouble> {
    let recorded = record.evaluation(phase, number, set_back)?.is_some();
    let mut subjects: Vec<(String, A::Subject)> = Vec::new();
    for (name, config) in [("candidate", set_back), ("winner", winner)] {
        let mut subject = A::nothing();
        if !recorded {
            let build = bench.build(config)?;
            match bench.built(build)? {
                Outcome::Passed(built) => subject = built,
                Outcome::Refused(refusal) => {
                    let why = format!("refused by {}", refusal.gate);
                    let (started_ms, wall_s) = (now_ms(), 0.0);
                    let entry = Entry { phase, number, config: set_back, artifact: None, started_ms, wall_s };
                    record.keep_rounds(entry, &[], &[], Err(&Defeat { subject: 0, refusal, workload: None }))?;
                    return Ok(Err(why));
                }
            }
        }
        subjects.push((name.into(), subject));
    }
    let duel = Duel { subjects: &subjects, rounds: ROUNDS, samples: SAMPLES, purpose: phase };
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
            Err(defeat) => Err(format!("refused by {}", defeat.refusal.gate)),
        },
    )
}
