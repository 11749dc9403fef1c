//! One target, one architecture, one set of workloads: what a command works on. In: a spec and what the user asked for.
//! Out: a [`Selection`] with everything not asked for filled in, and said to be. Refuses names the spec does not have.

use std::sync::Arc;

use kiln_core::{Report, Use, Workload, nearest};
use kiln_device::Arch;

use crate::implementations::pick_implementations;
use crate::model::{Dtype, Implementation, KernelSpec, Target, TargetKind};

/// What the user asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice<'a> {
    /// A target's name.
    pub target: Option<&'a str>,
    /// An architecture's name.
    pub arch: Option<&'a str>,
    /// A workload's name, or `all`.
    pub workload: Option<&'a str>,
    /// Type variables and dtypes, `T=bf16`.
    pub variant: Option<&'a str>,
    /// An implementation's name.
    pub implementation: Option<&'a str>,
    /// The architecture of the GPU it will run on, for targets that are not built for one by kiln.
    pub runs_on: Option<Arch>,
}

/// What a command works on.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// The whole spec.
    pub spec: &'a KernelSpec,
    /// The target.
    pub target: &'a Target,
    /// The architecture; none for targets that have none.
    pub arch: Option<Arch>,
    /// True when the architecture was not asked for.
    pub arch_assumed: bool,
    /// The workloads that must hold at once; empty when the spec has none.
    pub workloads: Vec<&'a Workload>,
    /// The dtype of each type variable.
    pub variant: Vec<(Arc<str>, Dtype)>,
    /// The implementations that compete, in file order; at least one.
    pub implementations: Vec<&'a Implementation>,
    /// Those that do not run on the architecture.
    pub left_out: Vec<&'a Implementation>,
}

/// Assumed for a CUDA target that names no architecture: the oldest one most kernels of today are written for.
const ASSUMED_ARCH: Arch = Arch::SM_80;

impl KernelSpec {
    /// Fills in what was not asked for: the first target, its first architecture, all workloads used for tuning, the
    /// first dtype of each type variable.
    pub fn select(&self, choice: Choice<'_>) -> Result<Selection<'_>, Report> {
        let target = self.pick_target(choice.target)?;
        let (arch, arch_assumed) = pick_arch(target, choice.arch, choice.implementation)?;
        let (implementations, left_out) = pick_implementations(target, choice.implementation, arch.or(choice.runs_on))?;
        Ok(Selection {
            spec: self,
            target,
            arch,
            arch_assumed,
            workloads: self.pick_workloads(choice.workload, target.kind.name())?,
            variant: pick_variant(target, choice.variant)?,
            implementations,
            left_out,
        })
    }

    fn pick_target(&self, asked: Option<&str>) -> Result<&Target, Report> {
        let found = match asked {
            None => self.targets.first(),
            Some(name) => self.targets.iter().find(|t| t.kind.name() == name),
        };
        found.ok_or_else(|| {
            let known: Vec<&str> = self.targets.iter().map(|t| t.kind.name()).collect();
            unknown("target", asked.unwrap_or_default(), &known)
        })
    }

    fn pick_workloads(&self, asked: Option<&str>, target: &str) -> Result<Vec<&Workload>, Report> {
        let fitting = || self.workloads.iter().filter(|w| w.is_for(target));
        match asked {
            Some(name) if name != "all" => match fitting().find(|w| &*w.name == name) {
                Some(workload) => Ok(vec![workload]),
                None => {
                    let mut known: Vec<&str> = fitting().map(|w| &*w.name).collect();
                    known.push("all");
                    Err(unknown("workload", name, &known))
                }
            },
            _ => {
                let tuned: Vec<&Workload> = fitting().filter(|w| w.use_for == Use::Tune).collect();
                Ok(if tuned.is_empty() { fitting().collect() } else { tuned })
            }
        }
    }
}

fn pick_variant(target: &Target, asked: Option<&str>) -> Result<Vec<(Arc<str>, Dtype)>, Report> {
    let mut picked: Vec<(Arc<str>, Dtype)> =
        target.variants.iter().filter_map(|(name, dtypes)| Some((name.clone(), *dtypes.first()?))).collect();
    for part in asked.into_iter().flat_map(|a| a.split(',')).filter(|p| !p.trim().is_empty()) {
        let (name, dtype) = part.split_once('=').map_or((part.trim(), ""), |(n, d)| (n.trim(), d.trim()));
        let known: Vec<&str> = target.variants.iter().map(|(n, _)| &**n).collect();
        let Some((variable, dtypes)) = target.variants.iter().find(|(n, _)| &**n == name) else {
            return Err(unknown("variant", name, &known));
        };
        let known: Vec<&str> = dtypes.iter().map(|d| d.name()).collect();
        if dtype.is_empty() {
            let report = Report::error(format!("--variant {name} names no dtype"));
            return Err(report.label(format!("expected {name}={}", known.join(&format!(" or {name}=")))));
        }
        let Some(dtype) = dtypes.iter().find(|d| d.name() == dtype) else {
            return Err(unknown(&format!("dtype of {name}"), dtype, &known));
        };
        picked.iter_mut().filter(|(n, _)| n == variable).for_each(|(_, d)| *d = *dtype);
    }
    Ok(picked)
}

fn pick_arch(
    target: &Target,
    asked: Option<&str>,
    implementation: Option<&str>,
) -> Result<(Option<Arch>, bool), Report> {
    match (target.kind, asked) {
        (_, Some(name)) if target.on_gpu => match Arch::parse(name) {
            Ok(arch) => Ok((Some(arch), false)),
            Err(e) => Err(Report::error(e.to_string())),
        },
        (TargetKind::Cuda, None) => {
            let meant = |one: &&Implementation| implementation.is_none() || one.name.as_deref() == implementation;
            let meant: Vec<&Implementation> = target.implementations.iter().filter(meant).collect();
            let runs = |arch: &&Arch| meant.iter().any(|one| one.runs_on(Some(**arch)));
            let listed = target.archs.iter().find(runs).or(target.archs.first()).copied();
            let own = meant.iter().flat_map(|one| &one.archs).map(|range| range.from).next();
            Ok((Some(listed.or(own).unwrap_or(ASSUMED_ARCH)), true))
        }
        (kind, Some(name)) => Err(Report::error(format!("--arch {name} with target {}", kind.name()))
            .label("only targets on a GPU have an architecture")
            .hint("omit --arch, or choose --target cuda")),
        (_, None) => Ok((None, false)),
    }
}

pub(crate) fn unknown(what: &str, asked: &str, known: &[&str]) -> Report {
    let report = Report::error(format!("there is no {what} `{asked}`"));
    let report = if known.is_empty() {
        report.label(format!("the kernel file defines no {what}"))
    } else {
        report.label(format!("expected one of {}", known.join(", ")))
    };
    report.maybe_hint(nearest(asked, known.iter().copied()).map(|near| format!("did you mean {near}?")))
}

impl Selection<'_> {
    /// What the workloads are called together: a name, `all`, or nothing.
    pub fn workload_name(&self) -> Option<&str> {
        match &self.workloads[..] {
            [] => None,
            [only] => Some(&only.name),
            _ => Some("all"),
        }
    }
}
