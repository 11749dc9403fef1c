//! The winner of a recorded study. In: a study, a workload. Out: what the study was about, and the winner as it would be
//! typed. Refuses a study without a winner.

use kiln_core::Report;
use kiln_store::Study;

use crate::failure::Failure;
use crate::kernel::Selecting;

/// What a study was about, where the flags say nothing else: its winner may be valid for that alone.
pub(crate) fn of_study(selecting: &Selecting, study: &Study) -> Selecting {
    let workload = || study.workload().map(String::from);
    let variant = || Some(study.variant.clone()).filter(|variant| !variant.is_empty());
    Selecting {
        target: selecting.target.clone().or_else(|| Some(study.target.clone())),
        variant: selecting.variant.clone().or_else(variant),
        workload: selecting.workload.clone().or_else(workload),
        ..selecting.clone()
    }
}

/// The winner of a study as it would be typed, or the one of a workload where each has its own.
pub(crate) fn winner(study: &Study, workload: Option<&str>) -> Result<String, Failure> {
    let word = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), |s| format!("\"{s}\""));
    let values = won(study, workload)?.iter().map(|(name, value)| format!("{name}={}", word(value)));
    Ok(values.collect::<Vec<_>>().join(","))
}

/// The winner, or the one of a workload where each has its own.
fn won<'s>(
    study: &'s Study,
    workload: Option<&str>,
) -> Result<&'s serde_json::Map<String, serde_json::Value>, Failure> {
    let summary = study.summary.as_ref();
    if let Some(won) = summary.and_then(|s| s.get("config")).and_then(|c| c.as_object()) {
        return Ok(won);
    }
    let rows = summary.and_then(|s| s.get("workloads")).and_then(|w| w.as_array()).map_or(&[][..], Vec::as_slice);
    let apart: Vec<_> =
        rows.iter().filter_map(|w| Some((w.get("name")?.as_str()?, w.get("config")?.as_object()?))).collect();
    if let Some((_, won)) = apart.iter().find(|(name, _)| Some(*name) == workload) {
        return Ok(won);
    }
    let names: Vec<&str> = apart.iter().map(|(name, _)| *name).collect();
    let report = Report::error(format!("study {} has no winner", study.id));
    let hint = format!("each workload has its own: choose --workload {}", names.join(" or --workload "));
    Err(report.maybe_hint((!names.is_empty()).then_some(hint)).into())
}
