//! A stored run as a run file. In: a run. Out: the same with its samples, to be saved or compared. Refuses a run of an older kiln,
//! which has no samples.

use kiln_core::Report;
use kiln_formats::RunFile;
use kiln_store::Run;

use crate::failure::Failure;

/// The run with every sample.
pub(crate) fn run_file(run: &Run) -> Result<RunFile, Failure> {
    let samples = run.samples.as_ref().and_then(|samples| samples.read().ok());
    let Some(workloads) = samples.cloned() else {
        return Err(Report::error(format!("run {} has no samples", run.short_id()))
            .label("an older kiln recorded it, which kept the figures only")
            .hint("measure again: kiln bench")
            .into());
    };
    Ok(RunFile {
        id: Some(run.id.clone()),
        started_ms: Some(run.started_ms),
        seconds: Some(run.seconds),
        kernel: run.kernel.clone(),
        path: Some(run.path.clone()),
        target: Some(run.target.clone()),
        arch: run.arch.clone(),
        variant: Some(run.variant.clone()),
        config: run.config.clone(),
        cache: Some(run.cache.clone()),
        threads: Some(run.threads),
        seed: Some(run.seed),
        device: Some(run.device.clone()),
        commit: run.git_commit.clone(),
        spec_hash: Some(run.spec_hash.clone()),
        environment: serde_json::to_value(&run.environment).unwrap_or_default(),
        workloads,
        ..RunFile::by(format!("kiln {}", run.kiln_version))
    })
}
