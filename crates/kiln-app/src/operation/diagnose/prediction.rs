//! What a kernel's time will be at least, and what it will likely go to, before anything runs. In: a kernel file, a configuration and a GPU, here or
//! not. Out: a prediction for each workload, from the stated cost, the launches, what the compiler says of them, and
//! the board's datasheet. Refuses targets that do not run on a GPU, and boards that nothing is known of.

use kiln_build::Toolchain;
use kiln_core::{Config, Fault, Outcome, Report, Workload, nearest};
use kiln_device::{Arch, Demand, Device};
use kiln_diagnose::prediction::{Board, Plan, PlannedLaunch, Prediction, predict};
use kiln_judge::geometry;
use kiln_space::Problem;
use kiln_spec::{Selection, TargetKind};
use kiln_study::{BoardRate, Resources, board_rate, cost, toolchain};
use serde::Serialize;

use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, complete, for_this_gpu, this_card};
use crate::operation::forge;
use crate::project::{Project, program};

/// What is to be predicted.
#[derive(Debug, Clone, Default)]
pub struct PredictRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// Values as `NAME=VALUE,...`; tunables left out take their default.
    pub config: String,
    /// The board, where it is not the GPU that is here.
    pub board: Option<String>,
}

/// One workload.
#[derive(Debug, Clone, Serialize)]
pub struct PredictedWorkload {
    /// Its name; none for a file without workloads.
    pub workload: Option<String>,
    /// What is expected.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// The launches it rests on.
    pub launches: Vec<PlannedLaunch>,
}

/// A kernel's predictions.
#[derive(Debug, Clone, Serialize)]
pub struct Predicted {
    /// The kernel.
    pub kernel: String,
    /// The board whose datasheet it rests on.
    pub board: &'static str,
    /// The architecture that was compiled for.
    pub arch: String,
    /// Whether the board is not the GPU that is here.
    pub elsewhere: bool,
    /// DRAM's peak, in bytes per second.
    pub bytes_per_second: f64,
    /// The arithmetic's, in operations per second.
    pub flops_per_second: f64,
    /// What computes: a type, and whether on tensor cores.
    pub arithmetic: String,
    /// The configuration.
    pub config: Config,
    /// A prediction each.
    pub workloads: Vec<PredictedWorkload>,
    /// What limits them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Ends for Predicted {
    fn ending(&self) -> Ending {
        Ending::Done
    }
}

/// Predicts a kernel's time.
pub fn predict_kernel(project: &Project, file: &KernelFile, request: &PredictRequest) -> Result<Predicted, Failure> {
    let named = request.board.as_deref().map(board_of).transpose()?;
    if let (Some(board), Some(arch)) = (named, &request.selecting.arch) {
        alike(board, arch)?;
    }
    let mut selecting = for_this_gpu(file, &request.selecting);
    if let (Some(board), None) = (named, &request.selecting.arch) {
        selecting.arch = Some(board.arch.name().into());
    }
    let selection = file.select(&selecting)?;
    if !selection.target.on_gpu {
        let report = Report::error(format!("target {} runs on the processor", selection.target.kind.name()));
        let hint = "its peaks are measured, not looked up: kiln bench shows how far a kernel is from them";
        return Err(report.label("predictions are for GPU targets").hint(hint).into());
    }
    let (board, elsewhere) = match named {
        Some(board) => (board, true),
        None => board_for(&selection, &selecting)?,
    };
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    let (config, _) = complete(&selection, &problem, &request.config)?;
    if let Some((refusal, _)) = problem.broken(&config) {
        let report = Report::error(format!("{config} is refused by {}: {}", refusal.rule, refusal.measured));
        return Err(report.label(format!("expected {}", refusal.limit)).maybe_hint(refusal.hint).into());
    }
    let mut notes = Vec::new();
    let resources = resources(project, file, &selecting, &config, &mut notes)?;
    let BoardRate { flops, dtype, tensor } = board_rate(&selection, board);
    let flops = flops.ok_or_else(|| Report::error(format!("{} has no rate for {dtype}", board.name)))?;
    let about = Board { sms: board.sms, bytes_per_second: board.memory_bandwidth, flops_per_second: flops, tensor };
    if selection.spec.cost.flops.is_none() && selection.spec.cost.bytes.is_none() {
        notes.push("no floor: the file has no [cost]".into());
    }
    if selection.implementation(&config).launches.is_empty() {
        notes.push("the kernel launches by itself: nothing is known of its grid".into());
    }
    let mut workloads: Vec<Option<&Workload>> = selection.workloads.iter().map(|workload| Some(*workload)).collect();
    if workloads.is_empty() {
        workloads.push(None);
    }
    let one = |workload: Option<&Workload>| -> Result<PredictedWorkload, Failure> {
        let plan = plan(&selection, workload, &config, &resources, board)?;
        let name = workload.map(|workload| workload.name.to_string());
        Ok(PredictedWorkload { workload: name, prediction: predict(&plan, &about), launches: plan.launches })
    };
    Ok(Predicted {
        kernel: selection.spec.name.to_string(),
        board: board.name,
        arch: selection.arch.map_or_else(|| board.arch.name().into(), |arch| arch.name().to_string()),
        elsewhere,
        bytes_per_second: board.memory_bandwidth,
        flops_per_second: flops,
        arithmetic: if tensor { format!("{dtype} on tensor cores") } else { dtype.into() },
        workloads: workloads.into_iter().map(one).collect::<Result<_, _>>()?,
        config,
        notes,
    })
}

/// The board of a name.
fn board_of(name: &str) -> Result<&'static Device, Failure> {
    Device::find(name).ok_or_else(|| {
        let known = || Device::all().iter().map(|board| board.name);
        let near = nearest(name, known()).map(|near| format!("did you mean {near}?"));
        let list: Vec<&str> = known().collect();
        let report = Report::error(format!("--board: no board `{name}` is known"));
        report.label(format!("expected one of {}", list.join(", "))).maybe_hint(near).into()
    })
}

/// Refuses an architecture that is not the board's. One that is not known is refused where the file is read.
fn alike(board: &Device, arch: &str) -> Result<(), Failure> {
    let wanted = Arch::parse(arch).ok().map(|arch| arch.compute_capability());
    if wanted.is_none_or(|wanted| wanted == board.arch.compute_capability()) {
        return Ok(());
    }
    let (name, own) = (board.name, board.arch.name());
    let report = Report::error(format!("--board {name} is {own}, and --arch is {arch}"));
    Err(report
        .label("expected one of them, or both of the same architecture")
        .hint(format!("omit --arch for {name}"))
        .into())
}

/// The GPU that is here, if the code is for it; else the fastest board of the architecture, so that the floor is one.
fn board_for(selection: &Selection<'_>, selecting: &Selecting) -> Result<(&'static Device, bool), Failure> {
    let wanted = selection.arch.map(|arch| arch.compute_capability());
    let card = this_card(selecting).filter(|card| wanted.is_none_or(|capability| capability == card.capability));
    if let Some(board) = card.and_then(|card| Device::find(&card.name)) {
        return Ok((board, false));
    }
    let fits = |board: &&Device| wanted.is_none_or(|capability| capability == board.arch.compute_capability());
    let fastest =
        Device::all().iter().filter(fits).max_by(|one, other| one.memory_bandwidth.total_cmp(&other.memory_bandwidth));
    let board = fastest.ok_or_else(|| {
        let arch = selection.arch.map_or("any architecture", |arch| arch.name());
        Report::error(format!("no board with {arch} is known")).hint("name one with --board, such as --board h200")
    })?;
    Ok((board, true))
}

/// What the compiler says; nothing where there is none, which is noted.
fn resources(
    project: &Project,
    file: &KernelFile,
    selecting: &Selecting,
    config: &Config,
    notes: &mut Vec<String>,
) -> Result<Vec<Resources>, Failure> {
    let kernel = forge::compiled(file, selecting)?;
    if kernel.selection.target.kind != TargetKind::Cuda || kernel.selection.implementation(config).sources.is_empty() {
        return Ok(Vec::new());
    }
    let found: Result<Toolchain, Fault> = toolchain(&kernel, &program()?);
    let found = match found {
        Ok(found) => found,
        Err(fault) => {
            notes.push(format!("registers are not known, there is no compiler: {}", fault.why));
            return Ok(Vec::new());
        }
    };
    match forge::one(project, &kernel, found, config)?.outcome {
        Outcome::Passed(resources) => Ok(resources),
        Outcome::Refused(refusal) => {
            notes.push(format!(
                "registers are not known, the build is refused by {}: {}",
                refusal.gate.name(),
                refusal.measured
            ));
            Ok(Vec::new())
        }
    }
}

/// What is known of a call.
fn plan(
    selection: &Selection<'_>,
    workload: Option<&Workload>,
    config: &Config,
    resources: &[Resources],
    board: &Device,
) -> Result<Plan, Failure> {
    let limits = selection.arch.unwrap_or(board.arch).limits();
    let planned = |launch: kiln_judge::Geometry| {
        let known = resources.iter().find(|own| own.kernel == launch.entry);
        let shared = known.map_or(0, |own| own.shared_bytes).max(u64::from(launch.shared));
        let demand = Demand {
            threads_per_block: launch.threads(),
            regs_per_thread: known.map_or(0, |own| own.registers),
            smem_per_block: u32::try_from(shared).unwrap_or(u32::MAX),
        };
        let occupancy = limits.occupancy(&demand);
        PlannedLaunch {
            blocks: launch.grid.iter().map(|side| u64::from(*side)).product(),
            threads: launch.threads(),
            registers: known.map(|own| own.registers),
            spilled_bytes: known.map_or(0, |own| own.spilled_bytes),
            shared_bytes: shared,
            blocks_per_sm: occupancy.blocks_per_sm,
            occupancy: occupancy.fraction,
            warps_per_sm: occupancy.active_warps,
            limited_by: occupancy.limiter.to_string(),
            kernel: launch.entry,
        }
    };
    let value = |formula: Option<&kiln_spec::Formula>| formula.and_then(|formula| cost(selection, workload, formula));
    let stated = &selection.spec.cost;
    Ok(Plan {
        flops: value(stated.flops.as_ref()),
        bytes: value(stated.bytes.as_ref()),
        launches: geometry(selection, workload, config)?.into_iter().map(planned).collect(),
    })
}
