//! The guard of a repository: is every kernel still right, and as fast as it was? In: kernels, and what they are compared with: the
//! committed ratchet, or a base commit measured in turns with the work. Out: for each kernel the steps it went through and a
//! verdict on every workload. A regression counts only when a second measurement, in fresh processes, finds it again.
//!
//! `steps` lists what is done in order, `correctness` has those beyond a check, `choice` says with which configuration, `base` has the base commit, `against_base` and
//! `against_ratchet` measure and judge.

mod against_base;
mod against_ratchet;
mod base;
mod choice;
mod correctness;
mod course;
mod entries;
mod machine;
mod measure;
mod steps;
mod verdict;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Refusal;
use kiln_diagnose::Finding;
use kiln_stats::Thresholds;
use kiln_store::CommitJudged;
use serde::Serialize;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Measuring, Selecting, folder};
use crate::operation::session::retired_kernel;
use crate::project::Project;
use crate::record::commits::{self, AtCommit};
use crate::repository::Worktree;
use crate::teller::{Listener, Teller};
use base::Base;
use course::Course;
use kiln_session::SessionPhase;
pub use verdict::{CiVerdict, CiWorkload};

/// What is to be guarded, and how.
#[derive(Debug, Clone)]
pub struct CiRequest {
    /// The kernels.
    pub paths: Vec<Utf8PathBuf>,
    /// What of them; the path is each one's own.
    pub selecting: Selecting,
    /// How times are taken.
    pub measuring: Measuring,
    /// The configuration; chosen by `choice` when empty.
    pub config: String,
    /// The commit to compare with, instead of the ratchet.
    pub base: Option<String>,
    /// The ratchet's file; beside the kernel file when none.
    pub ratchet: Option<Utf8PathBuf>,
    /// Move the ratchet where an improvement is confirmed.
    pub update: bool,
    /// Fuzz for a few seconds.
    pub fuzz: bool,
    /// Fuzz for minutes, and run every sanitizer.
    pub nightly: bool,
    /// What a verdict demands.
    pub thresholds: Thresholds,
    /// Measure until speedups are known to plus or minus this many per cent.
    pub width: f64,
    /// Samples on each side at most.
    pub max_samples: usize,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CiState {
    /// Well.
    Passed,
    /// It was not done: nobody asked for it, or it cannot be done here.
    Skipped,
    /// A gate refused the kernel, or a sanitizer found something.
    Refused,
    /// A regression was confirmed.
    Regressed,
    /// It could not be done.
    Failed,
}

impl CiState {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            CiState::Passed => "passed",
            CiState::Skipped => "skipped",
            CiState::Refused => "refused",
            CiState::Regressed => "regressed",
            CiState::Failed => "failed",
        }
    }
}

/// One step of a kernel.
#[derive(Debug, Clone, Serialize)]
pub struct CiStep {
    /// Its name.
    pub step: &'static str,
    /// How it ended.
    pub state: CiState,
    /// How long it took.
    pub seconds: f64,
    /// What came of it, in words.
    pub words: String,
    /// What refused the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// What sanitizers found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// What a kernel was compared with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CiAgainst {
    /// The ratchet.
    Ratchet {
        /// Its file.
        file: String,
    },
    /// A commit.
    Base {
        /// What the user calls it.
        asked: String,
        /// The commit.
        commit: String,
    },
    /// Nothing: there is no ratchet, and no base was named.
    Nothing,
}

/// What became of a kernel.
#[derive(Debug, Clone, Serialize)]
pub struct CiKernel {
    /// Its path, as it was typed.
    pub path: String,
    /// Its name; the path where the file cannot be read.
    pub kernel: String,
    /// The target; none where the kernel could not be opened.
    pub target: Option<String>,
    /// The variant.
    pub variant: Option<String>,
    /// What it ran on.
    pub device: Option<String>,
    /// What it was compared with.
    pub against: CiAgainst,
    /// What was done, in order.
    pub steps: Vec<CiStep>,
    /// Every workload that came to a verdict.
    pub workloads: Vec<CiWorkload>,
    /// The worst of them; none where it did not come to that.
    pub verdict: Option<CiVerdict>,
    /// Workloads whose entry in the ratchet was moved or added.
    pub moved: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// How it ended.
    pub ending: Ending,
}

/// What became of all kernels.
#[derive(Debug, Clone, Serialize)]
pub struct Guarded {
    /// In the order they were named.
    pub kernels: Vec<CiKernel>,
}

impl Ends for Guarded {
    fn ending(&self) -> Ending {
        let worst = self.kernels.iter().map(|kernel| kernel.ending).max_by_key(|ending| ending.gravity());
        worst.unwrap_or(Ending::Done)
    }
}

/// Guards kernels. What one of them fails by need not be the next one's trouble.
pub fn ci(project: &Project, request: &CiRequest, listener: Listener<'_>) -> Result<Guarded, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "ci", SessionPhase::Report, guarded_one(request));
    trying.told(&teller, run(project, request, &teller))
}

/// The kernel, where one alone is guarded.
fn guarded_one(request: &CiRequest) -> About {
    match request.paths.as_slice() {
        [path] => KernelFile::read(path).map_or_else(|_| About::default(), |file| About::of(&file, path)),
        _ => About::default(),
    }
}

fn run(project: &Project, request: &CiRequest, teller: &Teller<'_>) -> Result<Guarded, Failure> {
    measure::sensible(request)?;
    // From here on Ctrl-C is a wish, so that worktrees are removed.
    project.stopped();
    let mut bases = Bases::default();
    let mut kernels = Vec::with_capacity(request.paths.len());
    for path in &request.paths {
        let mut kernel = CiKernel::new(path.as_str());
        let ended = KernelFile::read(path).and_then(|file| {
            kernel.kernel.clone_from(&file.spec.name);
            // Who guards a kernel that nobody uses any more should know.
            if let Ok(Some(made)) = retired_kernel(project, &file.spec.name, Some(path)) {
                kernel.notes.push(format!("retired, its baseline is used: {}", made.because));
            }
            teller.warn(&file.warnings);
            Course::new(project, request, &file, path, teller, &mut bases, &mut kernel)?.run()
        });
        match ended {
            // What is known of the kernels before it is told.
            _ if project.is_stopped() => {
                kernel.notes.push("interrupted".into());
                kernel.ending = Ending::Interrupted;
                kernels.push(kernel);
                break;
            }
            Ok(ending) => {
                kernel.ending = ending;
                kernel.record(project, teller);
            }
            // A single kernel's trouble is the command's.
            Err(failure) if request.paths.len() == 1 && kernel.steps.is_empty() => return Err(failure),
            Err(failure) => kernel.failed(&failure),
        }
        kernels.push(kernel);
    }
    Ok(Guarded { kernels })
}

impl CiKernel {
    fn new(path: &str) -> CiKernel {
        CiKernel {
            kernel: path.into(),
            path: path.into(),
            target: None,
            variant: None,
            device: None,
            against: CiAgainst::Nothing,
            steps: Vec::new(),
            workloads: Vec::new(),
            verdict: None,
            moved: Vec::new(),
            notes: Vec::new(),
            ending: Ending::Done,
        }
    }

    /// Records whether the commit is as fast as what it was compared with.
    fn record(&self, project: &Project, teller: &Teller<'_>) {
        let good = match self.verdict {
            Some(CiVerdict::Regression) => false,
            Some(CiVerdict::Same | CiVerdict::Identical | CiVerdict::Improvement) => true,
            _ => return,
        };
        let Some((inside, commit)) = commits::clean(folder(Utf8Path::new(&self.path))) else { return };
        let words = self.steps.last().map_or("", |step| step.words.as_str());
        AtCommit {
            kernel: &self.kernel,
            inside: &inside,
            commit: &commit,
            judged: CommitJudged::Fast,
            good,
            target: self.target.as_deref().unwrap_or_default(),
            variant: self.variant.as_deref().unwrap_or_default(),
            device: self.device.as_deref().unwrap_or_default(),
            words,
        }
        .record(project, teller);
    }

    fn failed(&mut self, failure: &Failure) {
        self.notes.extend(failure.reports().into_iter().map(|report| match report.hint {
            Some(hint) => format!("{}; hint: {hint}", report.message),
            None => report.message,
        }));
        self.ending = failure.ending();
    }
}

/// Worktrees of base commits, one for each repository.
#[derive(Debug, Default)]
struct Bases {
    added: Vec<(Base, Worktree)>,
}

impl Bases {
    /// The worktree of a base, added where there is none yet.
    fn worktree(&mut self, base: &Base) -> Result<&Worktree, Failure> {
        let same = |(known, _): &(Base, Worktree)| known.repository == base.repository && known.commit == base.commit;
        let place = match self.added.iter().position(same) {
            Some(place) => place,
            None => {
                self.added.push((base.clone(), Worktree::add(&base.repository, &base.commit)?));
                self.added.len() - 1
            }
        };
        Ok(&self.added[place].1)
    }
}
