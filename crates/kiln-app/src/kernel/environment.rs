//! What a kernel file asks of the environment, held against what is here. In: the requirements of `[environment]`. Out: for each
//! what was found and whether it will do. A part that a target has no use for is not asked about: drivers where nothing runs
//! on a GPU, compilers where nothing is compiled.

use kiln_core::Fault;
use kiln_run::{Card, Python, find_python};
use kiln_spec::{Part, Requirement, TargetKind};
use kiln_study::{Kernel, toolchain};

use crate::doctor::Finding;
use crate::failure::Failure;
use crate::project::program;

const ID: &str = "environment";
const WHY: &str = "the kernel file asks for these versions";

/// Every requirement, as a finding.
pub(crate) fn required(kernel: &Kernel<'_>, card: Option<&Card>) -> Vec<Finding> {
    let asked = &kernel.selection.spec.environment;
    // An interpreter takes its time to start.
    let of_python = |one: &Requirement| !matches!(one.part, Part::Driver | Part::Compiler);
    let python = asked.iter().any(of_python).then(find_python);
    asked.iter().filter_map(|one| judged(one, found(one.part, kernel, card, python.as_ref())?)).collect()
}

/// Refuses an environment that does not have what the file asks for.
pub(crate) fn refuse(kernel: &Kernel<'_>, card: Option<&Card>) -> Result<(), Failure> {
    use crate::doctor::Health;
    match required(kernel, card).into_iter().find(|finding| finding.state == Health::Fail) {
        None => Ok(()),
        Some(finding) => {
            let fault = Fault::new("before starting: environment", finding.what);
            Err(fault.hint(finding.fix.unwrap_or_default()).into())
        }
    }
}

/// What is here: a version, or why there is none, and what to do about another one.
struct Here {
    version: Result<String, String>,
    fix: String,
}

/// None where the part does not matter.
fn found(part: Part, kernel: &Kernel<'_>, card: Option<&Card>, python: Option<&Result<Python, Fault>>) -> Option<Here> {
    let target = kernel.selection.target;
    let package = |name: &str, of: fn(&Python) -> Option<&String>| {
        let python = match python? {
            Ok(python) => python,
            Err(fault) => return Some(without(fault)),
        };
        let missing = || format!("{} has none", python.interpreter);
        let fix = format!(
            "{} -m pip install \"{name}RANGE\"; or name another interpreter: KILN_PYTHON, or an activated environment",
            python.interpreter
        );
        Some(Here { version: of(python).cloned().ok_or_else(missing), fix })
    };
    match part {
        Part::Numpy => package("numpy", |python| python.numpy.as_ref()),
        Part::Torch => package("torch", |python| python.torch.as_ref()),
        Part::Triton => package("triton", |python| python.triton.as_ref()),
        Part::Python => Some(match python? {
            Ok(python) => Here {
                version: Ok(python.version.clone()),
                fix: "set KILN_PYTHON to another interpreter, or activate its environment".into(),
            },
            Err(fault) => without(fault),
        }),
        Part::Driver => {
            let version = Ok(card.filter(|_| target.on_gpu)?.driver.clone());
            Some(Here { version, fix: "install another driver, or use another machine".into() })
        }
        Part::Compiler if target.kind == TargetKind::Python => None,
        Part::Compiler => {
            let toolchain = program().map_err(|e| e.to_string());
            let toolchain = toolchain.and_then(|program| toolchain_of(kernel, &program));
            let fix = match target.kind {
                TargetKind::Cuda => "set CUDA_HOME to another toolkit",
                _ => "set CC to another compiler",
            };
            Some(Here { version: toolchain, fix: fix.into() })
        }
    }
}

fn without(fault: &Fault) -> Here {
    Here { version: Err(fault.why.clone()), fix: fault.hint.clone().unwrap_or("install Python 3.9 or later".into()) }
}

/// The compiler's version: the last word of what it says of itself that begins with a digit.
fn toolchain_of(kernel: &Kernel<'_>, program: &camino::Utf8Path) -> Result<String, String> {
    let toolchain = toolchain(kernel, program).map_err(|fault| fault.why)?;
    let version = toolchain.version();
    let mut words = version.split_whitespace();
    Ok(words.rfind(|word| word.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(version).into())
}

fn judged(one: &Requirement, here: Here) -> Option<Finding> {
    let (name, range) = (one.part.name(), &one.range.text);
    let fix = here.fix.replace("RANGE", range);
    Some(match here.version {
        Err(why) => Finding::fail(ID, WHY, format!("{name} is missing, the file asks for {range}: {why}"), fix),
        Ok(version) => match one.range.holds(&version) {
            Some(true) => Finding::ok(ID, WHY, format!("{name} {version}, as asked for: {range}")),
            Some(false) => Finding::fail(ID, WHY, format!("{name} is {version}, the file asks for {range}"), fix),
            None => Finding::warn(ID, WHY, format!("{name} is {version}, which cannot be held against {range}"), fix),
        },
    })
}
