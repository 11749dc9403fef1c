//! A benchmark in words: the configuration's own figures, and one line for each baseline.

use std::fmt;

use kiln_core::{Config, Refusal};
use kiln_study::{Kernel, Settings, Unmeasured, Versus, checked_calls};
use serde_json::{Value, json};

use crate::words::kernels::kernels;
use crate::words::number::duration;
use crate::words::scrutiny::checked;
use crate::words::table::{Align, lines};
use crate::words::warnings::gathered;

/// Everything `kiln bench` says.
pub struct BenchView<'a> {
    /// The kernel.
    pub kernel: &'a Kernel<'a>,
    /// The configuration.
    pub config: &'a Config,
    /// How it was measured.
    pub settings: &'a Settings,
    /// On which processor.
    pub processor: &'a str,
    /// What was measured.
    pub figures: &'a [Versus],
    /// Workloads that were not measured to their end: it was interrupted.
    pub left: &'a [String],
}

impl BenchView<'_> {
    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        json!({
            "name": self.kernel.name(),
            "target": self.kernel.target(),
            "device": self.processor,
            "config": self.config,
            "cache": self.settings.cache,
            "threads": self.settings.threads,
            "seed": self.settings.seed,
            "workloads": self.figures,
            "left": self.left,
        })
    }
}

/// What was measured, how, and on what.
pub(crate) fn heading(kernel: &Kernel<'_>, settings: &Settings, hardware: &str) -> String {
    let threads = match settings.threads {
        1 => "1 thread".to_string(),
        count => format!("{count} threads"),
    };
    let (name, target, cache) = (kernel.name(), kernel.target(), settings.cache.name());
    format!("{name}, target {target}, {cache} cache, {threads}, {hardware}")
}

/// Why somebody is not in the table.
pub(crate) fn unmeasured(name: &str, refusal: &Refusal) -> String {
    let limit = if refusal.limit.is_empty() { String::new() } else { format!(", expected {}", refusal.limit) };
    format!("{name} is not measured here: {}: {}{limit}", refusal.gate, refusal.measured)
}

/// The same for several, one a line; `all` where nobody is in the table.
pub(crate) fn without(some: &[Unmeasured], all: bool) -> String {
    let mut lines: Vec<String> = some.iter().map(|one| unmeasured(&one.name, &one.refusal)).collect();
    lines.extend((all && !some.is_empty()).then(|| "no baseline could be measured, so there is no speedup".into()));
    lines.into_iter().map(|line| format!("  {line}\n")).collect()
}

impl fmt::Display for BenchView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        writeln!(f, "{}", heading(self.kernel, self.settings, self.processor))?;
        writeln!(f, "  {}", self.config)?;
        for w in self.figures {
            writeln!(f, "\n{}", w.workload)?;
            let ms = |s: f64| duration(s);
            let cv = w.times.cv.map_or("-".into(), |cv| format!("{:.1} %", 100.0 * cv));
            writeln!(
                f,
                "  {} [{}, {}] median and 95 % interval of {} samples; P95 {}, P99 {}, CV {cv}",
                ms(w.times.median),
                ms(w.median_ci95.low),
                ms(w.median_ci95.high),
                w.times.n,
                ms(w.times.p95),
                ms(w.times.p99)
            )?;
            let mut parts = vec![format!("end to end {}", ms(w.end_to_end))];
            parts.extend(w.flops_per_second.map(|v| format!("{:.1} GFLOP/s", v / 1e9)));
            parts.extend(w.bytes_per_second.map(|v| format!("{:.1} GB/s", v / 1e9)));
            parts.extend(w.roofline.map(|v| format!("{:.0} % of this machine's limit", 100.0 * v)));
            parts.extend(w.peak_memory.map(|v| format!("{} MiB at most", v >> 20)));
            parts.extend(w.gpu_memory.map(|v| format!("{} MiB of the GPU's memory in use", v >> 20)));
            writeln!(f, "  {}", parts.join(", "))?;
            let mut rows = vec![
                ["against", "median", "of the limit", "memory", "speedup", "95 % interval", "effect", "verdict"]
                    .map(String::from)
                    .to_vec(),
            ];
            for b in &w.baselines {
                let c = &b.comparison;
                rows.push(vec![
                    b.name.clone(),
                    duration(c.baseline.median),
                    b.roofline.map_or("-".into(), |v| format!("{:.0} %", 100.0 * v)),
                    b.gpu_memory.or(b.peak_memory).map_or("-".into(), |v| format!("{} MiB", v >> 20)),
                    format!("{:.2}x", c.speedup),
                    format!("[{:.2}, {:.2}]", c.speedup_ci95.low, c.speedup_ci95.high),
                    format!("{:+.2}", c.cliffs_delta),
                    c.verdict.name().into(),
                ]);
            }
            if rows.len() > 1 {
                f.write_str(&lines(&rows, &[Left, Right, Right, Right, Right, Left, Right, Left]))?;
            }
            f.write_str(&without(&w.unmeasured, w.baselines.is_empty()))?;
            let others = w.baselines.iter().map(|b| (b.name.as_str(), &b.kernels[..]));
            if let Some(line) = kernels(&w.kernels, others) {
                writeln!(f, "  {line}")?;
            }
            writeln!(f, "  {}", checked(&checked_calls(&w.scrutiny.checked)))?;
            for note in &w.scrutiny.notes {
                writeln!(f, "  {note}")?;
            }
            let of = |b: &kiln_study::Against| {
                let place = format!("against {}", b.name);
                b.comparison.warnings.iter().map(|words| (place.clone(), words.to_string())).collect::<Vec<_>>()
            };
            let warnings: Vec<(String, String)> = w.baselines.iter().flat_map(of).collect();
            for line in gathered(&warnings) {
                writeln!(f, "  {line}")?;
            }
        }
        if !self.left.is_empty() {
            let (done, left) = (self.figures.len(), self.left.len());
            writeln!(
                f,
                "\ninterrupted: {done} of {} workloads were measured; left: {}",
                done + left,
                self.left.join(", ")
            )?;
        }
        Ok(())
    }
}
