//! Shared memory per block leaves too few warps on an SM.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, fix};
use super::super::subject::Subject;
use super::occupancy;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::OccupancySharedMem,
    needs: &[occupancy::NEEDS, m::UNITS, m::WAITS, m::ACTIVE],
    conditions,
    gain: occupancy::gain,
    explain,
    fixes,
};

fn conditions(subject: &Subject) -> Vec<Condition> {
    occupancy::conditions(subject, m::LIMIT_SHARED)
}

fn explain(subject: &Subject) -> String {
    format!(
        "{:.0} KiB of shared memory per block {}{}. {}",
        subject.value(m::SHARED_BYTES) / 1024.0,
        occupancy::told(subject, m::LIMIT_SHARED),
        match occupancy::is_tie(subject) {
            true => format!(
                "; its {:.0} registers per thread allow no more, so both must be fewer",
                subject.value(m::REGISTERS)
            ),
            false => String::new(),
        },
        occupancy::matters(subject)
    )
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    let block = subject.value(m::BLOCK).max(32.0);
    let room = 227.0 * block / 2048.0;
    vec![
        fix(
            "request less shared memory per block",
            &format!(
                "request what is used; blocks of {block:.0} threads reach full occupancy with up to {room:.0} KiB each. Smaller tiles, fewer stages or narrower types help"
            ),
            gain,
        ),
        fix(
            "let more threads share the same memory",
            "a larger block for the same tile keeps more warps per byte of shared memory",
            gain.sqrt(),
        ),
    ]
}
