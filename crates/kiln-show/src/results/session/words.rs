//! The parts of a session's report, for a terminal.

use std::cmp::Ordering;
use std::fmt;

use jiff::tz::TimeZone;
use kiln_app::{Best, Hypothesis, SessionReport, SessionRow, StopRule, StopWarning, budgeted};

use crate::words::number::{counted, stretch};
use crate::words::table::{Align, cut, lines};
use crate::words::time::clock;

/// A speedup of this share of another came as far.
const ALIKE: f64 = 0.95;

/// Letters of a hypothesis, a command and a result in a terminal; Markdown and JSON have them whole.
const THOUGHT: usize = 48;
const COMMAND: usize = 48;
const RESULT: usize = 72;

/// `1.28x`.
pub(crate) fn factor(speedup: f64) -> String {
    if speedup < 0.1 { format!("{speedup:.3}x") } else { format!("{speedup:.2}x") }
}

/// Money, in whatever prices were given in.
pub(crate) fn amount(value: f64) -> String {
    format!("{value:.2}")
}

/// How long, or that it did not happen.
pub(crate) fn maybe_stretch(seconds: Option<f64>) -> String {
    seconds.map_or("-".into(), stretch)
}

/// The end of an id, which people type.
pub(crate) fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(6)..).unwrap_or(id)
}

/// How many commands were the session's own, and how many took its time for other kernels.
pub(crate) fn attempts(report: &SessionReport) -> String {
    let own = report.row.attempts;
    if report.others == 0 { own.to_string() } else { format!("{own}, and {} with other kernels", report.others) }
}

/// Where the time went.
pub(super) fn phases(f: &mut fmt::Formatter<'_>, report: &SessionReport) -> fmt::Result {
    use Align::{Left, Right};
    if report.phases.is_empty() {
        return Ok(());
    }
    let mut rows = vec![["phase", "attempts", "commands", "in all", "expected"].map(String::from).to_vec()];
    rows.extend(report.phases.iter().map(|time| {
        let expected = report.expected.iter().find(|one| one.phase == time.phase).map(|one| one.elapsed_s);
        vec![
            time.phase.name().into(),
            time.attempts.to_string(),
            stretch(time.commands_s),
            stretch(time.elapsed_s),
            maybe_stretch(expected),
        ]
    }));
    writeln!(f, "\nphases")?;
    f.write_str(&lines(&rows, &[Left, Right, Right, Right, Right]))?;
    for budget in budgeted(&report.session, &report.phases).iter().filter(|budget| budget.is_over()) {
        writeln!(f, "  {} took {} of {}", budget.name, stretch(budget.spent_s), stretch(budget.budget_s))?;
    }
    Ok(())
}

/// What went wrong, and what applies now.
pub(super) fn trouble(f: &mut fmt::Formatter<'_>, report: &SessionReport) -> fmt::Result {
    let zone = TimeZone::system();
    let at = |ms: i64| clock(ms, &zone);
    let blind = report.blind.iter().map(|one| {
        format!(
            "blind change at {}: {} -> {} ({})",
            at(one.at_ms),
            factor(one.before),
            factor(one.after),
            one.changed.words()
        )
    });
    let crowded =
        report.crowded.iter().map(|one| format!("several changes at {}: {}", at(one.at_ms), one.changed.words()));
    let again = report.repeated.iter().map(|one| {
        let when = if one.earlier_session { "before this session" } else { "in this session" };
        format!("repeated mistake at {}: {} was put right {when}", at(one.at_ms), one.what)
    });
    let found: Vec<String> = blind.chain(crowded).chain(again).collect();
    if !found.is_empty() {
        writeln!(f, "\nto learn from")?;
        found.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
    }
    let kept = report.promises.iter().filter(|promise| promise.measured.is_some());
    let promises: Vec<String> = kept
        .map(|one| {
            let measured = one.measured.map_or("-".into(), factor);
            format!("{}: promised {}, gave {measured}", one.cause, factor(one.promised))
        })
        .collect();
    if !promises.is_empty() {
        writeln!(f, "\npredicted and measured")?;
        promises.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
    }
    if warnings(report).next().is_some() {
        writeln!(f, "\nwarnings")?;
        warnings(report).try_for_each(|one| writeln!(f, "  {}\n    hint: {}", one.what, one.hint))?;
    }
    Ok(())
}

/// What was tried to know something.
pub(super) fn hypotheses(f: &mut fmt::Formatter<'_>, report: &SessionReport) -> fmt::Result {
    if report.hypotheses.is_empty() {
        return Ok(());
    }
    let mut rows = vec![["hypothesis", "command", "result"].map(String::from).to_vec()];
    rows.extend(report.hypotheses.iter().map(|one| {
        [(&one.hypothesis, THOUGHT), (&one.command, COMMAND), (&came(one), RESULT)]
            .map(|(text, room)| cut(text, room))
            .to_vec()
    }));
    writeln!(f, "\nhypotheses")?;
    f.write_str(&lines(&rows, &[Align::Left; 3]))
}

/// What came of a hypothesis; of one that an older kiln reported, its outcome.
pub(crate) fn came(one: &Hypothesis) -> String {
    let older = || [Some(one.outcome.clone()), one.words.clone()].into_iter().flatten().collect::<Vec<_>>().join(": ");
    if one.result.is_empty() { older() } else { one.result.clone() }
}

/// A speedup with what it is of and the configuration.
pub(crate) fn figure(best: &Best) -> String {
    let plain = || {
        let on = best.workload.as_ref().map_or(String::new(), |name| format!(" on {name}"));
        format!("{}{on}", factor(best.speedup))
    };
    let words = best.words.clone().unwrap_or_else(plain);
    match best.config.as_ref().filter(|config| !config.is_empty()) {
        Some(config) => format!("{words}, {config}"),
        None => words,
    }
}

/// The newest measurement, where the sources have changed since the best and made it slower.
pub(crate) fn newest(best: &Best) -> String {
    format!("{}: slower than the best, with other sources", figure(best))
}

/// The goal, and whether it is reached.
pub(crate) fn goal(report: &SessionReport) -> String {
    let goal = &report.session.goal;
    let reached = report.best.as_ref().is_some_and(|best| goal.is_reached(best.speedup, best.workload.as_deref()));
    match (goal.text.is_empty(), reached) {
        (true, _) => "-".into(),
        (false, true) => format!("{} (reached)", goal.text),
        (false, false) => goal.text.clone(),
    }
}

/// Rules that apply at the end. That the goal is reached stands beside the goal: it is nothing to be warned of.
pub(crate) fn warnings(report: &SessionReport) -> impl Iterator<Item = &StopWarning> {
    report.warnings.iter().filter(|one| one.rule != StopRule::GoalReached)
}

/// How many attempts the result took, held against the last session that came as far.
pub(super) fn beside(report: &SessionReport) -> Option<String> {
    let (best, attempts) = (report.row.speedup?, report.row.attempts_to_best?);
    let goal = report.session.goal.speedup.filter(|goal| best >= *goal);
    let both = |earlier: f64, row: &SessionRow| goal.is_some_and(|goal| earlier >= goal) && row.goal == report.row.goal;
    let far = |row: &&SessionRow| row.speedup.is_some_and(|earlier| best >= earlier * ALIKE || both(earlier, row));
    let row = report.earlier.iter().rev().find(|row| row.attempts_to_best.is_some()).filter(far)?;
    let (earlier, then) = (row.attempts_to_best?, row.speedup?);
    let how = match attempts.cmp(&earlier) {
        Ordering::Less => "shorter",
        Ordering::Equal => "as long",
        Ordering::Greater => "longer",
    };
    let said = counted(attempts as u128, "attempt");
    Some(format!(
        "{how}: {said} to {}; session {} took {earlier} to {}",
        factor(best),
        short(&row.session),
        factor(then)
    ))
}

/// What was decided.
pub(super) fn decisions(f: &mut fmt::Formatter<'_>, report: &SessionReport) -> fmt::Result {
    if report.decisions.is_empty() {
        return Ok(());
    }
    writeln!(f, "\ndecisions")?;
    for made in &report.decisions {
        let about = if made.kernel.is_empty() { String::new() } else { format!("{}: ", made.kernel) };
        // To work on a kernel again needs no reason.
        let because = if made.because.is_empty() { String::new() } else { format!(" ({})", made.because) };
        writeln!(f, "  {about}{}{because}", made.choice)?;
    }
    Ok(())
}

/// Options with time, cost and best case.
pub(super) fn options(options: &[kiln_app::DecisionOption]) -> String {
    let mut rows = vec![["", "option", "time", "cost", "best case"].map(String::from).to_vec()];
    rows.extend(options.iter().enumerate().map(|(at, one)| {
        vec![
            (at + 1).to_string(),
            one.what.clone(),
            maybe_stretch(one.time_s),
            one.cost.map_or("-".into(), amount),
            one.best_case.map_or("-".into(), factor),
        ]
    }));
    lines(&rows, &[Align::Right, Align::Left, Align::Right, Align::Right, Align::Right])
}

/// `grade B`, where there is one.
pub(crate) fn graded(letter: &str) -> String {
    if letter == "-" { "no grade".into() } else { format!("grade {letter}") }
}

/// The letter with its reasons.
pub(super) fn grade(f: &mut fmt::Formatter<'_>, report: &SessionReport) -> fmt::Result {
    match &report.grade.ungraded {
        Some(why) => writeln!(f, "\n{}: {why}", graded(&report.grade.letter))?,
        None => writeln!(f, "\n{}", graded(&report.grade.letter))?,
    }
    let row = |one: &kiln_app::JudgedTarget| {
        let met = match one.met {
            Some(true) => "met",
            Some(false) => "missed",
            None => "-",
        };
        vec![met.to_string(), one.target.clone(), one.found.clone()]
    };
    let rows: Vec<Vec<String>> = report.grade.targets.iter().map(row).collect();
    f.write_str(&lines(&rows, &[Align::Left; 3]))
}
