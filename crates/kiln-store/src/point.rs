//! The history of a kernel's times: what each benchmark measured of its configuration, without samples and reports. In: a kernel.
//! Out: one point for each workload of each run, oldest first.

use kiln_core::Fault;

use crate::database::column::Columns;
use crate::{Environment, Kept, Store};

/// What one run measured on one workload.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPoint {
    /// The run.
    pub run: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// The kernel file.
    pub path: String,
    /// The target.
    pub target: String,
    /// The device architecture, where there is one.
    pub arch: Option<String>,
    /// The variant, as the user would type it.
    pub variant: String,
    /// The configuration.
    pub config: String,
    /// Whether calls found warm or cold caches.
    pub cache: String,
    /// Threads a call might use.
    pub threads: u64,
    /// The GPU or processor.
    pub device: String,
    /// What it ran on.
    pub environment: Kept<Environment>,
    /// The commit of the kernel's repository, with a `+` where files differed from it.
    pub git_commit: Option<String>,
    /// The kiln that measured.
    pub kiln_version: String,
    /// The workload.
    pub workload: String,
    /// Seconds of one call.
    pub median_s: f64,
    /// The 95 % interval of that; none where an older kiln recorded it.
    pub median_ci95: Option<[f64; 2]>,
}

impl Store {
    /// What runs measured of a kernel's configurations, oldest first.
    pub fn points(&self, kernel: &str) -> Result<Vec<RunPoint>, Fault> {
        let statement = sqlx::query(
            "SELECT runs.id AS id, started_ms, path, target, arch, variant, config, cache, threads, device, environment, \
             git_commit, kiln_version, workload, median_s, median_low, median_high FROM runs \
             JOIN run_sides ON run_sides.run = runs.id \
             WHERE kernel = $1 AND config IS NOT NULL AND side = '' AND median_s > 0 \
             ORDER BY started_ms, runs.id, place",
        );
        self.list("listing what runs measured", statement.bind(kernel.to_string()), point)
    }
}

fn point(row: Columns<'_>) -> Result<RunPoint, Fault> {
    let ends: (Option<f64>, Option<f64>) = (row.get("median_low")?, row.get("median_high")?);
    Ok(RunPoint {
        run: row.get("id")?,
        started_ms: row.get("started_ms")?,
        path: row.get("path")?,
        target: row.get("target")?,
        arch: row.get("arch")?,
        variant: row.get("variant")?,
        config: row.get("config")?,
        cache: row.get("cache")?,
        threads: row.count("threads")?,
        device: row.get("device")?,
        environment: row.json("environment")?,
        git_commit: row.get("git_commit")?,
        kiln_version: row.get("kiln_version")?,
        workload: row.get("workload")?,
        median_s: row.get("median_s")?,
        median_ci95: ends.0.zip(ends.1).map(|(low, high)| [low, high]),
    })
}
