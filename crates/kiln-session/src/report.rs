//! The end of a session, in numbers. In: the session, its attempts, older ones, what was decided, reports of earlier sessions. Out: one
//! record that is stored, printed and compared with the next.

use std::collections::BTreeSet;

use kiln_core::quoted;
use serde::{Deserialize, Serialize};

use crate::progress::counts;
use crate::stop::answered;
use crate::words::times;
use crate::{
    AttemptOutcome, Attempted, Best, BlindChange, Cost, Crowded, Decision, Grade, Mistake, PhaseTime, Promise, Session,
    StopWarning, best, blind, broken, cost, counters, crowded, grade, measured, mistakes, newest_behind, phases,
    promises, stop, time_to_bottleneck, time_to_build, warnings,
};

/// A hypothesis and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What somebody thought.
    pub hypothesis: String,
    /// What was run, so that it can be pasted.
    pub command: String,
    /// What came of it: what was measured, why it failed, or that it succeeded. Empty in reports of older kilns.
    #[serde(default)]
    pub result: String,
    /// How it ended.
    pub outcome: String,
    /// Why, in a sentence.
    pub words: Option<String>,
    /// The speedup, where one was measured.
    pub speedup: Option<f64>,
    /// Seconds it took.
    pub seconds: f64,
}

/// A session in one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRow {
    /// The session.
    pub session: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// The kernel, where it was about one.
    pub kernel: Option<String>,
    /// What was to be reached.
    pub goal: String,
    /// Commands.
    pub attempts: usize,
    /// Commands up to the first that reached the goal, or the best speedup where there was no goal.
    pub attempts_to_best: Option<usize>,
    /// Seconds from beginning to end.
    pub elapsed_s: f64,
    /// Seconds to a working build.
    pub time_to_build_s: Option<f64>,
    /// Seconds to a named bottleneck.
    pub time_to_bottleneck_s: Option<f64>,
    /// The best speedup.
    pub speedup: Option<f64>,
    /// What it cost.
    pub cost: Option<f64>,
    /// Blind changes.
    pub blind: usize,
    /// Repeated mistakes.
    pub repeated: usize,
    /// The letter.
    pub grade: String,
}

/// Everything said at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionReport {
    /// The session.
    pub session: Session,
    /// The session in one row.
    pub row: SessionRow,
    /// Time by phase.
    pub phases: Vec<PhaseTime>,
    /// Commands with other kernels than the session's.
    #[serde(default)]
    pub others: usize,
    /// Seconds by phase that earlier sessions let expect; empty where there were none.
    pub expected: Vec<PhaseTime>,
    /// What was spent.
    pub cost: Cost,
    /// The best speedup.
    pub best: Option<Best>,
    /// The newest measurement, where the sources have changed since the best and made it slower.
    #[serde(default)]
    pub newest: Option<Best>,
    /// Changes made blind.
    pub blind: Vec<BlindChange>,
    /// Several things changed at once.
    pub crowded: Vec<Crowded>,
    /// Mistakes made again.
    pub repeated: Vec<Mistake>,
    /// Lessons that were shown, with whether the failure was put right.
    pub lessons_used: Vec<(String, bool)>,
    /// Lessons that were written.
    pub lessons_learned: Vec<String>,
    /// What profiles promised and what came of it.
    pub promises: Vec<Promise>,
    /// What was tried to know something.
    pub hypotheses: Vec<Hypothesis>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// Rules that apply at the end.
    pub warnings: Vec<StopWarning>,
    /// The letter with its reasons.
    pub grade: Grade,
    /// What to do next.
    pub next: Vec<String>,
    /// Earlier sessions, oldest first.
    pub earlier: Vec<SessionRow>,
}

/// What a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct Material<'m> {
    /// The session.
    pub session: &'m Session,
    /// Its attempts, in order.
    pub attempts: &'m [Attempted],
    /// Attempts before it, in order.
    pub before: &'m [Attempted],
    /// What was decided in it.
    pub decisions: &'m [Decision],
    /// Reports of earlier sessions, oldest first.
    pub earlier: &'m [SessionReport],
    /// Lessons that were written in it.
    pub learned: &'m [String],
    /// What the assistant cost, where a bill is known.
    pub assistant_bill: Option<f64>,
    /// The digest that the sources of its kernel have now, where that is known.
    pub sources: Option<&'m str>,
    /// The moment now.
    pub now_ms: i64,
}

/// What a grade is made of.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'f> {
    /// The goal, in words.
    pub goal: &'f str,
    /// Whether there is something to reach.
    pub has_goal: bool,
    /// Whether it is.
    pub reached: bool,
    /// Whether the choice to stop is recorded.
    pub decided: bool,
    /// Commands.
    pub attempts: usize,
    /// The best speedup.
    pub speedup: Option<f64>,
    /// Whether something ran slower than its baseline: a bottleneck was to be named.
    pub slow: bool,
    /// Seconds to a working build.
    pub build_s: Option<f64>,
    /// Seconds to a named bottleneck.
    pub bottleneck_s: Option<f64>,
    /// Blind changes.
    pub blind: usize,
    /// Repeated mistakes.
    pub repeated: usize,
    /// Seconds in all.
    pub elapsed_s: f64,
    /// Seconds there were.
    pub budget_s: f64,
    /// What it cost.
    pub cost: Option<f64>,
}

/// The report of a session that ends, or of one that goes on, as it is now.
pub fn report(material: &Material<'_>) -> SessionReport {
    let Material { session, attempts, before, decisions, earlier, now_ms, .. } = *material;
    let elapsed_s = session.elapsed_s(now_ms);
    let spent = cost(&session.prices, elapsed_s, material.assistant_bill);
    let best = best(session, attempts);
    let (mut blind, mut crowded, mut repeated) = (blind(attempts), crowded(attempts), mistakes(before, attempts));
    // What was done with other kernels takes the session's time, and says nothing of its work.
    let others: BTreeSet<&str> =
        attempts.iter().filter(|one| !one.is_work_of(session)).map(|one| one.id.as_str()).collect();
    blind.retain(|one| !others.contains(one.attempt.as_str()));
    crowded.retain(|one| !others.contains(one.attempt.as_str()));
    repeated.retain(|one| !others.contains(one.attempt.as_str()));
    let is_own = |one: &&Attempted| one.is_work_of(session) && one.is_judgement();
    let own = attempts.iter().filter(is_own).count();
    let (build_s, bottleneck_s) = (time_to_build(session, attempts), time_to_bottleneck(session, attempts));
    let stands = |(at, one): (usize, &Attempted)| session.is_reached_by(one) && counts(session, attempts, at);
    let reached = attempts.iter().enumerate().any(stands);
    let decided = decisions.iter().rfind(|made| made.is_of(session)).is_some_and(Decision::stops);
    let grade = grade(&Facts {
        goal: &session.goal.text,
        has_goal: session.goal.speedup.is_some(),
        reached,
        decided,
        attempts: own,
        speedup: best.as_ref().map(|best| best.speedup),
        slow: attempts.iter().any(|one| session.is_about(one) && one.speedup.is_some_and(|speedup| speedup < 1.0)),
        build_s,
        bottleneck_s,
        blind: blind.len(),
        repeated: repeated.len(),
        elapsed_s,
        budget_s: session.budget_s,
        cost: spent.total,
    });
    let to_best = best.as_ref().and_then(|best| attempts.iter().position(|one| one.id == best.attempt));
    let row = SessionRow {
        session: session.id.clone(),
        started_ms: session.started_ms,
        kernel: session.kernel.clone(),
        goal: session.goal.text.clone(),
        attempts: own,
        attempts_to_best: to_best.map(|at| attempts[..=at].iter().filter(is_own).count()),
        elapsed_s,
        time_to_build_s: build_s,
        time_to_bottleneck_s: bottleneck_s,
        speedup: best.as_ref().map(|best| best.speedup),
        cost: spent.total,
        blind: blind.len(),
        repeated: repeated.len(),
        grade: grade.letter.clone(),
    };
    let mut warnings = warnings(session, attempts, session.ended_ms.unwrap_or(now_ms));
    let answered = answered(session, attempts, decisions);
    warnings.retain(|warning| !answered.contains(&warning.rule));
    let next = next(material, &warnings, reached);
    SessionReport {
        session: session.clone(),
        row,
        phases: phases(session, attempts),
        others: others.len(),
        expected: expected(earlier),
        cost: spent,
        best,
        newest: newest_behind(session, attempts),
        blind,
        crowded,
        repeated,
        lessons_used: used(attempts),
        lessons_learned: material.learned.to_vec(),
        promises: promises(attempts),
        hypotheses: hypotheses(attempts),
        decisions: decisions.to_vec(),
        warnings,
        grade,
        next,
        earlier: earlier.iter().map(|report| report.row.clone()).collect(),
    }
}

fn used(attempts: &[Attempted]) -> Vec<(String, bool)> {
    counters(attempts).into_iter().map(|(lesson, count)| (lesson, count.worked == count.met)).collect()
}

fn hypotheses(attempts: &[Attempted]) -> Vec<Hypothesis> {
    let row = |one: &Attempted| {
        Some(Hypothesis {
            at_ms: one.at_ms,
            hypothesis: one.hypothesis.clone()?,
            command: one.command.clone().unwrap_or_else(|| typed(one)),
            result: came(one),
            outcome: one.outcome.name().into(),
            words: one.words.clone().or(one.cause.clone()),
            speedup: one.speedup,
            seconds: one.seconds,
        })
    };
    attempts.iter().filter_map(row).collect()
}

/// What came of a hypothesis: a command that succeeds may well have measured that it is wrong.
fn came(one: &Attempted) -> String {
    let why = one.words.clone().or(one.cause.clone());
    match one.outcome {
        AttemptOutcome::Interrupted => "interrupted".into(),
        AttemptOutcome::Refused | AttemptOutcome::Fault => {
            let how = if one.is_judgement() { one.outcome.name() } else { "the command failed" };
            // A target that was missed was measured.
            let why: Vec<String> = one.speedup.map(times).into_iter().chain(why).collect();
            if why.is_empty() { how.into() } else { format!("{how}: {}", why.join(", ")) }
        }
        AttemptOutcome::Passed => {
            let measured = one.words.clone().or(one.speedup.map(times));
            let limited = one.limit.as_ref().map(|limit| format!("limited by {limit}"));
            measured.or(limited).unwrap_or_else(|| "the command succeeded".into())
        }
    }
}

/// The command of an attempt, with what it chose.
fn typed(one: &Attempted) -> String {
    let path = if one.path.is_empty() { String::new() } else { quoted(&one.path) };
    format!("kiln {} {path}{}", one.verb, measured(one)).trim().to_string()
}

/// The median of each phase in earlier sessions that had it.
fn expected(earlier: &[SessionReport]) -> Vec<PhaseTime> {
    let of = |phase| {
        let own: Vec<&PhaseTime> =
            earlier.iter().flat_map(|report| &report.phases).filter(|time| time.phase == phase).collect();
        let middle = |value: fn(&PhaseTime) -> f64| {
            kiln_stats::median(&own.iter().map(|time| value(time)).collect::<Vec<f64>>()).ok()
        };
        let (commands_s, elapsed_s) = (middle(|time| time.commands_s)?, middle(|time| time.elapsed_s)?);
        Some(PhaseTime { phase, commands_s, elapsed_s, attempts: own.len() })
    };
    crate::SessionPhase::ALL.into_iter().filter_map(of).collect()
}

/// What to do next, in the order of `kiln next`: end what is settled, decide what is not, else what the rules say, else the next step
/// of the loop. Nothing that needs an open session is said of one that is over.
fn next(material: &Material<'_>, warnings: &[StopWarning], reached: bool) -> Vec<String> {
    let Material { session, attempts, decisions, sources, now_ms, .. } = *material;
    let own = attempts.iter().rev().filter(|one| session.is_about(one)).map(|one| one.path.as_str());
    let own = own.into_iter().find(|path| !path.is_empty()).or(session.path.as_deref());
    let path = own.or(session.kernel.as_deref()).map_or("PATH".into(), quoted);
    let stop = stop(session, attempts, decisions, session.ended_ms.unwrap_or(now_ms), sources);
    let mut steps = Vec::new();
    if stop.as_ref().is_some_and(|stop| stop.settled) && session.is_open() {
        steps.push("end the session: kiln session end".to_string());
    }
    if let Some(wrong) = broken(session, attempts, sources).filter(|_| reached) {
        let cause = wrong.cause.as_deref().unwrap_or("a refusal");
        steps.push(format!("fix what broke since ({cause}): kiln next {path}"));
        return steps;
    }
    let decided = decisions.iter().rfind(|made| made.is_of(session));
    if reached && decided.is_none_or(Decision::stops) {
        // What was measured, and not the default of the file.
        let best = best(session, attempts);
        let config = best.as_ref().and_then(|best| best.config.as_deref()).filter(|config| !config.is_empty());
        let chosen = config.map(|config| format!(" --config {}", quoted(config))).unwrap_or_default();
        let searched = best.and_then(|best| attempts.iter().find(|one| one.id == best.attempt));
        let is_study = searched.is_some_and(|one| one.verb == "tune");
        steps.push(format!("guard it: kiln ci {path} --update{chosen}"));
        let exported = if is_study { " --study last" } else { &chosen };
        steps.push(format!("hand it on: kiln export {path}{exported}"));
        return steps;
    }
    if let Some(made) = decided {
        steps.push(format!("as decided: {}", made.choice));
        if made.stops() {
            return steps;
        }
    }
    if stop.is_some_and(|stop| !stop.settled) && session.is_open() {
        // To use the baseline is no end for a kernel that beats it.
        let wins = best(session, attempts).is_some_and(|best| best.speedup >= 1.0);
        let end = if wins { "stop here" } else { "use the baseline" };
        steps.push(format!("decide: kiln session decide --choose \"go on\" (or \"{end}\") --because REASON"));
    }
    // Those that end a session are spoken of above; where the time went stands in the report.
    let first = |rule: crate::StopRule| !rule.ends() && rule != crate::StopRule::PhaseBudget;
    steps.extend(warnings.iter().filter(|warning| first(warning.rule)).map(|warning| warning.hint.clone()));
    steps.dedup();
    if steps.is_empty() || decided.is_some() && steps.len() == 1 {
        let measured = attempts.iter().any(|one| session.is_about(one) && one.speedup.is_some());
        steps.push(match measured {
            false => format!("measure where it stands: kiln bench {path}"),
            true => format!("ask for the next step: kiln next {path}"),
        });
    }
    steps
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
