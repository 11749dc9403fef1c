//! The tensor cores are used up.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, fix};
use super::super::subject::Subject;
use super::at_roofline_fp32::remaining;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::AtRooflineTensor, needs: &[&[m::TENSOR, m::DRAM]], conditions, gain, explain, fixes };

fn conditions(subject: &Subject) -> Vec<Condition> {
    // The pipe is full at the peak of mma.sync, too, which is two thirds of wgmma's.
    vec![above(subject, m::TENSOR, 65.0)]
}

fn gain(subject: &Subject) -> f64 {
    remaining(subject.share(m::TENSOR))
}

fn explain(subject: &Subject) -> String {
    format!(
        "The tensor cores are busy for {:.0} % of the time, with DRAM at {:.0} %. \
         This is the roofline: only fewer or cheaper products make the kernel faster.",
        subject.value(m::TENSOR),
        subject.value(m::DRAM)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![fix(
        "stop here, or use a faster product",
        "narrower types (FP8 for half), structured sparsity, or on sm_90a wgmma instead of mma.sync, whose peak is a third lower",
        gain,
    )]
}
