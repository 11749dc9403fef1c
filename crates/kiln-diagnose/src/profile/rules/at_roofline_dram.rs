//! Memory bandwidth is used up, and no byte is wasted.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::at_roofline_fp32::{left, remaining};
use super::coalescing::EXCESS;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::AtRooflineDram,
    needs: &[&[m::DRAM, m::SECTORS, m::SECTORS_IDEAL, m::READ_BYTES, m::WRITE_BYTES]],
    conditions,
    gain,
    explain,
    fixes,
};

fn conditions(subject: &Subject) -> Vec<Condition> {
    let mut all = vec![above(subject, m::DRAM, 80.0)];
    if by_accesses(subject) {
        all.push(below(subject, m::SECTORS, EXCESS * subject.value(m::SECTORS_IDEAL)).context());
    }
    all
}

/// Whether ordinary loads and stores account for a tenth of the traffic. A kernel that copies by other paths touches next to none.
fn by_accesses(subject: &Subject) -> bool {
    let moved = subject.value(m::READ_BYTES) + subject.value(m::WRITE_BYTES);
    let touched = 32.0 * subject.value(m::SECTORS);
    touched > 0.0 && touched > 0.1 * moved
}

fn gain(subject: &Subject) -> f64 {
    remaining(subject.share(m::DRAM))
}

fn explain(subject: &Subject) -> String {
    let touched = match by_accesses(subject) {
        true => format!(
            "the accesses touch {:.2} times the sectors that they need",
            subject.ratio(m::SECTORS, m::SECTORS_IDEAL)
        ),
        // Bulk copies and textures are not counted there.
        false => "hardly any of it comes from ordinary loads and stores".into(),
    };
    format!(
        "DRAM is at {:.0} % of its peak, and {touched}. {}",
        subject.value(m::DRAM),
        left(gain(subject), "with more bytes in flight", "moving fewer bytes makes")
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![fix(
        "stop here, or move fewer bytes",
        "fuse this kernel with the one that writes its input or reads its output; store narrower types; keep what is read twice in shared memory or L2",
        gain,
    )]
}
