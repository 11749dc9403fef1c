//! The tensor cores are used up.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, fix};
use super::super::subject::Subject;
use super::at_roofline_fp32::remaining;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::AtRooflineTensor, needs: &[&[m::TENSOR, m::DRAM]], conditions, gain, explain, fixes };

fn conditions(subject: &Subject) -> Vec<Condition> {
    vec![above(subject, busiest(subject), 65.0)]
}

/// The kind of product that is closest to its peak.
fn busiest(subject: &Subject) -> m::Metric {
    let most = |one: m::Metric, other: m::Metric| if subject.value(other) > subject.value(one) { other } else { one };
    m::TENSOR_PATHS.iter().copied().reduce(most).unwrap_or(m::TENSOR)
}

fn gain(subject: &Subject) -> f64 {
    remaining(subject.share(busiest(subject)))
}

fn explain(subject: &Subject) -> String {
    format!(
        "The tensor cores are at {:.0} % of the peak of this kind of product, with DRAM at {:.0} %. \
         This is the roofline: only fewer or cheaper products make the kernel faster.",
        subject.value(busiest(subject)),
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
