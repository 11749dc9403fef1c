//! Configurations that were validated: so many cases of `kiln fuzz` found nothing wrong. In: a validation. Out: those of a
//! kernel, and the one of a configuration as its files are now.

use kiln_core::Fault;

use crate::Store;
use crate::database::column::{Columns, count};
use crate::database::fault::fault;

/// A configuration that so many cases found nothing wrong with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// An id like a study's.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The kernel's name.
    pub kernel: String,
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
    /// Good runs.
    pub runs: u64,
    /// Distinct shapes among them; none where an older kiln recorded it.
    pub shapes: Option<u64>,
    /// The seed of the cases.
    pub seed: u64,
    /// The GPU or processor.
    pub device: String,
    /// The hash of the kernel file.
    pub spec_hash: String,
    /// The hash of everything that decides what is computed.
    pub sources: String,
    /// The kiln that ran it.
    pub kiln_version: String,
}

impl Store {
    /// Records a validation.
    pub fn record_validation(&self, made: &Validation) -> Result<(), Fault> {
        let what = &format!("recording validation {}", made.id);
        let insert = sqlx::query(
            "INSERT INTO validations (id, at_ms, kernel, path, target, arch, variant, config, runs, seed, device, spec_hash, \
             sources, kiln_version, shapes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        )
        .bind(made.id.as_str())
        .bind(made.at_ms)
        .bind(made.kernel.as_str())
        .bind(made.path.as_str())
        .bind(made.target.as_str())
        .bind(made.arch.as_deref())
        .bind(made.variant.as_str())
        .bind(made.config.as_str())
        .bind(count(what, "runs", made.runs)?)
        .bind(made.seed.to_string())
        .bind(made.device.as_str())
        .bind(made.spec_hash.as_str())
        .bind(made.sources.as_str())
        .bind(made.kiln_version.as_str())
        .bind(made.shapes.map(|shapes| count(what, "shapes", shapes)).transpose()?);
        self.transaction(what, |session| session.change(insert).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// The validations of a kernel, or of all, newest first.
    pub fn validations(&self, kernel: Option<&str>) -> Result<Vec<Validation>, Fault> {
        let statement = sqlx::query(
            "SELECT id, at_ms, kernel, path, target, arch, variant, config, runs, seed, device, spec_hash, sources, \
             kiln_version, shapes FROM validations WHERE kernel = $1 OR $2 = 1 ORDER BY at_ms DESC, id DESC",
        );
        let statement = statement.bind(kernel.unwrap_or_default()).bind(i64::from(kernel.is_none()));
        self.list("listing validations", statement, validation)
    }
}

fn validation(row: Columns<'_>) -> Result<Validation, Fault> {
    Ok(Validation {
        id: row.get("id")?,
        at_ms: row.get("at_ms")?,
        kernel: row.get("kernel")?,
        path: row.get("path")?,
        target: row.get("target")?,
        arch: row.get("arch")?,
        variant: row.get("variant")?,
        config: row.get("config")?,
        runs: row.count("runs")?,
        shapes: row.maybe_count("shapes")?,
        seed: row.read("seed", |text| text.parse().ok())?,
        device: row.get("device")?,
        spec_hash: row.get("spec_hash")?,
        sources: row.get("sources")?,
        kiln_version: row.get("kiln_version")?,
    })
}
