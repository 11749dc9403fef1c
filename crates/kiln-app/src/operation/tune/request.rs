//! What is asked of a study, and how one that was begun can end.

use camino::Utf8PathBuf;
use kiln_study::{CacheState, Settings, Summary, TuneVerdict};

use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{Measuring, Selecting};

/// What is to be tuned, and how.
#[derive(Debug, Clone)]
pub struct TuneRequest {
    /// The kernel; several devices share the study.
    pub selecting: Selecting,
    /// How times are taken.
    pub measuring: Measuring,
    /// The baseline to beat; the file's first that can be run here when none.
    pub baseline: Option<String>,
    /// Configurations to try.
    pub trials: Option<usize>,
    /// Stop searching in time to end after this many minutes.
    pub minutes: Option<f64>,
    /// Stop searching in time to spend no more than this, at the price.
    pub cost: Option<f64>,
    /// The price of an hour of this machine.
    pub price: Option<f64>,
    /// The speedup to reach; the file's when none.
    pub target_speedup: Option<f64>,
    /// The search strategy's name.
    pub strategy: String,
    /// Studies and files to start from; the newest studies of this kernel when none.
    pub prior: Vec<String>,
    /// Start from nothing.
    pub no_prior: bool,
    /// Stop when the default, or else the best of the seed phase, is under half the baseline's speed.
    pub stop_rule: bool,
    /// Find out what each choice of the winner is worth.
    pub ablation: bool,
    /// Find the cause of the first refusal of each kind, once the study is over.
    pub sanitize: bool,
    /// Find out what limits the kernel: the default far below the baseline, the best of a study that stopped, and the winner.
    pub profile: bool,
    /// The unfinished study to go on with; empty for the newest of this kernel.
    pub resume: Option<String>,
    /// The study to repeat from its recorded timings.
    pub replay: Option<String>,
    /// The folder for best.toml and the header; one under `.kiln/best` when none. A replay writes them only there.
    pub out: Option<Utf8PathBuf>,
    /// What the study is to be called.
    pub name: Option<String>,
    /// Tags to find it by.
    pub tags: Vec<String>,
    /// Write the winner into the kernel's table of tuned configurations.
    pub adopt: bool,
}

impl TuneRequest {
    /// With the settings that a study has kept since it began. Priors are left to be found anew: by now there are others.
    pub(super) fn as_begun(&self, settings: &Settings, on_gpu: bool) -> TuneRequest {
        let is_cold = settings.cache == CacheState::Cold;
        let usual = Settings::default();
        let trials = settings.seed_trials + settings.search_trials;
        TuneRequest {
            selecting: Selecting {
                workload: settings.workload.clone(),
                implementation: settings.implementation.clone(),
                ..self.selecting.clone()
            },
            measuring: Measuring {
                samples: settings.pairs * settings.pair_samples,
                cold: is_cold && !on_gpu,
                warm: !is_cold && on_gpu,
                threads: settings.threads,
                pin: settings.pin,
                seed: Some(settings.seed),
            },
            baseline: settings.baseline.clone(),
            trials: Some(trials).filter(|trials| *trials != usual.seed_trials + usual.search_trials),
            target_speedup: settings.target_speedup,
            strategy: settings.strategy.clone(),
            stop_rule: settings.stop_rule,
            ablation: settings.ablation,
            ..self.clone()
        }
    }
}

/// How a study that was begun ended.
pub enum Tuned {
    /// It came to its end.
    Ended {
        /// What it came to.
        summary: Box<Summary>,
        /// Files that were written.
        files: Vec<Utf8PathBuf>,
        /// Why the winner could not be written or adopted, where that failed.
        unwritten: Option<Failure>,
        /// The study's short id.
        short_id: String,
        /// True when every valid configuration was tried.
        exhausted: bool,
        /// What was asked for; of a study gone on with or replayed, what was asked for when it began.
        asked: Box<TuneRequest>,
    },
    /// It was asked to stop, and can go on.
    Interrupted {
        /// The study's id.
        study: String,
        /// Its short id.
        short_id: String,
    },
    /// A fault ended it.
    Failed {
        /// Why.
        failure: Failure,
        /// The short id, where something was recorded that need not be done again.
        saved: Option<String>,
    },
}

impl Ends for Tuned {
    fn ending(&self) -> Ending {
        match self {
            Tuned::Ended { unwritten: Some(failure), .. } | Tuned::Failed { failure, .. } => failure.ending(),
            Tuned::Ended { summary, .. } => match summary.verdict {
                TuneVerdict::Reached => Ending::Done,
                TuneVerdict::NoValidCandidate => Ending::Refused,
                TuneVerdict::NotReached | TuneVerdict::Stopped => Ending::NotReached,
            },
            Tuned::Interrupted { .. } => Ending::Interrupted,
        }
    }

    fn reason(&self) -> Option<String> {
        match self {
            Tuned::Ended { unwritten: Some(failure), .. } | Tuned::Failed { failure, .. } => failure.reason(),
            Tuned::Ended { summary, .. } => Some(summary.reason.clone()),
            Tuned::Interrupted { .. } => None,
        }
    }
}
