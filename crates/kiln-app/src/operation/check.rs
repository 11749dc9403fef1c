//! Is one configuration right? Fresh inputs, several distributions, every workload that is there for it. In: a kernel file
//! and a configuration. Out: every question with its answer, up to the first that was wrong.

use kiln_core::{Config, Outcome, Refusal};
use kiln_judge::Level;
use kiln_store::CommitJudged;
use kiln_study::{Bench, CheckReport, Kernel, Settings, environment, examine, examine_selected};
use serde_json::Value;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, surroundings};
use crate::project::Project;
use crate::record::chosen::Chosen;
use crate::record::commits::{self, AtCommit};
use crate::seed::seed;
use crate::teller::{Listener, Teller};
use kiln_session::SessionPhase;

/// What is to be checked.
#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// Values as `NAME=VALUE,...`; tunables left out take their default.
    pub config: String,
    /// The winner of this study instead.
    pub study: Option<String>,
    /// The whole suite: every distribution, every workload, more reruns.
    pub full: bool,
    /// Ask about the selected workloads alone.
    pub selected: bool,
    /// The seed of the inputs; a new one when none.
    pub seed: Option<u64>,
}

/// What was found.
pub struct Checked<'a> {
    /// The kernel.
    pub kernel: Kernel<'a>,
    /// The whole configuration.
    pub config: Config,
    /// How thoroughly.
    pub level: Level,
    /// The seed inputs were drawn with.
    pub seed: u64,
    /// The questions that were put.
    pub reports: Vec<CheckReport>,
    /// What refused it, and on which workload.
    pub refused: Option<(Refusal, String)>,
    /// The machine and its tools, as a study records them; null where nothing was run.
    pub ran_on: Value,
}

impl Ends for Checked<'_> {
    fn ending(&self) -> Ending {
        if self.refused.is_none() { Ending::Done } else { Ending::Refused }
    }
}

/// Checks a configuration.
pub fn check<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &CheckRequest,
    listener: Listener<'_>,
) -> Result<Checked<'a>, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "check", SessionPhase::Check, About::of(file, &request.selecting.path));
    trying.told(&teller, run(project, file, request, &teller))
}

/// The same for whoever has a voice already.
pub(crate) fn run<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &CheckRequest,
    teller: &Teller<'_>,
) -> Result<Checked<'a>, Failure> {
    teller.warn(&file.warnings);
    let which = (request.config.as_str(), request.study.as_deref());
    let Chosen { opened, config, .. } = Chosen::new(project, file, &request.selecting, which, teller)?;
    let settings = Settings { seed: seed(request.seed)?, ..Settings::default() };
    let level = if request.full { Level::Suite } else { Level::Full };
    let mut reports: Vec<CheckReport> = Vec::new();
    let mut refused = opened.kernel.broken(&config);
    let mut ran_on = Value::Null;
    if refused.is_none() {
        let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
        let _held = opened.lock(project, teller)?;
        let around = surroundings(project, &said, true, opened.card.as_ref())?;
        let mut bench = Bench::new(&opened.kernel, &settings, around)?;
        ran_on = environment(&bench);
        refused = match bench.subject(&config)? {
            Outcome::Passed(subject) => {
                let heard = |report: &CheckReport| reports.push(report.clone());
                match request.selected {
                    true => examine_selected(&bench, &subject, level, "check", heard)?,
                    false => examine(&bench, &subject, level, "check", heard)?,
                }
            }
            Outcome::Refused(refusal) => Some((refusal, String::new())),
        };
    }
    // That a part is right says nothing of the whole.
    if refused.is_some() || !request.selected {
        found(project, &opened.kernel, &refused, teller);
    }
    Ok(Checked { kernel: opened.kernel, config, level, seed: settings.seed, reports, refused, ran_on })
}

/// Records what was found of the commit: that it is correct, that it is not, or that it does not build.
fn found(project: &Project, kernel: &Kernel<'_>, refused: &Option<(Refusal, String)>, teller: &Teller<'_>) {
    let Some((inside, commit)) = commits::clean(&kernel.folder) else { return };
    let (judged, words) = match refused {
        Some((refusal, _)) if refusal.gate.is_of_the_build() => (CommitJudged::Build, refusal.measured.as_str()),
        Some((refusal, _)) => (CommitJudged::Check, refusal.measured.as_str()),
        None => (CommitJudged::Check, "correct"),
    };
    AtCommit {
        kernel: kernel.name(),
        inside: &inside,
        commit: &commit,
        judged,
        good: refused.is_none(),
        target: kernel.target(),
        variant: &kernel.variant(),
        device: "",
        words,
    }
    .record(project, teller);
}
