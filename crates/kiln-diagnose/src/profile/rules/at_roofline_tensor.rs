//! The tensor cores are used up.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, fix};
use super::super::subject::Subject;
use super::at_roofline_fp32::{FULL, left, remaining};

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::AtRooflineTensor, needs: &[&[m::TENSOR, m::DRAM]], conditions, gain, explain, fixes };

/// On cc 9.0 wgmma multiplies this many times as fast as mma.sync when both keep the pipe full.
const WGMMA: f64 = 1.5;

fn conditions(subject: &Subject) -> Vec<Condition> {
    vec![above(subject, m::TENSOR, 65.0)]
}

/// Whether the products are those of mma.sync on an architecture that has wgmma: the pipe then counts as full at two thirds of its peak.
fn is_mma_sync(subject: &Subject) -> bool {
    let most = |paths: &[m::Metric]| paths.iter().map(|path| subject.value(path)).fold(0.0, f64::max);
    let known = m::WGMMA_PATHS.iter().any(|path| !subject.lacks(path));
    known && most(m::MMA_SYNC_PATHS) > most(m::WGMMA_PATHS)
}

fn gain(subject: &Subject) -> f64 {
    remaining(subject.share(m::TENSOR))
}

fn explain(subject: &Subject) -> String {
    let own = match is_mma_sync(subject) {
        true => " These are products of mma.sync, whose peak is two thirds of wgmma's on this GPU.",
        false => "",
    };
    format!(
        "The tensor cores are busy for {:.0} % of the time, with DRAM at {:.0} %. {}{own}",
        subject.value(m::TENSOR),
        subject.value(m::DRAM),
        left(gain(subject), "with operands that arrive earlier", "fewer or cheaper products make")
    )
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    let wgmma = fix(
        "multiply with wgmma instead of mma.sync",
        "build for sm_90a and feed wgmma.mma_async from shared memory (TMA, two warpgroups or more); its peak is 1.5 times that of mma.sync",
        // What is moved stays, and must be moved in less time.
        (gain * WGMMA).min(Load { tensor: 0.0, ..Load::of(subject) }.gain(subject)).max(gain),
    );
    let cheaper = fix(
        "stop here, or use cheaper products",
        "narrower types (FP8 for half) or structured sparsity, where the results allow it",
        gain.min(FULL),
    );
    let feed = fix(
        "keep the tensor cores fed",
        "more stages of shared memory, loads by a warp of their own (TMA, cp.async), larger tiles, and products that overlap the epilogue",
        gain,
    );
    let own = is_mma_sync(subject).then_some(wgmma);
    own.into_iter().chain((gain > FULL).then_some(feed)).chain([cheaper]).collect()
}
