//! The three small tables of settings: `[cost]`, `[objective]` and `[gates]`. In: a table. Out: what it says over the
//! defaults. Refuses values outside their range.

use kiln_core::Report;
use toml::de::DeValue;

use crate::model::{Cost, Formula, LeastOccupancy, Objective, SoftGates};
use crate::reading::item::Item;
use crate::reading::section::Section;
use crate::tables::workload::read_positive;

/// What the tables may hold.
pub(crate) const COST_KEYS: [&str; 2] = ["flops", "bytes"];
pub(crate) const OBJECTIVE_KEYS: [&str; 2] = ["per_workload", "target_speedup"];
pub(crate) const GATES_KEYS: [&str; 2] = ["spills", "occupancy"];
pub(crate) const OCCUPANCY_KEYS: [&str; 2] = ["least", "gate"];
/// Whether a soft gate refuses.
pub(crate) const SOFT: [(&str, bool); 2] = [("warn", false), ("refuse", true)];

pub(crate) fn read_cost(root: &Section) -> Cost {
    let section = root.get("cost").and_then(|i| Section::open(i, &COST_KEYS));
    let formula = |key| section.as_ref().and_then(|s| s.get(key)).and_then(Item::formula);
    Cost { flops: formula("flops"), bytes: formula("bytes") }
}

pub(crate) fn read_objective(root: &Section) -> Objective {
    let section = root.get("objective").and_then(|i| Section::open(i, &OBJECTIVE_KEYS));
    let get = |key| section.as_ref().and_then(|s| s.get(key));
    Objective {
        per_workload: get("per_workload").and_then(Item::boolean).unwrap_or(false),
        target_speedup: get("target_speedup").and_then(read_positive).unwrap_or(1.10),
    }
}

pub(crate) fn read_gates(root: &Section) -> SoftGates {
    let section = root.get("gates").and_then(|i| Section::open(i, &GATES_KEYS));
    let get = |key| section.as_ref().and_then(|s| s.get(key));
    SoftGates {
        spills: get("spills").and_then(|i| i.word(&SOFT)).unwrap_or(false),
        occupancy: get("occupancy").and_then(read_occupancy),
    }
}

/// `"warn"`, a share or an expression below which a kernel is refused, or a table of the latter with what happens then.
fn read_occupancy(item: &Item) -> Option<LeastOccupancy> {
    match item.raw() {
        DeValue::String(text) if text == "warn" => None,
        DeValue::Table(_) => {
            let section = Section::open(item, &OCCUPANCY_KEYS)?;
            let refuses = section.get("gate").and_then(|i| i.word(&SOFT));
            let Some(least) = section.get("least") else {
                item.error(Report::error(format!("{} has no `least`", item.path)).label("expected { least = 0.25 }"));
                return None;
            };
            Some(LeastOccupancy { least: read_share(least)?, refuses: refuses.unwrap_or(true) })
        }
        _ => Some(LeastOccupancy { least: read_share(item)?, refuses: true }),
    }
}

/// A number above 0 and at most 1, or an expression of one.
fn read_share(item: &Item) -> Option<Formula> {
    let expected =
        "expected \"warn\", a number above 0 and at most 1 below which a kernel is refused, or an expression";
    let value = match item.raw() {
        DeValue::String(_) => return item.formula(),
        DeValue::Integer(_) | DeValue::Float(_) => item.number()?,
        _ => {
            item.error(Report::error(format!("{} is {}", item.path, item.spelling())).label(expected));
            return None;
        }
    };
    if value > 0.0 && value <= 1.0 {
        return item.formula();
    }
    let percent = (value > 1.0 && value <= 100.0).then(|| format!("{value} % is {}", value / 100.0));
    item.error(Report::error(format!("{} is {value}", item.path)).label(expected).maybe_hint(percent));
    None
}
