//! Accesses of a few bytes per thread.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::at_roofline_fp32::BUSY;
use super::tensor_core_unused::{PRODUCT, is_known_product};

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::NarrowLoads,
    needs: &[NEEDS, PRODUCT, &[m::FMA], m::ACTIVE],
    conditions,
    gain,
    explain,
    fixes,
};

/// Sectors of a warp's load: one with a byte per lane, two with two bytes, four with four.
const TWO_BYTES: f64 = 2.5;
const FOUR_BYTES: f64 = 4.5;

/// What the claim rests on.
pub(super) const NEEDS: &[m::Metric] =
    &[m::LOAD_REQUESTS, m::LOAD_SECTORS, m::LOAD_BYTES_PER_SECTOR, m::DRAM, m::LOADS, m::INSTRUCTIONS];

fn conditions(subject: &Subject) -> Vec<Condition> {
    // Products of matrices read what they need in any width, and read it often.
    if is_known_product(subject) {
        return Vec::new();
    }
    let requests = subject.value(m::LOAD_REQUESTS);
    let full = above(subject, m::LOAD_BYTES_PER_SECTOR, 24.0).context();
    // The loads must be a part of the work that counts.
    let loads = above(subject, m::LOADS, 0.03 * subject.value(m::INSTRUCTIONS)).context();
    // Four bytes are enough for most kernels; not for one that streams, stays far from the peak and computes little.
    let streams =
        [above(subject, m::DRAM, 35.0), below(subject, m::DRAM, 79.0), below(subject, m::FMA, BUSY * subject.active())];
    if streams.iter().all(Condition::holds) {
        let mut all = vec![below(subject, m::LOAD_SECTORS, FOUR_BYTES * requests), full, loads];
        all.extend(streams.into_iter().map(Condition::context));
        return all;
    }
    vec![below(subject, m::LOAD_SECTORS, TWO_BYTES * requests), full, below(subject, m::DRAM, 75.0).context(), loads]
}

fn sectors(subject: &Subject) -> f64 {
    subject.ratio(m::LOAD_SECTORS, m::LOAD_REQUESTS)
}

/// With 16 bytes per access there are fewer accesses, and fewer instructions around them: loads, indices and branches. What is computed stays.
fn gain(subject: &Subject) -> f64 {
    let (load, fewer) = (Load::of(subject), (sectors(subject) / 16.0).clamp(0.05, 1.0));
    let kept = 0.35 + 0.65 * fewer;
    let Load { dram, l2, .. } = load;
    // Streams of 16-byte accesses reach 90 % where mixed ones reach 80.
    let (dram, l2) = (dram * 0.8 / 0.9, l2 * 0.8 / 0.9);
    let (issue, alu) = (load.issue * kept, load.alu * kept);
    Load { dram, l2, l1: load.l1 * fewer, lsu: load.lsu * fewer, issue, alu, ..load }.gain(subject)
}

fn explain(subject: &Subject) -> String {
    format!(
        "A warp's load fetches {:.1} sectors, {:.0} bytes per thread: {:.0} load instructions move what 16-byte accesses do with {:.0} % of them. \
         DRAM stays at {:.0} %, with the schedulers at {:.0} % and L1 at {:.0} %.",
        sectors(subject),
        sectors(subject).max(1.0),
        subject.value(m::LOADS),
        100.0 * (sectors(subject) / 16.0),
        subject.value(m::DRAM),
        subject.value(m::ISSUE),
        subject.value(m::L1)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "access 16 bytes per thread",
            "const uint4 v = reinterpret_cast<const uint4*>(x)[i]; unpack, compute, and store a uint4; treat the last elements separately",
            gain,
        ),
        fix(
            "compute several elements per thread",
            "each thread takes 4 to 16 neighbouring elements, so that index arithmetic is shared",
            gain.sqrt(),
        ),
    ]
}
