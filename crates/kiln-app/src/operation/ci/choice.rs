//! Which configuration is guarded: the one asked for, else the ratchet's, else that of `best.toml`, else the file's default. In: a
//! kernel that is open. Out: cases, one where a configuration serves all workloads, else one for each workload. A recorded
//! configuration that does not fit the file any more is passed over, with a note.

use camino::Utf8Path;
use kiln_core::Config;
use kiln_formats::Ratchet;
use kiln_study::{Kernel, best_config};

use super::course::Course;
use crate::failure::Failure;
use crate::kernel::{Opened, Selecting, complete, folder};
use crate::record::Whose;

/// Where a configuration comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Asked,
    Ratchet,
    Best,
    Default,
}

/// What is built, checked and measured at once.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) selecting: Selecting,
    /// As it would be typed; empty for the default.
    pub(super) typed: String,
    pub(super) config: Config,
    pub(super) from: From,
}

/// The cases of a kernel.
pub(super) fn cases(course: &mut Course<'_>, opened: &Opened<'_>) -> Result<Vec<Case>, Failure> {
    let kernel = &opened.kernel;
    let workloads: Vec<&str> = kernel.selection.workloads.iter().map(|w| &*w.name).collect();
    let workloads = if workloads.is_empty() { vec![""] } else { workloads };
    let asked = course.request.config.as_str();
    let mut chosen: Vec<(String, From)> = Vec::new();
    if !asked.is_empty() {
        chosen = vec![(asked.to_string(), From::Asked); workloads.len()];
    }
    if chosen.is_empty()
        && let Some(ratchet) = &course.ratchet
    {
        let device = opened.card.as_ref().map(|card| card.name.clone());
        let of = |workload: &&str| recorded(ratchet, kernel, workload, device.as_deref());
        chosen = workloads.iter().filter_map(of).map(|typed| (typed, From::Ratchet)).collect();
        // A workload that the ratchet does not know yet takes the others' configuration, where they agree.
        let agree = chosen.windows(2).all(|pair| pair[0] == pair[1]);
        match chosen.first().cloned() {
            Some(one) if agree => chosen = vec![one; workloads.len()],
            _ if chosen.len() < workloads.len() => chosen.clear(),
            _ => {}
        }
    }
    if chosen.is_empty() {
        let places = [folder(&course.selecting.path).to_path_buf(), whose(course).best(course.project)];
        for place in places.iter().filter(|_| course.request.config.is_empty()) {
            let found = best_config(place, kernel.target(), &kernel.variant(), &workloads)?;
            if let (true, Some(found)) = (chosen.is_empty(), found) {
                chosen = found.into_iter().map(|typed| (typed, From::Best)).collect();
            }
        }
    }
    let fits = |(typed, _): &(String, From)| complete(&kernel.selection, &kernel.problem, typed).is_ok();
    // What was typed is refused below, in its own words.
    if let Some((typed, From::Ratchet | From::Best)) = chosen.iter().find(|one| !fits(one)) {
        course.kernel.notes.push(format!("{typed} does not fit the kernel file any more: the default is measured"));
        chosen.clear();
    }
    if chosen.is_empty() {
        chosen = vec![(String::new(), From::Default); workloads.len()];
    }
    // With a table of tuned configurations every workload begins with its own.
    let tuned = !kernel.selection.target.tuned.entries.is_empty();
    let apart = chosen.windows(2).any(|pair| pair[0] != pair[1])
        || (tuned && workloads.len() > 1 && chosen.iter().any(|(_, from)| *from == From::Default));
    if let (false, Some((typed, from))) = (apart, chosen.first()) {
        let (config, _) = complete(&kernel.selection, &kernel.problem, typed)?;
        return Ok(vec![Case { selecting: course.selecting.clone(), typed: typed.clone(), config, from: *from }]);
    }
    let alone = |((typed, from), workload): (&(String, From), &&str)| {
        let selecting = Selecting { workload: Some((*workload).into()), ..course.selecting.clone() };
        let opened = Opened::unexamined(course.file, &selecting)?;
        let (config, _) = complete(&opened.kernel.selection, &opened.kernel.problem, typed)?;
        Ok(Case { selecting, typed: typed.clone(), config, from: *from })
    };
    chosen.iter().zip(&workloads).map(alone).collect()
}

/// The ratchet's configuration for a workload: this device's, else any device's.
pub(super) fn recorded(ratchet: &Ratchet, kernel: &Kernel<'_>, workload: &str, device: Option<&str>) -> Option<String> {
    let (target, variant) = (kernel.target(), kernel.variant());
    let of = || ratchet.entries.iter().filter(|e| e.target == target && e.variant == variant && e.workload == workload);
    let own = of().find(|entry| Some(entry.device.as_str()) == device).or_else(|| of().next())?;
    Some(own.config.clone())
}

fn whose(course: &Course<'_>) -> Whose {
    Whose::at(&course.file.spec.name, Utf8Path::new(course.selecting.path.as_str()))
}
