//! Rows of the end of a study. In: a comparison, and what it rests on. Out: what the record, people and machines are told of it. The types are
//! the record's.

use kiln_bench::Scrutiny;
use kiln_stats::{Comparison, Interval};
pub use kiln_store::{Ablated, Confirmed, Contender, Late, SanitizedRefusal, StudyLimit, Summary, TuneVerdict};

use crate::recording::recorded::call_checks;

/// The winner on one workload, and what its times rest on.
pub(crate) fn confirmed(
    name: &str,
    weight: f64,
    holdout: bool,
    found: &Comparison,
    scrutiny: Option<&Scrutiny>,
) -> Confirmed {
    let ms = |i: Interval| Interval { low: i.low * 1e3, high: i.high * 1e3 };
    let checks = scrutiny.map(call_checks);
    Confirmed {
        name: name.into(),
        best_ms: found.candidate.median * 1e3,
        best_ci95_ms: ms(found.candidate_ci95),
        baseline_ms: found.baseline.median * 1e3,
        baseline_ci95_ms: ms(found.baseline_ci95),
        speedup: found.speedup,
        speedup_ci95: found.speedup_ci95,
        cliffs_delta: found.cliffs_delta,
        p_value: found.p_value,
        verdict: found.verdict,
        samples: found.candidate.n,
        warnings: found.warnings.iter().map(ToString::to_string).collect(),
        checked: checks.as_ref().map(|checks| checks.checked),
        notes: checks.map(|checks| checks.notes).unwrap_or_default(),
        kernels: Vec::new(),
        baseline_kernels: Vec::new(),
        weight,
        holdout,
        config: None,
    }
}
