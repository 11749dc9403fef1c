//! Lanes read one member each out of an array of structures.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, fix};
use super::super::subject::Subject;
use super::coalescing::{excess, gain, of_structures};

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::StridedAos, needs: super::coalescing::NEEDS, conditions, gain, explain, fixes };

fn conditions(subject: &Subject) -> Vec<Condition> {
    if !of_structures(subject) {
        return Vec::new();
    }
    super::coalescing::conditions(subject)
}

fn explain(subject: &Subject) -> String {
    format!(
        "A warp reads one member of 32 structures, and touches {:.1} times the sectors that the members need. \
         The other members come along: DRAM is at {:.0} %, L2 at {:.0} % of peak.",
        excess(subject),
        subject.value(m::DRAM),
        subject.value(m::L2)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "store one array per member",
            "struct Particles { float *x, *vx; }; p.x[i] += p.vx[i] * dt; instead of p[i].x += p[i].vx * dt;",
            gain,
        ),
        fix(
            "where all members are used, load the structure in 16-byte pieces",
            "alignas(16) struct; float4 a = reinterpret_cast<const float4*>(p)[i];",
            1.0 + (gain - 1.0) / 2.0,
        ),
    ]
}
