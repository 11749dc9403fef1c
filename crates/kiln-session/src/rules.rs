//! When to stop, or to do something else. In: a session, its attempts, the moment now. Out: the rules that apply, each with what it
//! is about and the next command. Which of them are worth saying again is for the caller to decide.

use kiln_core::quoted;
use serde::{Deserialize, Serialize};

use crate::promises::likelihood;
use crate::words::{lasting, times};
use crate::{AttemptOutcome, Attempted, Session, SessionPhase, best, budgeted, cost, difference, phases, promises};

/// Failures of one cause that are enough.
const SAME_CAUSE: usize = 3;
/// Measurements without progress that are enough.
const NO_PROGRESS: usize = 6;
/// A gain below this share is no progress.
const PROGRESS: f64 = 0.02;
/// Measurements in a row, each slower than the one before, that are enough.
const WORSE: usize = 3;
/// Attempts whose promises say how well promises are kept: the newest.
const LATELY: usize = 40;
/// What limits a kernel that cannot be made faster.
const ROOFLINE: &str = "at_roofline";
/// Below this speedup a profile comes first.
const FAR_BEHIND: f64 = 0.5;

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopRule {
    /// The goal is reached.
    GoalReached,
    /// The time is spent.
    BudgetSpent,
    /// A phase took longer than it may.
    PhaseBudget,
    /// Builds failed for as long as a build may take.
    BuildStuck,
    /// One cause failed again and again.
    SameCause,
    /// The best is as it was many measurements ago.
    NoProgress,
    /// Each measurement is slower than the one before.
    GettingWorse,
    /// Less than half the baseline's speed, and no profile.
    SlowWithoutProfile,
    /// What is left to gain is worth less than the time.
    NegativeReturn,
}

impl StopRule {
    /// Whether it ends a session. The others ask for something else to be done first.
    pub fn ends(self) -> bool {
        matches!(self, StopRule::GoalReached | StopRule::BudgetSpent | StopRule::NegativeReturn)
    }

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            StopRule::GoalReached => "goal_reached",
            StopRule::BudgetSpent => "budget_spent",
            StopRule::PhaseBudget => "phase_budget",
            StopRule::BuildStuck => "build_stuck",
            StopRule::SameCause => "same_cause",
            StopRule::NoProgress => "no_progress",
            StopRule::GettingWorse => "getting_worse",
            StopRule::SlowWithoutProfile => "slow_without_profile",
            StopRule::NegativeReturn => "negative_return",
        }
    }
}

/// A rule that applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopWarning {
    /// The rule.
    pub rule: StopRule,
    /// What it is about: a cause, a phase, a kernel; two warnings of one rule about one thing are the same.
    pub about: String,
    /// What is so.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// Every rule that applies now. Attempts are those of the session, the newest last.
pub fn warnings(session: &Session, attempts: &[Attempted], now_ms: i64) -> Vec<StopWarning> {
    let warn = |rule, about: &str, what: String, hint: String| StopWarning { rule, about: about.into(), what, hint };
    let mut found = Vec::new();
    let reached =
        best(session, attempts).filter(|best| session.goal.is_reached(best.speedup, best.workload.as_deref()));
    if let Some(best) = &reached {
        let what = format!("the goal is reached: {} (goal {})", times(best.speedup), session.goal.text);
        found.push(warn(StopRule::GoalReached, "", what, "kiln session end".into()));
    }
    let elapsed = session.elapsed_s(now_ms);
    if elapsed >= session.budget_s {
        let what = format!("the session's time is spent: {} of {}", lasting(elapsed), lasting(session.budget_s));
        let hint = "decide what to do with `kiln session decide`, or end it with `kiln session end`";
        found.push(warn(StopRule::BudgetSpent, "", what, hint.into()));
    }
    for budget in budgeted(session, &phases(session, attempts)).into_iter().filter(|budget| budget.is_over()) {
        let what = format!("{} took {} of {}", budget.name, lasting(budget.spent_s), lasting(budget.budget_s));
        let hint = "`kiln session status` shows where the time went";
        found.push(warn(StopRule::PhaseBudget, budget.name, what, hint.into()));
    }
    found.extend(stuck(attempts));
    found.extend(same_cause(attempts));
    if reached.is_none() {
        found.extend(no_progress(session, attempts));
        found.extend(negative_return(session, attempts, now_ms));
    }
    found.extend(getting_worse(session, attempts));
    found.extend(slow(session, attempts));
    found
}

/// Failures at the end, of one kernel.
fn failing(attempts: &[Attempted]) -> Vec<&Attempted> {
    let Some(last) = attempts.last() else { return Vec::new() };
    let own = attempts.iter().rev().filter(|one| one.same_kernel(last));
    let mut row: Vec<&Attempted> = own.take_while(|one| one.failed()).collect();
    row.reverse();
    row
}

/// Half an hour of failing builds: the last commit that built is worth more than another guess.
fn stuck(attempts: &[Attempted]) -> Option<StopWarning> {
    let mut builds = failing(attempts);
    builds
        .retain(|one| one.phase == SessionPhase::Build || one.cause.as_deref().is_some_and(|c| c.starts_with("build")));
    let (first, last) = (builds.first()?, builds.last()?);
    let took = (last.ended_ms() - first.at_ms) as f64 / 1e3;
    (builds.len() >= 2 && took >= 1800.0).then(|| StopWarning {
        rule: StopRule::BuildStuck,
        about: last.kernel.clone(),
        what: format!("builds of {} have failed for {}", last.kernel, lasting(took)),
        hint: format!("find the commit that broke it: kiln bisect {} --until build", quoted(&last.path)),
    })
}

/// The configuration of an attempt, as a command takes it.
fn chosen(one: &Attempted) -> String {
    one.config
        .as_ref()
        .filter(|config| !config.is_empty())
        .map(|config| format!(" --config {}", quoted(config)))
        .unwrap_or_default()
}

/// What an attempt measured, as a command takes it: a profile of something else would say nothing of it.
pub fn measured(one: &Attempted) -> String {
    let on = one.workload.as_ref().map(|name| format!(" --workload {}", quoted(name))).unwrap_or_default();
    on + &chosen(one)
}

fn same_cause(attempts: &[Attempted]) -> Option<StopWarning> {
    let row = failing(attempts);
    let last = row.last()?;
    let cause = last.mistake()?;
    let alike = row.iter().rev().take_while(|one| one.fails_like(last)).count();
    (alike >= SAME_CAUSE).then(|| StopWarning {
        rule: StopRule::SameCause,
        about: format!("{}/{cause}", last.kernel),
        what: format!("{} failed {alike} times in a row by {cause}", last.kernel),
        hint: match (&last.lesson, last.phase) {
            (Some(lesson), _) => format!("read what worked before: kiln lessons show {lesson}"),
            // No tool looks into what keeps kiln from judging.
            (None, _) if last.outcome == AttemptOutcome::Fault => {
                format!(
                    "the kernel is not at fault: fix what the message names, then run kiln {} {}",
                    last.verb,
                    quoted(&last.path)
                )
            }
            (None, SessionPhase::Build) => {
                format!(
                    "write the hypothesis down and test one thing: kiln try \"...\" -- kiln gate {}",
                    quoted(&last.path)
                )
            }
            (None, _) => {
                format!("find the cause instead of guessing: kiln sanitize {}{}", quoted(&last.path), chosen(last))
            }
        },
    })
}

/// Measurements of the session's kernel like the last one.
fn series<'a>(session: &Session, attempts: &'a [Attempted]) -> Vec<(&'a Attempted, f64)> {
    let all = || attempts.iter().filter(|one| session.is_about(one)).filter_map(|one| Some((one, one.speedup?)));
    let Some((last, _)) = all().next_back() else { return Vec::new() };
    all().filter(|(one, _)| one.same_kernel(last) && one.workload == last.workload).collect()
}

fn no_progress(session: &Session, attempts: &[Attempted]) -> Option<StopWarning> {
    let all = series(session, attempts);
    let (last, _) = *all.last()?;
    let top = |part: &[(&Attempted, f64)]| part.iter().map(|(_, speedup)| *speedup).fold(0.0, f64::max);
    let split = all.len().checked_sub(NO_PROGRESS).filter(|split| *split > 0)?;
    let (before, recent) = (top(&all[..split]), top(&all[split..]));
    (recent < before * (1.0 + PROGRESS)).then(|| StopWarning {
        rule: StopRule::NoProgress,
        about: last.kernel.clone(),
        what: format!("{} is no faster than {NO_PROGRESS} measurements ago: {} at best", last.kernel, times(before)),
        hint: format!("see what limits it: kiln profile {}{}", quoted(&last.path), measured(last)),
    })
}

fn getting_worse(session: &Session, attempts: &[Attempted]) -> Option<StopWarning> {
    let all = series(session, attempts);
    let row = &all[all.len().checked_sub(WORSE)?..];
    // The same code measured again is noise, not a change for the worse.
    let changed = |pair: &[(&Attempted, f64)]| {
        let found = difference(pair[0].0, pair[1].0);
        found.sources || !found.config.is_empty()
    };
    let falls = row.windows(2).all(|pair| pair[1].1 < pair[0].1 && changed(pair));
    let (first, last) = (row.first()?, row.last()?);
    let best = all.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (falls && last.1 < first.1 * 0.95).then(|| StopWarning {
        rule: StopRule::GettingWorse,
        about: last.0.kernel.clone(),
        what: {
            let row: Vec<String> = row.iter().map(|(_, speedup)| times(*speedup)).collect();
            format!("{} gets slower: {}", last.0.kernel, row.join(", "))
        },
        hint: match &best.0.config {
            Some(config) => format!("go back to the best, {} with {config}, and change one thing", times(best.1)),
            None => format!("go back to the best, {}, and change one thing", times(best.1)),
        },
    })
}

fn slow(session: &Session, attempts: &[Attempted]) -> Option<StopWarning> {
    let last = attempts.iter().rposition(|one| one.speedup.is_some() && session.is_about(one))?;
    let (attempt, speedup) = (&attempts[last], attempts[last].speedup?);
    let own = |one: &Attempted| one.same_kernel(attempt);
    let since = attempts[..last].iter().rposition(|one| own(one) && one.sources != attempt.sources).unwrap_or(0);
    let known = attempts[since..].iter().any(|one| own(one) && one.diagnosed());
    (speedup < FAR_BEHIND && !known).then(|| StopWarning {
        rule: StopRule::SlowWithoutProfile,
        about: attempt.kernel.clone(),
        what: format!("{} runs at {} of the baseline and was not profiled", attempt.kernel, times(speedup)),
        hint: format!("profile before changing anything: kiln profile {}{}", quoted(&attempt.path), measured(attempt)),
    })
}

/// The newest profile's promise, as far as promises are kept here, against the goal and the money.
fn negative_return(session: &Session, attempts: &[Attempted], now_ms: i64) -> Option<StopWarning> {
    let goal = session.goal.speedup?;
    let best = best(session, attempts)?;
    let last = attempts.iter().rfind(|one| one.kernel == best.kernel && one.promise.is_some())?;
    let promised = last.promise?;
    // Far behind, the first cause hides others: what lies behind it is not known.
    if best.speedup < FAR_BEHIND && !last.limit.as_deref().is_some_and(|limit| limit.starts_with(ROOFLINE)) {
        return None;
    }
    let likely = likelihood(&promises(&attempts[attempts.len().saturating_sub(LATELY)..]));
    let possible = best.speedup * promised.max(1.0);
    let about = best.kernel.clone();
    let hint = format!(
        "record the choice: kiln session decide; or use the baseline: kiln retire {} --because ...",
        quoted(&about)
    );
    let warn =
        |what| Some(StopWarning { rule: StopRule::NegativeReturn, about: about.clone(), what, hint: hint.clone() });
    if possible < goal {
        return warn(format!(
            "the goal {} is out of reach by the last profile: {} now, {} at best",
            times(goal),
            times(best.speedup),
            times(possible)
        ));
    }
    // What is left of the time costs this much; the goal is worth that much, if it is reached.
    let left = (session.budget_s - session.elapsed_s(now_ms)).max(0.0);
    let (worth, price) = (session.worth?, cost(&session.prices, left, None).total?);
    (likely * worth < price).then_some(())?;
    warn(format!("the goal is worth {worth:.2} and {:.0} % likely; the time left costs {price:.2}", 100.0 * likely))
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
