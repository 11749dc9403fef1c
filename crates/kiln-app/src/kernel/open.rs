//! A kernel opened to be run: what was selected of its file, on a target that this machine can run, with its space, the GPU
//! and an environment that was looked at first. In: a kernel file and a selection. Refuses a space that is empty, a GPU that
//! is not there and an environment that cannot work.

use camino::Utf8Path;
use kiln_core::{Fault, Report, nearest};
use kiln_judge::Signature;
use kiln_run::{Card, DeviceLock, find_python};
use kiln_spec::{Origin, Selection, TargetKind};
use kiln_study::{Kernel, Surroundings};

use crate::doctor::{self, Health};
use crate::failure::Failure;
use crate::kernel::runnable::runnable;
use crate::kernel::{KernelFile, Selecting, devices, environment};
use crate::project::{Project, program};
use crate::teller::Teller;

/// A kernel that can be run here.
pub(crate) struct Opened<'a> {
    pub(crate) kernel: Kernel<'a>,
    /// The GPU it runs on, if it does.
    pub(crate) card: Option<Card>,
}

impl<'a> Opened<'a> {
    /// Opens it for something that will be run.
    pub(crate) fn new(
        project: &Project,
        file: &'a KernelFile,
        selecting: &Selecting,
        teller: &Teller<'_>,
    ) -> Result<Opened<'a>, Failure> {
        let opened = Opened::unexamined(file, selecting)?;
        preflight(project, &opened.kernel.selection, selecting, teller)?;
        packages(&opened.kernel.selection, teller)?;
        opened.kernel.selection.remarks().into_iter().for_each(|remark| teller.note(remark));
        environment::refuse(&opened.kernel, opened.card.as_ref())?;
        Ok(opened)
    }

    /// The same without a look at the environment, for a replay or a moment's work.
    pub(crate) fn unexamined(file: &'a KernelFile, selecting: &Selecting) -> Result<Opened<'a>, Failure> {
        let (selection, card) = runnable(file, selecting)?;
        Ok(Opened { kernel: kernel(selection, &selecting.path)?, card })
    }

    /// Keeps its GPU for this process.
    pub(crate) fn lock(&self, project: &Project, teller: &Teller<'_>) -> Result<Vec<DeviceLock>, Failure> {
        devices::lock(self.card.as_ref(), project, teller)
    }

    /// Refuses the name of a baseline that the file does not have.
    pub(crate) fn baseline(&self, name: Option<&str>) -> Result<(), Failure> {
        let known = || self.kernel.selection.target.baselines.iter().map(|b| b.name.as_str());
        let Some(name) = name.filter(|name| !known().any(|k| k == *name)) else { return Ok(()) };
        let near = nearest(name, known()).map(|near| format!("did you mean {near}?"));
        let names: Vec<&str> = known().collect();
        let expected =
            if names.is_empty() { "the file has none".into() } else { format!("expected one of {}", names.join(", ")) };
        Err(Report::error(format!("--baseline: there is no baseline `{name}`")).label(expected).maybe_hint(near).into())
    }
}

/// What a bench needs from around it.
pub(crate) fn surroundings<'a>(
    project: &Project,
    listener: kiln_study::Listener<'a>,
    live: bool,
    card: Option<&Card>,
) -> Result<Surroundings<'a>, Failure> {
    let gpu = card.map(|card| card.uuid.clone());
    let (cache, stopped, build_limit) = (project.cache(), project.stopped(), project.build_limit());
    Ok(Surroundings { program: program()?, cache, listener, stopped, gpu, live, many: false, build_limit })
}

/// Refuses to start on an environment that cannot work, with what to do about it, and warns of one that disturbs.
fn preflight(
    project: &Project,
    selection: &Selection<'_>,
    selecting: &Selecting,
    teller: &Teller<'_>,
) -> Result<(), Failure> {
    if selection.target.on_gpu {
        teller.warn(&doctor::quick(selecting.device.as_deref())?.warnings);
    }
    let needs_compiler = selection.target.kind == TargetKind::Cpu;
    let broken = doctor::preflight(project).into_iter().filter(|f| f.state == Health::Fail);
    match broken.into_iter().find(|f| needs_compiler || f.id != "compiler") {
        Some(finding) => {
            let fault = Fault::new(format!("before starting: {}", finding.id), finding.what);
            Err(fault.hint(finding.fix.unwrap_or_else(|| "`kiln doctor` shows more".into())).into())
        }
        None => Ok(()),
    }
}

/// Refuses a Python that lacks what kiln calls a function in Python with: that is not the function's fault. Warns of an
/// activated environment that is not there.
pub(crate) fn packages(selection: &Selection<'_>, teller: &Teller<'_>) -> Result<(), Failure> {
    let Some(needed) = needs_numpy(selection) else { return Ok(()) };
    teller.warn(Vec::from_iter(doctor::without_environment()).as_slice());
    let python = find_python()?;
    match python.numpy {
        Some(_) => Ok(()),
        None => {
            let why = format!("{} has no NumPy, which {needed} needs", python.interpreter);
            let fault = Fault::new("before starting: python", why);
            Err(fault.hint(format!("{} -m pip install numpy", python.interpreter)).into())
        }
    }
}

/// The function in Python that kiln itself hands arrays to, if there is one: the kernel on a processor, the reference, one that fills
/// an input.
fn needs_numpy(selection: &Selection<'_>) -> Option<String> {
    let (target, spec) = (selection.target, selection.spec);
    if target.kind == TargetKind::Python && !target.on_gpu {
        return Some("the kernel on target python".into());
    }
    if let Some(Origin::Python(function)) = spec.reference.as_ref().map(|reference| &reference.origin) {
        return Some(format!("the reference {}:{}", function.file, function.function));
    }
    let filled = |argument: &kiln_spec::Argument| {
        let function = argument.function.as_ref()?;
        Some(format!("{}:{} (it fills {})", function.file, function.function, argument.name))
    };
    spec.arguments.iter().find_map(filled)
}

/// The kernel of a selection; sources lie beside the file. Refuses a workload on which an argument has no elements.
pub(crate) fn kernel<'a>(selection: Selection<'a>, path: &Utf8Path) -> Result<Kernel<'a>, Failure> {
    let folder = folder(path).canonicalize_utf8()?;
    let kernel = Kernel::new(selection, &folder)?;
    filled(&kernel)?;
    Ok(kernel)
}

/// The folder that a path means: itself, or that of the file.
pub(crate) fn folder(path: &Utf8Path) -> &Utf8Path {
    if path.is_dir() { path } else { path.parent().filter(|p| !p.as_str().is_empty()).unwrap_or(Utf8Path::new(".")) }
}

/// Refuses a workload on which an argument has no elements: there is nothing to compute or to time.
fn filled(kernel: &Kernel<'_>) -> Result<(), Failure> {
    let (selection, default) = (&kernel.selection, kernel.default_config());
    for workload in &selection.workloads {
        // What cannot be evaluated is reported where it is used.
        let signature = match &default {
            Some(config) => Signature::under(selection, Some(workload), config),
            None => Signature::of(selection, Some(workload)),
        };
        let slots = signature.map_or_else(|_| Vec::new(), |signature| signature.slots);
        if let Some(slot) = slots.iter().find(|slot| slot.scalar.is_none() && slot.elements() == 0) {
            let shape: Vec<String> = slot.shape.iter().map(ToString::to_string).collect();
            let report = Report::error(format!("workload {}: {} has no elements", workload.name, slot.name));
            let report = report.label(format!("its shape is [{}]", shape.join(", ")));
            return Err(report.hint("give every dimension at least 1, or remove the workload").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_functions_that_fill_inputs_need_numpy_too() {
        let needs = |init: &str, reference: &str| {
            let text = format!(
                "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nX = [1, 2]\n[target.cpu]\nsource = \"k.c\"\n\
                 [[arguments]]\nname = \"x\"\ntype = \"f32[8]\"\nrole = \"in\"\ninit = \"{init}\"\n\
                 [[arguments]]\nname = \"y\"\ntype = \"f32[8]\"\nrole = \"out\"\n[reference]\n{reference}\n"
            );
            let (spec, _) = kiln_spec::parse("k", text.as_bytes()).unwrap();
            needs_numpy(&spec.select(kiln_spec::Choice::default()).unwrap())
        };
        let builtin = "builtin = \"elementwise\"\nexpressions = { y = \"x\" }";
        assert_eq!(needs("normal", builtin), None);
        assert_eq!(needs("fill.py:x", builtin).as_deref(), Some("fill.py:x (it fills x)"));
        assert_eq!(needs("normal", "python = \"right.py:y\"").as_deref(), Some("the reference right.py:y"));
    }
}
