//! The two ends of a bisection. In: a bad commit, and a good one where somebody knows one. Out: a good one that was looked at: the
//! one that was named, else the newest that is recorded as good, else the first found by walking back in steps that
//! double, no further than to the commit that added the kernel. Refuses ends that are not what they are said to be, and those that
//! do not have the kernel.

use camino::Utf8PathBuf;
use kiln_core::Report;
use kiln_diagnose::next::quoted;

use super::BisectUntil;
use super::course::{Course, Halt};
use super::search::Standing;
use crate::kernel::folder;
use crate::repository::{UNSHALLOW, git, short};

const SWAP: &str = "the good commit comes first: swap --good and --bad";
/// Commits looked through at most.
const MOST: usize = 100_000;

/// The good commit.
pub(super) fn good(course: &mut Course<'_>) -> Result<String, Halt> {
    let bad = course.bad.clone();
    let fast = matches!(course.request.until, BisectUntil::Fast(_));
    let file = file(course);
    if course.repository.held(&bad, &file)?.is_none() {
        let report = Report::error(format!("--bad {} does not have {file}", course.request.bad));
        return Err(report.hint(format!("`git log -- {file}` lists commits that do")).into());
    }
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
    // Behind the commit that added the kernel there is nothing to be good.
    let first = course.repository.added(&bad, &file)?;
    let place = first.as_ref().and_then(|first| ancestors.iter().position(|commit| commit == first));
    let oldest = place.unwrap_or(ancestors.len().saturating_sub(1));
    let mut step = 1;
    while step <= oldest {
        if is_good(course, &ancestors[step])? {
            return Ok(ancestors[step].clone());
        }
        // The oldest of all is looked at too.
        step = if step == oldest { oldest + 1 } else { (2 * step).min(oldest) };
    }
    let report =
        Report::error(format!("no commit back to {} is good", ancestors.get(oldest).map_or("", |own| short(own))));
    let report = report.label(format!("--until {}", course.request.until));
    Err(match beginning(course, &bad)? {
        Some(words) => report.hint(words),
        None => report.hint("name one: --good COMMIT"),
    }
    .into())
}

/// The kernel's file within the repository.
fn file(course: &Course<'_>) -> Utf8PathBuf {
    let inside = &course.looker.inside;
    if course.request.selecting.path.is_dir() { inside.join("kernel.toml") } else { inside.clone() }
}

/// Where the kernel's history begins, and how to look further back; none where nothing begins there.
fn beginning(course: &Course<'_>, bad: &str) -> Result<Option<String>, Halt> {
    let file = file(course);
    let Some(first) = course.repository.added(bad, &file)? else { return Ok(None) };
    if let Some(from) = course.repository.moved_from(&first, &file)? {
        let (folder, first) = (from.parent().filter(|folder| !folder.as_str().is_empty()), short(&first));
        let at = folder.map_or("../before".to_string(), |folder| format!("../before/{folder}"));
        return Ok(Some(format!(
            "{first} moved it here from {from}: to look further back, git worktree add ../before {first}^, then kiln bisect {at}"
        )));
    }
    // Where a clone ends, everything seems to be added.
    let ends = course.repository.commit(&format!("{first}^")).is_err();
    if ends && course.repository.is_shallow()? {
        return Ok(Some(format!("the clone is shallow and ends there: {UNSHALLOW}")));
    }
    Ok(Some(format!("{} added the kernel: --good COMMIT names one after it", short(&first))))
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
            true => report.hint(SWAP).into(),
            false if course.repository.is_shallow()? => report.label("the clone is shallow").hint(UNSHALLOW).into(),
            false => report.hint("git merge-base GOOD BAD names their common ancestor").into(),
        });
    }
    let file = file(course);
    if course.repository.held(&named, &file)?.is_none() {
        let report = Report::error(format!("--good {asked} does not have {file}"));
        let moved = course.repository.added(&bad, &file)?;
        let moved = moved.filter(|first| matches!(course.repository.moved_from(first, &file), Ok(Some(_))));
        let after = moved.map(|first| format!("; --good {} looks at what came after", short(&first)));
        let hint = beginning(course, &bad)?.map(|words| words + &after.unwrap_or_default());
        return Err(report.maybe_hint(hint).into());
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

/// Whether the bad commit came before the good one.
fn swapped(course: &Course<'_>) -> Result<bool, Halt> {
    let Some(good) = &course.request.good else { return Ok(false) };
    let Ok(good) = course.repository.commit(good) else { return Ok(false) };
    Ok(good != course.bad && course.repository.is_ancestor(&course.bad, &good)?)
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

/// The kernel's folder, where the bad commit is the one that is checked out and files are changed: what is wrong may be in them.
fn uncommitted(course: &Course<'_>) -> Option<Utf8PathBuf> {
    let folder = folder(&course.request.selecting.path).to_owned();
    let here = course.repository.commit("HEAD").is_ok_and(|head| head == course.bad);
    let changed = git(&folder, &["status", "--porcelain", "--", "."]).ok()?.ok()?;
    (here && !changed.trim().is_empty()).then_some(folder)
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
        _ => {
            let report = Report::error(format!("--bad {asked} is not bad: {words}"));
            let report = report.label(format!("--until {}", course.request.until));
            Err(match (swapped(course)?, uncommitted(course)) {
                (true, _) => report.hint(SWAP).into(),
                (false, Some(folder)) => report.hint(format!(
                    "the kernel has uncommitted changes, and a bisection judges commits only: git -C {} diff HEAD -- .",
                    quoted(folder.as_str())
                )).into(),
                (false, None) => report.hint("choose another --bad, or another --until").into(),
            })
        }
    }
}
