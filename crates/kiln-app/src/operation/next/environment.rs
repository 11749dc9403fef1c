//! This machine at a glance. In: a project, a kernel. Out: what is broken, as long commands find it before they start; and whether a GPU is
//! still in use.

use kiln_diagnose::next::Look;
use kiln_run::cards;

use super::asked::Asked;
use super::records::Records;
use crate::doctor::{self, Health};
use crate::project::Project;

/// What is broken, and what helps: the cheap part of the doctor.
pub(super) fn fault(project: &Project, asked: Option<&Asked>) -> Look<(String, Option<String>)> {
    let targets = || asked.and_then(|asked| asked.file.as_ref()).into_iter().flat_map(|file| &file.spec.targets);
    let needs_gpu = targets().next().is_some() && targets().all(|target| target.on_gpu);
    let needs_compiler = targets().next().is_none() || targets().any(|target| target.kind.name() == "cpu");
    if needs_gpu && let Err(report) = doctor::quick(None) {
        return Look::Found((format!("{}: {}", report.message, report.label), report.hint));
    }
    let broken = doctor::preflight(project).into_iter().filter(|finding| finding.state == Health::Fail);
    let first = broken.into_iter().find(|finding| needs_compiler || finding.id != "compiler");
    Look::of(first.map(|finding| (format!("{}: {}", finding.id, finding.what), finding.fix)))
}

/// Whether the GPU is known to be stopped; in words.
pub(super) fn gpu(records: &Records) -> (Option<bool>, Option<String>) {
    let used = records.runs.iter().any(|run| run.arch.is_some())
        || records.studies.iter().any(|study| study.arch.is_some())
        || records.profiles.iter().any(|profile| profile.arch.is_some());
    if !used {
        return (records.any().then_some(true), records.any().then(|| "no GPU was used".into()));
    }
    match cards() {
        Ok(cards) if cards.iter().any(|card| !card.processes.is_empty()) => {
            (Some(false), Some("processes compute on it".into()))
        }
        Ok(cards) if !cards.is_empty() => {
            (None, Some("nobody computes on it; kiln cannot see whether you still pay for it".into()))
        }
        _ => (None, Some("the GPU is on another machine".into())),
    }
}
