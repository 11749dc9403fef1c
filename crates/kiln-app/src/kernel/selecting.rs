//! What is meant, and how times are taken: the arguments that several operations share.

use camino::Utf8PathBuf;
use kiln_core::Report;
use kiln_run::Card;
use kiln_study::{CacheState, Machine, Settings};

use crate::failure::Failure;
use crate::teller::Teller;

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
    /// One of the implementations that compete; all of them when none.
    pub implementation: Option<String>,
    /// The GPU: a number, a UUID, or for a study several with commas between.
    pub device: Option<String>,
}

/// Fewer than five pairs of workers decide nothing.
pub(crate) const FEWEST_SAMPLES: usize = 25;

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
            let report = Report::error(format!("--samples {samples} is too few"));
            return Err(report.label(format!("expected at least {FEWEST_SAMPLES}")).into());
        }
        Ok(samples)
    }

    /// Threads a kernel may use.
    pub(crate) fn checked_threads(&self) -> Result<usize, Failure> {
        match self.threads {
            0 => Err(Report::error("--threads 0 leaves nothing to run on").label("expected at least 1").into()),
            threads => Ok(threads),
        }
    }

    /// Says what is done otherwise than it was asked for, and what is probably not meant.
    pub(crate) fn remarks(&self, teller: &Teller<'_>) {
        let (samples, round) = (self.samples, Settings::default().pair_samples);
        let taken = samples.next_multiple_of(round);
        if taken != samples && samples >= FEWEST_SAMPLES {
            teller.note(format!("--samples {samples}: {taken} are taken, {round} in each round"));
        }
        teller.warn(Vec::from_iter(crowded(self.threads, Machine::look().cpus.len())).as_slice());
    }
}

/// A warning where threads must wait for a processor.
fn crowded(threads: usize, cpus: usize) -> Option<Report> {
    let report = Report::warning(format!("--threads {threads}: this process may use {cpus} processors"));
    let report = report.label("threads that wait for a processor make times long and noisy");
    (threads > cpus && cpus > 0).then(|| report.hint(format!("use --threads {cpus} or fewer")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_processors_are_warned_of() {
        assert_eq!((crowded(2, 2), crowded(1, 64), crowded(8, 0)), (None, None, None));
        assert!(crowded(1000, 2).is_some_and(|warning| warning.hint.as_deref() == Some("use --threads 2 or fewer")));
    }
}
