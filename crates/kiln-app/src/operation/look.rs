//! Everything that views of one study need. In: a study's name. Out: its story with trials and notes, the samples of its duels, intervals of
//! those trials that were the best when they came, what mattered, its profiles. Refuses a name that fits no study, or several.
//!
//! Samples of trials that only searched are left in the store: a study of 100,000 trials has gigabytes of them, and views show
//! the intervals of the few that became the best.

pub(crate) mod duels;
mod faster;
pub(crate) mod filter;
mod since;
mod succession;
mod winner;

use kiln_core::{Config, Report, Use, Workload};
use kiln_stats::Interval;
use kiln_store::{PhaseId, ProfileRecord, Store, Study, Trial, TrialState};

use crate::failure::Failure;
use crate::operation::importance::{Important, mattering};
use crate::operation::show::{Shown, Story, show};
use crate::project::Project;

pub use duels::{Duel, Grain, interval_of};
pub use faster::{FasterCandidate, WhyNot};
pub use since::{KernelSince, kernel_since};
pub use succession::{CHALLENGER, Succession};
pub use winner::{Against, PairedWorkload, RivalKind};

/// Improvements whose samples are read; of more, the last.
const MOST_IMPROVEMENTS: usize = 64;

/// One study, as views show it.
pub struct StudyLook {
    /// The study as it stands now, with trials and notes.
    pub story: Story,
    /// What was measured against each other, in the order recorded.
    pub duels: Vec<Duel>,
    /// Trials that were the best when they came: where they are among the trials, with the interval of their time.
    pub improvements: Vec<Improvement>,
    /// Which tunables mattered; empty where the kernel file cannot be read or it was not asked for.
    pub important: Vec<Important>,
    /// The winner against its baseline, the runner-up and the default.
    pub against: Vec<Against>,
    /// Candidates that were faster while searching than the winner, and why they did not win.
    pub faster: Vec<FasterCandidate>,
    /// Winners that took the place of another, which the search had found.
    pub successions: Vec<Succession>,
    /// Over how many workloads times are geometric means, where those are searched together.
    pub together: usize,
    /// Profiles that the study took, oldest first.
    pub profiles: Vec<ProfileRecord>,
    /// When it was looked at, in milliseconds since 1970.
    pub at_ms: i64,
}

/// A trial that was the best when it came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Improvement {
    /// Its place among the trials.
    pub place: usize,
    /// The 95 % interval of its cost in seconds; none where its samples do not give one.
    pub ci95: Option<Interval>,
}

/// How much of a study is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LookDepth {
    /// All of it.
    #[default]
    Whole,
    /// Without what takes long to compute: importance, and comparisons.
    Quick,
}

/// Looks at a study.
pub fn look(project: &Project, name: &str, depth: LookDepth) -> Result<StudyLook, Failure> {
    let story = match show(project, name)? {
        Shown::Study(story) => *story,
        Shown::Run(run) => {
            let report = Report::error(format!("{} is a benchmark, not a study", run.short_id()));
            return Err(report.hint(format!("`kiln show {}` prints it", run.short_id())).into());
        }
    };
    let store = project.recorded_for(name)?;
    let (study, trials) = (&story.now.study, &story.now.trials);
    let duels = duels::of(&store, study, trials)?;
    let improvements = improvements(&store, study, trials)?;
    let profiles = store.profiles(Some(&study.kernel))?;
    let profiles = profiles.into_iter().filter(|profile| profile.study.as_deref() == Some(&study.id)).collect();
    let whole = depth == LookDepth::Whole;
    // A kernel file that this kiln cannot read costs this view, not the others.
    let important = if whole { mattering(study, trials).unwrap_or_default() } else { Vec::new() };
    let successions = succession::of(study, trials, &story.notes);
    let against = if whole { winner::against(&store, study, trials, (&duels, &successions))? } else { Vec::new() };
    let faster = faster::of(study, trials, (&duels, &successions));
    let at_ms = jiff::Timestamp::now().as_millisecond();
    let together = workloads_together(study);
    Ok(StudyLook { together, duels, improvements, important, against, faster, successions, profiles, at_ms, story })
}

impl StudyLook {
    /// The trial of a phase and a number, written `search/12`; phases of one workload have a slash of their own.
    pub fn trial(&self, words: &str) -> Option<&Trial> {
        let (phase, number) = words.rsplit_once('/')?;
        let number: u64 = number.parse().ok()?;
        self.story.now.trials.iter().find(|trial| trial.phase == phase && trial.number == number)
    }

    /// Whose place the winner of a search took, where the ablation found it.
    pub fn succession(&self, workload: Option<&str>) -> Option<&Succession> {
        succession::find(&self.successions, workload)
    }

    /// The winners: one with no workload, or one for each.
    pub fn winners(&self) -> Vec<(Option<String>, Config)> {
        winners(&self.story.now.study)
    }
}

/// The winners of a study: one for all workloads, or one for each.
pub fn winners(study: &Study) -> Vec<(Option<String>, Config)> {
    match study.winner() {
        Some(config) => vec![(None, config)],
        None => study.winners().into_iter().map(|(workload, config)| (Some(workload), config)).collect(),
    }
}

/// How many workloads a study searches together: 1 where each has its own search, and where the kernel file cannot be read.
pub fn workloads_together(study: &Study) -> usize {
    if let Some(summary) = study.summary.as_ref().and_then(|summary| summary.read().ok()) {
        let tuned = summary.workloads.iter().filter(|workload| !workload.holdout).count();
        return if study.winner().is_some() { tuned.max(1) } else { 1 };
    }
    let Ok((spec, _)) = kiln_spec::parse(&study.path, study.spec_text.as_bytes()) else { return 1 };
    if study.workload().is_some() || spec.objective.per_workload {
        return 1;
    }
    let here = |workload: &&Workload| workload.targets.is_empty() || workload.targets.contains(&study.target.as_str());
    spec.workloads.iter().filter(|workload| workload.use_for == Use::Tune).filter(here).count().max(1)
}

/// A trial that passed: its place among the trials, and its time.
pub(crate) type Timed<'t> = (usize, &'t Trial, f64);

/// What passed while searching, in the order recorded, for each of the searches: all workloads together, or each apart.
pub(crate) fn searched(trials: &[Trial]) -> Vec<(Option<&str>, Vec<Timed<'_>>)> {
    let mut found: Vec<(Option<&str>, Vec<Timed<'_>>)> = Vec::new();
    for (place, trial) in trials.iter().enumerate() {
        let phase: PhaseId<'_> = trial.phase_id();
        let (true, TrialState::Passed, Some(cost)) = (phase.is_searching(), trial.state, trial.cost) else { continue };
        match found.iter_mut().find(|(workload, _)| *workload == phase.workload) {
            Some((_, own)) => own.push((place, trial, cost)),
            None => found.push((phase.workload, vec![(place, trial, cost)])),
        }
    }
    found
}

fn improvements(store: &Store, study: &Study, trials: &[Trial]) -> Result<Vec<Improvement>, Failure> {
    let mut better: Vec<Timed<'_>> = Vec::new();
    for (_, own) in searched(trials) {
        let mut best = f64::INFINITY;
        for one in own {
            if one.2 < best {
                best = one.2;
                better.push(one);
            }
        }
    }
    let first = better.len().saturating_sub(MOST_IMPROVEMENTS);
    let mut found = Vec::with_capacity(better.len());
    for (at, (place, trial, cost)) in better.into_iter().enumerate() {
        let measured = match at >= first {
            true => store.measurements_of(&study.id, &trial.phase, trial.number)?,
            false => Vec::new(),
        };
        found.push(Improvement { place, ci95: duels::cost_interval(&measured, cost) });
    }
    Ok(found)
}
