//! A profile of ncu to the cause of a kernel's time, offline: any page from any machine. In: ncu's raw page or its report, and where they are
//! at hand its details page, the compiler's log and the source. Out: a diagnosis, with every rule's values for `--why`. Refuses
//! files that cannot be read, pages with numbers that cannot be, and pages without a launch, with the reason that ncu gave.

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, nearest};
use kiln_diagnose::profile::hot::{self, Blamed};
use kiln_diagnose::profile::{
    Applied, Bottleneck, NcuRule, Pages, ProfileDiagnosis, Subject, Trouble, applied, code, diagnose, ptxas,
};
use kiln_diagnose::{decoded, source_names};
use kiln_session::SessionPhase;

use super::report::{DETAILS_PAGE, RAW_PAGE, SOURCE_PAGE, import, is_report};
use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::KernelFile;
use crate::project::Project;
use crate::record::outcomes::weigh;

/// What is to be diagnosed.
#[derive(Debug, Clone, Default)]
pub struct ProfileDiagnoseRequest {
    /// ncu's raw page, or its report.
    pub page: Utf8PathBuf,
    /// The details page of the same report.
    pub details: Option<Utf8PathBuf>,
    /// A log of the compiler with `-Xptxas -v`.
    pub ptxas: Option<Utf8PathBuf>,
    /// The kernel's sources. One that lies beside the page is found without.
    pub sources: Vec<Utf8PathBuf>,
    /// ncu's source page of the same report; a report has it within.
    pub source_page: Option<Utf8PathBuf>,
    /// The cause whose rule is asked for.
    pub why: Option<String>,
}

/// A diagnosis with what lies behind it.
#[derive(Debug, Clone)]
pub struct DiagnosedProfile {
    /// The diagnosis.
    pub diagnosis: ProfileDiagnosis,
    /// Every rule with its values, in the order of the causes.
    pub rules: Vec<Applied>,
    /// The cause whose rule is asked for.
    pub why: Option<Bottleneck>,
    /// The lines that the cause comes from, where the source page is at hand.
    pub hot: Vec<Blamed>,
    /// What ncu's own rules say about the kernel, where the details page is at hand.
    pub ncu: Vec<NcuRule>,
    /// How many other kernels the page has.
    pub others: usize,
    /// What limits the diagnosis.
    pub notes: Vec<String>,
}

impl Ends for DiagnosedProfile {
    fn ending(&self) -> Ending {
        Ending::Done
    }
}

/// The same of a kernel that is named: an attempt with it, on whatever machine the page was written.
pub fn diagnose_profile_of(
    project: &Project,
    kernel: &Utf8Path,
    request: &ProfileDiagnoseRequest,
) -> Result<DiagnosedProfile, Failure> {
    let about = About::of(&KernelFile::read(kernel)?, kernel);
    Trying::new(project, "diagnose", SessionPhase::Profile, about).quietly(diagnose_profile(project, request))
}

/// Names the cause of a kernel's time: of the kernel that took most of it.
pub fn diagnose_profile(project: &Project, request: &ProfileDiagnoseRequest) -> Result<DiagnosedProfile, Failure> {
    let why = request.why.as_deref().map(cause).transpose()?;
    let mut pages = read(&request.page, "raw")?;
    if let Some(details) = &request.details {
        let mut other = read(details, "details")?;
        // Each is used for what it is, whichever option it came with.
        if pages.is_details() && !other.is_details() {
            std::mem::swap(&mut pages, &mut other);
        }
        pages.join(other);
    }
    let resources = match &request.ptxas {
        Some(log) => ptxas::resources(&decoded(&fs_err::read(log)?)),
        None => Vec::new(),
    };
    let source = source(&request.page, &request.sources)?;
    let mut found =
        of_pages(&pages, &resources, source.as_deref()).map_err(|trouble| refused(&request.page, trouble))?;
    if request.ptxas.is_some() && ptxas::of_kernel(&resources, &found.diagnosis.kernel).is_none() {
        found
            .notes
            .push(format!("the compiler's log has no kernel {}: nothing was taken from it", found.diagnosis.name()));
    }
    found.hot = hot_lines(request, &found.diagnosis, &mut found.notes)?;
    // A page names neither the kernel file nor the board.
    weigh(project, &mut found, None, None);
    Ok(DiagnosedProfile { why, ..found })
}

/// The same of pages that were read, with what the compiler said and the source where they are at hand.
pub(crate) fn of_pages(
    pages: &Pages,
    resources: &[ptxas::Resources],
    source: Option<&str>,
) -> Result<DiagnosedProfile, Trouble> {
    if let Some(trouble) = pages.trouble() {
        return Err(trouble);
    }
    let kernel = pages.dominant().ok_or(Trouble::NoPage)?;
    let mut subject = Subject::of(kernel);
    if let Some(odd) = subject.odd() {
        return Err(Trouble::Odd(odd));
    }
    subject.resources = ptxas::of_kernel(resources, &kernel.name).cloned();
    subject.hints = source.and_then(|source| code::hints(source, &kernel.name));
    let ncu = pages.rules.iter().filter(|rule| rule.kernel == kernel.name).cloned().collect();
    let others = pages.kernels.len() - 1;
    let (diagnosis, rules, mut notes) = (diagnose(&subject), applied(&subject), pages.notes());
    if source.is_some() && subject.hints.is_none() {
        notes.push(format!("the source does not define {}: nothing was taken from it", diagnosis.name()));
    }
    Ok(DiagnosedProfile { diagnosis, rules, why: None, hot: Vec::new(), ncu, others, notes })
}

/// The lines that the cause comes from: of the source page that was given, or of the report.
fn hot_lines(
    request: &ProfileDiagnoseRequest,
    diagnosis: &ProfileDiagnosis,
    notes: &mut Vec<String>,
) -> Result<Vec<Blamed>, Failure> {
    let report = || is_report(&request.page).then_some(&request.page);
    let Some(file) = request.source_page.as_ref().or_else(report) else { return Ok(Vec::new()) };
    let kernels = match is_report(file) {
        true => import(file, &SOURCE_PAGE, hot::read)?,
        false => hot::read(BufReader::new(File::open(file).map_err(|error| unreadable(file, &error))?))?,
    };
    let Some(kernel) = kernels.iter().find(|own| own.kernel == diagnosis.kernel) else {
        // A report without sources has no such page: nobody asked for it.
        if request.source_page.is_some() {
            notes.push(match kernels.is_empty() {
                true => format!(
                    "{file} has no source page: ncu --import rep.ncu-rep --csv --page source --print-source cuda,sass"
                ),
                false => format!("the source page has no kernel {}", diagnosis.kernel),
            });
        }
        return Ok(Vec::new());
    };
    if kernel.lines.iter().all(|line| line.line.is_none()) {
        notes.push(
            "the source page has instructions only: build with -lineinfo, and print it with --print-source cuda,sass"
                .into(),
        );
    }
    Ok(hot::blame(kernel, diagnosis.cause))
}

fn cause(name: &str) -> Result<Bottleneck, Failure> {
    Bottleneck::of_id(name).ok_or_else(|| {
        let near = nearest(name, Bottleneck::ALL.iter().map(|cause| cause.id()));
        let report = Report::error(format!("`{name}` is no cause of a kernel's time"));
        report.label("docs/diagnosis.md lists them").maybe_hint(near.map(|near| format!("did you mean {near}?"))).into()
    })
}

/// Reads a page. A report is turned into one by ncu.
pub(super) fn read(file: &Utf8Path, page: &str) -> Result<Pages, Failure> {
    if is_report(file) {
        let flags: &[&str] = if page == "raw" { &RAW_PAGE } else { &DETAILS_PAGE };
        return import(file, flags, Pages::read);
    }
    let mut input = File::open(file).map_err(|error| unreadable(file, &error))?;
    let mut start = [0; 2];
    let wide = input.read(&mut start).map_err(|error| unreadable(file, &error))? == 2
        && matches!(start, [0xff, 0xfe] | [0xfe, 0xff]);
    if wide {
        return Ok(Pages::read(decoded(&fs_err::read(file)?).as_bytes())?);
    }
    input.rewind().map_err(|error| unreadable(file, &error))?;
    Pages::read(BufReader::with_capacity(1 << 18, input)).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &Utf8Path, error: &std::io::Error) -> Failure {
    Failure::Io(std::io::Error::new(error.kind(), format!("{file}: {error}")))
}

/// The sources that were given, or the one that lies beside the page.
pub(super) fn source(page: &Utf8Path, given: &[Utf8PathBuf]) -> Result<Option<String>, Failure> {
    let mut all = Vec::new();
    for file in given {
        all.push(decoded(&fs_err::read(file)?));
    }
    if all.is_empty() {
        let folder = page.parent().unwrap_or(Utf8Path::new(""));
        let beside = source_names(page.as_str()).into_iter().map(|name| folder.join(name));
        all.extend(beside.filter_map(|file| fs_err::read(file).ok()).next().map(|bytes| decoded(&bytes)));
    }
    Ok((!all.is_empty()).then(|| all.join("\n")))
}

/// Why there is no diagnosis, and what to do.
pub(super) fn refused(file: &Utf8Path, trouble: Trouble) -> Failure {
    let report = |what: &str| Report::error(format!("{file}: {what}"));
    match trouble {
        Trouble::NoKernel { available } => {
            let names = available.join(", ");
            let hint = format!("-k takes a function's name without parameters, or regex:...; the program launches: {names}");
            report("ncu profiled no kernel: none has the name that was asked for").hint(hint)
        }
        Trouble::ProgramFailed(what) => report(&format!("the profiled program failed: {what}"))
            .hint("run it without ncu first; then give ncu the same arguments and folder"),
        Trouble::Permission => report("reading the GPU's counters is not allowed there (ERR_NVGPUCTRPERM)").hint(
            "allow it with `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d and a reboot, or run ncu as root",
        ),
        Trouble::Ncu(what) => report(&format!("ncu reported an error: {what}")),
        Trouble::Odd(odd) => report(&format!("{} is {}, which cannot be", odd.metric, odd.value))
            .label(format!("expected {}", odd.expected))
            .hint("export the page again: ncu --import rep.ncu-rep --csv --page raw --print-units base > raw.csv"),
        Trouble::Cut => report("the page is cut: it has no whole launch")
            .hint("export it again: ncu --import rep.ncu-rep --csv --page raw --print-units base > raw.csv"),
        Trouble::NoPage => report("holds no page of ncu").hint(
            "ncu --set full -k NAME -s 2 -c 1 -o rep ./app; ncu --import rep.ncu-rep --csv --page raw --print-units base > raw.csv",
        ),
    }
    .into()
}
