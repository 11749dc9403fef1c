//! The level 'validated': enough good runs of one configuration, recorded in the store. In: what passed. Out: a record for each
//! variant. A store that cannot be written is told; what was found is not lost for it.

use kiln_core::{Config, Refusal};
use kiln_store::{Study, Validation};
use kiln_study::Bench;

use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting};
use crate::operation::check::{self, CheckRequest};
use crate::operation::fuzz::lane::Lane;
use crate::operation::fuzz::request::{FuzzRequest, Fuzzed};
use crate::operation::tune::spec_hash;
use crate::project::Project;
use crate::teller::Teller;

/// Records what was validated.
pub(super) fn record(
    project: &Project,
    request: &FuzzRequest,
    lanes: &[Lane<'_, '_>],
    fuzzed: &mut Fuzzed,
    teller: &Teller<'_>,
) -> Result<(), Failure> {
    let Some(runs) = request.runs.filter(|_| request.validates()) else { return Ok(()) };
    if fuzzed.passed < runs * lanes.len() {
        return Ok(());
    }
    for lane in lanes {
        let Some(config) = lane.configs.first() else { continue };
        let path = request.selecting.path.as_str();
        fuzzed.validated.push(validation(lane.bench, path, config, (runs, fuzzed.shapes, fuzzed.seed))?);
    }
    let recorded = |made: &Validation| project.store().and_then(|store| store.record_validation(made));
    if let Err(fault) = fuzzed.validated.iter().try_for_each(recorded) {
        teller.note(format!("this is not recorded: {fault}"));
    }
    Ok(())
}

/// The first variant whose configuration the whole check refuses, and why.
pub(super) fn refused(
    project: &Project,
    file: &KernelFile,
    request: &FuzzRequest,
    opened: &[Opened<'_>],
    configs: &[Config],
    teller: &Teller<'_>,
) -> Result<Option<(Config, Refusal)>, Failure> {
    for (opened, config) in opened.iter().zip(configs) {
        let kernel = &opened.kernel;
        let variant = Some(kernel.variant()).filter(|variant| !variant.is_empty());
        let selecting =
            Selecting { variant, target: Some(kernel.target().into()), workload: None, ..request.selecting.clone() };
        let check = CheckRequest { selecting, config: config.to_string(), full: true, ..CheckRequest::default() };
        if let Some((refusal, _)) = check::run(project, file, &check, teller)?.refused {
            return Ok(Some((config.clone(), refusal)));
        }
    }
    Ok(None)
}

/// The record of a configuration that stood so many cases.
pub(super) fn validation(
    bench: &Bench<'_>,
    path: &str,
    config: &Config,
    (runs, shapes, seed): (usize, usize, u64),
) -> Result<Validation, Failure> {
    let kernel = bench.kernel;
    Ok(Validation {
        id: Study::new_id(),
        at_ms: jiff::Timestamp::now().as_millisecond(),
        kernel: kernel.name().into(),
        path: path.into(),
        target: kernel.target().into(),
        arch: kernel.selection.arch.map(|arch| arch.name().to_string()),
        variant: kernel.variant(),
        config: config.to_string(),
        runs: runs as u64,
        shapes: Some(shapes as u64),
        seed,
        device: bench.hardware().into(),
        spec_hash: spec_hash(kernel),
        sources: kernel.fingerprint()?,
        kiln_version: env!("CARGO_PKG_VERSION").into(),
    })
}
