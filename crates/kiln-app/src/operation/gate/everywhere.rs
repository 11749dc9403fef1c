//! One configuration on every architecture that kiln knows limits of. In: a kernel file and a configuration. Out: for each
//! architecture its way up the static rules, and with `until_build` through the compiler. Nothing is run, so that no GPU is
//! needed. Refuses a file without a CUDA target.

use kiln_core::Report;
use kiln_device::Arch;
use kiln_spec::{Implementation, TargetKind};

use super::{GateRequest, Gated, run};
use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting};
use crate::project::Project;
use crate::teller::{Listener, Teller};
use kiln_session::SessionPhase;

/// A configuration, judged for every architecture, oldest first.
pub struct GatedEverywhere<'a> {
    /// One for each architecture.
    pub rows: Vec<Gated<'a>>,
}

impl Ends for GatedEverywhere<'_> {
    fn ending(&self) -> Ending {
        if self.rows.iter().all(Gated::passed) { Ending::Done } else { Ending::Refused }
    }
}

/// Judges a configuration for every architecture.
pub fn gate_everywhere<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &GateRequest,
    listener: Listener<'_>,
) -> Result<GatedEverywhere<'a>, Failure> {
    let teller = Teller::new(listener);
    let trying =
        Trying::new(project, super::verb(request), SessionPhase::Build, About::of(file, &request.selecting.path));
    // The target that has architectures, where none was asked for.
    let cuda = file.spec.targets.iter().any(|target| target.kind == TargetKind::Cuda);
    let target = request.selecting.target.clone().or_else(|| cuda.then(|| TargetKind::Cuda.name().into()));
    if target.as_deref() != Some(TargetKind::Cuda.name()) {
        let kinds: Vec<&str> = file.spec.targets.iter().map(|target| target.kind.name()).collect();
        let meant = target.unwrap_or_else(|| kinds.join(", "));
        let report = Report::error("--arch all needs a cuda target").label(format!("the target is {meant}"));
        return teller.end(Err(report.hint("omit --arch").into()));
    }
    let on = |arch: &Arch| {
        let arch = Some(arch.name().to_string());
        let selecting = Selecting { arch, target: target.clone(), ..request.selecting.clone() };
        let request = GateRequest { selecting, only_rules: !request.until_build, ..request.clone() };
        run(project, file, &request, &teller)
    };
    // Where no implementation runs there is nothing to judge; that is said once.
    let asked = request.selecting.implementation.as_deref();
    let cuda = file.spec.targets.iter().find(|target| target.kind == TargetKind::Cuda);
    let meant = |one: &&Implementation| asked.is_none() || one.name.as_deref() == asked;
    let runs = |arch: &&Arch| {
        let mut all = cuda.into_iter().flat_map(|target| &target.implementations).filter(meant);
        all.any(|one| one.runs_on(Some(**arch)))
    };
    let (here, nowhere): (Vec<&Arch>, Vec<&Arch>) = Arch::all().iter().partition(runs);
    if !here.is_empty() && !nowhere.is_empty() {
        let names: Vec<&str> = nowhere.iter().map(|arch| arch.name()).collect();
        teller.note(format!("no implementation runs on {}", names.join(", ")));
    }
    let all = cuda.into_iter().flat_map(|target| &target.implementations).filter(meant);
    for one in all.filter(|one| here.iter().any(|arch| !one.runs_on(Some(**arch)))) {
        let name = one.name.as_deref().unwrap_or_default();
        teller.note(format!("implementation {name} runs on {}; elsewhere it is left out", one.places()));
    }
    let judged = if here.is_empty() { nowhere } else { here };
    let rows: Result<Vec<Gated<'a>>, Failure> = judged.into_iter().map(on).collect();
    trying.told(&teller, rows.map(|rows| GatedEverywhere { rows }))
}
