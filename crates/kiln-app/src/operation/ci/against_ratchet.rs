//! The work against the ratchet. In: a case, and the entries of the committed file. Out: a verdict on every workload and, where the
//! ratchet is to move, the file with its new entries. Times count in units of the kernel's own baseline, measured in the
//! same rounds then and now, so that a machine that is slower today accuses nobody. Entries of another machine are shown and
//! not judged by.

use kiln_core::{Outcome, Workload};
use kiln_formats::{Ratchet, RatchetEntry};
use kiln_study::{Baselines, Bench, Rival, write_whole};

use super::against_base::names;
use super::choice::Case;
use super::course::{Course, Stepped};
use super::entries::{alike, entry, judged, known};
use super::machine::{MachineIs, hashed};
use super::measure::{concluded, confirmed, fought, named, refused, with_bench};
use super::verdict::{CiVerdict, CiWorkload};
use crate::failure::Failure;
use crate::kernel::Opened;

/// A workload, and the entry that would be its own.
type Found = (CiWorkload, Option<RatchetEntry>);

/// Measures every case, and moves the ratchet where that is asked for.
pub(super) fn measured(course: &mut Course<'_>) -> Result<Stepped, Failure> {
    let mut found: Vec<Found> = Vec::new();
    let mut guarded: Vec<(String, String)> = Vec::new();
    for case in course.cases.clone() {
        let opened = Opened::unexamined(course.file, &case.selecting)?;
        guarded.extend(names(&opened).into_iter().map(|name| (opened.kernel.target().to_string(), name)));
        if course.ratchet.is_none() && !course.request.update {
            let new = |w: &String| CiWorkload::unmeasured(w, &case.config.to_string(), CiVerdict::New, "");
            found.extend(names(&opened).iter().map(|w| (new(w), None)));
            continue;
        }
        match twice(course, &opened, &case)? {
            Outcome::Passed(more) => found.extend(more),
            Outcome::Refused(refusal) => return Ok(refused(refusal)),
        }
    }
    if course.ratchet.is_none() && !course.request.update {
        course.kernel.notes.push(format!(
            "there is no {}: `kiln ci --update` writes it; --base COMMIT compares with a commit",
            course.ratchet_file
        ));
    }
    course.kernel.notes.extend(gone(course, &guarded));
    let moved: Vec<RatchetEntry> = found.iter().filter_map(|found| moves(found).cloned()).collect();
    if !moved.is_empty() && course.request.update {
        let text = match fs_err::read_to_string(&course.ratchet_file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let text = Ratchet::moved(course.ratchet_file.as_str(), &text, &moved)?;
        write_whole(&course.ratchet_file, text.as_bytes())?;
        course.kernel.moved = moved.iter().map(|entry| entry.workload.clone()).collect();
    } else if found.iter().any(|(w, _)| w.verdict == CiVerdict::Improvement) && !course.request.update {
        course.kernel.notes.push("faster than the ratchet: `kiln ci --update` moves it, once confirmed".into());
    }
    Ok(concluded(course, found.into_iter().map(|(workload, _)| workload).collect()))
}

/// A word about entries whose workload is not measured any more: it is gone, or has another use or other targets.
fn gone(course: &Course<'_>, measured: &[(String, String)]) -> Option<String> {
    let own = course.file.spec.name.as_str();
    // A workload that was asked for leaves the others out on purpose.
    if course.request.selecting.workload.is_some() {
        return None;
    }
    let guarded = |entry: &&RatchetEntry| {
        let on_target = measured.iter().any(|(target, _)| *target == entry.target);
        entry.is_of(own) && on_target && !entry.workload.is_empty()
    };
    let known =
        |entry: &RatchetEntry| measured.iter().any(|(target, name)| (target, name) == (&entry.target, &entry.workload));
    let entries = course.ratchet.iter().flat_map(|ratchet| &ratchet.entries);
    let mut names: Vec<&str> =
        entries.filter(guarded).filter(|entry| !known(entry)).map(|entry| entry.workload.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let file = &course.ratchet_file;
    (!names.is_empty()).then(|| {
        format!(
            "{file} has entries for workloads that are no longer measured: {}; review why, and delete them",
            names.join(", ")
        )
    })
}

/// The entry to be written, where one is: of a confirmed improvement, or where this machine has none.
fn moves((workload, entry): &Found) -> Option<&RatchetEntry> {
    let entry = entry.as_ref()?;
    match workload.verdict {
        CiVerdict::Improvement if workload.measured > 1 => Some(entry),
        CiVerdict::New => Some(entry),
        _ => None,
    }
}

/// Measured once; what seems to be slower, or is to move the ratchet, once more.
fn twice(course: &Course<'_>, opened: &Opened<'_>, case: &Case) -> Result<Outcome<Vec<Found>>, Failure> {
    let (first, entries): (Vec<_>, Vec<_>) = match once(course, opened, case, &names(opened), 0)? {
        Outcome::Passed(found) => found.into_iter().unzip(),
        Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
    };
    let mut again = named(&first, CiVerdict::Regression);
    if course.request.update {
        again.extend(named(&first, CiVerdict::Improvement));
    }
    if again.is_empty() {
        return Ok(Outcome::Passed(first.into_iter().zip(entries).collect()));
    }
    course.teller.note(format!("{} differs from the ratchet: measuring again", again.join(", ")));
    let second = match once(course, opened, case, &again, 1)? {
        Outcome::Passed(second) => second,
        Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
    };
    let (second, newer): (Vec<_>, Vec<_>) = second.into_iter().unzip();
    // The second measurement was not chosen for what it says: its figures are the ones to keep.
    let newest = |entry: Option<RatchetEntry>| {
        let workload = entry.as_ref().map(|entry| entry.workload.clone());
        newer.iter().flatten().find(|newer| Some(&newer.workload) == workload.as_ref()).cloned().or(entry)
    };
    let entries: Vec<_> = entries.into_iter().map(newest).collect();
    Ok(Outcome::Passed(confirmed(first, second).into_iter().zip(entries).collect()))
}

/// One measurement of these workloads.
fn once(
    course: &Course<'_>,
    opened: &Opened<'_>,
    case: &Case,
    only: &[String],
    number: u64,
) -> Result<Outcome<Vec<Found>>, Failure> {
    with_bench(course, opened, case, number, |bench, subject| {
        let machine = MachineIs::of(bench);
        let ratchet = course.ratchet.clone().unwrap_or_default();
        let (mut found, mut kept): (Vec<Found>, Vec<(String, Option<String>)>) = (Vec::new(), Vec::new());
        for stage in bench.stages.iter().filter(|stage| only.iter().any(|one| one == stage.name())) {
            let identity = bench.identity(stage, subject)?.map(|words| hashed(&words));
            let entry = known(&ratchet, bench, &machine, stage.name());
            let shape = stage.workload.map(Workload::shape);
            let same = entry.is_some_and(|entry| {
                let alike = entry.shape.is_none() || entry.shape == shape;
                machine.differs(entry).is_none() && alike && entry.code.is_some() && entry.code == identity
            });
            if same {
                let config = case.config.to_string();
                found.push((CiWorkload::unmeasured(stage.name(), &config, CiVerdict::Identical, ""), None));
            } else {
                kept.push((stage.name().to_string(), identity));
            }
        }
        bench.stages.retain(|stage| kept.iter().any(|(name, _)| name == stage.name()));
        if !bench.stages.is_empty() {
            let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
            let wanted = names.iter().find_map(|w| known(&ratchet, bench, &machine, w)?.baseline.as_ref());
            let rivals = baseline(bench, wanted.map(|baseline| baseline.name.as_str()))?;
            let figures = match fought(course, bench, (subject, &rivals), case)? {
                Outcome::Passed(figures) => figures,
                Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
            };
            for figure in &figures {
                let code = kept.iter().find(|(name, _)| *name == figure.workload).and_then(|(_, code)| code.clone());
                let new = entry(bench, &machine, case, figure, code);
                let any = ratchet.entries.iter().filter(|e| alike(e, &new));
                let workload =
                    judged(known(&ratchet, bench, &machine, &figure.workload), any, &new, &machine, course.request);
                found.push((workload, Some(new)));
            }
        }
        found.sort_by_key(|(w, _)| only.iter().position(|name| *name == w.workload));
        Ok(Outcome::Passed(found))
    })
}

/// The baseline that serves as the unit: the ratchet's, else the file's first that can be had.
fn baseline(bench: &Bench<'_>, wanted: Option<&str>) -> Result<Vec<Rival>, Failure> {
    let stated = &bench.kernel.selection.target.baselines;
    let wanted = wanted.filter(|name| stated.iter().any(|b| b.name == **name));
    let names: Vec<&str> = wanted.into_iter().chain(stated.iter().map(|b| b.name.as_str())).collect();
    for name in names {
        if let Some(found) = Baselines::find(bench, Some(name))?.ready.first() {
            return Ok(vec![Rival::baseline(found)]);
        }
    }
    Ok(Vec::new())
}
