//! A package of a kernel's winners, for programs that know nothing of kiln. In: a kernel, and which configurations: its tuned
//! table, a study's winners or one that was typed. Out: a folder with the sources and their configurations fixed, what the
//! compiler made of them, a header, a launcher, a recipe, a Python module and its test. Refuses what cannot be launched from
//! outside (host launchers, `__constant__` variables), a configuration that a gate refuses, and a folder with somebody else's
//! files; then nothing is written. An instance of a kernel that a gate refuses is left out, and the package says so.

mod builds;
mod expression;
mod filled;
mod folder;
mod header;
mod interface;
mod launcher;
mod names;
mod package;
mod parts;
mod python;
mod recipe;
mod rows;
mod rules;
mod served;
mod sources;
mod table;
mod trial;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, Value};
use kiln_device::Arch;
use kiln_spec::{Role, Target, TargetKind};

use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, folder as kernel_folder, this_arch};
use crate::operation::export::builds::{Binary, Built, build_all};
use crate::operation::export::interface::Interface;
use crate::operation::export::parts::implementation_of;
use crate::operation::export::rows::{Row, refuse_none, rows};
use crate::operation::export::rules::{Rule, rules};
use crate::project::Project;
use crate::teller::{Listener, Teller};

/// What is to be exported.
#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// The kernel's folder or file.
    pub path: Utf8PathBuf,
    /// The target; the file's first when none.
    pub target: Option<String>,
    /// The only implementation that is exported.
    pub implementation: Option<String>,
    /// Architectures; when none, that of the GPU here, else those the file lists.
    pub archs: Vec<String>,
    /// One configuration, as it is typed.
    pub config: Option<String>,
    /// The winners of this study.
    pub study: Option<String>,
    /// Where to write; `NAME-export` here when none.
    pub folder: Option<Utf8PathBuf>,
    /// Replace a folder that kiln did not write.
    pub force: bool,
}

/// One compiled configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedBinary {
    /// Its file in the folder; none for Python, which has nothing compiled.
    pub file: Option<String>,
    /// The architecture; none where there is none.
    pub arch: Option<String>,
    /// Dtypes of type variables, `T=bf16`.
    pub variant: String,
    /// The configuration.
    pub config: Vec<(String, Value)>,
    /// Where kernels are compiled for values of a dimension, those: `D=64`.
    pub instances: Vec<String>,
    /// Workloads it was tuned for; none for the configuration that serves all others.
    pub workloads: Vec<String>,
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The kernel's name.
    pub kernel: String,
    /// The target.
    pub target: String,
    /// The folder.
    pub folder: Utf8PathBuf,
    /// The Python package, which is also the function's name.
    pub module: String,
    /// The function as Python has it.
    pub signature: String,
    /// What was compiled.
    pub binaries: Vec<ExportedBinary>,
    /// The files with their sizes in bytes.
    pub files: Vec<(Utf8PathBuf, u64)>,
    /// What to know about it.
    pub notes: Vec<String>,
}

impl Ends for Exported {
    fn ending(&self) -> Ending {
        Ending::Done
    }
}

/// Writes the package.
pub fn export(
    project: &Project,
    file: &KernelFile,
    request: &ExportRequest,
    listener: Listener<'_>,
) -> Result<Exported, Failure> {
    let teller = Teller::new(listener);
    teller.end(run(project, file, request, &teller))
}

/// What all files of a package are made from.
struct Plan<'a> {
    file: &'a KernelFile,
    target: &'a Target,
    /// The folder of the kernel file.
    sources: Utf8PathBuf,
    interface: Interface,
    rows: Vec<Row>,
    binaries: Vec<Binary>,
    /// What every call must meet.
    rules: Vec<Rule>,
    /// What was refused, and why.
    left_out: Vec<String>,
    /// What to know of a configuration that was typed.
    unchecked: Option<String>,
    /// Whether a kernel keeps something from launch to launch.
    stateful: bool,
}

fn run(
    project: &Project,
    file: &KernelFile,
    request: &ExportRequest,
    teller: &Teller<'_>,
) -> Result<Exported, Failure> {
    teller.warn(&file.warnings);
    let (rows, selecting) = rows(project, file, request)?;
    let target = file.select(&selecting)?.target;
    refuse_unlaunchable(file, target, &rows)?;
    refuse_none(file, &rows)?;
    let interface = Interface::of(&file.spec, target)?;
    let rules = rules(&file.spec, target, &interface)?;
    let destination = request.folder.clone().unwrap_or_else(|| format!("{}-export", interface.name).into());
    folder::check(&destination, &request.path, request.force)?;
    let built = build_all(project, file, &selecting, &rows, teller)?;
    let sources = kernel_folder(&request.path).canonicalize_utf8()?;
    let Built { binaries, notes: left_out } = built;
    let unchecked = request.config.as_ref().map(|config| unchecked(request, target, config));
    let stateful = false;
    let mut plan = Plan { file, target, sources, interface, rows, binaries, rules, left_out, unchecked, stateful };
    plan.stateful = target.kind == TargetKind::Cuda && sources::keeps_state(&sources::sources(&plan)?.files);
    let package = package::package(&plan)?;
    let files = folder::write(&destination, &package)?;
    Ok(Exported {
        kernel: file.spec.name.clone(),
        target: target.kind.name().into(),
        folder: destination,
        module: plan.interface.name.clone(),
        signature: plan.interface.signature(),
        binaries: plan.binaries.iter().enumerate().map(|(at, binary)| binary.told(&plan, at)).collect(),
        files,
        notes: plan.unchecked.iter().chain(&plan.left_out).cloned().collect(),
    })
}

/// What `--config` exports: nothing says that it is right.
fn unchecked(request: &ExportRequest, target: &Target, config: &str) -> String {
    format!(
        "this configuration was compiled, not run: `kiln check {} --target {} --config '{config}' --full` checks it",
        request.path,
        target.kind.name()
    )
}

/// The architectures meant: those asked for, else the GPU's that is here, else those the file lists.
fn architectures(target: &Target, asked: &[String], selecting: &Selecting) -> Result<Vec<Option<Arch>>, Failure> {
    if target.kind != TargetKind::Cuda {
        return match asked.first() {
            Some(name) => Err(Report::error(format!("--arch {name} with target {}", target.kind.name()))
                .label("only a cuda target is compiled for an architecture")
                .hint("omit --arch, or choose --target cuda")
                .into()),
            None => Ok(vec![None]),
        };
    }
    let mut archs = Vec::new();
    for name in asked.iter().flat_map(|names| names.split(',')) {
        let arch = Arch::parse(name.trim()).map_err(|e| Report::error(e.to_string()))?;
        if !archs.contains(&Some(arch)) {
            archs.push(Some(arch));
        }
    }
    if archs.is_empty() {
        let own = this_arch(selecting);
        archs.extend(own.map(Some));
    }
    let named = selecting.implementation.as_deref();
    let meant = || target.implementations.iter().filter(|one| named.is_none() || one.name.as_deref() == named);
    if archs.is_empty() {
        let listed = target.archs.iter().copied().filter(|arch| meant().any(|one| one.runs_on(Some(*arch))));
        archs.extend(listed.map(Some));
    }
    let own = || meant().flat_map(|one| &one.archs).map(|range| range.from).next();
    Ok(if archs.is_empty() { vec![Some(own().unwrap_or(Arch::SM_80))] } else { archs })
}

/// Refuses what only kiln's own workers can run.
fn refuse_unlaunchable(file: &KernelFile, target: &Target, rows: &[Row]) -> Result<(), Failure> {
    let spec = &file.spec;
    let refused = |why: String, hint: &str| {
        Err(Report::error(format!("{} cannot be exported: {why}", spec.name)).hint(hint).into())
    };
    let parts = || rows.iter().map(|row| implementation_of(target, &row.config));
    if target.kind == TargetKind::Cuda && (spec.host || parts().any(|part| part.host)) {
        return refused(
            "its entry is a host function that launches by itself".into(),
            "it is a library already; or describe its launches under [[target.cuda.launches]]",
        );
    }
    if let Some(argument) = spec.arguments.iter().find(|a| a.role == Role::Constant) {
        let why = format!("{} is a __constant__ variable, one for all streams of a program", argument.name);
        return refused(why, "pass it as an input");
    }
    if parts().any(|part| part.sources.is_empty()) && target.kind != TargetKind::Python {
        return refused(format!("target {} has no source", target.kind.name()), "add source to the target");
    }
    Ok(())
}

/// A path as text of a generated file: never with a backslash.
fn slashed(path: &Utf8Path) -> String {
    path.as_str().replace('\\', "/")
}
