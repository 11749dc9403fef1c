//! The winner of a recorded study. In: a study, a workload. Out: what the study was about, and the winner as it would be
//! typed. Refuses a study without a winner.

use kiln_core::{Config, Report, Value};
use kiln_store::Study;

use crate::failure::Failure;
use crate::kernel::Selecting;

/// What a study was about, where the flags say nothing else: its winner may be valid for that alone.
pub(crate) fn of_study(selecting: &Selecting, study: &Study) -> Selecting {
    let workload = || study.workload();
    let variant = || Some(study.variant.clone()).filter(|variant| !variant.is_empty());
    Selecting {
        target: selecting.target.clone().or_else(|| Some(study.target.clone())),
        variant: selecting.variant.clone().or_else(variant),
        workload: selecting.workload.clone().or_else(workload),
        implementation: selecting.implementation.clone().or_else(|| study.implementation()),
        ..selecting.clone()
    }
}

/// The winner of a study as it would be typed, or the one of a workload where each has its own.
pub(crate) fn winner(study: &Study, workload: Option<&str>) -> Result<String, Failure> {
    // Quoted, a text stays one, whatever it says.
    let word = |value: &Value| match value {
        Value::Str(text) => format!("\"{text}\""),
        other => other.to_string(),
    };
    let config = won(study, workload)?;
    let values = config.iter().map(|(name, value)| format!("{name}={}", word(value)));
    Ok(values.collect::<Vec<_>>().join(","))
}

/// The winner, or the one of a workload where each has its own.
fn won(study: &Study, workload: Option<&str>) -> Result<Config, Failure> {
    if let Some(won) = study.winner() {
        return Ok(won);
    }
    let apart = study.winners();
    if let Some((_, won)) = apart.iter().find(|(name, _)| Some(name.as_str()) == workload) {
        return Ok(won.clone());
    }
    let names: Vec<&str> = apart.iter().map(|(name, _)| name.as_str()).collect();
    let report = Report::error(format!("study {} has no winner", study.id));
    let hint = match names.is_empty() {
        true => format!("`kiln show {}` shows how it ended; choose another with --study", study.short_id()),
        false => format!("each workload has its own: choose --workload {}", names.join(" or --workload ")),
    };
    Err(report.hint(hint).into())
}
