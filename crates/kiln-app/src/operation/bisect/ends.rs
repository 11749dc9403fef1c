//! The two ends of a bisection. In: a bad commit, and a good one where somebody knows one. Out: a good one that was looked at: the
//! one that was named, else the newest that is recorded as good, else the first found by walking back in steps that
//! double. Refuses ends that are not what they are said to be.

use kiln_core::Report;

use super::BisectUntil;
use super::course::{Course, Halt};
use super::search::Standing;
use crate::repository::short;

/// Commits looked through at most.
const MOST: usize = 100_000;

/// The good commit.
pub(super) fn good(course: &mut Course<'_>) -> Result<String, Halt> {
    let bad = course.bad.clone();
    let fast = matches!(course.request.until, BisectUntil::Fast(_));
    // A bad commit that is good needs no good one. What is slow is so against another.
    if !fast {
        course.judge(&bad)?;
        is_bad(course)?;
    }
    if let Some(asked) = &course.request.good {
        let named = course.repository.commit(asked)?;
        return named_good(course, asked, named);
    }
    let ancestors = course.repository.ancestors(&bad, MOST)?;
    let recorded = course.recorded_good()?;
    let newest = ancestors.iter().skip(1).find(|commit| recorded.contains(*commit)).cloned();
    if let Some(commit) = newest {
        course.teller.note(format!("{} is the newest commit recorded as good", short(&commit)));
        if is_good(course, &commit)? {
            return Ok(commit);
        }
        course.notes.push(format!("{} is recorded as good, and is not", short(&commit)));
    }
    let mut step = 1;
    while step < ancestors.len() {
        if is_good(course, &ancestors[step])? {
            return Ok(ancestors[step].clone());
        }
        // The first commit of all is looked at too.
        step = if step + 1 == ancestors.len() { ancestors.len() } else { (2 * step).min(ancestors.len() - 1) };
    }
    let oldest = ancestors.last().map_or("", |commit| short(commit));
    let report = Report::error(format!("no commit back to {oldest} is good"));
    Err(report.label(format!("--until {}", course.request.until)).hint("name one: --good COMMIT").into())
}

/// Refuses a good commit that is not, or leads nowhere.
fn named_good(course: &mut Course<'_>, asked: &str, named: String) -> Result<String, Halt> {
    let bad = course.bad.clone();
    if named == bad {
        return Err(Report::error(format!("--good and --bad are the same commit, {}", short(&bad))).into());
    }
    if !course.repository.is_ancestor(&named, &bad)? {
        let swapped = course.repository.is_ancestor(&bad, &named)?;
        let report = Report::error(format!("--good {asked} is no ancestor of --bad {}", course.request.bad));
        return Err(match swapped {
            true => report.hint("the good commit comes first: swap the two").into(),
            false => report.hint("git merge-base GOOD BAD names their common ancestor").into(),
        });
    }
    if is_good(course, &named)? {
        return Ok(named);
    }
    if matches!(course.request.until, BisectUntil::Fast(_)) {
        is_bad(course)?;
    }
    let report = Report::error(format!("--good {asked} is not good: {}", course.words(&named)));
    Err(report.hint("omit --good to look further back").into())
}

/// Whether a commit is good; one that others are measured against is good where the bad one is slower than it.
fn is_good(course: &mut Course<'_>, commit: &str) -> Result<bool, Halt> {
    if matches!(course.request.until, BisectUntil::Fast(_)) {
        course.reference = Some(commit.into());
        let bad = course.bad.clone();
        return Ok(course.judge(&bad)? == Standing::Bad);
    }
    Ok(course.judge(commit)? == Standing::Good)
}

/// Refuses a bad commit that is not.
fn is_bad(course: &mut Course<'_>) -> Result<(), Halt> {
    let asked = &course.request.bad;
    let words = course.words(&course.bad);
    match course.standing(&course.bad) {
        Some(Standing::Bad) => Ok(()),
        Some(Standing::Unjudged) => {
            let report = Report::error(format!("--bad {asked} cannot be judged: {words}"));
            let hint = match course.request.until {
                BisectUntil::Build => "choose another --bad, or --config",
                _ => "`--until build` finds the commit that broke the build; or choose another --bad",
            };
            Err(report.hint(hint).into())
        }
        _ => Err(Report::error(format!("--bad {asked} is not bad: {words}"))
            .label(format!("--until {}", course.request.until))
            .hint("choose another --bad, or another --until")
            .into()),
    }
}
