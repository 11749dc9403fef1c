//! What can be run here. In: a kernel file and what was selected of it. Out: a selection on a target that this machine can
//! run, with the GPU it runs on, if it does. Refuses a target without code, and one whose GPU is not there.

use kiln_core::Report;
use kiln_device::Arch;
use kiln_run::Card;
use kiln_spec::{Choice, Selection, Target, TargetKind};

use crate::doctor;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting};

/// What the flags select, on a target that can be run here, and the GPU it runs on, if it does: the target asked for,
/// else the file's first that can be.
pub(crate) fn runnable<'a>(
    file: &'a KernelFile,
    selecting: &Selecting,
) -> Result<(Selection<'a>, Option<Card>), Failure> {
    let card = card(selecting);
    let targets = &file.spec.targets;
    let asked = selecting.target.as_deref();
    let wanted = asked.and_then(|name| targets.iter().find(|t| t.kind.name() == name));
    // Who names a GPU means one.
    let gpu = selecting.device.is_some();
    let here = || targets.iter().find(|t| if t.on_gpu { card.is_ok() } else { !gpu } && has_code(t));
    let (card, target) = match (wanted, &card) {
        (Some(target), _) if !has_code(target) => return Err(no_code(targets, target)),
        (Some(target), Err(why)) if target.on_gpu => return Err(no_gpu(targets, target, why)),
        (Some(target), _) if gpu && !target.on_gpu => return Err(on_processor(target.kind.name(), selecting)),
        (Some(target), _) => (card.ok().filter(|_| target.on_gpu), Some(target.kind.name())),
        // A name the file does not have: the selection says so.
        (None, _) if asked.is_some() => (None, asked),
        (None, _) => match (here(), targets.first(), &card) {
            (Some(target), _, _) => (card.ok().filter(|_| target.on_gpu), Some(target.kind.name())),
            (None, Some(target), _) if !has_code(target) => return Err(no_code(targets, target)),
            (None, Some(target), Err(why)) => match targets.iter().find(|t| t.on_gpu) {
                Some(target) => return Err(no_gpu(targets, target, why)),
                None => return Err(on_processor(target.kind.name(), selecting)),
            },
            (None, Some(target), Ok(_)) if gpu => return Err(on_processor(target.kind.name(), selecting)),
            _ => (None, None),
        },
    };
    let own = card.as_ref().and_then(|card| Arch::of_capability(card.capability.0, card.capability.1));
    let arch = selecting.arch.as_deref().or(own.as_ref().map(Arch::name));
    let arch = arch.filter(|_| selecting.arch.is_some() || target == Some(TargetKind::Cuda.name()));
    let selection = file.spec.select(Choice {
        target,
        arch,
        workload: selecting.workload.as_deref(),
        variant: selecting.variant.as_deref(),
        implementation: selecting.implementation.as_deref(),
        runs_on: own,
    })?;
    if let (Some(card), Some(arch)) = (&card, selection.arch)
        && arch.compute_capability() != card.capability
    {
        let report = Report::error(format!("code for {arch} does not run on {}", card.name));
        return Err(report.hint("omit --arch, or stop at the compiler with --until build").into());
    }
    Ok((selection, card))
}

/// The GPU meant by the flags and the environment, or why there is none.
fn card(selecting: &Selecting) -> Result<Card, Report> {
    doctor::quick(selecting.device.as_deref()).map(|ready| ready.card)
}

/// The GPU meant by the flags and the environment, if there is one.
pub(crate) fn this_card(selecting: &Selecting) -> Option<Card> {
    card(selecting).ok()
}

/// The architecture of that GPU.
pub(crate) fn this_arch(selecting: &Selecting) -> Option<Arch> {
    let (major, minor) = this_card(selecting)?.capability;
    Arch::of_capability(major, minor)
}

/// The same selection with the architecture of the GPU that is here, where none is asked for and a cuda target is meant.
pub(crate) fn for_this_gpu(file: &KernelFile, selecting: &Selecting) -> Selecting {
    let mut selecting = selecting.clone();
    let wanted = |t: &&Target| selecting.target.as_ref().is_none_or(|name| t.kind.name() == name);
    let cuda = file.spec.targets.iter().find(wanted).is_some_and(|t| t.kind == TargetKind::Cuda);
    if cuda && selecting.arch.is_none() {
        let capability = card(&selecting).ok().map(|card| card.capability);
        let arch = capability.and_then(|(major, minor)| Arch::of_capability(major, minor));
        selecting.arch = arch.map(|arch| arch.name().to_string());
    }
    selecting
}

/// False for a target that is no more than a space. A kernel in Python may name its file in the entry.
fn has_code(target: &Target) -> bool {
    target.implementations.iter().any(|one| !one.sources.is_empty()) || target.kind == TargetKind::Python
}

fn on_processor(target: &str, selecting: &Selecting) -> Failure {
    let device = selecting.device.as_deref().unwrap_or_default();
    let report = Report::error(format!("--device {device}: target {target} runs on the processor and uses no GPU"));
    report.hint("omit --device").into()
}

fn no_code(targets: &[Target], target: &Target) -> Failure {
    let report = Report::error(format!("target {} has no source: there is nothing to run", target.kind.name()));
    report.hint(format!("`kiln space` and `kiln gate` need none{}", without_gpu(targets))).into()
}

fn no_gpu(targets: &[Target], target: &Target, why: &Report) -> Failure {
    let why = if why.label.is_empty() { &why.message } else { &why.label };
    let until = if target.kind == TargetKind::Cuda { "; --until build compiles without one" } else { "" };
    Report::error(format!("target {} needs a GPU: {why}", target.kind.name()))
        .hint(format!("`kiln doctor` shows more{until}{}", without_gpu(targets)))
        .into()
}

/// The file's target that runs on any machine, for a hint.
fn without_gpu(targets: &[Target]) -> String {
    let other = targets.iter().find(|t| !t.on_gpu && has_code(t));
    other.map_or(String::new(), |t| format!("; --target {} runs on the processor", t.kind.name()))
}
