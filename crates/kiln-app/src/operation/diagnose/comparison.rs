//! Two profiles side by side, offline: before and after a change, or a candidate and its baseline. In: two of ncu's raw pages or reports. Out: what
//! changed for each kernel that both have, and how much of the difference in time that explains. Refuses what a diagnosis refuses,
//! and pages of which no kernel can be compared.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_diagnose::profile::{Comparison, Kernel, Pages, Pairs, Subject, Trouble, code, compare, other_gpu, pairs};

use super::profile::{read, refused, source};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;

/// What is to be compared.
#[derive(Debug, Clone, Default)]
pub struct ProfileCompareRequest {
    /// ncu's raw page, or its report.
    pub page: Utf8PathBuf,
    /// The page that it is compared with.
    pub against: Utf8PathBuf,
    /// The kernels' sources. One that lies beside a page is found without.
    pub sources: Vec<Utf8PathBuf>,
}

/// Two profiles, compared.
#[derive(Debug, Clone)]
pub struct ComparedProfiles {
    /// A comparison for each kernel that both have, the largest difference in time first. Never empty.
    pub kernels: Vec<Comparison>,
    /// Kernels that only the first page has.
    pub only_here: Vec<String>,
    /// Kernels that only the other has.
    pub only_against: Vec<String>,
    /// What limits the comparison.
    pub notes: Vec<String>,
}

impl Ends for ComparedProfiles {
    fn ending(&self) -> Ending {
        Ending::Done
    }
}

/// Compares two profiles.
pub fn compare_profiles(request: &ProfileCompareRequest) -> Result<ComparedProfiles, Failure> {
    let (here, against) = (sound(&request.page)?, sound(&request.against)?);
    let found = pairs(&here, &against);
    if found.all.is_empty() {
        return Err(strangers(request, &found));
    }
    let of = |file: &Utf8Path, kernel: &Kernel| subject(file, kernel, &request.sources);
    let mut notes: Vec<String> = here.notes().into_iter().chain(against.notes()).collect();
    if found.by_time {
        notes.push("the kernels have different names: those that took most of the time are compared".into());
    }
    let mut kernels = Vec::new();
    for (one, other) in &found.all {
        let (ours, theirs) = (of(&request.page, one)?, of(&request.against, other)?);
        let gpus = other_gpu(&ours, &theirs).filter(|note| !notes.contains(note));
        notes.extend(gpus);
        for kernel in [&ours, &theirs].into_iter().filter(|own| !request.sources.is_empty() && own.hints.is_none()) {
            let note = format!("the source does not define {}: nothing was taken from it", kernel.kernel);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        match compare(&ours, &theirs) {
            Some(comparison) => kernels.push(comparison),
            None => notes.push(format!("{}: no time was collected, so it is not compared", one.name)),
        }
    }
    if kernels.is_empty() {
        return Err(timeless(request));
    }
    let names = |all: Vec<&str>| all.into_iter().map(String::from).collect();
    let Pairs { here: ours, against: theirs, .. } = found;
    Ok(ComparedProfiles { kernels, only_here: names(ours), only_against: names(theirs), notes })
}

/// A page that can be used.
fn sound(file: &Utf8Path) -> Result<Pages, Failure> {
    let pages = read(file, "raw")?;
    match pages.trouble() {
        Some(trouble) => Err(refused(file, trouble)),
        None => Ok(pages),
    }
}

fn subject(file: &Utf8Path, kernel: &Kernel, sources: &[Utf8PathBuf]) -> Result<Subject, Failure> {
    let mut subject = Subject::of(kernel);
    if let Some(odd) = subject.odd() {
        return Err(refused(file, Trouble::Odd(odd)));
    }
    subject.hints = source(file, sources)?.and_then(|source| code::hints(&source, &kernel.name));
    Ok(subject)
}

/// How many names a message has at most.
const NAMED: usize = 6;

/// No kernel of one page is in the other.
fn strangers(request: &ProfileCompareRequest, found: &Pairs<'_>) -> Failure {
    let list = |names: &[&str]| {
        let more = names.len().saturating_sub(NAMED);
        let shown = names[..names.len().min(NAMED)].join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let ProfileCompareRequest { page, against, .. } = request;
    let report = Report::error(format!("{page} and {against} have no kernel in common"));
    report
        .label(format!("{page} has {}; {against} has {}", list(&found.here), list(&found.against)))
        .hint(
            "export one kernel of each: ncu --import rep.ncu-rep -k NAME --csv --page raw --print-units base > raw.csv",
        )
        .into()
}

/// No pair has two times.
fn timeless(request: &ProfileCompareRequest) -> Failure {
    let ProfileCompareRequest { page, against, .. } = request;
    Report::error(format!("{page} and {against} cannot be compared: gpu__time_duration.sum was not collected"))
        .hint("profile both with ncu --set full, or add --section SpeedOfLight")
        .into()
}
