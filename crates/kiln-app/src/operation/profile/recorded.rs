//! The record of a profile. In: what was profiled, and what was found. Out: a row for the store, with what it promises.

use camino::Utf8Path;
use kiln_core::{Config, Fault, Workload};
use kiln_diagnose::coarse::CoarseDiagnosis;
use kiln_diagnose::profile::{Activity, ProfileDiagnosis};
use kiln_store::{Kept, ProfileRecord, Study};
use kiln_study::{Bench, Subject};

use super::{FoundLimit, ProfileLevel};
use crate::record::folder_of;

/// What was profiled.
pub(crate) struct Taken<'t> {
    pub(crate) study: Option<&'t str>,
    pub(crate) path: &'t Utf8Path,
    pub(crate) subject: &'t Subject,
    pub(crate) config: &'t Config,
    pub(crate) workload: Option<&'t Workload>,
    pub(crate) level: ProfileLevel,
}

/// A profile as it is recorded, or why its kernel's code is not known.
pub(crate) fn record_of(
    bench: &Bench<'_>,
    taken: &Taken<'_>,
    found: &FoundLimit,
    page: Option<&Utf8Path>,
) -> Result<ProfileRecord, Fault> {
    let kernel = bench.kernel;
    let code = match taken.subject.code() {
        Some(code) => code,
        None => kernel.fingerprint()?,
    };
    let Said { coarse, cause, expected_speedup, ranked, time_us, activity } = Said::of(found);
    Ok(ProfileRecord {
        id: Study::new_id(),
        at_ms: jiff::Timestamp::now().as_millisecond(),
        study: taken.study.map(String::from),
        kernel: kernel.name().into(),
        path: folder_of(taken.path).map_or_else(|| taken.path.to_string(), |folder| folder.to_string()),
        target: kernel.target().into(),
        arch: kernel.selection.arch.map(|arch| arch.name().to_string()),
        variant: kernel.variant(),
        config: taken.config.to_string(),
        workload: taken.workload.map(|workload| workload.name.to_string()).unwrap_or_default(),
        shape: taken.workload.map(Workload::shape).unwrap_or_default(),
        device: bench.hardware().into(),
        level: taken.level.name().into(),
        coarse,
        code,
        cause,
        expected_speedup,
        ranked: Kept::new(ranked),
        time_us,
        activity: Kept::found(serde_json::json!(activity)),
        page: page.map(|page| page.to_string()),
        kiln_version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// What a diagnosis of either kind comes to.
struct Said {
    coarse: bool,
    cause: Option<String>,
    expected_speedup: f64,
    ranked: Vec<(String, f64)>,
    time_us: Option<f64>,
    activity: Activity,
}

impl Said {
    fn of(found: &FoundLimit) -> Said {
        match found {
            FoundLimit::Counters(found) => {
                let ProfileDiagnosis { cause, expected_speedup, ranked, time_us, activity, .. } = &found.diagnosis;
                let ranked = ranked.iter().map(|one| (one.cause.id().to_string(), one.expected_speedup)).collect();
                let (cause, coarse) = (cause.map(|cause| cause.id().to_string()), false);
                let (expected_speedup, time_us, activity) = (*expected_speedup, *time_us, *activity);
                Said { coarse, cause, expected_speedup, ranked, time_us, activity }
            }
            FoundLimit::Coarse(found) => {
                let CoarseDiagnosis { cause, expected_speedup, ranked, time_us, .. } = &**found;
                let ranked = ranked.iter().map(|one| (one.cause.id().to_string(), one.expected_speedup)).collect();
                let (cause, coarse) = (cause.map(|cause| cause.id().to_string()), true);
                let (expected_speedup, time_us, activity) = (*expected_speedup, *time_us, Activity::default());
                Said { coarse, cause, expected_speedup, ranked, time_us, activity }
            }
        }
    }
}
