//! Memory bandwidth is used up, and no byte is wasted.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::at_roofline_fp32::remaining;
use super::coalescing::EXCESS;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::AtRooflineDram,
    needs: &[&[m::DRAM, m::SECTORS, m::SECTORS_IDEAL]],
    conditions,
    gain,
    explain,
    fixes,
};

fn conditions(subject: &Subject) -> Vec<Condition> {
    let mut all = vec![above(subject, m::DRAM, 80.0)];
    // A kernel that copies by other paths touches none.
    if subject.value(m::SECTORS) > 0.0 {
        all.push(below(subject, m::SECTORS, EXCESS * subject.value(m::SECTORS_IDEAL)).context());
    }
    all
}

fn gain(subject: &Subject) -> f64 {
    remaining(subject.share(m::DRAM))
}

fn explain(subject: &Subject) -> String {
    let touched = match subject.ratio(m::SECTORS, m::SECTORS_IDEAL) {
        // Bulk copies and textures are not counted there.
        ratio if ratio <= 0.0 => "none of it comes from ordinary loads and stores".into(),
        ratio => format!("the accesses touch {ratio:.2} times the sectors that they need"),
    };
    format!(
        "DRAM is at {:.0} % of its peak, and {touched}. This is the roofline: only moving fewer bytes makes the kernel faster.",
        subject.value(m::DRAM),
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![fix(
        "stop here, or move fewer bytes",
        "fuse this kernel with the one that writes its input or reads its output; store narrower types; keep what is read twice in shared memory or L2",
        gain,
    )]
}
