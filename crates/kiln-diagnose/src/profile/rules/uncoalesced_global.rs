//! Lanes of a warp touch memory far apart.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, fix};
use super::super::subject::Subject;
use super::coalescing::{excess, gain, of_structures};

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::UncoalescedGlobal, needs: super::coalescing::NEEDS, conditions, gain, explain, fixes };

fn conditions(subject: &Subject) -> Vec<Condition> {
    if of_structures(subject) {
        return Vec::new();
    }
    super::coalescing::conditions(subject)
}

fn explain(subject: &Subject) -> String {
    format!(
        "The warps' global accesses touch {:.1} times the sectors that their bytes need, because neighbouring lanes are far apart. \
         The path to memory is busy with the rest: L2 {:.0} %, L1 {:.0} %, DRAM {:.0} % of peak.",
        excess(subject),
        subject.value(m::L2),
        subject.value(m::L1),
        subject.value(m::DRAM)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "let neighbouring threads touch neighbouring elements",
            "make threadIdx.x the index that runs fastest in memory: int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y; y[r * cols + c] = ...",
            gain,
        ),
        fix(
            "go through shared memory where two orders are needed",
            "load a 32x32 tile along rows, __syncthreads(), use it along columns: __shared__ float t[32][33]; t[ty][tx] = in[...]; __syncthreads(); out[...] = t[tx][ty];",
            gain,
        ),
    ]
}
