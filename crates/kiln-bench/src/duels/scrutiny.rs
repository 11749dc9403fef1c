//! How far a verdict can be trusted to be about right answers. In: what a duel counted for its first subject on one workload,
//! the workload's inputs, the caches. Out: counts, the share of wrong calls they find, and notes for whoever reads the
//! verdict.

use kiln_spec::{Role, TargetKind};
use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::duels::duel::SETS;
use crate::questions::draws::FILLINGS;
use crate::questions::stage::Stage;
use crate::questions::tray::Tray;
use crate::settings::CacheState;

/// The chance, at most, that no wrong call is among those that were checked.
const MISSED: f64 = 0.001;

/// How many timed calls of a subject were checked on one workload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Its timed calls.
    pub timed: u64,
    /// Calls whose answers were compared with another side's on the same inputs.
    pub compared: u64,
    /// Calls that were chosen at random and held against the reference.
    pub reference: u64,
    /// The share of wrong calls that those find with 99.9 %; none when there are none.
    pub detects: Option<f64>,
}

impl Checked {
    /// Of so many timed calls.
    pub(crate) fn of(timed: u64, compared: u64, reference: u64) -> Checked {
        let detects = (reference > 0).then(|| detected(reference));
        Checked { timed, compared, reference, detects }
    }

    /// With what was counted on top.
    pub(crate) fn and(self, timed: u64, compared: u64, reference: u64) -> Checked {
        Checked::of(self.timed + timed, self.compared + compared, self.reference + reference)
    }
}

/// The share `s` of wrong calls of which `calls` chosen at random miss every one with a chance of `(1 - s)^calls = 0.001`.
fn detected(calls: u64) -> f64 {
    -(MISSED.ln() / calls as f64).exp_m1()
}

/// What a verdict on one workload rests on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scrutiny {
    /// How much was checked.
    pub checked: Checked,
    /// What else to know about inputs and caches.
    pub notes: Vec<String>,
    /// The share of its times that the subject could hide from the system's accounts.
    #[serde(default)]
    pub hidden: f64,
}

/// What to know about the inputs of timed calls and the caches they meet.
pub(crate) fn notes(bench: &Bench<'_>, stage: &Stage<'_>) -> Vec<String> {
    let signature = &stage.layout.signature;
    let mut notes = Vec::new();
    if !signature.varies() {
        notes.push("no input is drawn at random: every call sees the same numbers".into());
    }
    let fixed = signature.slots.iter().filter(|slot| slot.is_fixed()).map(|slot| slot.name.as_str());
    let fixed: Vec<&str> = fixed.collect();
    if !fixed.is_empty() && signature.varies() {
        let (names, have) = (fixed.join(", "), if fixed.len() == 1 { "has" } else { "have" });
        notes.push(format!(
            "{names} {have} the same numbers in every call, as declared: a kernel that ignores them passes"
        ));
    }
    let target = bench.kernel.selection.target;
    let constants: Vec<&str> =
        signature.slots.iter().filter(|slot| slot.role == Role::Constant).map(|slot| slot.name.as_str()).collect();
    if !constants.is_empty()
        && target.kind == TargetKind::Cuda
        && bench.kernel.selection.implementations.iter().all(|one| !one.host)
    {
        let (names, are) = (constants.join(", "), if constants.len() == 1 { "is" } else { "are" });
        notes.push(format!("{names} {are} in constant memory: the same in all calls of a round"));
    }
    let functions = signature.slots.iter().any(|slot| slot.is_input() && slot.function.is_some());
    match (functions, bench.kernel.on_gpu()) {
        (false, _) => {}
        (true, false) => notes.push(format!("inputs from init functions repeat every {FILLINGS} calls")),
        // A device keeps them with the question: all calls of a round read the same.
        (true, true) => notes.push(format!(
            "inputs from init functions are the same in all calls of a round, and repeat every {} rounds",
            SETS.len()
        )),
    }
    let caches = match &bench.gpu {
        Some(gpu) => Near::Device { bytes: stage.layout.bytes(), l2: gpu.l2 as usize },
        None => {
            let caches = bench.seating().caches;
            Near::Processor { bytes: Tray::set_bytes(signature), private: caches.private, last: caches.last }
        }
    };
    notes.extend(caches.note(bench.settings.cache));
    notes
}

/// What one call's arguments take, and the caches that could hold them.
enum Near {
    Processor { bytes: usize, private: usize, last: usize },
    Device { bytes: usize, l2: usize },
}

impl Near {
    /// Caches that are asked to be warm and cannot be.
    fn note(&self, cache: CacheState) -> Option<String> {
        const COLD: &str = "warm times are those of cold caches";
        let exceed = |bytes: usize, what: &str, so: &str| {
            Some(format!("one call's arguments ({}) exceed {what}: {so}", megabytes(bytes)))
        };
        match *self {
            _ if cache != CacheState::Warm => None,
            Near::Processor { bytes, last, .. } if bytes > last / 2 => {
                exceed(bytes, &format!("half of the last-level cache ({})", megabytes(last)), COLD)
            }
            Near::Processor { bytes, private, .. } if bytes > private / 2 => {
                let what = format!("half of the private cache ({})", megabytes(private));
                exceed(bytes, &what, "warm calls read them from the shared cache")
            }
            // The sets of several calls take turns there, and what does not fit twice into a half is not found again.
            Near::Device { bytes, l2 } if bytes > l2 / 4 => {
                exceed(bytes, &format!("a quarter of the L2 cache ({})", megabytes(l2)), COLD)
            }
            _ => None,
        }
    }
}

/// With three digits.
fn megabytes(bytes: usize) -> String {
    let value = bytes as f64 / 1e6;
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} MB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_is_found_follows_from_the_number_of_calls() {
        for calls in [1, 7, 100, 100_000] {
            let share = Checked::of(calls, 0, calls).detects.unwrap();
            let missed = (1.0 - share).powf(calls as f64);
            assert!((missed - 0.001).abs() < 1e-9, "{calls}: {share} misses with {missed}");
        }
        assert_eq!(format!("{:.3} {:.4}", detected(7), detected(100)), "0.627 0.0667");
        assert_eq!(Checked::of(10, 10, 0).detects, None);
        assert_eq!(Checked::of(10, 4, 1).and(5, 3, 2), Checked::of(15, 7, 3));
    }

    #[test]
    fn what_cannot_stay_in_a_cache_is_said() {
        let on = |bytes| Near::Processor { bytes, private: 2 << 20, last: 60 << 20 };
        assert_eq!(on(1 << 20).note(CacheState::Warm), None);
        assert_eq!(
            on(3 << 20).note(CacheState::Warm).unwrap(),
            "one call's arguments (3.15 MB) exceed half of the private cache (2.10 MB): warm calls read them from the \
             shared cache"
        );
        assert_eq!(
            on(40 << 20).note(CacheState::Warm).unwrap(),
            "one call's arguments (41.9 MB) exceed half of the last-level cache (62.9 MB): warm times are those of cold \
             caches"
        );
        assert_eq!(on(40 << 20).note(CacheState::Cold), None);
        let device = |bytes| Near::Device { bytes, l2: 50 << 20 }.note(CacheState::Warm);
        assert_eq!(device(12 << 20), None);
        assert!(
            device(26 << 20).unwrap().contains("(27.3 MB) exceed a quarter of the L2 cache (52.4 MB): warm times are")
        );
    }
}
