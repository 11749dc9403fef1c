//! What an attempt leads to, said once. In: the session, its attempts, the newest of them. Out: warnings: stop rules that apply now and
//! did not before, a change made blind, several changes at once, a mistake made again. Outside a session only the blind change.

use kiln_core::{Report, quoted};
use kiln_diagnose::lessons::{Habit, Symptoms};
use kiln_session::{
    AttemptOutcome, Attempted, Session, StopRule, StopWarning, blind_last, crowded_last, measured, mistakes, times,
    warnings,
};

use crate::lessons::{Shelf, lesson_for};
use crate::project::Project;

/// Attempts of a kernel that are looked back on where no session is open.
pub(crate) const REMEMBERED: u32 = 20;

/// Attempts before a session that are looked through for the same mistake.
pub(crate) const EARLIER: u32 = 200;

/// What is new since the attempt before. `own` are the session's attempts, or the kernel's last ones, and the newest is the last of them;
/// `before` are those before the session that say whether its mistake is an old one.
pub(crate) fn newly(
    project: &Project,
    session: Option<&Session>,
    before: &[Attempted],
    own: &[Attempted],
) -> Vec<Report> {
    let mut said: Vec<(Report, Option<Habit>)> = Vec::new();
    let Some(made) = own.last() else { return Vec::new() };
    if let Some(change) = blind_last(own) {
        let words = format!(
            "a blind change: {}, then {}, with {} changed and no profile in between",
            times(change.before),
            times(change.after),
            change.changed.words()
        );
        let hint = format!("see what limits it first: kiln profile {}{}", quoted(&made.path), measured(made));
        let report = Report::warning(words).hint(hint);
        said.push((report, Some(Habit::BlindChange)));
    }
    let Some(session) = session else { return with_lessons(project, said) };
    if let Some(many) = crowded_last(own) {
        let report = Report::warning(format!("several things changed at once: {}", many.changed.words()));
        said.push((report.hint("change one, measure, then the next"), Some(Habit::SeveralChanged)));
    }
    if without_baseline(own, made) {
        let words = format!("{} was measured without a baseline: nobody knows whether that is fast", made.kernel);
        let hint = format!("kiln bench {} --baselines, or name one in kernel.toml", quoted(&made.path));
        said.push((Report::warning(words).hint(hint), Some(Habit::NoBaseline)));
    }
    if let Some(again) = mistakes(before, own).iter().find(|again| again.attempt == made.id) {
        let when = if again.earlier_session { "before this session" } else { "in this session" };
        let report = Report::warning(format!("a repeated mistake: {} was put right {when}", again.what));
        let lesson = again.lesson.as_ref().map(|id| format!("kiln lessons show {id}"));
        said.push((report.maybe_hint(lesson), None));
    }
    for warning in new_rules(session, own) {
        said.push((Report::warning(warning.what).hint(warning.hint), habit(warning.rule)));
    }
    with_lessons(project, said)
}

/// Rules that apply now and did not before the last of these attempts.
fn new_rules(session: &Session, own: &[Attempted]) -> Vec<StopWarning> {
    let Some((made, others)) = own.split_last() else { return Vec::new() };
    let then = others.iter().map(Attempted::ended_ms).max().unwrap_or(session.started_ms);
    let known = warnings(session, others, then);
    let is_new = |one: &StopWarning| !known.iter().any(|old| (old.rule, &old.about) == (one.rule, &one.about));
    warnings(session, own, made.ended_ms()).into_iter().filter(is_new).collect()
}

/// Whether this is the first time that a configuration was timed, and before any baseline was.
fn without_baseline(own: &[Attempted], made: &Attempted) -> bool {
    let timed = |one: &Attempted| one.verb == "bench" && one.outcome == AttemptOutcome::Passed;
    // A baseline alone has no configuration.
    let alone = |one: &Attempted| timed(one) && one.config.is_some() && one.speedup.is_none();
    let earlier =
        |one: &&Attempted| one.same_kernel(made) && one.id != made.id && (timed(one) || one.speedup.is_some());
    alone(made) && !own.iter().any(|one| earlier(&one))
}

/// What a rule is called among the symptoms of lessons.
fn habit(rule: StopRule) -> Option<Habit> {
    match rule {
        StopRule::BuildStuck => Some(Habit::FailingBuilds30Min),
        StopRule::SameCause => Some(Habit::SameFailure3x),
        StopRule::NoProgress => Some(Habit::NoProgress),
        StopRule::GettingWorse => Some(Habit::GettingWorse),
        StopRule::SlowWithoutProfile => Some(Habit::BelowHalfWithoutProfile),
        StopRule::GoalReached | StopRule::BudgetSpent | StopRule::PhaseBudget | StopRule::NegativeReturn => None,
    }
}

/// Each with the lesson that fits it.
fn with_lessons(project: &Project, said: Vec<(Report, Option<Habit>)>) -> Vec<Report> {
    // Most attempts lead to nothing, and read no folder.
    let shelf = said.iter().any(|(_, habit)| habit.is_some()).then(|| Shelf::open(project));
    let taught = |habit: Habit| {
        let seen = Symptoms { habits: vec![habit], ..Symptoms::default() };
        lesson_for(shelf.as_ref()?, &seen, None, None)
    };
    let one = |(report, habit): (Report, Option<Habit>)| match habit.and_then(taught) {
        Some(lesson) => report.label(format!("{} (kiln lessons show {})", lesson.title, lesson.id)),
        None => report,
    };
    said.into_iter().map(one).collect()
}
