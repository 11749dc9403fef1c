//! Another version of the kernel, such as that of a base commit, as somebody to measure against. In: that version's kernel, and
//! a configuration of it. Out: a subject that is asked the same questions as the candidate and launched as its own file
//! says. Tells, in words, why a workload cannot be compared: other dimensions, other arguments.

use std::sync::Arc;
use std::time::Duration;

use kiln_build::Toolchain;
use kiln_core::{Config, Fault, Outcome, Report, Workload};
use kiln_judge::{Signature, boxes, geometry};
use kiln_spec::TargetKind;

use crate::bench::Bench;
use crate::building::builder::{python_subject, subject_of};
use crate::building::compile::request;
use crate::building::toolchain::cuda_toolchain;
use crate::event::Event;
use crate::kernel::Kernel;
use crate::questions::stage::Stage;
use crate::workers::subject::{Laid, Subject};

impl Bench<'_> {
    /// Builds a configuration of another version.
    pub fn version(&self, other: &Kernel<'_>, config: &Config) -> Result<Outcome<Subject>, Fault> {
        let target = other.selection.target;
        if target.kind == TargetKind::Python {
            return Ok(Outcome::Passed(python_subject(self, other, config)?));
        }
        let toolchain = match target.kind {
            TargetKind::Cuda => cuda_toolchain(&other.selection, &self.seating.program)?,
            _ => self.compiler.clone().map(Toolchain::C)?,
        };
        let doing = &format!("compiling {config}");
        let silent = |time: Duration| (self.listener)(&Event::Silence { doing, seconds: time.as_secs_f64() });
        let request = request(other, config)?;
        let built = self.cache.build_until(&toolchain, &request, self.build_limits(), &silent, self.stopped)?;
        let artifact = passed!(built);
        let mut subject = subject_of(other, other.host(config), artifact, config.clone());
        if let Subject::Cubin { laid, .. } = &mut subject {
            *laid = Some(laid_out(other, config)?);
        }
        Ok(Outcome::Passed(subject))
    }

    /// Why a configuration of another version cannot be compared on a workload; none where it can.
    pub fn incomparable(&self, stage: &Stage<'_>, other: &Kernel<'_>, config: &Config) -> Option<String> {
        let (ours, theirs) = (&self.kernel.selection, &other.selection);
        let there = match stage.workload {
            None if theirs.workloads.is_empty() => None,
            own => match theirs.workloads.iter().find(|w| Some(&w.name) == own.map(|own| &own.name)) {
                Some(there) => Some(*there),
                None => return Some("the base has no such workload".into()),
            },
        };
        let dims = |workload: Option<&Workload>| workload.map(|w| w.dims.clone());
        if dims(stage.workload) != dims(there) {
            return Some("its dimensions differ from the base's".into());
        }
        // The configuration is the other version's: only where sizes depend on it need both files understand it.
        let takes = |kernel: &Kernel<'_>, workload| {
            Signature::of(&kernel.selection, workload)
                .or_else(|_| Signature::under(&kernel.selection, workload, config))
        };
        let same = match (takes(self.kernel, stage.workload), takes(other, there)) {
            (Ok(own), Ok(there)) => own == there,
            _ => false,
        };
        let described =
            |selection, workload| boxes(selection, workload, config).map_err(|report: Report| report.message);
        let boxed = ours.spec.arguments.iter().any(|argument| argument.tensormap.is_some());
        let same = same && (!boxed || described(ours, stage.workload) == described(theirs, there));
        (!same).then(|| "its arguments differ from the base's".to_string())
    }

    /// What a subject does on a workload: its machine code, and how that is launched. Two with one identity run alike. None for what
    /// has no machine code of its own.
    pub fn identity(&self, stage: &Stage<'_>, subject: &Subject) -> Result<Option<String>, Fault> {
        let Some(code) = subject.code() else { return Ok(None) };
        let launches = stage.launches(subject)?;
        if launches.is_empty() {
            return Ok(Some(code));
        }
        let words = serde_json::to_string(&launches).map_err(|e| Fault::new("describing launches", e))?;
        Ok(Some(format!("{code} {words}")))
    }
}

/// How a version launches its kernels on each workload.
fn laid_out(kernel: &Kernel<'_>, config: &Config) -> Result<Laid, Fault> {
    let selection = &kernel.selection;
    let mut workloads: Vec<Option<&Workload>> = selection.workloads.iter().map(|w| Some(*w)).collect();
    if workloads.is_empty() {
        workloads.push(None);
    }
    let mut laid = Vec::with_capacity(workloads.len());
    for workload in workloads {
        let launches = geometry(selection, workload, config)
            .map_err(|report| Fault::new(format!("laying out the launches of {config}"), report))?;
        laid.push((workload.map_or_else(String::new, |w| w.name.to_string()), launches));
    }
    Ok(Arc::new(laid))
}
