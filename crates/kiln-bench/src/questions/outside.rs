//! Right answers from elsewhere: a Python function in double precision, or another kernel in its default configuration.

use camino::Utf8PathBuf;
use kiln_build::Toolchain;
use kiln_core::{Config, Fault, Outcome};
use kiln_judge::{Inputs, Precision, Signature, Tensor, encode, gather, scatter};
use kiln_run::Arena;
use kiln_spec::{Choice, Dtype, KernelSpec, Origin, Role, TargetKind};

use crate::bench::Bench;
use crate::building::builder::python_subject;
use crate::building::compile::request;
use crate::kernel::Kernel;
use crate::questions::layout::Layout;
use crate::questions::stage::Trouble;
use crate::workers::seat::Spot;
use crate::workers::subject::Subject;

/// Something that knows the correct answers.
pub(crate) struct Oracle {
    subject: Subject,
    /// Whether floating-point arguments are handed over in double precision.
    double: bool,
    what: String,
}

impl Oracle {
    /// The oracle a kernel's reference asks for; none when kiln knows the answers itself.
    pub(crate) fn find(bench: &Bench<'_>) -> Result<Option<Oracle>, Trouble> {
        let kernel = bench.kernel;
        match bench.rules.needs_outside() {
            Some(Origin::Python(callable)) => {
                let python = bench.python.as_ref().map_err(Clone::clone)?;
                let file = kernel.folder.join(&callable.file);
                let what = format!("the reference {}:{}", callable.file, callable.function);
                let interpreter = python.interpreter.clone();
                let (function, config) = (callable.function.clone(), Config::default());
                let subject = Subject::Python { interpreter, file, function, config, device: false, ahead: None };
                Ok(Some(Oracle { subject, double: true, what }))
            }
            Some(Origin::Kernel(path)) => {
                let what = format!("the reference kernel {path}");
                Ok(Some(Oracle { subject: other_kernel(bench, path)?, double: false, what }))
            }
            _ => Ok(None),
        }
    }

    /// The right outputs for these inputs.
    pub(crate) fn answer(
        &self,
        bench: &Bench<'_>,
        signature: &Signature,
        inputs: &Inputs,
        precision: Precision,
    ) -> Result<Vec<Tensor>, Fault> {
        let double = self.double && precision == Precision::Double;
        if !self.double && precision == Precision::Own {
            return Err(Fault::new(format!("asking {}", self.what), "a kernel has only its own precision"));
        }
        let mut own = Signature { slots: signature.slots.iter().map(kiln_judge::Slot::asked).collect() };
        for slot in own.slots.iter_mut().filter(|s| double && is_float(s.dtype) && s.role != Role::Scalar) {
            slot.dtype = Dtype::F64;
        }
        let layout = Layout::new(own)?;
        let mut arena = layout.arena()?;
        self.fill(&layout, inputs, &mut arena);
        mark(&layout, &mut arena);
        let failed = |r: kiln_core::Refusal| {
            let why = format!("{} ({})", r.measured, r.gate);
            let fault = Fault::new(format!("asking {}", self.what), why);
            // A reference may not be made for every integer either.
            let assumed: Vec<&str> = signature.assumed().map(|slot| slot.name.as_str()).collect();
            match assumed.first() {
                Some(name) => fault.hint(format!(
                    "no range is stated for {}: if these are indices, write range = [lo, hi] under {name}",
                    assumed.join(" and ")
                )),
                None if r.evidence.is_empty() => fault,
                None => fault.hint(r.evidence),
            }
        };
        let mut seat = match bench.seating().take_to_ask(&self.subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => return Err(failed(refusal)),
        };
        for step in [seat.map(&layout, layout.slots.clone(), &arena, Vec::new(), (Spot::Same, 1))?, seat.call()?] {
            if let Outcome::Refused(refusal) = step {
                return Err(failed(refusal));
            }
        }
        if let Some(name) = unwritten(&layout, &arena) {
            let fault = Fault::new(format!("asking {}", self.what), format!("it gave nothing for {name}"));
            return Err(fault.hint("return every output in the order of [[arguments]], or write it in place"));
        }
        let outputs = layout.signature.slots.iter().zip(&layout.slots);
        let outputs = outputs.filter(|(slot, _)| matches!(slot.role, Role::Out | Role::Inout));
        Ok(outputs
            .map(|(slot, place)| {
                let start = place.offset + slot.lead();
                Tensor::read(slot.dtype, &slot.shape, &gather(slot, &arena.bytes()[start..start + slot.bytes()]))
            })
            .collect())
    }

    fn fill(&self, layout: &Layout, inputs: &Inputs, arena: &mut Arena) {
        for (slot, place) in layout.signature.slots.iter().zip(&layout.slots) {
            let scalar = inputs.scalars().find(|(name, _)| *name == slot.name);
            let bytes = match (scalar, inputs.tensors().find(|(name, _)| *name == slot.name)) {
                (Some((_, scalar)), _) => encode(slot.dtype, &[scalar]),
                (None, Some((_, tensor))) => tensor.bytes(slot.dtype),
                (None, None) => continue,
            };
            scatter(slot, &bytes, &mut arena.bytes_mut()[place.offset..place.offset + place.bytes]);
        }
    }
}

/// What outputs hold before they are asked for: no answer is likely to consist of it.
const UNASKED: u8 = 0xA5;

/// The bytes of every argument that is only written.
fn written(layout: &Layout) -> impl Iterator<Item = (&str, std::ops::Range<usize>)> {
    let slots = layout.signature.slots.iter().zip(&layout.slots).filter(|(slot, _)| slot.role == Role::Out);
    slots.map(|(slot, place)| (slot.name.as_str(), place.offset..place.offset + place.bytes))
}

fn mark(layout: &Layout, arena: &mut Arena) {
    written(layout).for_each(|(_, range)| arena.bytes_mut()[range].fill(UNASKED));
}

/// The first output that nothing was written to.
fn unwritten<'l>(layout: &'l Layout, arena: &Arena) -> Option<&'l str> {
    let untouched = |range: &std::ops::Range<usize>| arena.bytes()[range.clone()].iter().all(|byte| *byte == UNASKED);
    written(layout).find(|(_, range)| !range.is_empty() && untouched(range)).map(|(name, _)| name)
}

pub(crate) fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::BF16 | Dtype::F8E4M3 | Dtype::F8E5M2)
}

/// Builds another kernel's default configuration for the same target.
fn other_kernel(bench: &Bench<'_>, path: &str) -> Result<Subject, Trouble> {
    let mut file: Utf8PathBuf = bench.kernel.folder.join(path);
    if file.is_dir() {
        file = file.join("kernel.toml");
    }
    let bytes = fs_err::read(&file).map_err(|e| {
        Fault::new("reading the reference kernel", e)
            .hint("[reference] kernel is a folder or file beside the kernel file")
    })?;
    let (spec, _): (KernelSpec, _) = kiln_spec::parse(file.as_str(), &bytes).map_err(|mut reports| {
        let first = if reports.is_empty() { kiln_core::Report::error("unreadable") } else { reports.swap_remove(0) };
        Trouble::File(first)
    })?;
    let variant = bench.kernel.variant();
    let choice = Choice { target: Some(bench.kernel.target()), variant: Some(&variant), ..Choice::default() };
    let kernel = Kernel::new(spec.select(choice)?, file.parent().unwrap_or(&bench.kernel.folder))?;
    let names = |k: &Kernel<'_>| k.selection.spec.arguments.iter().map(|a| a.name.to_string()).collect::<Vec<_>>();
    if names(&kernel) != names(bench.kernel) {
        return Err(Fault::new(
            format!("using {path} as the reference"),
            format!("it takes {}, the kernel {}", names(&kernel).join(", "), names(bench.kernel).join(", ")),
        )
        .hint("a reference kernel takes the same arguments in the same order")
        .into());
    }
    let default = kernel.default_config();
    let default = default.ok_or_else(|| Fault::new(format!("using {path} as the reference"), "it has no [default]"))?;
    if let Err(report) = Signature::of(&kernel.selection, bench.kernel.selection.workloads.first().copied()) {
        // The memory it is given is laid out for this kernel, not for its own configuration.
        return Err(Fault::new(format!("using {path} as the reference"), report.message).into());
    }
    if kernel.selection.target.kind == TargetKind::Python {
        return Ok(python_subject(bench, &kernel, &default)?);
    }
    if kernel.on_gpu() {
        return Err(Fault::new(format!("using {path} as the reference"), "it would work on the GPU")
            .hint("on a GPU a reference is builtin or a Python function")
            .into());
    }
    let toolchain = Toolchain::C(bench.compiler.clone()?);
    match bench.build_now(&toolchain, &request(&kernel, &default)?)? {
        Outcome::Passed(subject) => Ok(subject),
        Outcome::Refused(refusal) => {
            Err(Fault::new(format!("building the reference {path}"), refusal.measured).hint(refusal.evidence).into())
        }
    }
}
