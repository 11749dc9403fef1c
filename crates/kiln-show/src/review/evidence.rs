//! Evidence beside the study's own: the kernel's other studies and benchmarks as a table, its profiles with what they promised and what came of it.

use kiln_app::Review;
use serde_json::{Value, json};

use crate::studies::study::csv_line;
use crate::words::time::stamp;

/// Studies and benchmarks of the kernel, newest first.
pub(super) fn history(review: &Review) -> String {
    let titles = ["kind", "id", "at", "device", "verdict", "speedup", "low", "high"].map(String::from);
    let mut text = csv_line(&titles);
    for study in &review.studies {
        let figure = |place: usize| {
            study.speedup.map_or(String::new(), |(value, [low, high])| [value, low, high][place].to_string())
        };
        text += &csv_line(&[
            "study".into(),
            study.id.clone(),
            stamp(study.started_ms).unwrap_or_default(),
            study.device.clone().unwrap_or_default(),
            study.verdict.clone().unwrap_or_default(),
            figure(0),
            figure(1),
            figure(2),
        ]);
    }
    for run in &review.runs {
        let none = String::new;
        text += &csv_line(&[
            "benchmark".into(),
            run.id.clone(),
            stamp(run.started_ms).unwrap_or_default(),
            run.device.clone(),
            none(),
            none(),
            none(),
            none(),
        ]);
    }
    text
}

/// Profiles, oldest first, and the fixes between them.
pub(super) fn profiles(review: &Review) -> Value {
    let profile = |own: &kiln_store::ProfileRecord| {
        json!({
            "id": own.id, "at": stamp(own.at_ms), "study": own.study, "target": own.target, "config": own.config, "workload": own.workload,
            "device": own.device, "coarse": own.coarse, "cause": own.cause, "expected_speedup": own.expected_speedup, "ranked": own.ranked,
            "time_us": own.time_us, "code": own.code,
        })
    };
    json!({ "profiles": review.profiles.iter().map(profile).collect::<Vec<_>>(), "fixes": review.fixes })
}
