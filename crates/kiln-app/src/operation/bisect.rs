//! The commit that broke a kernel, or made it slow. In: a kernel, a good and a bad commit, and what is asked of it: to build, to be
//! correct, to be as fast. Out: the first bad commit, confirmed by looking again at it and at the one before, and everything
//! that was judged on the way. The user's tree is not touched: commits are checked out into temporary worktrees.
//!
//! `search` says which commit is next, `judge` looks at one, `evidence` says what measurements mean, `state` remembers.
//! Refuses commits that are not there, a good one that is no ancestor of the bad one, and ends that are not what they are
//! said to be.

mod asked;
mod course;
mod ends;
mod evidence;
mod judge;
mod search;
mod state;
mod told;

use kiln_core::Refusal;
use serde::Serialize;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{Measuring, Selecting};
use crate::project::Project;
use crate::repository::Commit;
use crate::teller::{Listener, Teller};
pub use asked::BisectUntil;
use course::Course;
pub use evidence::Slowdown;
use kiln_session::SessionPhase;

/// What is to be found.
#[derive(Debug, Clone)]
pub struct BisectRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// How times are taken.
    pub measuring: Measuring,
    /// Values as `NAME=VALUE,...`; tunables left out take each commit's own default.
    pub config: String,
    /// A commit that is good; looked for when none.
    pub good: Option<String>,
    /// A commit that is bad.
    pub bad: String,
    /// What is asked of a commit.
    pub until: BisectUntil,
    /// Measure until times are known to plus or minus this many per cent.
    pub width: f64,
    /// Samples on each side at most.
    pub max_samples: usize,
    /// Begin anew, whatever is known from an interrupted bisection.
    pub restart: bool,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BisectOutcome {
    /// The first bad commit is known.
    Found,
    /// It is one of several that cannot be judged.
    Narrowed,
    /// It was asked to stop; the next one goes on from here.
    Interrupted,
}

/// What was found of one commit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: Commit,
    /// `good`, `bad` or `unjudged`.
    pub verdict: &'static str,
    /// Why, in words.
    pub words: String,
    /// How often it was looked at; 0 where another commit holds the same files.
    pub looks: usize,
    /// Its times over the good commit's, all measurements together.
    pub slowdown: Vec<Slowdown>,
}

/// What came of a bisection.
#[derive(Debug, Clone, Serialize)]
pub struct Bisected {
    /// The kernel's name; its path where no file could be read.
    pub kernel: String,
    /// Its path, as it was typed.
    pub path: String,
    /// What was asked of a commit, as it is typed.
    pub until: String,
    /// How it ended.
    pub outcome: BisectOutcome,
    /// The good commit; none where none was found yet.
    pub good: Option<Commit>,
    /// The bad commit.
    pub bad: Commit,
    /// The first bad commit.
    pub culprit: Option<Commit>,
    /// The one before it, which is good.
    pub before: Option<Commit>,
    /// Those that may be the first bad one, where that is not known.
    pub candidates: Vec<Commit>,
    /// Whether the culprit merges another branch.
    pub merge: bool,
    /// The culprit's times over those of the one before, measured in turns.
    pub change: Vec<Slowdown>,
    /// What refused the culprit.
    pub refusal: Option<Refusal>,
    /// Commits after the good one, up to the bad one.
    pub commits: usize,
    /// Commits that were built, checked or measured.
    pub evaluated: usize,
    /// Of those, by an interrupted bisection before this one.
    pub resumed: usize,
    /// What was found of each, oldest first.
    pub judged: Vec<JudgedCommit>,
    /// How long it took, interruptions not counted.
    pub seconds: f64,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Ends for Bisected {
    fn ending(&self) -> Ending {
        if self.outcome == BisectOutcome::Interrupted { Ending::Interrupted } else { Ending::Done }
    }
}

/// Finds the first bad commit.
pub fn bisect(project: &Project, request: &BisectRequest, listener: Listener<'_>) -> Result<Bisected, Failure> {
    let teller = Teller::new(listener);
    let trying =
        Trying::new(project, "bisect", SessionPhase::Check, About::named(&named(request), &request.selecting.path));
    trying.told(&teller, Course::run(project, request, &teller))
}

/// The kernel's name as its file is now; its path where that cannot be read.
fn named(request: &BisectRequest) -> String {
    let path = &request.selecting.path;
    crate::kernel::KernelFile::read(path).map_or_else(|_| path.to_string(), |file| file.spec.name)
}
