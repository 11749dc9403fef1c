//! What a kernel is sanitized with. In: the kernel and the tools asked for. Out: compute-sanitizer with its tools, or the compiler's
//! sanitizers. Refuses a kernel that has nothing to sanitize, tools that are unknown or do not apply, and a machine without.

use kiln_build::{Compiler, Sanitizers};
use kiln_core::{Fault, Report, nearest};
use kiln_run::{ComputeSanitizer, SanitizerTool};
use kiln_spec::{Selection, TargetKind};

use crate::doctor::find_program;
use crate::failure::Failure;

const PROGRAM: &str = "compute-sanitizer";

/// Tools that look at memory.
pub(crate) enum Tools {
    /// The address and undefined-behaviour sanitizers of a C compiler.
    Compiler(Sanitizers, String),
    /// Tools of compute-sanitizer.
    Gpu(ComputeSanitizer, Vec<SanitizerTool>),
}

impl Tools {
    /// Those asked for, else those that make sense for a kernel.
    pub(crate) fn of(selection: &Selection<'_>, asked: &[String]) -> Result<Tools, Failure> {
        let target = selection.target;
        match (target.kind, target.on_gpu) {
            (TargetKind::Python, false) => {
                let report = Report::error("a Python kernel on the processor has nothing to sanitize");
                Err(report.hint("`kiln check` shows whether its results are correct").into())
            }
            (TargetKind::Cpu, _) => {
                if let Some(tool) = asked.first() {
                    let report = Report::error(format!("--tool {tool}: compute-sanitizer's tools are for GPUs"));
                    let hint = "omit --tool: the compiler's address and undefined-behaviour sanitizers are used";
                    return Err(report.hint(hint).into());
                }
                let compiler = Compiler::find()?;
                Ok(Tools::Compiler(compiler.sanitizers()?, compiler.version().to_string()))
            }
            (kind, _) => {
                let usual = match kind {
                    // What PyTorch and Triton do inside is not the kernel's.
                    TargetKind::Python => &[SanitizerTool::Memcheck][..],
                    _ => &SanitizerTool::ALL,
                };
                let wanted = if asked.is_empty() { usual.to_vec() } else { parsed(asked)? };
                let sanitizer = found()?;
                let tools: Vec<SanitizerTool> = wanted.into_iter().filter(|tool| sanitizer.has(*tool)).collect();
                Ok(Tools::Gpu(sanitizer, tools))
            }
        }
    }

    /// Their name and version.
    pub(crate) fn title(&self) -> String {
        match self {
            Tools::Compiler(_, compiler) => format!("address and undefined-behaviour sanitizers of {compiler}"),
            Tools::Gpu(sanitizer, tools) => {
                let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
                format!("{PROGRAM} {} ({})", sanitizer.version(), names.join(", "))
            }
        }
    }

    /// Runs on each workload.
    pub(crate) fn runs(&self) -> usize {
        match self {
            Tools::Compiler(..) => 1,
            Tools::Gpu(_, tools) => tools.len(),
        }
    }
}

/// The compute-sanitizer of this machine.
fn found() -> Result<ComputeSanitizer, Fault> {
    let path = find_program(PROGRAM).ok_or_else(|| {
        let why = "it is not on the PATH, nor in bin of $CUDA_HOME, $CUDA_PATH or /usr/local/cuda";
        Fault::new(format!("looking for {PROGRAM}"), why)
            .hint("install the CUDA toolkit, or set CUDA_HOME to one; `kiln doctor` shows what is found")
    })?;
    ComputeSanitizer::at(&path)
}

fn parsed(asked: &[String]) -> Result<Vec<SanitizerTool>, Failure> {
    let names = || SanitizerTool::ALL.iter().map(|tool| tool.name());
    let mut tools = Vec::new();
    for name in asked {
        let Some(tool) = SanitizerTool::ALL.into_iter().find(|tool| tool.name() == name) else {
            let near = nearest(name, names()).map(|near| format!("did you mean {near}?"));
            let report = Report::error(format!("--tool: there is no tool `{name}`"));
            let known: Vec<&str> = names().collect();
            return Err(report.label(format!("expected one of {}", known.join(", "))).maybe_hint(near).into());
        };
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_by_name() {
        let parse = |names: &[&str]| parsed(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        let tools = parse(&["racecheck", "memcheck", "racecheck"]).unwrap();
        assert_eq!(tools, [SanitizerTool::Racecheck, SanitizerTool::Memcheck]);
        let words = parse(&["memchek"]).unwrap_err().to_string();
        assert!(words.contains("did you mean memcheck?") && words.contains("synccheck"), "{words}");
    }
}
