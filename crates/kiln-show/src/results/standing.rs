//! Baselines alone in words: what each takes, how near the limit that is, and the times a candidate has to beat.

use std::fmt;

use kiln_app::Baselined;
use serde_json::{Value, json};

use crate::results::bench::{heading, without};
use crate::words::number::duration;
use crate::words::table::{Align, lines};

/// Everything `kiln bench --baselines` says.
pub struct StandingView<'a> {
    /// What was measured.
    pub found: &'a Baselined<'a>,
}

impl StandingView<'_> {
    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        let found = self.found;
        json!({
            "name": found.kernel.name(),
            "target": found.kernel.target(),
            "device": found.hardware,
            "gpu": found.gpu,
            "cache": found.settings.cache,
            "threads": found.settings.threads,
            "seed": found.settings.seed,
            "target_speedup": found.target_speedup,
            "workloads": found.workloads,
        })
    }
}

impl fmt::Display for StandingView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        let found = self.found;
        writeln!(f, "{}", heading(&found.kernel, &found.settings, &found.hardware))?;
        if let Some(gpu) = &found.gpu {
            let mut parts: Vec<String> = Vec::new();
            parts.extend(gpu.sm_mhz.map(|v| format!("{v} MHz")));
            parts.extend(gpu.power.map(|v| format!("{v:.0} W")));
            parts.extend(gpu.temperature.map(|v| format!("{v} C")));
            writeln!(f, "  {}", parts.join(", "))?;
        }
        let aim = format!("for {:.2}x", found.target_speedup);
        for standing in &found.workloads {
            let floor = standing.floor.map(|floor| format!(", at least {} on this machine", duration(floor)));
            writeln!(f, "\n{}{}", standing.workload, floor.unwrap_or_default())?;
            let titles =
                ["baseline", "median", "95 % interval", "of the limit", "memory", "for 0.5x", "for 1.0x", &aim];
            let mut rows = vec![titles.map(String::from).to_vec()];
            for stands in &standing.baselines {
                let interval = format!("[{}, {}]", duration(stands.median_ci95.low), duration(stands.median_ci95.high));
                rows.push(vec![
                    stands.name.clone(),
                    duration(stands.times.median),
                    interval,
                    stands.roofline.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share)),
                    stands.gpu_memory.or(stands.peak_memory).map_or("-".into(), |bytes| format!("{} MiB", bytes >> 20)),
                    duration(stands.to_beat.half),
                    duration(stands.to_beat.even),
                    duration(stands.to_beat.target),
                ]);
            }
            if rows.len() > 1 {
                f.write_str(&lines(&rows, &[Left, Right, Left, Right, Right, Right, Right, Right]))?;
            }
            f.write_str(&without(&standing.unmeasured, standing.baselines.is_empty()))?;
        }
        Ok(())
    }
}
