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
        let sectors = below(subject, m::SECTORS, EXCESS * subject.value(m::SECTORS_IDEAL)).context();
        let read = below(subject, m::READ_BYTES, readable(subject)).context();
        all.push(if !sectors.holds() && read.holds() { read } else { sectors });
    }
    all
}

/// DRAM may move this many times the bytes that accesses use: more is wasted.
const USED: f64 = 1.25;

/// How many bytes DRAM may read where every byte is used in the end: members of structures that several loads take one by one touch the same
/// sectors, which caches keep.
fn readable(subject: &Subject) -> f64 {
    USED * 32.0 * subject.value(m::SECTORS_IDEAL) - subject.value(m::WRITE_BYTES)
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
    let excess = subject.ratio(m::SECTORS, m::SECTORS_IDEAL);
    let touched = match by_accesses(subject) {
        true if excess >= EXCESS => format!(
            "the accesses touch {excess:.2} times the sectors that they need, but caches keep them: DRAM moves {:.2} times the bytes that are used",
            (subject.value(m::READ_BYTES) + subject.value(m::WRITE_BYTES))
                / (32.0 * subject.value(m::SECTORS_IDEAL)).max(1.0)
        ),
        true => format!("the accesses touch {excess:.2} times the sectors that they need"),
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
