//! Promises against outcomes. In: the project's profiles, of one kernel or of all. Out: every fix that was applied after a diagnosis, with the speedup that
//! was promised and the one that was measured, and how good the promises of each cause are.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Serialize;

use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::KernelFile;
use crate::project::Project;
use crate::record::profiles::{AppliedFix, PromiseVerdict, applied};

/// What the promises were worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// How many profiles there are.
    pub profiles: usize,
    /// The fixes, oldest first.
    pub fixes: Vec<AppliedFix>,
    /// How many promises were kept within a factor of two.
    pub kept: usize,
    /// By cause, the most frequent first.
    pub causes: Vec<CalibratedCause>,
}

/// The promises of one cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibratedCause {
    /// The cause.
    pub cause: String,
    /// How many fixes there were.
    pub fixes: usize,
    /// How many promises were kept.
    pub kept: usize,
    /// Measured over promised speedup, the geometric mean.
    pub ratio: f64,
}

impl Ends for Calibration {
    fn ending(&self) -> Ending {
        Ending::Done
    }
}

/// Holds what diagnoses promised against what came of it.
pub fn calibration(project: &Project, path: Option<&Utf8Path>) -> Result<Calibration, Failure> {
    let kernel = path.map(|path| KernelFile::read(path).map(|file| file.spec.name.clone())).transpose()?;
    // Nothing was profiled where there is no store, and none is made for the question.
    let profiles = match project.recorded()? {
        Some(store) => store.profiles(kernel.as_deref())?,
        None => Vec::new(),
    };
    Ok(of_fixes(profiles.len(), applied(&profiles)))
}

fn of_fixes(profiles: usize, fixes: Vec<AppliedFix>) -> Calibration {
    let is_kept = |fix: &&AppliedFix| fix.verdict == PromiseVerdict::Kept;
    let mut causes: BTreeMap<&str, Vec<&AppliedFix>> = BTreeMap::new();
    for fix in &fixes {
        causes.entry(&fix.cause).or_default().push(fix);
    }
    let one = |(cause, fixes): (&str, Vec<&AppliedFix>)| CalibratedCause {
        cause: cause.into(),
        fixes: fixes.len(),
        kept: fixes.iter().copied().filter(is_kept).count(),
        ratio: (fixes.iter().map(|fix| (fix.measured / fix.predicted).ln()).sum::<f64>() / fixes.len() as f64).exp(),
    };
    let mut causes: Vec<CalibratedCause> = causes.into_iter().map(one).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.fixes));
    Calibration { profiles, kept: fixes.iter().filter(is_kept).count(), fixes, causes }
}
