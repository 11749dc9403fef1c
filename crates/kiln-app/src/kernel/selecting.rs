//! What is meant, and how times are taken: the arguments that several operations share.

use camino::Utf8PathBuf;
use kiln_core::Report;
use kiln_run::Card;
use kiln_study::CacheState;

use crate::failure::Failure;

/// Which of a kernel's targets, architectures and workloads is meant.
#[derive(Debug, Clone, Default)]
pub struct Selecting {
    /// A kernel's folder, its kernel.toml, a T1 file or a Kernel Tuner cache.
    pub path: Utf8PathBuf,
    /// The target's name; the file's first when none, or where something is run the first that can be.
    pub target: Option<String>,
    /// The GPU architecture; that of the GPU here when none.
    pub arch: Option<String>,
    /// One workload, or `all`.
    pub workload: Option<String>,
    /// Dtypes of type variables, `T=bf16`.
    pub variant: Option<String>,
    /// The GPU: a number, a UUID, or for a study several with commas between.
    pub device: Option<String>,
}

/// Fewer than five pairs of workers decide nothing.
const FEWEST_SAMPLES: usize = 25;

/// How times are taken.
#[derive(Debug, Clone)]
pub struct Measuring {
    /// Samples on each side.
    pub samples: usize,
    /// Flush the caches before every sample.
    pub cold: bool,
    /// Leave the caches as the call before left them, also on a GPU.
    pub warm: bool,
    /// Threads a kernel may use.
    pub threads: usize,
    /// Keep measurement on one processor and builds on the others.
    pub pin: bool,
    /// The seed of everything random; a new one when none.
    pub seed: Option<u64>,
}

impl Measuring {
    /// Whether caches are warm or cold: as asked, else cold on a GPU, where kernels are compared by their memory traffic too.
    pub(crate) fn cache_state(&self, card: Option<&Card>) -> CacheState {
        let cold = self.cold || (card.is_some() && !self.warm);
        if cold { CacheState::Cold } else { CacheState::Warm }
    }

    /// Samples on each side.
    pub(crate) fn checked_samples(&self) -> Result<usize, Failure> {
        let samples = self.samples;
        if samples < FEWEST_SAMPLES {
            let report = Report::error(format!("--samples {samples}"));
            return Err(report.label(format!("expected at least {FEWEST_SAMPLES}")).into());
        }
        Ok(samples)
    }

    /// Threads a kernel may use.
    pub(crate) fn checked_threads(&self) -> Result<usize, Failure> {
        match self.threads {
            0 => Err(Report::error("--threads 0").label("expected at least 1").into()),
            threads => Ok(threads),
        }
    }
}
