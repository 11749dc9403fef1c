//! The kernel that a script of Kernel Tuner tunes. In: the script's calls of `tune_kernel`. Out: a [`Reading`] of the source it
//! names, with the script's tunables, restrictions and grid. Refuses a script without such a call, a source that is not there, and
//! a choice between kernels that was not made.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Place, Report};
use kiln_formats::source::{CFile, TunerCall, read_c};

use crate::failure::Failure;
use crate::operation::from::c_source::{Source, describe};
use crate::operation::from::{Reading, read_source, relative};

/// Reads the kernel that is meant.
pub(crate) fn read(
    file: &Utf8Path,
    text: &str,
    folder: &Utf8Path,
    entry: Option<&str>,
    calls: &[TunerCall],
) -> Result<Reading, Failure> {
    let call = choose(file, text, entry, calls)?;
    let mut call = call.clone();
    let same = calls.iter().filter(|c| c.kernel == call.kernel).count();
    if same > 1 {
        call.questions
            .push(format!("The script tunes this kernel {same} times: these are the tunables of line {}.", call.line));
    }
    if entry.is_some_and(|entry| call.kernel.as_deref() != Some(entry)) {
        let tuned = call.kernel.as_deref().unwrap_or("another kernel");
        call.questions.push(format!("The script's arguments are those of {tuned}: which ones does this kernel get?"));
        (call.arguments, call.answers) = (None, None);
    }
    let tuned = call.kernel.clone();
    let wanted = entry.or(tuned.as_deref());
    let sources = sources(file, &call)?;
    let mut tried = Vec::new();
    for (path, source, inline) in &sources {
        let first = read_c(source, &BTreeMap::new());
        let has = |read: &CFile| read.functions.iter().any(|f| Some(f.name.as_str()) == wanted || wanted.is_none());
        let number = |name: &str| first.macros.iter().find(|(m, _)| m.name == name).map(|(_, v)| *v);
        let defaults: BTreeMap<String, String> =
            call.found_tunables(&number).into_iter().map(|t| (t.name, t.default.to_string())).collect();
        // The script defines its tunables: some sources cannot be read without.
        let read = read_c(source, &defaults);
        if has(&read) {
            let name = wanted.unwrap_or("kernel");
            let (named, written) = match inline {
                true => (format!("{name}.cu"), Some((format!("{name}.cu"), source.clone()))),
                false => (relative(path, folder)?, None),
            };
            let host = read.functions.iter().find(|f| Some(f.name.as_str()) == wanted && !f.global);
            if let Some(host) = host {
                let kernels: Vec<String> = all_kernels(&sources);
                return Err(Report::error(format!(
                    "{} in {path} is a host function that the script times with its copies",
                    host.name
                ))
                .label("expected a kernel: kiln launches and times it alone")
                .hint(format!("choose the kernel with --entry: {}", kernels.join(", ")))
                .into());
            }
            return describe(&Source { file: path, text: source, named, written }, &read, wanted, Some(&call));
        }
        tried.push(path.as_str());
    }
    let kernels = all_kernels(&sources);
    let label = if kernels.is_empty() {
        "they have no kernels".into()
    } else {
        format!("expected one of {}", kernels.join(", "))
    };
    Err(Report::error(format!("{} has no kernel `{}`", tried.join(", "), wanted.unwrap_or_default()))
        .label(label)
        .into())
}

fn choose<'a>(
    file: &Utf8Path,
    text: &str,
    entry: Option<&str>,
    calls: &'a [TunerCall],
) -> Result<&'a TunerCall, Report> {
    let mut kernels: Vec<&str> = calls.iter().filter_map(|c| c.kernel.as_deref()).collect();
    kernels.dedup();
    let by_name = |entry: &str| calls.iter().find(|c| c.kernel.as_deref() == Some(entry));
    match (entry, calls) {
        (_, []) => Err(Report::error(format!("{file} calls tune_kernel nowhere"))
            .label("expected a call that can be followed without running the script")),
        (Some(entry), [first, ..]) => match by_name(entry) {
            Some(call) => Ok(call),
            // Another kernel of the same source, with the tunables of the only one that is tuned.
            None if kernels.len() <= 1 => Ok(first),
            None => Err(Report::error(format!("{file} does not tune {entry}"))
                .label(format!("expected one of {}", kernels.join(", ")))),
        },
        (None, [first, ..]) if kernels.len() <= 1 => Ok(first),
        (None, [first, ..]) => {
            let start: usize = text.lines().take(first.line.saturating_sub(1)).map(|l| l.len() + 1).sum();
            let width = text.lines().nth(first.line.saturating_sub(1)).map_or(0, str::len);
            Err(Report::error(format!("{file} tunes {} kernels", kernels.len()))
                .at(Place::of(file.as_str(), text, start..start + width))
                .label("expected one, or the name of one")
                .hint(format!("choose with --entry: {}", kernels.join(", "))))
        }
    }
}

/// The sources with their texts, and whether a text stands in the script itself.
fn sources(file: &Utf8Path, call: &TunerCall) -> Result<Vec<(Utf8PathBuf, String, bool)>, Failure> {
    let beside = file.parent().unwrap_or(Utf8Path::new(""));
    let mut found = Vec::new();
    for source in &call.sources {
        if source.contains("__global__") {
            found.push((file.to_owned(), source.clone(), true));
            continue;
        }
        let path = beside.join(source);
        if !path.is_file() {
            return Err(Report::error(format!("the source {path} is not there"))
                .label(format!("{file} names it in line {}", call.line))
                .hint("put it beside the script")
                .into());
        }
        let text = read_source(&path)?;
        found.push((path, text, false));
    }
    if found.is_empty() {
        return Err(Report::error(format!("{file} names no source that could be followed"))
            .label(format!("expected a file's name or the source itself in tune_kernel, line {}", call.line))
            .hint("read the source itself: `kiln init --from KERNEL.cu`")
            .into());
    }
    Ok(found)
}

fn all_kernels(sources: &[(Utf8PathBuf, String, bool)]) -> Vec<String> {
    let kernels =
        |text: &String| read_c(text, &BTreeMap::new()).functions.into_iter().filter(|f| f.global).map(|f| f.name);
    sources.iter().flat_map(|(_, text, _)| kernels(text)).collect()
}
