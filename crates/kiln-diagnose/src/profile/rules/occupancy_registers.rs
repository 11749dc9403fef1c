//! Registers per thread leave too few warps on an SM.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, fix};
use super::super::subject::Subject;
use super::{occupancy, register_spill_local};

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::OccupancyRegisters,
    needs: &[occupancy::NEEDS, m::UNITS, m::WAITS, m::ACTIVE, register_spill_local::NEEDS],
    conditions,
    gain: occupancy::gain,
    explain,
    fixes,
};

fn conditions(subject: &Subject) -> Vec<Condition> {
    // Registers that do not suffice as it is cannot be fewer.
    if register_spill_local::RULE.holds(subject) || occupancy::is_tie(subject) {
        return Vec::new();
    }
    occupancy::conditions(subject, m::LIMIT_REGISTERS)
}

fn explain(subject: &Subject) -> String {
    format!(
        "{:.0} registers per thread: the register file {}. {}",
        subject.value(m::REGISTERS),
        occupancy::told(subject, m::LIMIT_REGISTERS),
        occupancy::matters(subject)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "keep less per thread",
            "read values when they are needed instead of holding them, keep tables in shared memory, unroll less, or split the work of a thread over several",
            gain,
        ),
        fix(
            "bound the registers",
            "__launch_bounds__(threads, blocks) with the blocks per SM you want; check that ptxas reports no spills afterwards",
            gain.sqrt(),
        ),
    ]
}
