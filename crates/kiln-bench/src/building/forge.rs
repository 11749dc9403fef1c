//! Building without running. In: configurations. Out: for each what the compiler made of it, or why it would be refused. No
//! GPU is needed, and every processor compiles.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use camino::Utf8Path;
use kiln_build::{Artifact, BuildLimits, Cache, Pool, Ticket, Toolchain};
use kiln_core::{Config, Fault, Outcome};
use kiln_spec::TargetKind;

use crate::bench::interrupted;
use crate::building::builder::subject_of;
use crate::building::compile::request;
use crate::building::resources::{Resources, judge_resources};
use crate::building::toolchain::cuda_toolchain;
use crate::building::triton;
use crate::kernel::Kernel;
use crate::surroundings::machine::Machine;
use crate::workers::subject::Subject;

/// How often somebody who waits for a build looks up.
const GLANCE: Duration = Duration::from_millis(50);

/// What became of one configuration.
#[derive(Debug, Clone)]
pub struct Forged {
    /// The configuration.
    pub config: Config,
    /// What it takes of the GPU, or the refusal.
    pub outcome: Outcome<Vec<Resources>>,
    /// Seconds the compiler took; none when it came from the cache.
    pub seconds: Option<f64>,
    /// The compiler's warnings.
    pub warnings: Vec<String>,
    /// What was built; none when the compiler refused.
    pub artifact: Option<Artifact>,
}

/// What a kernel is compiled with.
pub fn toolchain(kernel: &Kernel<'_>, program: &Utf8Path) -> Result<Toolchain, Fault> {
    match kernel.selection.target.kind {
        TargetKind::Cuda => cuda_toolchain(&kernel.selection, program),
        TargetKind::Cpu => kiln_build::Compiler::find().map(Toolchain::C),
        TargetKind::Python => {
            let why = "a python target is not compiled by kiln";
            Err(Fault::new("looking for a compiler", why).hint("omit --until build"))
        }
    }
}

/// A Python function whose kernels were compiled, and that nobody calls.
fn forged_python(kernel: &Kernel<'_>, artifact: &Artifact, config: &Config) -> Result<Subject, Fault> {
    let (file, function) = kernel.python_entry(config)?;
    let (interpreter, config) = (String::new(), config.clone());
    let subject = Subject::Python { interpreter, file, function, config, device: kernel.on_gpu(), ahead: None };
    Ok(subject.built_ahead(artifact))
}

/// Builds configurations on all processors and tells of each as it is ready, in order.
pub fn forge(
    kernel: &Kernel<'_>,
    toolchain: Toolchain,
    cache: &Cache,
    (stopped, limits): (&AtomicBool, BuildLimits),
    configs: Vec<Config>,
    mut heard: impl FnMut(Forged),
) -> Result<(), Fault> {
    kernel.check_files()?;
    let threads = Machine::look().cpus.len().max(1);
    let pool = Pool::new(threads, toolchain, cache.clone(), limits, |_| ());
    let mut asked: Vec<(Config, Ticket)> = Vec::with_capacity(configs.len());
    for config in configs {
        let request = match (kernel.selection.target.kind, kernel.selection.arch) {
            (TargetKind::Python, Some(arch)) => triton::request(kernel, &config, arch, None)?,
            _ => request(kernel, &config)?,
        };
        asked.push((config, pool.ask(request)));
    }
    for (config, ticket) in asked {
        let built = loop {
            if let Some(built) = ticket.wait_for(GLANCE) {
                break built?;
            }
            if stopped.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
        };
        heard(match built {
            Outcome::Passed(artifact) => {
                let (seconds, mut warnings) = (artifact.built_in.map(|d| d.as_secs_f64()), artifact.warnings.clone());
                let subject = match kernel.selection.target.kind {
                    TargetKind::Python => forged_python(kernel, &artifact, &config)?,
                    _ => subject_of(kernel, kernel.host(&config), artifact.clone(), config.clone()),
                };
                warnings.extend(subject.unable().map(|why| format!("nothing was compiled without a GPU: {why}")));
                let outcome = judge_resources(kernel, &subject)?;
                if let Outcome::Passed(resources) = &outcome {
                    warnings.extend(resources.iter().filter_map(|r| r.warning.clone()));
                }
                Forged { config, outcome, seconds, warnings, artifact: Some(artifact) }
            }
            Outcome::Refused(refusal) => {
                let outcome = Outcome::Refused(refusal);
                Forged { config, outcome, seconds: None, warnings: Vec::new(), artifact: None }
            }
        });
    }
    Ok(())
}
