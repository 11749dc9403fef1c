//! Looking at one commit: it is checked out beside the user's tree, and built, checked or measured in turns with another one. In:
//! commits. Out: what was found. A commit that lacks the kernel, or whose file cannot be read, is the commit's own trouble; a
//! fault of the environment is nobody's, and ends the bisection.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Gate, Outcome, Refusal};
use kiln_stats::{Comparison, Interval, Thresholds};
use kiln_study::{Rival, Versus};

use super::evidence::Slowdown;
use super::state::Found;
use super::{BisectRequest, BisectUntil};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, complete, folder, kernel, runnable};
use crate::operation::bench::BenchRequest;
use crate::operation::gate::Way;
use crate::operation::versions::{Ground, Measurer, fought, ground, with_bench};
use crate::operation::{check, gate};
use crate::project::Project;
use crate::repository::{Repository, Worktree};
use crate::teller::Teller;

/// What the good commit takes part as.
const NAME: &str = "good";

/// Who looks at commits, and the worktrees they are looked at in.
pub(super) struct Judge<'j> {
    pub(super) project: &'j Project,
    pub(super) request: &'j BisectRequest,
    pub(super) teller: &'j Teller<'j>,
    pub(super) repository: &'j Repository,
    /// The kernel within the repository.
    pub(super) inside: Utf8PathBuf,
    /// The commits that are checked out: the one that is looked at, and the one it is measured in turns with.
    pub(super) trees: [Option<(String, Worktree)>; 2],
    /// How often it was looked at something: every time with other inputs.
    pub(super) looks: u64,
    /// Target and variant of the last commit that was looked at and has them.
    pub(super) selected: Option<(String, String)>,
}

/// A commit's kernel.
struct There {
    path: Utf8PathBuf,
    file: KernelFile,
}

impl Judge<'_> {
    /// What a commit holds of the kernel, as a hash; the commit's own name where that cannot be told.
    pub(super) fn holds(&mut self, commit: &str) -> Result<String, Failure> {
        let own = || commit.to_string();
        let inside = folder_inside(&self.inside);
        let Some(tree) = self.repository.held(commit, inside)? else { return Ok(own()) };
        let Ok(there) = self.checked_out(commit, 0)? else { return Ok(own()) };
        // Sources may lie outside the kernel's folder.
        let selecting = self.selecting(&there.path);
        let sources = there.file.select(&selecting).and_then(|selection| {
            let kernel = kernel(selection, &there.path)?;
            Ok(kernel.fingerprint()?)
        });
        Ok(sources.map_or_else(|_| own(), |sources| format!("{tree}-{sources}")))
    }

    /// Looks at a commit; measures it in turns with `against` where that is what it is about.
    pub(super) fn look(&mut self, commit: &str, against: Option<(&str, &str)>) -> Result<Found, Failure> {
        self.looks += 1;
        let until_build = self.request.until == BisectUntil::Build;
        let there = match self.checked_out(commit, 0)? {
            Ok(there) => there,
            Err(found) => return Ok(found),
        };
        let found = match against {
            None if until_build => self.built(&there),
            None => self.checked(&there),
            Some((other, held)) => {
                let other = match self.checked_out(other, 1)? {
                    Ok(other) => other,
                    Err(_) => return Ok(not_measured(held)),
                };
                self.measured(&there, &other, held)
            }
        };
        match found {
            // What is wrong with a commit's file is wrong with the commit.
            Err(Failure::Input(reports)) => Ok(unreadable(&Failure::Input(reports), until_build)),
            found => found,
        }
    }

    /// A commit's kernel, checked out; why there is none otherwise.
    fn checked_out(&mut self, commit: &str, place: usize) -> Result<Result<There, Found>, Failure> {
        match &mut self.trees[place] {
            Some((there, _)) if there == commit => {}
            Some((there, tree)) => {
                // Where that fails, nobody knows what is checked out.
                there.clear();
                tree.switch(commit)?;
                *there = commit.into();
            }
            none => *none = Some((commit.into(), Worktree::add(&self.repository.folder, commit)?)),
        }
        let path = self.trees[place].as_ref().and_then(|(_, tree)| tree.at(&self.inside));
        let Some(path) = path else { return Ok(Err(unjudged("the commit does not have this kernel"))) };
        let until_build = self.request.until == BisectUntil::Build;
        match KernelFile::read(&path) {
            Ok(file) => Ok(Ok(There { path, file })),
            Err(failure @ Failure::Input(_)) => Ok(Err(unreadable(&failure, until_build))),
            Err(failure) => Err(failure),
        }
    }

    fn selecting(&self, path: &Utf8Path) -> Selecting {
        Selecting { path: path.into(), ..self.request.selecting.clone() }
    }

    fn built(&mut self, there: &There) -> Result<Found, Failure> {
        let request = gate::GateRequest {
            selecting: self.selecting(&there.path),
            config: self.request.config.clone(),
            until_build: true,
            ..gate::GateRequest::default()
        };
        let gated = gate::run(self.project, &there.file, &request, self.teller)?;
        let found = match &gated.way {
            Way::Built(forged, _) => match &forged.outcome {
                Outcome::Passed(_) => passed(format!("{} builds", gated.config)),
                Outcome::Refused(refusal) => refused(refusal, ""),
            },
            _ if gated.passed() => passed("nothing to build".into()),
            _ => unjudged("the default configuration breaks a constraint"),
        };
        let kernel = kernel(gated.selection, &there.path)?;
        self.selected = Some((kernel.target().into(), kernel.variant()));
        Ok(found)
    }

    fn checked(&self, there: &There) -> Result<Found, Failure> {
        let request = check::CheckRequest {
            selecting: self.selecting(&there.path),
            config: self.request.config.clone(),
            seed: self.request.measuring.seed.map(|seed| seed.wrapping_add(self.looks)),
            ..check::CheckRequest::default()
        };
        let checked = check::run(self.project, &there.file, &request, self.teller)?;
        Ok(match &checked.refused {
            Some((refusal, workload)) => refused(refusal, workload),
            None => {
                passed(format!("{} answered correctly", kiln_core::counted(checked.reports.len() as u128, "question")))
            }
        })
    }

    fn measured(&mut self, there: &There, other: &There, held: &str) -> Result<Found, Failure> {
        let BisectUntil::Fast(limit) = self.request.until else { return Ok(unjudged("nothing is to be measured")) };
        let opened = Opened::unexamined(&there.file, &self.selecting(&there.path))?;
        let ours = &opened.kernel;
        self.selected = Some((ours.target().into(), ours.variant()));
        let (config, _) = complete(&ours.selection, &ours.problem, &self.request.config)?;
        let selecting = Selecting {
            target: Some(ours.target().into()),
            variant: Some(ours.variant()).filter(|variant| !variant.is_empty()),
            ..self.selecting(&other.path)
        };
        let (selection, _) = runnable(&other.file, &selecting)?;
        let theirs = kernel(selection, &other.path)?;
        let (their_config, _) = complete(&theirs.selection, &theirs.problem, &self.request.config)?;
        if let Some((refusal, workload)) = ours.broken(&config) {
            return Ok(refused(&refusal, &workload));
        }
        let request = self.as_bench();
        let (project, teller, path) = (self.project, self.teller, self.request.selecting.path.as_path());
        let measurer = Measurer { project, teller, request: &request, path };
        let thresholds = Thresholds::with_dead_zone(limit);
        let outcome = with_bench(measurer, &opened, &config, self.looks, |bench, subject| {
            let version = match bench.version(&theirs, &their_config)? {
                Outcome::Passed(version) => version,
                Outcome::Refused(_) => return Ok(Outcome::Passed(not_measured(held))),
            };
            let (mut workloads, mut open, mut why) = (Vec::new(), Vec::new(), None);
            for stage in &bench.stages {
                match ground(bench, stage, subject, (&theirs, &their_config), &version)? {
                    Ground::Identical => workloads.push(identical(stage.name())),
                    Ground::Incomparable(words) => why = Some(words),
                    Ground::Open => open.push(stage.name().to_string()),
                }
            }
            bench.stages.retain(|stage| open.iter().any(|name| name == stage.name()));
            if !bench.stages.is_empty() {
                let rival = Rival { name: NAME.into(), subject: version, judged: true };
                match fought(measurer, bench, (subject, &[rival]), &config, &thresholds)? {
                    Outcome::Passed(figures) => workloads.extend(figures.iter().filter_map(slowdown)),
                    Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
                }
            }
            if workloads.is_empty() {
                return Ok(Outcome::Passed(unjudged(&why.unwrap_or_else(|| "no workload could be measured".into()))));
            }
            Ok(Outcome::Passed(Found::Measured { against: held.into(), workloads }))
        })?;
        Ok(match outcome {
            Outcome::Passed(found) => found,
            Outcome::Refused(refusal) => refused(&refusal, ""),
        })
    }

    /// How times are taken.
    pub(super) fn as_bench(&self) -> BenchRequest {
        let BisectRequest { selecting, measuring, config, width, max_samples, .. } = self.request;
        BenchRequest {
            selecting: selecting.clone(),
            measuring: measuring.clone(),
            config: config.clone(),
            study: None,
            against: None,
            baseline: None,
            width: *width,
            max_samples: *max_samples,
            early: false,
            dead_zone: 0.0,
            all: false,
            save: None,
        }
    }
}

/// The folder of a path within a repository.
fn folder_inside(inside: &Utf8Path) -> &Utf8Path {
    if inside.extension() == Some("toml") { inside.parent().unwrap_or(Utf8Path::new("")) } else { inside }
}

/// The kernel's folder within its repository.
pub(super) fn inside_of(repository: &Repository, path: &Utf8Path) -> Option<Utf8PathBuf> {
    repository.inside(folder(path))
}

fn passed(words: String) -> Found {
    Found::Passed { words }
}

fn refused(refusal: &Refusal, workload: &str) -> Found {
    Found::Refused { refusal: refusal.clone(), workload: workload.into() }
}

fn unjudged(why: &str) -> Found {
    Found::Unjudged { why: why.into() }
}

/// What it would be measured against cannot be: that says nothing about the commit.
fn not_measured(held: &str) -> Found {
    Found::Measured { against: held.into(), workloads: Vec::new() }
}

/// A file that cannot be read does not build.
fn unreadable(failure: &Failure, until_build: bool) -> Found {
    let why = failure.reports().first().map_or_else(String::new, |report| report.message.clone());
    if !until_build {
        return unjudged(&why);
    }
    let refusal = Refusal {
        gate: Gate::BuildFailed,
        rule: String::new(),
        measured: format!("the kernel file is not accepted: {why}"),
        limit: String::new(),
        evidence: String::new(),
        hint: None,
    };
    refused(&refusal, "")
}

fn identical(workload: &str) -> Slowdown {
    let ratio_ci95 = Interval { low: 1.0, high: 1.0 };
    Slowdown { workload: workload.into(), ratio: 1.0, ratio_ci95, identical: true }
}

/// How much slower the commit is than the good one.
fn slowdown(figure: &Versus) -> Option<Slowdown> {
    let Comparison { speedup, speedup_ci95, .. } = figure.baselines.first().map(|base| &base.comparison)?;
    let ratio_ci95 = Interval { low: 1.0 / speedup_ci95.high, high: 1.0 / speedup_ci95.low };
    Some(Slowdown { workload: figure.workload.clone(), ratio: 1.0 / speedup, ratio_ci95, identical: false })
}
