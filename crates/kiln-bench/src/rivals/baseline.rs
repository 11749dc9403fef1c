//! What is fast: the baselines a kernel file names, built or found, checked like any candidate, measured. One that cannot be
//! had here is skipped, with the reason; one that is wrong is not a baseline.

use camino::Utf8Path;
use kiln_build::{Nvcc, Toolchain};
use kiln_core::{Config, Fault, Gate, Outcome, Refusal};

use crate::apparatus::Apparatus;
use crate::bench::Bench;
use crate::building::compile::request_of;
use crate::evaluation::{Ended, Evaluation};
use crate::rivals::field::Unmeasured;
use crate::workers::subject::Subject;

/// A baseline that can be run.
#[derive(Debug, Clone)]
pub struct Baseline<S = Subject> {
    /// Its name.
    pub name: String,
    /// What is called.
    pub subject: S,
}

/// Those that can be run, in file order, and why the others cannot.
#[derive(Debug, Clone)]
pub struct Baselines<S = Subject> {
    /// Ready to run.
    pub ready: Vec<Baseline<S>>,
    /// Those that cannot be run, and why.
    pub skipped: Vec<Unmeasured>,
}

impl Baselines {
    /// Builds and finds what the kernel file names; only `only` when given. A name the file does not have is a fault.
    pub fn find(bench: &Bench<'_>, only: Option<&str>) -> Result<Baselines, Fault> {
        let stated = &bench.kernel.selection.target.baselines;
        if let Some(name) = only.filter(|name| !stated.iter().any(|b| b.name == **name)) {
            let known: Vec<&str> = stated.iter().map(|b| b.name.as_str()).collect();
            let fault = Fault::new("choosing a baseline", format!("there is no baseline `{name}`"));
            return Err(fault.hint(format!("expected one of {}", known.join(", "))));
        }
        let mut found = Baselines { ready: Vec::new(), skipped: Vec::new() };
        for baseline in stated.iter().filter(|b| only.is_none_or(|name| b.name == name)) {
            match ready(bench, &baseline.callable.file, &baseline.callable.function)? {
                Outcome::Passed(subject) => found.ready.push(Baseline { name: baseline.name.clone(), subject }),
                Outcome::Refused(refusal) => found.skipped.push(Unmeasured { name: baseline.name.clone(), refusal }),
            }
        }
        Ok(found)
    }
}

/// A callable made ready, or why it cannot be.
fn ready(bench: &Bench<'_>, file: &str, function: &str) -> Result<Outcome<Subject>, Fault> {
    let path = bench.kernel.folder.join(file);
    if let Some(refusal) = missing(&path) {
        return Ok(Outcome::Refused(refusal));
    }
    // The environment lacks what it needs to be started.
    let without = |why: String| Ok(Outcome::Refused(refused(Gate::LaunchFailed, why)));
    if Utf8Path::new(file).extension() == Some("py") {
        let python = match &bench.python {
            Ok(python) => python,
            Err(fault) => return without(fault.why.clone()),
        };
        let source = match std::fs::read_to_string(&path) {
            Ok(source) => source,
            Err(why) => return without(format!("{path} cannot be read: {why}")),
        };
        for (module, there) in [("numpy", &python.numpy), ("torch", &python.torch)] {
            if there.is_none() && imports(&source, module) {
                return without(format!("it needs {module}, which {} does not have", python.interpreter));
            }
        }
        let interpreter = python.interpreter.clone();
        return Ok(Outcome::Passed(Subject::Python {
            interpreter,
            file: path,
            function: function.into(),
            config: Config::default(),
            device: bench.kernel.on_gpu() && on_device(&source),
            ahead: None,
        }));
    }
    let library = Utf8Path::new(file).extension() == Some("so");
    // The loader looks for it from another folder.
    let path = if library { path.canonicalize_utf8().unwrap_or(path) } else { path };
    let linked = library.then(|| path.clone());
    let mut request = request_of(bench.kernel, vec![path], function, Config::default())?;
    request.flags.extend(linked.iter().flat_map(|path| linking(path, request.host)));
    // On a GPU a function in C++ launches by itself, and that is host code.
    let toolchain = if request.host { Nvcc::find().map(Toolchain::Nvcc) } else { bench.toolchain() };
    let toolchain = match toolchain {
        Ok(toolchain) => toolchain,
        Err(fault) => return without(fault.why),
    };
    bench.build_now(&toolchain, &request)
}

/// What makes a linker keep a library whose functions are called only by what comes after it, and find it again at run time: some
/// systems' linkers drop what nothing has asked for yet.
fn linking(library: &Utf8Path, nvcc: bool) -> Vec<String> {
    let folder = library.parent().unwrap_or(Utf8Path::new("."));
    let prefix = if nvcc { "-Xlinker=" } else { "-Wl," };
    vec![format!("{prefix}--no-as-needed"), format!("{prefix}-rpath={folder}")]
}

/// Why a baseline's file cannot be used, where it is not there.
pub fn missing(path: &Utf8Path) -> Option<Refusal> {
    let hint = || Some("paths in [baselines] are relative to the kernel file".to_string());
    (!path.is_file()).then(|| Refusal { hint: hint(), ..refused(Gate::BuildFailed, format!("{path}: no such file")) })
}

fn refused(gate: Gate, measured: String) -> Refusal {
    let empty = String::new;
    Refusal { gate, rule: empty(), measured, limit: empty(), evidence: empty(), hint: None }
}

/// Whether a baseline of a kernel for a GPU works there too. What has no tensors for a GPU works on the processor, and is
/// measured there.
pub(crate) fn on_device(source: &str) -> bool {
    imports(source, "torch") || imports(source, "triton")
}

/// Whether a Python source imports a module.
pub(crate) fn imports(source: &str, module: &str) -> bool {
    source.lines().map(str::trim_start).any(|line| {
        let rest = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "));
        rest.is_some_and(|rest| {
            rest.split([',', ' ', '.']).next().is_some_and(|first| first == module)
                || rest.split(',').any(|part| part.trim() == module)
        })
    })
}

impl Bench<'_> {
    /// Checks and measures a baseline like a candidate. One that is wrong here cannot be measured against.
    pub fn measure_baseline(&mut self, baseline: &Baseline) -> Result<Evaluation, Fault> {
        let build = crate::building::builder::Build::Ready(baseline.subject.clone());
        let way = self.evaluate(build, 0, None)?;
        match &way.outcome {
            Ended::Refused(refusal, workload) => {
                let on = workload.as_deref().map_or(String::new(), |w| format!(" on workload {w}"));
                let limit = &refusal.limit;
                let limit = if limit.is_empty() { String::new() } else { format!(", expected {limit}") };
                let fault = Fault::new(
                    format!("checking the baseline {}{on}", baseline.name),
                    format!("{}: {}{limit}", refusal.gate, refusal.measured),
                );
                Err(fault.hint("a baseline must be correct; choose another with --baseline"))
            }
            Ended::Measured { .. } => Ok(way),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_linked_and_found_again() {
        let library = Utf8Path::new("/opt/k/libx.so");
        assert_eq!(linking(library, false), ["-Wl,--no-as-needed", "-Wl,-rpath=/opt/k"]);
        assert_eq!(linking(library, true), ["-Xlinker=--no-as-needed", "-Xlinker=-rpath=/opt/k"]);
    }

    #[test]
    fn imports_are_seen_in_every_form() {
        for line in ["import numpy as np", "import os, numpy", "from numpy.linalg import norm", "    import numpy"] {
            assert!(imports(line, "numpy"), "{line}");
        }
        assert!(!imports("# import of numpy is not needed", "numpy"));
        assert!(!imports("import numpyro", "numpy"));
    }
}
