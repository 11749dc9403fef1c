//! What a built kernel takes of the GPU, and whether that is too much. In: the compiler's figures and the launches. Out:
//! registers, shared memory and occupancy of each kernel, or a refusal before anything runs. Spills and low occupancy
//! refuse only where the kernel file says so: good kernels often run at an eighth of the warps.

use kiln_build::Usage;
use kiln_core::{Config, Fault, Gate, Outcome, Refusal};
use kiln_device::{Arch, Demand};
use kiln_judge::{Geometry, geometry, least_occupancy};
use kiln_run::Gpu;
use kiln_spec::TargetKind;
use serde::Serialize;

use crate::building::triton::Ahead;
use crate::kernel::Kernel;
use crate::workers::subject::Subject;

/// One kernel's share of a multiprocessor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resources {
    /// The kernel, as the file writes it.
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes written to and read from memory because registers ran out.
    pub spilled_bytes: u64,
    /// Bytes of a thread's stack.
    pub stack_bytes: u64,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared_bytes: u64,
    /// Blocks of a multiprocessor.
    pub blocks_per_sm: u32,
    /// Its warps over the most there can be.
    pub occupancy: f64,
    /// What stops one more block.
    pub limited_by: String,
    /// Whether the compiler made matrix instructions wait for each other.
    pub wgmma_serialized: bool,
    /// What the file asks to be warned of, in words; part of the warnings elsewhere.
    #[serde(skip)]
    pub warning: Option<String>,
}

/// What a subject takes, under the workload where it takes most.
pub fn judge_resources(kernel: &Kernel<'_>, subject: &Subject) -> Result<Outcome<Vec<Resources>>, Fault> {
    if let Subject::Python { config, ahead: Some(ahead), .. } = subject {
        return judge_ahead(kernel, config, ahead);
    }
    let (Subject::Cubin { config, symbols, usage, .. }, Some(arch)) = (subject, kernel.selection.arch) else {
        return Ok(Outcome::Passed(Vec::new()));
    };
    let mut workloads: Vec<_> = kernel.selection.workloads.iter().map(|w| Some(*w)).collect();
    if workloads.is_empty() {
        workloads.push(None);
    }
    let mut found: Vec<Resources> = Vec::new();
    for workload in workloads {
        let launches = geometry(&kernel.selection, workload, config)
            .map_err(|report| Fault::new(format!("laying out the launches of {config}"), report))?;
        let least = least_occupancy(&kernel.selection, workload, config)
            .map_err(|report| Fault::new(format!("judging the occupancy of {config}"), report))?;
        for launch in launches {
            let symbol = symbols.iter().find(|(entry, _)| *entry == launch.entry).map(|(_, symbol)| symbol);
            let Some(usage) = usage.iter().find(|u| Some(&u.symbol) == symbol) else { continue };
            keep_worst(&mut found, passed!(judge(kernel, arch, &launch, usage, least)));
        }
    }
    Ok(Outcome::Passed(found))
}

/// The same for kernels that were compiled ahead: threads and shared memory are what the compiler says a launch has.
fn judge_ahead(kernel: &Kernel<'_>, config: &Config, ahead: &Ahead) -> Result<Outcome<Vec<Resources>>, Fault> {
    let Ok(arch) = Arch::parse(&ahead.arch) else { return Ok(Outcome::Passed(Vec::new())) };
    let workload = kernel.selection.workloads.first().copied();
    let least = least_occupancy(&kernel.selection, workload, config)
        .map_err(|report| Fault::new(format!("judging the occupancy of {config}"), report))?;
    let mut found: Vec<Resources> = Vec::new();
    for own in &ahead.kernels {
        let launch = Geometry {
            entry: own.name.clone(),
            grid: [1; 3],
            block: [own.threads, 1, 1],
            shared: own.shared,
            cluster: None,
            cooperative: false,
            zero: Vec::new(),
        };
        match &own.usage {
            Some(usage) => keep_worst(&mut found, passed!(judge(kernel, arch, &launch, usage, least))),
            // Registers are not known; shared memory is.
            None => {
                let unknown = Usage { symbol: own.name.clone(), ..Usage::default() };
                passed!(judge(kernel, arch, &launch, &unknown, None));
            }
        }
    }
    Ok(Outcome::Passed(found))
}

/// Keeps of launches of one kernel the one that spills most, or leaves most of a multiprocessor idle.
fn keep_worst(found: &mut Vec<Resources>, resources: Resources) {
    let demand = |r: &Resources| (r.spilled_bytes as f64, -r.occupancy, r.shared_bytes as f64);
    match found.iter_mut().find(|r| r.kernel == resources.kernel) {
        Some(known) if demand(known) >= demand(&resources) => {}
        Some(known) => *known = resources,
        None => found.push(resources),
    }
}

/// Refuses memory that the GPU does not have: the arguments' mirror, and each question beside it.
pub(crate) fn oom_risk(gpu: &Gpu, bytes: usize, questions: usize) -> Option<Refusal> {
    let needed = bytes as u128 * (1 + questions as u128);
    let gib = |bytes: u128| format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64);
    (needed > u128::from(gpu.memory_free)).then(|| Refusal {
        gate: Gate::OomRisk,
        rule: "memory".into(),
        measured: format!("{} for the arguments and {questions} questions", gib(needed)),
        limit: format!("{} free on {}", gib(gpu.memory_free.into()), gpu.name),
        evidence: format!("{bytes} bytes of arguments, scratch included"),
        hint: Some("less scratch, or a smaller workload, takes less memory".into()),
    })
}

fn judge(kernel: &Kernel<'_>, arch: Arch, launch: &Geometry, usage: &Usage, least: Option<f64>) -> Outcome<Resources> {
    let limits = arch.limits();
    let refuse = |gate: Gate, measured: String, limit: String, hint: &str| {
        let (rule, evidence) = (launch.entry.clone(), format!("{} by the compiler, for {arch}", usage.symbol));
        Outcome::Refused(Refusal { gate, rule, measured, limit, evidence, hint: Some(hint.into()) })
    };
    let shared = usage.shared + u64::from(launch.shared);
    if shared > u64::from(limits.smem_per_block) {
        let measured = format!("{shared} bytes of shared memory ({} static, {} dynamic)", usage.shared, launch.shared);
        let limit = format!("{} bytes", limits.smem_per_block);
        return refuse(Gate::SmemOverflow, measured, limit, "smaller tiles or fewer stages need less shared memory");
    }
    let demand =
        Demand { threads_per_block: launch.threads(), regs_per_thread: usage.registers, smem_per_block: shared as u32 };
    let occupancy = limits.occupancy(&demand);
    if occupancy.blocks_per_sm == 0 {
        let measured = format!("{} threads of {} registers", launch.threads(), usage.registers);
        let limit = format!("one block on a multiprocessor; {} run out", occupancy.limiter);
        let hint = match kernel.selection.target.kind {
            TargetKind::Python => "fewer warps or smaller blocks need fewer registers",
            _ => "__launch_bounds__ tells the compiler how many threads there are",
        };
        return refuse(Gate::LaunchLimits, measured, limit, hint);
    }
    let gates = &kernel.selection.spec.gates;
    let spilled = usage.spill_stores + usage.spill_loads;
    if gates.spills && spilled > 0 {
        let measured =
            format!("{} bytes stored and {} loaded for want of registers", usage.spill_stores, usage.spill_loads);
        return refuse(
            Gate::Spills,
            measured,
            "no spills".into(),
            "smaller tiles, or fewer threads, leave more registers",
        );
    }
    let mut warning = None;
    if let Some(least) = least.filter(|least| occupancy.fraction < *least) {
        let measured = format!("{:.0} % of the warps, limited by {}", 100.0 * occupancy.fraction, occupancy.limiter);
        let limit = format!("{:.0} %", 100.0 * least);
        if gates.occupancy.as_ref().is_some_and(|asked| asked.refuses) {
            return refuse(Gate::Occupancy, measured, limit, "less of what limits it lets more blocks in");
        }
        warning = Some(format!("{}: occupancy is {measured}; the file asks for {limit}", launch.entry));
    }
    Outcome::Passed(Resources {
        kernel: launch.entry.clone(),
        registers: usage.registers,
        spilled_bytes: spilled,
        stack_bytes: usage.stack,
        shared_bytes: shared,
        blocks_per_sm: occupancy.blocks_per_sm,
        occupancy: occupancy.fraction,
        limited_by: occupancy.limiter.to_string(),
        wgmma_serialized: usage.wgmma_serialized,
        warning,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_the_gpu_does_not_have_is_refused_beforehand() {
        let gpu = Gpu { name: "small".into(), memory_free: 3 << 30, ..Gpu::default() };
        assert_eq!(oom_risk(&gpu, 1 << 30, 2), None);
        let refusal = oom_risk(&gpu, 1 << 30, 3);
        assert_eq!(
            refusal.map(|r| (r.gate, r.measured)),
            Some((Gate::OomRisk, "4.0 GiB for the arguments and 3 questions".into()))
        );
    }
}
