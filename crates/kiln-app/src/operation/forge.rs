//! What the compiler makes of configurations, and what would be refused, on a machine without a GPU. In: a kernel file. Out:
//! the default, that of each other implementation and a spread of others built, or all where there are not more. Nothing is run.

use std::collections::BTreeMap;

use kiln_build::{BuildLimits, Toolchain};
use kiln_core::{Config, Gate, Outcome, Report};
use kiln_spec::TargetKind;
use kiln_study::{Forged, Kernel, toolchain, triton_toolchain};

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::event::What;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, kernel, this_arch};
use crate::project::{Project, program};
use crate::seed::seed;
use crate::teller::{Listener, Teller};
use kiln_session::SessionPhase;

/// Configurations built unless told otherwise: as many as a study would try.
const TRIALS: usize = 120;
const PHASE: &str = "build";

/// What is to be built.
#[derive(Debug, Clone, Default)]
pub struct ForgeRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// Configurations at most.
    pub trials: Option<usize>,
    /// The seed of the spread; a new one when none.
    pub seed: Option<u64>,
}

/// What the compiler said.
pub struct Forgings<'a> {
    /// The kernel.
    pub kernel: Kernel<'a>,
    /// The compiler.
    pub compiler: String,
    /// What became of each configuration.
    pub forged: Vec<Forged>,
    /// Refusals by gate.
    pub refused: BTreeMap<Gate, usize>,
    /// The seed of the spread.
    pub seed: u64,
}

impl Ends for Forgings<'_> {
    fn ending(&self) -> Ending {
        if self.refused.values().sum::<usize>() < self.forged.len() { Ending::Done } else { Ending::Refused }
    }
}

/// Builds configurations and runs none.
pub fn forge<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &ForgeRequest,
    listener: Listener<'_>,
) -> Result<Forgings<'a>, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "tune", SessionPhase::Build, About::of(file, &request.selecting.path));
    trying.told(&teller, run(project, file, request, &teller))
}

fn run<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &ForgeRequest,
    teller: &Teller<'_>,
) -> Result<Forgings<'a>, Failure> {
    teller.warn(&file.warnings);
    let kernel = compiled(file, &request.selecting)?;
    let seed = seed(request.seed)?;
    let configs = chosen(&kernel, request.trials.unwrap_or(TRIALS), seed);
    let toolchain = compiler(project, &kernel)?;
    let (compiler, planned) = (toolchain.title(), configs.len());
    let mut forged: Vec<Forged> = Vec::with_capacity(planned);
    teller.tell(What::Phase { phase: PHASE.into(), planned });
    kiln_study::forge(&kernel, toolchain, &project.cache(), (project.stopped(), limits(project)), configs, |one| {
        forged.push(one);
        teller.tell(What::Step { phase: PHASE.into(), done: forged.len(), planned });
    })?;
    let mut refused: BTreeMap<Gate, usize> = BTreeMap::new();
    for one in &forged {
        if let Outcome::Refused(refusal) = &one.outcome {
            *refused.entry(refusal.gate).or_insert(0) += 1;
        }
    }
    Ok(Forgings { kernel, compiler, forged, refused, seed })
}

/// The kernel for a target that is only compiled: the one asked for, else the file's first.
pub(crate) fn compiled<'a>(file: &'a KernelFile, selecting: &Selecting) -> Result<Kernel<'a>, Failure> {
    let selection = file.select(selecting)?;
    // Triton compiles for the GPU that is here where none is named.
    let arch = match selection.target.kind {
        TargetKind::Python if selection.target.on_gpu && selecting.arch.is_none() => this_arch(selecting),
        _ => None,
    };
    match arch {
        Some(arch) => {
            let selecting = Selecting { arch: Some(arch.name().into()), ..selecting.clone() };
            kernel(file.select(&selecting)?, &selecting.path)
        }
        None => kernel(selection, &selecting.path),
    }
}

/// What a kernel is compiled with.
pub(crate) fn compiler(project: &Project, kernel: &Kernel<'_>) -> Result<Toolchain, Failure> {
    Ok(match kernel.selection.target.kind {
        TargetKind::Python => triton_toolchain(kernel, &project.cache())?,
        _ => toolchain(kernel, &program()?)?,
    })
}

/// Every configuration where there are no more than wanted, else the default, that of each other implementation, and a spread.
fn chosen(kernel: &Kernel<'_>, wanted: usize, seed: u64) -> Vec<Config> {
    let space = &kernel.space;
    if space.len() <= wanted as u128 {
        return space.iter().map(|point| space.config(&point)).collect();
    }
    let workloads: Vec<_> = kernel.selection.workloads.iter().map(|workload| Some(*workload)).collect();
    let mut first: Vec<Config> = kernel.default_config().into_iter().collect();
    for opening in kernel.openings(if workloads.is_empty() { &[None] } else { &workloads }) {
        if !first.contains(&opening) {
            first.push(opening);
        }
    }
    let spread = space.latin(wanted, seed).into_iter().map(|point| space.config(&point));
    let others: Vec<Config> = spread.filter(|config| !first.contains(config)).collect();
    first.into_iter().chain(others).take(wanted.max(1)).collect()
}

/// How long a build may take.
fn limits(project: &Project) -> BuildLimits {
    let usual = BuildLimits::default();
    BuildLimits { timeout: project.build_limit().unwrap_or(usual.timeout), ..usual }
}

/// One configuration, on the way up the ladder.
pub(crate) fn one(
    project: &Project,
    kernel: &Kernel<'_>,
    toolchain: Toolchain,
    config: &Config,
) -> Result<Forged, Failure> {
    let mut found = None;
    let keep = |one| found = Some(one);
    kiln_study::forge(
        kernel,
        toolchain,
        &project.cache(),
        (project.stopped(), limits(project)),
        vec![config.clone()],
        keep,
    )?;
    found.ok_or_else(|| Report::error("nothing was built").into())
}
