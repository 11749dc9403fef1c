//! How promising a configuration looks before anything is built. In: the launches that follow from it and the GPU. Out: a
//! score that orders the first proposals: multiprocessors with enough warps to hide waiting, and a last wave that is not
//! nearly empty. Says nothing for targets without launches. Registers are known only to the compiler and left out.

use std::sync::Arc;

use kiln_bench::Kernel;
use kiln_device::{Demand, Device, Limits, waves};
use kiln_judge::{Geometry, geometry};
use kiln_run::Gpu;
use kiln_search::StaticScore;
use kiln_spec::{Choice, Selection};

/// Warps of a multiprocessor beyond which more hide nothing more: two for each of its four schedulers.
const ENOUGH_WARPS: f64 = 8.0;

/// The score of a kernel's configurations on a GPU; none where there are no launches to judge by.
pub(crate) fn promise(kernel: &Kernel<'_>, gpu: Option<&Gpu>) -> Option<StaticScore> {
    let selection = &kernel.selection;
    let arch = selection.arch?;
    if selection.implementations.iter().all(|one| one.launches.is_empty()) {
        return None;
    }
    let known = gpu.map(|gpu| gpu.sms).or_else(|| Device::all().iter().find(|d| d.arch == arch).map(|d| d.sms));
    let (sms, limits) = (known?, arch.limits());
    // The score outlives the selection, so it keeps the file and chooses anew.
    let (spec, space) = (selection.spec.clone(), Arc::clone(&kernel.space));
    let target = selection.target.kind.name();
    let variant = kernel.variant();
    let names: Vec<Arc<str>> = selection.workloads.iter().map(|w| w.name.clone()).collect();
    Some(Arc::new(move |point| {
        let variant = Some(variant.as_str()).filter(|text| !text.is_empty());
        let choice = Choice { target: Some(target), arch: Some(arch.name()), variant, ..Choice::default() };
        let selection = spec.select(choice).ok()?;
        let config = space.config(point);
        let scores = scores(&selection, &names, &config, limits, sms)?;
        Some(scores.iter().sum::<f64>() / scores.len().max(1) as f64)
    }))
}

/// One score for each workload.
fn scores(
    selection: &Selection<'_>,
    names: &[Arc<str>],
    config: &kiln_core::Config,
    limits: &Limits,
    sms: u32,
) -> Option<Vec<f64>> {
    let mut workloads: Vec<_> = selection.spec.workloads.iter().filter(|w| names.contains(&w.name)).map(Some).collect();
    if workloads.is_empty() {
        workloads.push(None);
    }
    let score = |workload| {
        let launches = geometry(selection, workload, config).ok()?;
        launches.iter().map(|launch| one(launch, limits, sms)).reduce(f64::min)
    };
    workloads.into_iter().map(score).collect()
}

/// A launch's score, from 0 to 1.
fn one(launch: &Geometry, limits: &Limits, sms: u32) -> f64 {
    let demand = Demand { threads_per_block: launch.threads(), regs_per_thread: 0, smem_per_block: launch.shared };
    let occupancy = limits.occupancy(&demand);
    let blocks = launch.grid.iter().map(|side| u64::from(*side)).product();
    let waves = waves(blocks, occupancy.blocks_per_sm, sms);
    if !waves.is_finite() || waves == 0.0 {
        return 0.0;
    }
    // A grid that does not fill the device once leaves multiprocessors idle, one that fills it one and a bit waits for the bit.
    let filled = waves / waves.ceil();
    let warps = f64::from(occupancy.active_warps).min(ENOUGH_WARPS) / ENOUGH_WARPS;
    filled * warps
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_device::Arch;

    fn launch(grid: u32, block: u32, shared: u32) -> Geometry {
        let (entry, zero) = ("k".into(), vec![]);
        let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
        Geometry { entry, grid, block, shared, cluster: None, cooperative: false, zero }
    }

    #[test]
    fn full_waves_and_enough_warps_are_promising() {
        let score = |l: Geometry| one(&l, Arch::SM_90A.limits(), 132);
        // One block of 256 threads fits beside itself once with 100 KB each: 264 places.
        assert!((score(launch(264, 256, 100_000)) - 1.0).abs() < 1e-9);
        assert!(score(launch(265, 256, 100_000)) < 0.51);
        assert!(score(launch(132, 32, 200_000)) < 0.2, "one warp hides nothing");
        assert_eq!(score(launch(132, 256, 1 << 20)), 0.0, "it does not fit");
        assert!(score(launch(16, 256, 0)) < score(launch(132, 256, 0)));
    }
}
