//! Logs of other tools to causes, offline: any log from any machine. In: files that compute-sanitizer or a compiler's sanitizer wrote,
//! and the sources they speak of. Out: a diagnosis. Refuses files that cannot be read.

pub(super) mod profile;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_diagnose::{Diagnosis, Sources, Verdict, asan, decoded, sanitizer, source_names};

use crate::ending::{Ending, Ends};
use crate::failure::Failure;

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
            Verdict::BugsFound => Ending::Refused,
            Verdict::Clean | Verdict::Inconclusive => Ending::Done,
            Verdict::NotRun => Ending::Unfit,
        }
    }
}

/// Names the cause of what tools report.
pub fn diagnose(request: &DiagnoseRequest) -> Result<Diagnosis, Failure> {
    let mut sources = Sources::none();
    for file in &request.sources {
        sources = sources.with(file.as_str(), text(file)?);
    }
    let logs = request.logs.iter().map(|file| Ok((file, text(file)?))).collect::<Result<Vec<_>, Failure>>()?;
    if logs.iter().all(|(_, log)| of_a_compiler(log)) && !logs.is_empty() {
        let all: Vec<&str> = logs.iter().map(|(_, log)| log.as_str()).collect();
        let log = asan::read(&all.join("\n"));
        return Ok(asan::diagnose(&log, &found(sources, &logs, &[])));
    }
    let mut log = sanitizer::SanitizerLog::default();
    logs.iter().for_each(|(_, text)| log.join(sanitizer::read(text)));
    let named: Vec<String> = log.files().into_iter().map(String::from).collect();
    Ok(sanitizer::diagnose(&log, &found(sources, &logs, &named)))
}

/// Whether a log is of GCC's or Clang's sanitizers.
fn of_a_compiler(log: &str) -> bool {
    ["Sanitizer: ", "runtime error: "].iter().any(|words| log.contains(words)) && !log.contains("COMPUTE-SANITIZER")
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
