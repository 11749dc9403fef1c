//! A kernel from a source in CUDA, C or C++. In: the file. Out: a [`Reading`] with the way to check it.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, Value};
use kiln_formats::source::{CFile, CFunction, CKernel, FoundTarget, TunerCall, chosen, describe_c, read_c, signature};

use crate::failure::Failure;
use crate::operation::from::check::Stage;
use crate::operation::from::{Reading, relative};

/// Reads the kernel of a source.
pub(crate) fn read(file: &Utf8Path, text: &str, folder: &Utf8Path, entry: Option<&str>) -> Result<Reading, Failure> {
    let read = read_c(text, &BTreeMap::new());
    let source = relative(file, folder)?;
    describe(&Source { file, text, named: source, written: None }, &read, entry, None)
}

/// A source and how the kernel.toml names it.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a Utf8Path,
    pub(crate) text: &'a str,
    pub(crate) named: String,
    /// The file to write it to, where it stands in a script.
    pub(crate) written: Option<(String, String)>,
}

/// Describes the kernel that is meant.
pub(crate) fn describe(
    source: &Source<'_>,
    read: &CFile,
    entry: Option<&str>,
    script: Option<&TunerCall>,
) -> Result<Reading, Failure> {
    let (function, target) = select(source, read, entry)?;
    let name = source.file.as_str();
    let kernel = CKernel { name, text: source.text, file: read, function, sources: vec![source.named.clone()], script };
    let found = describe_c(&kernel, target)?;
    let defaults: BTreeMap<&str, &Value> = found.tunables.iter().map(|t| (t.name.as_str(), &t.default)).collect();
    let mut instance = found.entry.clone();
    for (name, value) in defaults {
        instance = instance.replace(&format!("{{{name}}}"), &value.to_string());
    }
    let place = std::path::absolute(source.file.as_std_path())?;
    let stage = Stage {
        source: Utf8PathBuf::from_path_buf(place)
            .map_err(|p| Report::error(format!("{} is not UTF-8", p.display())))?,
        text: source.written.as_ref().map(|(_, text)| text.clone()),
        instance,
        types: function.parameters.as_ref().ok().and_then(|parameters| signature(function, parameters)),
        returns: function.returns.clone(),
    };
    Ok(Reading { found, beside: source.written.clone().into_iter().collect(), stage: Some(stage) })
}

/// The function, and where it runs: a kernel with `__global__`, else a launcher in a .cu file, else a function for the processor.
fn select<'a>(
    source: &Source<'_>,
    read: &'a CFile,
    entry: Option<&str>,
) -> Result<(&'a CFunction, FoundTarget), Report> {
    let globals: Vec<&CFunction> = read.functions.iter().filter(|f| f.global).collect();
    let is_cuda = matches!(source.file.extension(), Some("cu" | "cuh" | "py"));
    let name = source.file.as_str();
    let launches = |f: &&CFunction| {
        let last = f.parameters.as_ref().ok().and_then(|p| p.last());
        f.extern_c && !f.global && f.returns == "int" && last.is_some_and(|p| p.written == "cudaStream_t")
    };
    let launchers: Vec<&CFunction> = read.functions.iter().filter(launches).collect();
    let is = |f: &&&CFunction| Some(f.name.as_str()) == entry;
    if let Some(launcher) = launchers.iter().find(is) {
        return Ok((launcher, FoundTarget::Cuda));
    }
    if is_cuda || !globals.is_empty() {
        if globals.is_empty() && !launchers.is_empty() {
            return Ok((chosen(name, source.text, &launchers, entry, "launcher")?, FoundTarget::Cuda));
        }
        let host = read.functions.iter().find(|f| !f.global && Some(f.name.as_str()) == entry);
        if let Some(host) = host {
            let kernels: Vec<&str> = globals.iter().map(|f| f.name.as_str()).collect();
            return Err(Report::error(format!("{} in {name} is a host function, not a kernel", host.name))
                .label("expected a kernel, or `extern \"C\" int launcher(..., cudaStream_t stream)`")
                .hint(format!("choose a kernel with --entry: {}", kernels.join(", "))));
        }
        let function =
            chosen(name, source.text, &globals, entry, "kernel").map_err(|report| match globals.is_empty() {
                true => report.label("expected a `__global__ void` function with a body"),
                false => report,
            })?;
        return Ok((function, FoundTarget::Cuda));
    }
    let is_c = source.file.extension() == Some("c");
    let callable = |f: &&CFunction| !f.hidden && f.name != "main" && f.template.is_empty() && (is_c || f.extern_c);
    let functions: Vec<&CFunction> = read.functions.iter().filter(callable).collect();
    if !is_c && functions.is_empty() && read.functions.iter().any(|f| f.name != "main") {
        return Err(Report::error(format!("{name} has no function that kiln can call by its name"))
            .label("expected a function with extern \"C\"")
            .hint("write extern \"C\" before the kernel"));
    }
    let function =
        chosen(name, source.text, &functions, entry, "function").map_err(|report| match functions.is_empty() {
            true => report.label("expected a function with a body that is not static"),
            false => report,
        })?;
    Ok((function, FoundTarget::Cpu))
}
