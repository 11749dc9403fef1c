//! What to say where no rule applies: which unit is busy and what would relieve it, or what warps wait for.

use super::load::Load;
use super::roofline::{BOUNDS, Bound, Roofline};
use super::subject::Subject;
use super::waits;

/// Two sentences with the numbers in them; none where the page lacks units.
pub(super) fn explain(subject: &Subject) -> String {
    if !subject.has_units() {
        return waits::sentence(subject).unwrap_or_default();
    }
    let load = Load::of(subject);
    // L2 is as busy as DRAM where everything misses.
    let by_dram = Roofline::of(subject).bound == Bound::Memory;
    let (unit, share) = if by_dram { ("DRAM", load.dram) } else { load.busiest_unit() };
    let percent = 100.0 * share;
    if share >= BOUNDS {
        return format!(
            "{unit} is at {percent:.0} % of its peak, and no rule finds wasted work in it. The kernel becomes faster with {} only.",
            less(unit)
        );
    }
    let waiting = waits::sentence(subject).unwrap_or_default();
    format!("No unit is busy: {unit} has the most to do, with {percent:.0} % of its peak. {waiting}").trim_end().into()
}

/// What relieves a unit.
fn less(unit: &str) -> &'static str {
    match unit {
        "DRAM" => "fewer bytes to move",
        "L2" => "fewer bytes through L2 (reuse in shared memory or registers)",
        "L1" => "fewer accesses to L1 and shared memory (reuse in registers, wider accesses)",
        "LSU" => "fewer load and store instructions",
        "issue" => "fewer instructions",
        "ALU" => "fewer integer and logic operations",
        "XU" => "fewer special functions and conversions",
        _ => "fewer operations",
    }
}
