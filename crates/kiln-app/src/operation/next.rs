//! What to do next with a kernel. In: a kernel, or the one that was worked on last. Out: one piece of advice with the way that led to it,
//! the facts it rests on, and three checklists filled in from the same facts. Nothing is run and nothing is recorded. Refuses
//! a kernel that is not known, and thresholds that make no sense.

mod asked;
mod attempts;
mod change;
mod correctness;
mod environment;
mod git;
mod profile;
mod records;
mod refused;
mod result;
mod search;

use camino::Utf8PathBuf;
use kiln_core::{Config, Fault};
use kiln_diagnose::next::{Advice, Evidence, Facts, Item, OpenRefusal, Thresholds, Tree, advise, checklists, tree};

use crate::failure::Failure;
use crate::kernel::read_bounded;
use crate::project::Project;
use asked::Asked;
use attempts::Logged;
use records::Records;

/// Settings of a project; a larger file is none.
const CONFIG: &str = "config.toml";
const LARGEST: u64 = 1 << 20;

/// Which kernel.
#[derive(Debug, Clone, Default)]
pub struct NextRequest {
    /// Its folder, its kernel.toml or its name; none for the one here, else the one that was worked on last.
    pub kernel: Option<Utf8PathBuf>,
    /// Whether that is a name, whatever lies in a folder of this name.
    pub by_name: bool,
}

/// What to do next.
pub struct NextStep {
    /// The kernel's name; none where there is none.
    pub kernel: Option<String>,
    /// The one thing to do.
    pub advice: Advice,
    /// Every checklist.
    pub checklists: Vec<Item>,
    /// What is known.
    pub facts: Facts,
    /// What it is compared with.
    pub thresholds: Thresholds,
    /// The tree.
    pub tree: &'static Tree,
}

/// Says what to do next.
pub fn next(project: &Project, request: &NextRequest) -> Result<NextStep, Failure> {
    let broken = |why: &str| Failure::from(Fault::new("reading the decision tree", why));
    let tree = tree().map_err(broken)?;
    let thresholds = thresholds(project, tree)?;
    let asked = Asked::find(project, request)?;
    let evidence = match &asked {
        Some(asked) => gather(project, asked, &thresholds)?,
        None => Evidence { environment_fault: environment::fault(project, None), ..Evidence::default() },
    };
    let facts = evidence.facts(&thresholds);
    let advice = advise(tree, &facts, &thresholds).map_err(|why| broken(&why))?;
    let checklists = checklists(tree, &facts, &thresholds);
    Ok(NextStep { kernel: asked.map(|asked| asked.name), advice, checklists, facts, thresholds, tree })
}

/// The project's thresholds, for whoever needs no more of the tree.
pub(crate) fn own_thresholds(project: &Project) -> Result<Thresholds, Failure> {
    let tree = tree().map_err(|why| Failure::from(Fault::new("reading the decision tree", why)))?;
    thresholds(project, tree)
}

/// The project's thresholds.
fn thresholds(project: &Project, tree: &Tree) -> Result<Thresholds, Failure> {
    let file = project.folder().join(CONFIG);
    if !file.exists() {
        return Ok(Thresholds::usual(tree));
    }
    let text = String::from_utf8_lossy(&read_bounded(&file, LARGEST)?).into_owned();
    Ok(Thresholds::read(tree, file.as_str(), &text)?)
}

/// Everything that is known of a kernel, one function for each field.
fn gather(project: &Project, asked: &Asked, thresholds: &Thresholds) -> Result<Evidence, Failure> {
    let no_gain = thresholds.value("no_gain").unwrap_or(1.0);
    let records = Records::of(project, asked)?;
    let kernel = asked.opened(&records);
    let now = records::Now::of(asked, kernel.as_ref());
    let logged = Logged::of(project, asked)?;
    let measured = result::measured(&records, &logged, asked, &now);
    let found = result::newest(&measured, &logged, &now);
    let selected = kernel.iter().flat_map(|kernel| &kernel.selection.workloads);
    let workloads: Vec<String> = selected.map(|workload| workload.name.to_string()).collect();
    let default = kernel.as_ref().and_then(|kernel| kernel.default_config()).as_ref().map(Config::to_string);
    let refusal = correctness::refusal(project, &records, &logged, kernel.as_ref(), found.as_ref(), &now);
    let refusal = refusal.map(|own| OpenRefusal { alike: logged.refusals_alike(), ..own });
    let edited = found.as_ref().and_then(|found| result::edited(found, &now));
    let profile = found.as_ref().and_then(|found| profile::describing(&records, &logged, found, edited, &now, no_gain));
    let profile =
        profile.or_else(|| logged.diagnosed(found.as_ref().filter(|_| edited == Some(true)).map(|found| found.at_ms)));
    let fix = found.as_ref().filter(|_| edited == Some(false)).and_then(|found| {
        let (records, logged, default) = (&records, &logged, default.as_deref());
        let change = change::Change { records, logged, measured: &measured, found, default, no_gain };
        let fix = || change.after_profile(&now, asked).filter(|_| profile.is_none());
        change.slower_than_before(asked).or_else(fix)
    });
    let mut described = asked.described(&records, kernel.as_ref());
    // The session's smallest case goes before the file's, where it is one.
    let smallest = logged.smallest().filter(|name| workloads.iter().any(|own| own == name));
    described.smallest_workload = smallest.map(String::from).or(described.smallest_workload);
    Ok(Evidence {
        kernel: Some(described),
        retired: logged.retired(),
        session: logged.session(),
        decided: logged.decided(),
        environment_fault: environment::fault(project, Some(asked)),
        examined: logged.examined(),
        recorded: records.any() || logged.any(),
        correct: correctness::correct(refusal.is_some(), found.is_some(), edited).or(logged.checked()),
        baseline_measured: records.any().then(|| result::baseline_measured(&records)),
        edited,
        unchecked: logged.unchecked(),
        several_changed: logged.several_changed(),
        blind_changes: logged.blind_changes(),
        fault: logged.fault(),
        profile,
        fix,
        search: search::state(&records, found.as_ref(), &now),
        validated: found.as_ref().and_then(|found| correctness::validated(&records, found, &now)),
        git: git::state(project, asked, refusal.as_ref()),
        logged: records.logged(logged.count()),
        gpu: environment::gpu(&records),
        bench_seconds: records.runs.first().map(|run| run.seconds),
        result: found.map(|found| result::told(found, &workloads)),
        refusal,
    })
}

#[cfg(test)]
mod tests;
