//! A duel that is recorded: from the record when it is there, else fought and kept.

use std::time::Instant;

use kiln_bench::{Apparatus, Duel, Event, Fought, Lost, Staged, now_ms};
use kiln_core::{Config, Fault};

use crate::recording::record::{Defeat, Entry, Record};

/// A duel and where it belongs in the record.
pub(crate) struct Match<'a, S> {
    pub(crate) phase: &'a str,
    pub(crate) number: u64,
    /// The configuration it is about: the subject at place 0.
    pub(crate) config: &'a Config,
    pub(crate) duel: Duel<'a, S>,
    /// Whether it is a phase of its own, or a step of one.
    pub(crate) shown: bool,
    /// Whether all of them are candidates, of whom any may be refused.
    pub(crate) peers: bool,
}

/// What was found, or how a subject was refused. That one who is no candidate is refused is a fault: it was right before.
pub(crate) fn face<A: Apparatus>(
    bench: &A,
    record: &Record<'_>,
    stages: &[A::Stage],
    found: Match<'_, A::Subject>,
) -> Result<Result<Fought, Defeat>, Fault> {
    let Match { phase, number, config, duel: plan, shown, peers } = found;
    let workloads: Vec<&str> = stages.iter().map(Staged::name).collect();
    let subjects: Vec<&str> = plan.subjects.iter().map(|(name, _)| name.as_str()).collect();
    if shown {
        bench.tell(&Event::Phase { phase, planned: plan.rounds });
    }
    if let Some(fought) = record.rounds(phase, number, config, &workloads, &subjects)? {
        return Ok(fought);
    }
    let (started, started_ms) = (Instant::now(), now_ms());
    let mut step = |done| {
        if shown {
            bench.tell(&Event::Step { phase, done, planned: plan.rounds });
        }
    };
    let fought = match bench.duel(stages, plan, &mut step)? {
        Ok(fought) => Ok(fought),
        Err(Lost { subject, refusal, workload }) if peers || subject == 0 => {
            Err(Defeat { subject, refusal, workload: Some(workload) })
        }
        Err(lost) => {
            let (name, _) = &plan.subjects[lost.subject];
            return Err(Fault::new(
                format!("measuring {name} on {}", lost.workload),
                format!("{}: {}", lost.refusal.gate, lost.refusal.measured),
            ));
        }
    };
    let artifact = plan.subjects.first().and_then(|(_, subject)| A::key(subject));
    let wall_s = started.elapsed().as_secs_f64();
    let entry = Entry { phase, number, config, artifact, started_ms, wall_s };
    record.keep_rounds(entry, &workloads, &subjects, fought.as_ref())?;
    Ok(fought)
}
