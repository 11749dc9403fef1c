//! What is to be fuzzed, and what came of it.

use camino::Utf8PathBuf;
use kiln_core::{Config, Refusal, Report};
use kiln_formats::KeptCase;
use kiln_judge::FuzzCase;
use kiln_store::Validation;
use serde_json::Value;

use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::Selecting;

/// Good runs that make a configuration validated.
pub const VALIDATED: usize = 100;

/// What is to be fuzzed, and for how long.
#[derive(Debug, Clone)]
pub struct FuzzRequest {
    /// The kernel; every variant of it when none is selected.
    pub selecting: Selecting,
    /// Values as `NAME=VALUE,...`: only this configuration; with nothing, the default and others of the space.
    pub config: String,
    /// Only the winner of this study.
    pub study: Option<String>,
    /// A baseline instead of the kernel.
    pub baseline: Option<String>,
    /// The shapes of a suite instead of drawn ones.
    pub suite: Option<String>,
    /// One case, as it is typed.
    pub case: Option<String>,
    /// Cases to ask about.
    pub cases: usize,
    /// Minutes it may take.
    pub minutes: f64,
    /// Good runs of the one configuration, for each variant.
    pub runs: Option<usize>,
    /// Configurations to ask about at most, the default included.
    pub configs: usize,
    /// Cases asked about at the same time; as many as there are processors when none.
    pub jobs: Option<usize>,
    /// The seed of the cases; a new one when none.
    pub seed: Option<u64>,
}

impl FuzzRequest {
    /// Whether it may make a configuration validated.
    pub(super) fn validates(&self) -> bool {
        self.runs.is_some_and(|runs| runs >= VALIDATED) && self.baseline.is_none()
    }

    /// Refuses what asks for nothing.
    pub(super) fn checked(&self) -> Result<(), Failure> {
        let counts = [
            ("--cases", Some(self.cases)),
            ("--runs", self.runs),
            ("--configs", Some(self.configs)),
            ("--jobs", self.jobs),
        ];
        if let Some((flag, _)) = counts.iter().find(|(_, count)| *count == Some(0)) {
            return Err(Report::error(format!("{flag} is 0")).label("expected at least 1").into());
        }
        if !(self.minutes.is_finite() && self.minutes > 0.0) {
            let report = Report::error(format!("--minutes is {}", self.minutes));
            return Err(report.label("expected a number above 0").into());
        }
        Ok(())
    }

    /// Whether only one configuration is meant.
    pub(super) fn is_about_one(&self) -> bool {
        let chosen = !self.config.is_empty() || self.study.is_some() || self.baseline.is_some();
        chosen || self.runs.is_some() || self.suite.is_some() || self.case.is_some()
    }
}

/// What was found.
#[derive(Debug)]
pub struct Fuzzed {
    /// The kernel's name.
    pub kernel: String,
    /// The target's name.
    pub target: String,
    /// The baseline that was fuzzed instead.
    pub baseline: Option<String>,
    /// The suite.
    pub suite: Option<String>,
    /// The case that was given instead of drawn ones.
    pub given: Option<FuzzCase>,
    /// The seed of the cases.
    pub seed: u64,
    /// The variants, as they are typed; one that is empty where there are none.
    pub variants: Vec<String>,
    /// Configurations that were asked about, over all variants.
    pub configs: usize,
    /// Configurations that a gate refused before they ran.
    pub refused: Vec<(Config, Refusal)>,
    /// Cases that passed.
    pub passed: usize,
    /// Distinct shapes among the cases that were asked about.
    pub shapes: usize,
    /// Shapes that were drawn and that constraints exclude; the nearest that they admit took their place.
    pub draws_excluded: usize,
    /// Whether no shape but the workloads' own was found that constraints admit.
    pub only_workloads: bool,
    /// Cases that were not asked, by reason.
    pub excluded: Vec<(String, usize)>,
    /// Cases for which there was no time.
    pub not_run: usize,
    /// The first of those.
    pub not_run_first: Option<FuzzCase>,
    /// Cases that failed before, and how they stand now.
    pub kept: Vec<KeptResult>,
    /// The case that failed now.
    pub failure: Option<FuzzFailure>,
    /// What refused the configuration that was asked for, before anything ran.
    pub unusable: Option<(Config, Refusal)>,
    /// Where failing cases are kept.
    pub file: Utf8PathBuf,
    /// Why they could not be kept there.
    pub not_kept: Option<String>,
    /// Variants of the configuration that were validated.
    pub validated: Vec<Validation>,
    /// Good runs that were asked for.
    pub runs: Option<usize>,
    /// How long it took.
    pub seconds: f64,
    /// Whether somebody stopped it.
    pub interrupted: bool,
    /// The machine and its tools, as a study records them; null where nothing was run.
    pub ran_on: Value,
}

/// A case that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FuzzFailure {
    /// The variant, as it is typed.
    pub variant: String,
    /// As it was found.
    pub found: FuzzCase,
    /// As small as it gets.
    pub smallest: FuzzCase,
    /// What refused it.
    pub refusal: Refusal,
    /// Cases tried on the way.
    pub tried: usize,
    /// Whether nothing smaller was left to try.
    pub complete: bool,
    /// Whether it fails every time; none where there was no time to see.
    pub steady: Option<bool>,
}

/// A case that failed before.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptResult {
    /// The case.
    pub case: KeptCase,
    /// How it stands.
    pub now: KeptNow,
}

/// How a case that failed before stands now.
#[derive(Debug, Clone, PartialEq)]
pub enum KeptNow {
    /// It fails.
    Fails(Refusal),
    /// It passes for the first time.
    Fixed,
    /// It passes, as it did.
    Passes,
    /// It no longer fits the kernel file, or what was asked for.
    Skipped(String),
}

impl Fuzzed {
    /// Whether anything failed.
    pub fn has_failed(&self) -> bool {
        let kept = self.kept.iter().any(|kept| matches!(kept.now, KeptNow::Fails(_)));
        kept || self.failure.is_some() || self.unusable.is_some()
    }
}

impl Ends for Fuzzed {
    fn ending(&self) -> Ending {
        match self.interrupted {
            // Who stops it hears so from the exit code, whatever was found by then.
            true => Ending::Interrupted,
            false if self.has_failed() => Ending::Refused,
            false => Ending::Done,
        }
    }
}
