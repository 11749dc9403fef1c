//! T4, the community's form of tuning results. In: attempts with their outcomes. Out: JSON that keeps the published schema and
//! gives its times as the files in circulation do, in milliseconds, under both spellings of the compilation time.

use kiln_core::{Config, Report};
use serde_json::{Value, json};

use crate::recording::{Collection, Recorded, Recording};

/// The schema written.
const VERSION: &str = "1.0.0";

/// What a tuning run came to.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The kernel's name.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// Every configuration tried, in the order of trying.
    pub attempts: Vec<Attempt>,
}

/// One configuration tried.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// When, in RFC 3339.
    pub timestamp: Option<String>,
    /// Its values.
    pub config: Config,
    /// What became of it.
    pub outcome: Recorded,
    /// Seconds the compiler took; 0 where that is not known.
    pub compile_seconds: f64,
    /// Seconds spent on checking it; 0 where that is not known.
    pub check_seconds: f64,
}

impl Results {
    /// The same as a recorded space, with the values that occur; `name` is for messages.
    pub fn recording(&self, name: &str) -> Result<Recording, Vec<Report>> {
        let mut rows = Collection::default();
        if let Some(first) = self.attempts.first() {
            rows.set_names(first.config.iter().map(|(name, _)| name.clone()).collect());
        }
        for attempt in &self.attempts {
            let values = rows.names().iter().map(|name| attempt.config.get(name).cloned()).collect();
            rows.add(values, attempt.outcome.clone());
        }
        rows.sort_values();
        rows.finish(name, Some(self.kernel.clone()), Some(self.device.clone()), vec![])
    }
}

/// The results as T4.
pub fn write_t4(results: &Results) -> Value {
    json!({
        "schema_version": VERSION,
        "metadata": {
            "timeunit": "milliseconds",
            "kernel_name": results.kernel,
            "device_name": results.device,
        },
        "results": results.attempts.iter().map(result).collect::<Vec<_>>(),
    })
}

fn result(attempt: &Attempt) -> Value {
    let milliseconds = |seconds: f64| seconds * 1e3;
    let (runtimes, time, invalidity): (Vec<f64>, Value, &str) = match &attempt.outcome {
        Recorded::Time { seconds, samples } => {
            (samples.iter().copied().map(milliseconds).collect(), json!(milliseconds(*seconds)), "correct")
        }
        Recorded::Failed { kind, reason } => (vec![], json!(&**reason), kind.name()),
    };
    let compile = milliseconds(attempt.compile_seconds);
    let mut result = json!({
        "configuration": attempt.config,
        "times": {
            "compilation_time": compile,
            "compilation": compile,
            "runtimes": runtimes,
            "framework": 0.0,
            "search_algorithm": 0.0,
            "validation": milliseconds(attempt.check_seconds),
        },
        "invalidity": invalidity,
        "correctness": u8::from(invalidity == "correct"),
        "measurements": [{ "name": "time", "value": time, "unit": "ms" }],
        "objectives": ["time"],
    });
    if let Some(timestamp) = &attempt.timestamp {
        result["timestamp"] = json!(timestamp);
    }
    result
}
