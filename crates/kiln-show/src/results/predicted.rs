//! What is expected of a kernel before it runs, in words: for each workload the least time, what bounds it, and the likely bottleneck.

use std::fmt;

use kiln_app::{Predicted, PredictedWorkload};
use serde_json::{Value, json};

use super::diagnosed_profile::times;

/// Everything `kiln diagnose --predict` says.
pub struct PredictedView<'a> {
    /// The predictions.
    pub predicted: &'a Predicted,
}

impl PredictedView<'_> {
    /// The same for machines.
    pub fn json(&self) -> Value {
        let mut all = json!(self.predicted);
        all["prediction"] = json!(true);
        all
    }
}

impl fmt::Display for PredictedView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Predicted { kernel, board, arch, elsewhere, config, workloads, notes, .. } = self.predicted;
        let place = if *elsewhere { ", by its datasheet" } else { "" };
        writeln!(f, "prediction of {kernel} for {board} ({arch}{place}); nothing was run")?;
        writeln!(f, "configuration: {config}")?;
        workloads.iter().try_for_each(|workload| one(f, workload, self.predicted))?;
        notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

fn one(f: &mut fmt::Formatter<'_>, own: &PredictedWorkload, all: &Predicted) -> fmt::Result {
    let name = own.workload.as_deref().unwrap_or("the kernel");
    let prediction = &own.prediction;
    match (prediction.floor_us, prediction.bound) {
        (Some(floor), Some(bound)) => writeln!(f, "{name}: at least {floor} us, bound by {}", bound.name())?,
        _ => writeln!(f, "{name}: no floor")?,
    }
    if let Some(memory) = prediction.memory_us {
        writeln!(f, "  memory: {memory} us at {:.2} TB/s", all.bytes_per_second / 1e12)?;
    }
    if let Some(compute) = prediction.compute_us {
        writeln!(f, "  arithmetic: {compute} us at {:.1} TFLOP/s ({})", all.flops_per_second / 1e12, all.arithmetic)?;
    }
    for launch in &own.launches {
        let registers = launch.registers.map_or(String::new(), |count| format!(", {count} registers"));
        writeln!(
            f,
            "  {}: {} blocks of {} threads{registers}, {} bytes shared, {:.0} % occupancy (limited by {})",
            launch.kernel,
            launch.blocks,
            launch.threads,
            launch.shared_bytes,
            100.0 * launch.occupancy,
            launch.limited_by
        )?;
    }
    for (number, likely) in prediction.ranked.iter().enumerate() {
        let word = if number == 0 { "likely bottleneck" } else { "also likely" };
        let cost = match likely.slowdown {
            Some(slowdown) if slowdown > 1.0 => format!(", about {} the floor", times(slowdown)),
            Some(_) => String::new(),
            None => ", at a cost that only a run shows".into(),
        };
        writeln!(f, "  {word}: {}{cost}: {}", likely.cause, likely.why)?;
    }
    Ok(())
}
