//! A recorded benchmark in words.

use std::fmt;

use jiff::tz::TimeZone;
use kiln_app::SweepStory;
use kiln_store::{Run, RunSide};
use serde_json::{Value, json};

use crate::results::bench::unmeasured;
use crate::results::sweep::SweepView;
use crate::words::number::{counted, duration, stretch};
use crate::words::table::{Align, lines};
use crate::words::time::{moment, stamp};

/// Everything `kiln show` says about a run.
pub struct RunView<'a> {
    /// The record.
    pub run: &'a Run,
    /// Where the reader is.
    pub zone: TimeZone,
}

impl<'a> RunView<'a> {
    /// A run, where the reader is here.
    pub fn of(run: &'a Run) -> RunView<'a> {
        RunView { run, zone: TimeZone::system() }
    }

    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        if let Some(record) = self.run.sweep() {
            let story = SweepStory::of(record);
            return SweepView { run: self.run, story: &story, ended: None, kiln: "kiln" }.json();
        }
        let mut run = self.about();
        run["environment"] = json!(self.run.environment);
        run["spec_hash"] = json!(self.run.spec_hash);
        json!({ "run": run, "workloads": self.run.result })
    }

    /// The same in a list: every side on one line.
    pub(crate) fn short_json(&self) -> Value {
        let side = |side: &RunSide| {
            json!({
                "workload": side.workload,
                "side": side.side,
                "median": side.median_s,
                "speedup": side.speedup.map(|(value, _)| value),
                "speedup_ci95": side.speedup.map(|(_, interval)| interval),
                "verdict": side.verdict,
                "refusal": side.refusal,
            })
        };
        let mut run = self.about();
        run["sides"] = self.run.sides.iter().map(side).collect();
        run
    }

    pub(crate) fn about(&self) -> Value {
        let run = self.run;
        json!({
            "id": run.id,
            "short_id": run.short_id(),
            "started": stamp(run.started_ms),
            "started_ms": run.started_ms,
            "seconds": run.seconds,
            "kernel": run.kernel,
            "path": run.path,
            "target": run.target,
            "arch": run.arch,
            "variant": run.variant,
            "config": run.config,
            "cache": run.cache,
            "threads": run.threads,
            "seed": run.seed,
            "device": run.device,
            "git_commit": run.git_commit,
            "kiln_version": run.kiln_version,
        })
    }

    /// The columns of a table of runs.
    pub(crate) fn titles() -> Vec<String> {
        ["when", "run", "kernel", "target", "measured", "verdict", "speedup", "took", "device"]
            .map(String::from)
            .to_vec()
    }

    /// Its line in such a table: against the first of the others, on all workloads together.
    pub(crate) fn line(&self) -> Vec<String> {
        let run = self.run;
        let first = run.sides.iter().find(|side| side.speedup.is_some()).map(|side| side.side.as_str());
        let against: Vec<&RunSide> =
            run.sides.iter().filter(|side| Some(side.side.as_str()) == first && side.speedup.is_some()).collect();
        let mean = against.iter().filter_map(|side| side.speedup).map(|(value, _)| value.ln()).sum::<f64>();
        let mut verdicts: Vec<&str> = against.iter().filter_map(|side| side.verdict.as_deref()).collect();
        verdicts.dedup();
        let verdict = match verdicts[..] {
            [] => "-".to_string(),
            [one] => one.to_string(),
            _ => "differs".to_string(),
        };
        let speedup = match (&against[..], first) {
            ([], _) | (_, None) => "-".to_string(),
            (some, Some(name)) => format!("{:.2}x {name}", (mean / some.len() as f64).exp()),
        };
        let measured = match (run.sweep(), &run.config) {
            (Some(sweep), _) => counted(sweep.cells.len() as u128, "shape"),
            (None, Some(_)) => "a configuration".into(),
            (None, None) => "baselines".into(),
        };
        vec![
            moment(run.started_ms, &self.zone),
            run.short_id().into(),
            run.kernel.clone(),
            if run.variant.is_empty() { run.target.clone() } else { format!("{} {}", run.target, run.variant) },
            measured,
            verdict,
            speedup,
            stretch(run.seconds),
            run.device.clone(),
        ]
    }
}

impl fmt::Display for RunView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        let run = self.run;
        if let Some(record) = run.sweep() {
            let story = SweepStory::of(record);
            return SweepView { run, story: &story, ended: None, kiln: "kiln" }.fmt(f);
        }
        let (when, variant) = (moment(run.started_ms, &self.zone), &run.variant);
        let variant = if variant.is_empty() { String::new() } else { format!(", {variant}") };
        writeln!(f, "{}, target {}{variant}, {} cache, {}", run.kernel, run.target, run.cache, run.device)?;
        writeln!(f, "  run {}, {when}, took {}, seed {}", run.short_id(), stretch(run.seconds), run.seed)?;
        if let Some(config) = &run.config {
            writeln!(f, "  {config}")?;
        }
        let mut workloads: Vec<&str> = run.sides.iter().map(|side| side.workload.as_str()).collect();
        workloads.dedup();
        for workload in workloads {
            writeln!(f, "\n{workload}")?;
            let mut rows = vec![["", "median", "speedup", "95 % interval", "verdict"].map(String::from).to_vec()];
            let here = || run.sides.iter().filter(|side| side.workload == workload);
            for side in here().filter(|side| side.refusal.is_none()) {
                let name = if side.side.is_empty() { "the configuration" } else { &side.side };
                rows.push(vec![
                    name.into(),
                    side.median_s.map_or("-".into(), duration),
                    side.speedup.map_or("-".into(), |(value, _)| format!("{value:.2}x")),
                    side.speedup.map_or("-".into(), |(_, [low, high])| format!("[{low:.2}, {high:.2}]")),
                    side.verdict.clone().unwrap_or("-".into()),
                ]);
            }
            f.write_str(&lines(&rows, &[Left, Right, Right, Left, Left]))?;
            for side in here() {
                if let Some(refusal) = &side.refusal {
                    writeln!(f, "  {}", unmeasured(&side.side, refusal))?;
                }
            }
        }
        Ok(())
    }
}
