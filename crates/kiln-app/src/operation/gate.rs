//! One configuration up the ladder: the static rules, then build, launch, check and a first measurement. In: a kernel file and
//! a configuration. Out: every rule with its numbers, and how far it came.

mod everywhere;

use kiln_core::{Config, Outcome, Refusal, Report};
use kiln_space::{Judgement, Problem, Rule};
use kiln_spec::{Selection, TargetKind};
use kiln_study::{Bench, CacheState, Evaluation, Forged, Settings, environment as ground, missing, peaks};
use serde_json::{Value, json};

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{
    KernelFile, Opened, Selecting, complete, environment, folder, for_this_gpu, kernel, packages, runnable,
    surroundings,
};
use crate::operation::forge;
use crate::project::Project;
use crate::seed::seed;
use crate::teller::{Listener, Teller};
pub use everywhere::{GatedEverywhere, gate_everywhere};
use kiln_session::SessionPhase;

/// What is to be judged.
#[derive(Debug, Clone, Default)]
pub struct GateRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// Values as `NAME=VALUE,...`; tunables left out take their default.
    pub config: String,
    /// Only the rules of the kernel file.
    pub only_rules: bool,
    /// Stop after the build.
    pub until_build: bool,
}

/// How far a configuration was taken.
pub enum Way {
    /// The rules alone; why no further, where that was not asked for.
    Static(Option<String>),
    /// Built; why no further, where that was not asked for.
    Built(Box<Forged>, Option<String>),
    /// All the way.
    Climbed(Box<Evaluation>),
}

impl Way {
    fn passed(&self) -> bool {
        match self {
            Way::Static(_) => true,
            Way::Built(forged, _) => matches!(forged.outcome, Outcome::Passed(_)),
            Way::Climbed(evaluation) => evaluation.refusal().is_none(),
        }
    }

    /// Why it ends where it does, where that was not asked for.
    pub fn note(&self) -> Option<&str> {
        match self {
            Way::Static(note) | Way::Built(_, note) => note.as_deref(),
            Way::Climbed(_) => None,
        }
    }
}

/// A configuration, judged.
pub struct Gated<'a> {
    /// What it was judged for.
    pub selection: Selection<'a>,
    /// The whole configuration.
    pub config: Config,
    /// The names of values that were not given but taken from the default.
    pub defaulted: Vec<String>,
    /// How far it came.
    pub way: Way,
    /// What is odd about the file.
    pub warnings: &'a [Report],
    /// The machine and its tools, as a study records them; of a build the compiler alone, null for the rules alone.
    pub ran_on: Value,
    problem: Problem,
}

impl Gated<'_> {
    /// Every rule's judgement.
    pub fn judgements(&self) -> Vec<(&Rule, Judgement)> {
        self.problem.judge(&self.config)
    }

    /// The workload that values which were not given were tuned for; none where they are the file's default.
    pub fn tuned(&self) -> Option<&str> {
        let allows = |config: &Config| self.problem.broken(config).is_none();
        self.selection.tuned(&allows).map(|entry| entry.workload.as_str())
    }

    /// True when it passed every gate it came to.
    pub fn passed(&self) -> bool {
        holds(&self.problem, &self.config) && self.way.passed()
    }
}

impl Ends for Gated<'_> {
    fn ending(&self) -> Ending {
        if self.passed() { Ending::Done } else { Ending::Refused }
    }
}

/// What its attempt is called: where only rules are judged nothing is built, and no build works by it.
pub(crate) fn verb(request: &GateRequest) -> &'static str {
    if request.only_rules { "gate --static" } else { "gate" }
}

/// Takes a configuration up the ladder.
pub fn gate<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &GateRequest,
    listener: Listener<'_>,
) -> Result<Gated<'a>, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, verb(request), SessionPhase::Build, About::of(file, &request.selecting.path));
    let gated = run(project, file, request, &teller);
    let remarks = gated.as_ref().map(|gated| gated.selection.remarks()).unwrap_or_default();
    remarks.into_iter().for_each(|remark| teller.note(remark));
    trying.told(&teller, gated)
}

pub(crate) fn run<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &GateRequest,
    teller: &Teller<'_>,
) -> Result<Gated<'a>, Failure> {
    let selecting = for_this_gpu(file, &request.selecting);
    let selection = file.select(&selecting)?;
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    let (config, defaulted) = complete(&selection, &problem, &request.config)?;
    teller.warn(&absent(&selection, &request.selecting));
    let (way, ran_on) = match holds(&problem, &config) {
        true => climb(project, file, request, &selection, &config, teller)?,
        false => (Way::Static(None), Value::Null),
    };
    Ok(Gated { selection, config, defaulted, way, warnings: &file.warnings, ran_on, problem })
}

/// A warning for each baseline whose file is not there: a study would do without it.
fn absent(selection: &Selection<'_>, selecting: &Selecting) -> Vec<Report> {
    let folder = folder(&selecting.path);
    let stated = selection.target.baselines.iter();
    let gone = stated.filter_map(|b| Some((&b.name, missing(&folder.join(&b.callable.file))?)));
    let warning = |name, why: Refusal| {
        Report::warning(format!("baseline {name} cannot be measured: {}", why.measured)).maybe_hint(why.hint)
    };
    gone.map(|(name, why)| warning(name, why)).collect()
}

fn holds(problem: &Problem, config: &Config) -> bool {
    problem.judge(config).iter().all(|(_, judgement)| matches!(judgement, Judgement::Holds(_)))
}

/// Builds, runs, checks and measures it, as far as is asked for, the target can be run here and the file says what is right.
fn climb(
    project: &Project,
    file: &KernelFile,
    request: &GateRequest,
    selection: &Selection<'_>,
    config: &Config,
    teller: &Teller<'_>,
) -> Result<(Way, Value), Failure> {
    let kind = selection.target.kind;
    // A kernel in Python may name its file in the entry.
    let without_source = selection.implementation(config).sources.is_empty() && kind != TargetKind::Python;
    if request.only_rules || without_source {
        return Ok((Way::Static(None), Value::Null));
    }
    let build = |note: Option<String>| -> Result<(Way, Value), Failure> {
        let kernel = forge::compiled(file, &for_this_gpu(file, &request.selecting))?;
        let toolchain = match (forge::compiler(project, &kernel), &note) {
            // Most of Python is not compiled.
            (Err(_), Some(note)) if kind == TargetKind::Python => {
                return Ok((Way::Static(Some(note.clone())), Value::Null));
            }
            // Nobody asked for a build: without a compiler the rules are what there is.
            (Err(Failure::Fault(fault)), Some(note)) => {
                let why = format!("{note}, and no compiler: {}", fault.why);
                return Ok((Way::Static(Some(why)), Value::Null));
            }
            (found, _) => found?,
        };
        let ran_on = json!({ "compiler": toolchain.title() });
        Ok((Way::Built(Box::new(forge::one(project, &kernel, toolchain, config)?), note), ran_on))
    };
    if request.until_build {
        return build(None);
    }
    if selection.spec.reference.is_none() {
        return build(Some("the file has no [reference]".into()));
    }
    // The target is the one whose rules were shown, whatever else could be run here.
    let meant = Selecting { target: Some(kind.name().into()), ..request.selecting.clone() };
    let (selected, card) = match runnable(file, &meant) {
        Ok(found) => found,
        Err(_) if selection.target.on_gpu => {
            let note = Some("the ladder ends here: there is no GPU for this code to run on".to_string());
            return build(note);
        }
        Err(failure) => return Err(failure),
    };
    packages(&selected, teller)?;
    let opened = Opened { kernel: kernel(selected, &request.selecting.path)?, card };
    environment::refuse(&opened.kernel, opened.card.as_ref())?;
    let cache = if opened.card.is_some() { CacheState::Cold } else { CacheState::Warm };
    let settings = Settings { seed: seed(None)?, cache, ..Settings::default() };
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let _held = opened.lock(project, teller)?;
    let around = surroundings(project, &said, true, opened.card.as_ref())?;
    let mut bench = Bench::new(&opened.kernel, &settings, around)?;
    // Measuring what a processor can do takes a moment, and says nothing about a kernel whose work is not stated.
    if selection.spec.cost.flops.is_some() || selection.spec.cost.bytes.is_some() {
        bench.peaks = peaks(&bench).ok();
    }
    let ran_on = ground(&bench);
    Ok((Way::Climbed(Box::new(bench.ladder(config)?)), ran_on))
}
