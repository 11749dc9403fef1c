//! Logs of other tools to causes, offline: any log from any machine. In: files that compute-sanitizer or a compiler's sanitizers wrote,
//! and the sources they speak of. Out: a diagnosis. Refuses files that cannot be read, and files of which none has a line that only
//! a known tool writes: nothing follows from those.

pub(super) mod calibration;
pub(super) mod comparison;
pub(super) mod pictures;
pub(super) mod prediction;
pub(crate) mod profile;
mod report;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_diagnose::{Diagnosis, Sources, Verdict, asan, decoded, sanitizer, source_names};
use kiln_session::SessionPhase;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::KernelFile;
use crate::project::Project;

/// A larger log is refused: `--print-limit` of the tool keeps logs small.
const LARGEST_LOG: u64 = 256 << 20;

/// What is to be diagnosed.
#[derive(Debug, Clone, Default)]
pub struct DiagnoseRequest {
    /// Logs of one program, of one or several tools.
    pub logs: Vec<Utf8PathBuf>,
    /// Its sources. Those that lie beside a log, or where the log says, are found without.
    pub sources: Vec<Utf8PathBuf>,
}

impl Ends for Diagnosis {
    fn ending(&self) -> Ending {
        match self.verdict {
            // What is not known to be clean must not look so to a script.
            Verdict::BugsFound | Verdict::Inconclusive => Ending::Refused,
            Verdict::Clean => Ending::Done,
            Verdict::NotRun => Ending::Unfit,
        }
    }
}

/// The same of a kernel that is named: an attempt with it, on whatever machine the log was written.
pub fn diagnose_of(project: &Project, kernel: &Utf8Path, request: &DiagnoseRequest) -> Result<Diagnosis, Failure> {
    let about = About::of(&KernelFile::read(kernel)?, kernel);
    Trying::new(project, "diagnose", SessionPhase::Check, about).quietly(diagnose(request))
}

/// Names the cause of what tools report.
pub fn diagnose(request: &DiagnoseRequest) -> Result<Diagnosis, Failure> {
    let mut sources = Sources::none();
    for file in &request.sources {
        sources = sources.with(file.as_str(), text(file)?);
    }
    let logs = request.logs.iter().map(|file| Ok((file, text(file)?))).collect::<Result<Vec<_>, Failure>>()?;
    let mut gpu = sanitizer::SanitizerLog::default();
    let (mut compilers, mut unsigned) = (Vec::new(), Vec::new());
    for (file, text) in &logs {
        let read = sanitizer::read(text);
        let compiler = asan::read(text).is_signed();
        if compiler {
            compilers.push(text.as_str());
        }
        // A file without a tool's lines may be what the program printed by itself.
        if read.runs.is_empty() && !compiler {
            unsigned.push(*file);
        }
        gpu.join(read);
    }
    if unsigned.len() == logs.len() {
        return Err(nobodys(&logs).into());
    }
    let printed = || unsigned.iter().filter_map(|file| logs.iter().find(|(log, _)| log == file));
    let mut found_in = Vec::new();
    if !gpu.runs.is_empty() {
        let named: Vec<String> = gpu.files().into_iter().map(String::from).collect();
        found_in.push(sanitizer::diagnose(&gpu, &found(sources.clone(), &logs, &named)));
    }
    if !compilers.is_empty() {
        let mut log = asan::read(&compilers.join("\n"));
        printed().for_each(|(_, text)| log.program.join(sanitizer::Program::read(text)));
        let named: Vec<String> = log.files().into_iter().map(String::from).collect();
        found_in.push(asan::diagnose(&log, &found(sources, &logs, &named)));
    }
    let mut all = found_in.into_iter();
    let mut diagnosis = all.next().ok_or_else(|| nobodys(&logs))?;
    all.for_each(|other| diagnosis.join(other));
    diagnosis
        .notes
        .extend(unsigned.iter().map(|file| format!("{file} has no line of a tool: read as the program's output")));
    Ok(diagnosis)
}

/// Tools whose logs are not read, by what only they write.
const OTHERS: [(&str, &str); 4] = [
    ("Memcheck, a memory error detector", "Valgrind"),
    ("Helgrind, a thread error detector", "Valgrind"),
    ("Dr. Memory version", "Dr. Memory"),
    ("==PROF==", "Nsight Compute"),
];

/// None of the files is a log.
fn nobodys(logs: &[(&Utf8PathBuf, String)]) -> Report {
    let names: Vec<&str> = logs.iter().map(|(file, _)| file.as_str()).collect();
    let empty = logs.iter().all(|(_, text)| text.trim().is_empty());
    let what = match (empty, logs.len()) {
        (true, 1) => "is empty",
        (true, _) => "are empty",
        (false, 1) => "has no line that a known sanitizer writes",
        (false, _) => "have no line that a known sanitizer writes",
    };
    let report = Report::error(format!("{} {what}", names.join(", ")));
    let report = report.label(
        "expected a log of compute-sanitizer (text or XML), or of a compiler's address, undefined-behaviour, leak, thread or memory \
         sanitizer",
    );
    let other = OTHERS.iter().find(|(sign, _)| logs.iter().any(|(_, text)| text.contains(sign)));
    report.hint(match other {
        Some((_, tool)) => format!("this is a log of {tool}, which kiln does not read"),
        None => "sanitizers write to standard error: save it with 2> FILE. A compiler's sanitizer that finds nothing writes nothing".into(),
    })
}

/// Sources that were not given, but lie where they can be expected.
fn found(mut sources: Sources, logs: &[(&Utf8PathBuf, String)], named: &[String]) -> Sources {
    if !sources.is_empty() {
        return sources;
    }
    let mut seen: Vec<Utf8PathBuf> = Vec::new();
    for (log, _) in logs {
        let folder = log.parent().unwrap_or(Utf8Path::new(""));
        let beside = named.iter().cloned().chain(source_names(log.as_str()));
        // A log from another machine names its paths; the file itself may lie beside the log.
        let last = |name: &str| name.rsplit(['/', '\\']).next().map(|name| folder.join(name));
        let places = beside.flat_map(|name| [Some(folder.join(&name)), Some(Utf8PathBuf::from(&name)), last(&name)]);
        let places = places.flatten();
        for place in places {
            if !seen.contains(&place)
                && let Ok(text) = text(&place)
            {
                sources = sources.with(place.as_str(), text);
                seen.push(place);
                // One is enough of what is only guessed.
                if named.is_empty() {
                    break;
                }
            }
        }
    }
    sources
}

/// A file as text; bytes that are none are shown as such.
fn text(file: &Utf8Path) -> Result<String, Failure> {
    let about = fs_err::metadata(file)?;
    if about.len() > LARGEST_LOG {
        let report = Report::error(format!("{file} is too large: {} bytes", about.len()));
        return Err(report.hint("compute-sanitizer --print-limit 100 keeps logs small").into());
    }
    Ok(decoded(&fs_err::read(file)?))
}
