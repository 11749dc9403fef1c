//! kiln's own run file, and what every other format is turned into: raw samples with the circumstances they were taken in. The
//! schema is versioned; docs/json.md describes it.

use kiln_core::{MeasuredWorkload, Report};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The key that marks a run file, and whose value is the schema's version.
pub const RUN_FILE: &str = "kiln_run";
/// The version this kiln writes.
const VERSION: u64 = 1;

/// A run: one configuration, and the baselines measured with it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFile {
    /// The schema's version.
    pub kiln_run: u64,
    /// What measured it, such as `kiln 0.1.0`.
    pub source: String,
    /// The stored run's id.
    pub id: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// The kernel.
    pub kernel: String,
    /// The kernel file.
    pub path: Option<String>,
    /// The target.
    pub target: Option<String>,
    /// The device architecture.
    pub arch: Option<String>,
    /// The variant, as the user would type it.
    pub variant: Option<String>,
    /// The configuration, as the user would type it.
    pub config: Option<String>,
    /// Whether calls found warm or cold caches.
    pub cache: Option<String>,
    /// Threads a call might use.
    pub threads: Option<u64>,
    /// The seed of everything drawn.
    pub seed: Option<u64>,
    /// The GPU or processor.
    pub device: Option<String>,
    /// The commit of the kernel's repository.
    pub commit: Option<String>,
    /// The hash of the kernel file.
    pub spec_hash: Option<String>,
    /// Machine, compilers, versions.
    pub environment: Value,
    /// The samples.
    pub workloads: Vec<MeasuredWorkload>,
}

impl RunFile {
    /// A run that something measured.
    pub fn by(source: impl Into<String>) -> RunFile {
        RunFile { kiln_run: VERSION, source: source.into(), ..RunFile::default() }
    }

    /// As it is written.
    pub fn json(&self) -> String {
        // Maps with keys other than text are what could not be written, and there are none.
        serde_json::to_string(self).map(|text| text + "\n").unwrap_or_default()
    }

    /// A workload, added where it is not there yet.
    pub(super) fn workload(&mut self, name: &str) -> &mut MeasuredWorkload {
        let known = self.workloads.iter().position(|workload| workload.name == name);
        let place = known.unwrap_or_else(|| {
            self.workloads.push(MeasuredWorkload { name: name.into(), ..MeasuredWorkload::default() });
            self.workloads.len() - 1
        });
        &mut self.workloads[place]
    }

    /// The run, if something can be said about it.
    pub(super) fn checked(self) -> Result<RunFile, Report> {
        let kernel = if self.kernel.is_empty() { &self.source } else { &self.kernel };
        let sides = || self.workloads.iter().flat_map(|w| w.sides.iter().map(move |side| (&w.name, side)));
        if sides().all(|(_, side)| side.rounds.iter().all(Vec::is_empty)) {
            return Err(Report::error(format!("the run of {kernel} has no samples")));
        }
        for (workload, side) in sides() {
            let mut samples = side.rounds.iter().flatten().enumerate();
            if let Some((place, odd)) = samples.find(|(_, seconds)| !(seconds.is_finite() && **seconds > 0.0)) {
                let (side, number) = (&side.name, place + 1);
                return Err(Report::error(format!("sample {number} of {side} on `{workload}` is {odd}"))
                    .hint("times are positive numbers of seconds: measure again, or remove the run that failed"));
            }
        }
        let twice = |names: Vec<&String>| {
            names.iter().enumerate().find(|(at, n)| names[..*at].contains(n)).map(|(_, n)| n.to_string())
        };
        if let Some(name) = twice(self.workloads.iter().map(|w| &w.name).collect()) {
            return Err(Report::error(format!("workload `{name}` is there twice")));
        }
        for workload in &self.workloads {
            if let Some(side) = twice(workload.sides.iter().map(|side| &side.name).collect()) {
                return Err(Report::error(format!("`{side}` is there twice on workload `{}`", workload.name)));
            }
        }
        Ok(self)
    }
}

/// Reads a run file.
pub(super) fn read(name: &str, value: &Value) -> Result<RunFile, Report> {
    match value[RUN_FILE].as_u64() {
        Some(VERSION) => {}
        Some(later) => {
            return Err(Report::error(format!("{name} has schema version {later}; this kiln reads version {VERSION}"))
                .hint("read it with the kiln that wrote it, or a newer one"));
        }
        None => {
            return Err(Report::error(format!("{name}: `{RUN_FILE}` is not a number")).label("the schema's version"));
        }
    }
    serde_json::from_value(value.clone()).map_err(|e| {
        Report::error(format!("{name}: {e}"))
            .hint("docs/json.md describes run files; `kiln bench --save FILE` writes one")
    })
}
