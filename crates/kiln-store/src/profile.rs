//! Profiles: what limited a kernel, and what the removal of that promised. In: a profile. Out: those of a kernel, in the order in which they
//! were taken, so that promises can be held against what came after them.

use std::collections::BTreeMap;

use kiln_core::Fault;

use crate::database::column::{Columns, finite, json};
use crate::database::fault::fault;
use crate::{Kept, Store};

/// A profile.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRecord {
    /// An id like a study's.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The study that took it; none for a profile of its own.
    pub study: Option<String>,
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
    /// The workload.
    pub workload: String,
    /// Its dimensions.
    pub shape: String,
    /// The GPU or processor.
    pub device: String,
    /// How much was collected.
    pub level: String,
    /// Whether there were no counters.
    pub coarse: bool,
    /// The hash of the machine code, or of the sources where there is none.
    pub code: String,
    /// What limited it; none where no rule applied.
    pub cause: Option<String>,
    /// The speedup that the removal of the cause promised.
    pub expected_speedup: f64,
    /// Every cause that applied, with what it promised.
    pub ranked: Kept<Vec<(String, f64)>>,
    /// Microseconds of a call, or of the longest launch.
    pub time_us: Option<f64>,
    /// The way it worked: per cent by what is meant, where it was collected.
    pub activity: Kept<BTreeMap<String, Option<f64>>>,
    /// Where the raw page is.
    pub page: Option<String>,
    /// The kiln that took it.
    pub kiln_version: String,
}

impl Store {
    /// Records a profile.
    pub fn record_profile(&self, made: &ProfileRecord) -> Result<(), Fault> {
        let what = &format!("recording profile {}", made.id);
        let insert = sqlx::query(
            "INSERT INTO profiles (id, at_ms, study, kernel, path, target, arch, variant, config, workload, shape, device, \
             level, coarse, code, cause, expected_speedup, ranked, time_us, activity, page, kiln_version) VALUES ($1, $2, $3, \
             $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)",
        )
        .bind(made.id.as_str())
        .bind(made.at_ms)
        .bind(made.study.as_deref())
        .bind(made.kernel.as_str())
        .bind(made.path.as_str())
        .bind(made.target.as_str())
        .bind(made.arch.as_deref())
        .bind(made.variant.as_str())
        .bind(made.config.as_str())
        .bind(made.workload.as_str())
        .bind(made.shape.as_str())
        .bind(made.device.as_str())
        .bind(made.level.as_str())
        .bind(i64::from(made.coarse))
        .bind(made.code.as_str())
        .bind(made.cause.as_deref())
        .bind(finite(what, "expected_speedup", made.expected_speedup)?)
        .bind(json(what, "ranked", &made.ranked)?)
        .bind(made.time_us.map(|time| finite(what, "time_us", time)).transpose()?)
        .bind(json(what, "activity", &made.activity)?)
        .bind(made.page.as_deref())
        .bind(made.kiln_version.as_str());
        self.transaction(what, |session| session.change(insert).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// The profiles of a kernel, or of all, oldest first.
    pub fn profiles(&self, kernel: Option<&str>) -> Result<Vec<ProfileRecord>, Fault> {
        let statement = sqlx::query(
            "SELECT id, at_ms, study, kernel, path, target, arch, variant, config, workload, shape, device, level, coarse, \
             code, cause, expected_speedup, ranked, time_us, activity, page, kiln_version FROM profiles \
             WHERE kernel = $1 OR $2 = 1 ORDER BY at_ms, id",
        );
        let statement = statement.bind(kernel.unwrap_or_default()).bind(i64::from(kernel.is_none()));
        self.list("listing profiles", statement, profile)
    }
}

fn profile(row: Columns<'_>) -> Result<ProfileRecord, Fault> {
    Ok(ProfileRecord {
        id: row.get("id")?,
        at_ms: row.get("at_ms")?,
        study: row.get("study")?,
        kernel: row.get("kernel")?,
        path: row.get("path")?,
        target: row.get("target")?,
        arch: row.get("arch")?,
        variant: row.get("variant")?,
        config: row.get("config")?,
        workload: row.get("workload")?,
        shape: row.get("shape")?,
        device: row.get("device")?,
        level: row.get("level")?,
        coarse: row.count::<u64>("coarse")? != 0,
        code: row.get("code")?,
        cause: row.get("cause")?,
        expected_speedup: row.get("expected_speedup")?,
        ranked: row.json("ranked")?,
        time_us: row.get("time_us")?,
        activity: row.json("activity")?,
        page: row.get("page")?,
        kiln_version: row.get("kiln_version")?,
    })
}
