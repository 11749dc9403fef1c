//! Going on with a study. In: its name, the kernel as it is now. Out: the study and its settings. Refuses one that has ended,
//! one that another process is running, and one whose kernel file, sources, variant or workloads were others: recorded
//! times would be mixed with those of something else.

use camino::Utf8Path;
use kiln_core::Report;
use kiln_store::{Filter, State, Store, Study};
use kiln_study::{Kernel, Settings, settings_of};

use crate::failure::Failure;
use crate::kernel::Selecting;
use crate::project::Project;
use crate::record::Whose;
use crate::teller::Teller;

/// The kind of note that holds the hash of the sources.
pub(crate) const SOURCES: &str = "sources";
/// Studies looked through for one that is running.
const NEWEST: u32 = 20;

/// The study to go on with: the one named, else the newest of this kernel that did not end.
pub(crate) fn study(store: &Store, name: &str, kernel: &Kernel<'_>, whose: &Whose) -> Result<Study, Failure> {
    let study = if name.is_empty() {
        whose.unfinished(store, kernel.target())?.ok_or_else(|| {
            Report::error(format!("{} has no unfinished study here", kernel.name()))
                .hint("omit --resume to begin one; `kiln history` lists them")
        })?
    } else {
        whose.meant(store, name)?
    };
    if study.state == State::Finished {
        return Err(Report::error(format!("study {} is finished", study.id))
            .hint(format!("`kiln show {}` shows its end; omit --resume to begin a new one", study.short_id()))
            .into());
    }
    if let Some(process) = runner(&study) {
        return Err(Report::error(format!("study {} is being run by process {process}", study.id))
            .hint("wait for it, or name another with --resume STUDY")
            .into());
    }
    let then = store.notes(&study.id)?.into_iter().rfind(|note| note.kind == SOURCES);
    if then.is_some_and(|note| kernel.fingerprint().is_ok_and(|now| now != note.text)) {
        return Err(Report::error(format!("the sources have changed since study {} began", study.id))
            .label("kernel, baselines, reference or what they include")
            .hint("its recorded times are of other code: begin a new study, or put the sources back")
            .into());
    }
    Ok(study)
}

/// The settings a study was begun with; refused when the kernel file or what is selected of it is no longer the same.
pub(crate) fn settings(
    study: &Study,
    kernel: &Kernel<'_>,
    spec_hash: &str,
    selecting: &Selecting,
) -> Result<Settings, Failure> {
    if study.spec_hash != spec_hash {
        return Err(Report::error(format!("the kernel file has changed since study {} began", study.id))
            .hint("its recorded trials are of another space: begin a new study")
            .into());
    }
    if study.variant != kernel.variant() || study.target != kernel.target() {
        return Err(Report::error(format!("study {} is of another variant or target", study.id))
            .hint(match study.variant.as_str() {
                "" => format!("add --target {}", study.target),
                variant => format!("add --target {} --variant {variant}", study.target),
            })
            .into());
    }
    let settings = settings_of(study)?;
    if settings.workload != selecting.workload {
        let hint = match &settings.workload {
            Some(name) => format!("add --workload {name}"),
            None => "omit --workload".into(),
        };
        return Err(Report::error(format!("study {} is of other workloads", study.id)).hint(hint).into());
    }
    if settings.implementation != selecting.implementation {
        let hint = match &settings.implementation {
            Some(name) => format!("add --implementation {name}"),
            None => "omit --implementation".into(),
        };
        return Err(Report::error(format!("study {} is of other implementations", study.id)).hint(hint).into());
    }
    Ok(settings)
}

/// Says when another study is being measured here, as the two disturb each other, and when records cannot be read.
pub(crate) fn others(project: &Project, store: &Store, teller: &Teller<'_>) -> Result<(), Failure> {
    for study in store.studies(&Filter { kernel: None, limit: Some(NEWEST) })? {
        if let Some(process) = runner(&study) {
            teller.note(format!(
                "process {process} is running study {} here: their times disturb each other",
                study.short_id()
            ));
        }
    }
    teller.warn(&project.notices());
    Ok(())
}

/// The process that runs a study now, on this machine.
pub(crate) fn runner(study: &Study) -> Option<u32> {
    let (process, host) = study.owner.split_once('@')?;
    let here = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let process: u32 = process.parse().ok()?;
    let program = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
    let ours = Utf8Path::from_path(&program).and_then(Utf8Path::file_name).is_some_and(|name| name.starts_with("kiln"));
    (study.state == State::Running && host == here.trim() && ours && process != std::process::id()).then_some(process)
}
