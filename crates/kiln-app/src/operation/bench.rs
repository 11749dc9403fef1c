//! One configuration against baselines or another one, measured and compared. In: a kernel file, a configuration or a study
//! whose winner is meant. Out: figures on every workload, or what refused it; the run is recorded. A baseline that cannot be
//! measured on a workload is told there, with why.

mod alone;
mod recorded;

use std::io::Read;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Config, Outcome, Refusal, Report, Use};
use kiln_stats::Thresholds;
use kiln_study::{Baselines, Bench, Extent, Figures, Kernel, Rival, Settings, Versus, environment, peaks, versus};
use serde_json::Value;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{FEWEST_SAMPLES, KernelFile, Measuring, Opened, Selecting, surroundings};
use crate::place::writable;
use crate::project::Project;
use crate::record::chosen::Chosen;
use crate::seed::seed;
use crate::teller::{Listener, Teller};
pub use alone::{Baselined, baselines};
use kiln_session::SessionPhase;
pub(crate) use recorded::{Recorded, Setting, sides};

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct BenchRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// How times are taken.
    pub measuring: Measuring,
    /// Values as `NAME=VALUE,...`; tunables left out take their default.
    pub config: String,
    /// The winner of this study instead.
    pub study: Option<String>,
    /// Another configuration to compare with, or the study whose winner that is. Baselines then take part where named.
    pub against: Option<String>,
    /// One baseline instead of all.
    pub baseline: Option<String>,
    /// Go on until speedups are known to plus or minus this many per cent.
    pub width: f64,
    /// Samples on each side at most.
    pub max_samples: usize,
    /// On a GPU, end with fewer samples than asked for where they tell twice as much as `width` asks for.
    pub early: bool,
    /// Differences below this many per cent do not matter.
    pub dead_zone: f64,
    /// Include holdout workloads.
    pub all: bool,
    /// Write a run file, with every sample.
    pub save: Option<Utf8PathBuf>,
}

/// What was measured.
pub struct Benched<'a> {
    /// The kernel.
    pub kernel: Kernel<'a>,
    /// The configuration.
    pub config: Config,
    /// How it was measured.
    pub settings: Settings,
    /// On which GPU or processor.
    pub hardware: String,
    /// The figures, or what refused the configuration.
    pub outcome: Outcome<Vec<Versus>>,
    /// Workloads that were not measured to their end: it was interrupted.
    pub left: Vec<String>,
    /// The machine and its tools, as the run records them; null where nothing was run.
    pub ran_on: Value,
    /// The run as it is recorded; none where the configuration was refused.
    pub(crate) run: Option<Recorded>,
}

impl Benched<'_> {
    /// The commit that was measured, with `+` where there were changes on top; none outside of a repository, and where nothing ran.
    pub fn commit(&self) -> Option<&str> {
        self.run.as_ref()?.run.git_commit.as_deref()
    }

    /// Holdout workloads that this target has and that were not measured.
    pub fn holdouts_left(&self) -> Vec<&str> {
        let measured = |name: &str| match &self.outcome {
            Outcome::Passed(figures) => figures.iter().any(|one| one.workload == name),
            Outcome::Refused(_) => false,
        };
        let own = self.kernel.selection.spec.workloads.iter();
        let own = own.filter(|one| one.use_for == Use::Holdout && one.is_for(self.kernel.target()));
        own.map(|one| &*one.name).filter(|name| !measured(name)).collect()
    }
}

impl Ends for Benched<'_> {
    fn ending(&self) -> Ending {
        match self.outcome {
            Outcome::Passed(_) if !self.left.is_empty() => Ending::Interrupted,
            Outcome::Passed(_) if self.run.as_ref().is_some_and(|run| run.unsaved) => Ending::Failed,
            Outcome::Passed(_) => Ending::Done,
            Outcome::Refused(_) => Ending::Refused,
        }
    }
}

/// Measures a configuration.
pub fn bench<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &BenchRequest,
    listener: Listener<'_>,
) -> Result<Benched<'a>, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "bench", SessionPhase::Baseline, About::of(file, &request.selecting.path));
    trying.told(&teller, run(project, file, request, &teller))
}

/// The same for whoever has a voice already.
pub(crate) fn run<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &BenchRequest,
    teller: &Teller<'_>,
) -> Result<Benched<'a>, Failure> {
    teller.warn(&file.warnings);
    sensible(request)?;
    let began = Instant::now();
    let which = (request.config.as_str(), request.study.as_deref());
    let chosen = Chosen::new(project, file, &request.selecting, which, teller)?;
    let other = request.against.as_ref().map(|words| chosen.another(project, file, words)).transpose()?;
    let Chosen { opened, config, .. } = chosen;
    opened.baseline(request.baseline.as_deref())?;
    if let Some((refusal, _)) = opened.kernel.broken(&config) {
        let (settings, outcome) = (Settings::default(), Outcome::Refused(refusal));
        let (kernel, hardware, left) = (opened.kernel, String::new(), Vec::new());
        return Ok(Benched { kernel, config, settings, hardware, outcome, left, ran_on: Value::Null, run: None });
    }
    save_to(request.save.as_deref())?;
    let settings = settings(request, &opened)?;
    request.measuring.remarks(teller);
    let sides = (&config, other.as_ref());
    let (hardware, ran_on, (outcome, left, run)) =
        measure(project, &opened, &settings, sides, request, (teller, began))?;
    Ok(Benched { kernel: opened.kernel, config, settings, hardware, outcome, left, ran_on, run })
}

/// Bytes in which a run file says what it is.
const START: u64 = 4096;

/// Refuses a place for the run file before anything is measured.
fn save_to(save: Option<&Utf8Path>) -> Result<(), Failure> {
    let Some(file) = save else { return Ok(()) };
    writable("the run", file)?;
    if is_another(file) {
        let report = Report::error(format!("the run cannot be written to {file}"));
        return Err(report.label(format!("{file} is there, and is no run file: it would be lost")).into());
    }
    Ok(())
}

/// Whether a file holds something else than a run.
fn is_another(file: &Utf8Path) -> bool {
    let mut start = Vec::new();
    let read = fs_err::metadata(file).is_ok_and(|found| found.is_file())
        && fs_err::File::open(file).is_ok_and(|found| found.take(START).read_to_end(&mut start).is_ok());
    read && !start.is_empty() && !String::from_utf8_lossy(&start).contains(kiln_formats::RUN_FILE)
}

/// Refuses numbers that mean nothing, before anything is measured.
pub(crate) fn sensible(request: &BenchRequest) -> Result<(), Failure> {
    let BenchRequest { width, dead_zone, max_samples, .. } = *request;
    // First, for a usual number of samples gives way to it.
    if max_samples < FEWEST_SAMPLES {
        let report = Report::error(format!("--max-samples {max_samples} is too few"));
        return Err(report.label(format!("expected at least {FEWEST_SAMPLES}")).into());
    }
    let samples = request.measuring.checked_samples()?;
    request.measuring.checked_threads()?;
    // Not a number is in no range.
    if !(width > 0.0 && width <= 100.0) {
        let report = Report::error(format!("--width {width} is out of range"));
        return Err(report.label("expected per cent, above 0 and at most 100").into());
    }
    if !(0.0..100.0).contains(&dead_zone) {
        let report = Report::error(format!("--dead-zone {dead_zone} is out of range"));
        return Err(report.label("expected per cent, at least 0 and below 100").into());
    }
    if samples > max_samples {
        let report = Report::error(format!("--samples {samples} is more than --max-samples {max_samples}"));
        return Err(report.hint(format!("add --samples {max_samples}, or allow --max-samples {samples}")).into());
    }
    Ok(())
}

/// How it is measured.
pub(crate) fn settings(request: &BenchRequest, opened: &Opened<'_>) -> Result<Settings, Failure> {
    let (measuring, defaults) = (&request.measuring, Settings::default());
    Ok(Settings {
        seed: seed(measuring.seed)?,
        pairs: measuring.checked_samples()?.div_ceil(defaults.pair_samples),
        most_pairs: request.max_samples.div_ceil(defaults.pair_samples),
        width: request.width / 100.0,
        cache: measuring.cache_state(opened.card.as_ref()),
        threads: measuring.checked_threads()?,
        pin: measuring.pin,
        ..defaults
    })
}

/// What was measured or refused, what was left, and the run that is recorded of it.
type Found = (Outcome<Vec<Versus>>, Vec<String>, Option<Recorded>);

/// Sets the bench up and fights it out; also says on what, by name and in full.
fn measure(
    project: &Project,
    opened: &Opened<'_>,
    settings: &Settings,
    (config, other): (&Config, Option<&Config>),
    request: &BenchRequest,
    (teller, began): (&Teller<'_>, Instant),
) -> Result<(String, Value, Found), Failure> {
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let _held = opened.lock(project, teller)?;
    let around = surroundings(project, &said, true, opened.card.as_ref())?;
    let mut bench = Bench::new(&opened.kernel, settings, around)?;
    bench.peaks = peaks(&bench).ok();
    let hardware = bench.hardware().to_string();
    let ran_on = environment(&bench);
    let refused =
        |refusal: Refusal| Ok((hardware.clone(), ran_on.clone(), (Outcome::Refused(refusal), Vec::new(), None)));
    let (mut rivals, mut skipped) = (Vec::new(), Vec::new());
    if let Some(other) = other {
        let name = difference(other, config);
        match bench.subject(other)? {
            Outcome::Passed(subject) => rivals.push(Rival { name, subject, judged: true }),
            Outcome::Refused(refusal) => return refused(refusal),
        }
    }
    if other.is_none() || request.baseline.is_some() {
        let baselines = Baselines::find(&bench, request.baseline.as_deref())?;
        rivals.extend(baselines.ready.iter().map(Rival::baseline));
        skipped = baselines.skipped;
    }
    let subject = match bench.subject(config)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return refused(refusal),
    };
    if let Some((refusal, _)) = bench.quick_check(&subject)? {
        return refused(refusal);
    }
    let thresholds = Thresholds::with_dead_zone(request.dead_zone / 100.0);
    match versus(&bench, &subject, &rivals, &thresholds, Extent { all: request.all, early: request.early })? {
        Ok(Figures { workloads: mut figures, left }) => {
            // What cannot be had here cannot be measured on any workload.
            figures.iter_mut().for_each(|figure| _ = figure.unmeasured.splice(0..0, skipped.iter().cloned()));
            let (path, save) = (&request.selecting.path, request.save.as_deref());
            let setting = Setting { bench: &bench, path, config: Some(config), began, save };
            let run = setting.record_figures(project, &figures, teller)?;
            Ok((hardware, ran_on, (Outcome::Passed(figures), left, Some(run))))
        }
        Err(lost) => refused(lost.refusal),
    }
}

/// What a rival is called: the values in which it differs.
fn difference(other: &Config, config: &Config) -> String {
    let differs = |(name, value): &(&std::sync::Arc<str>, &kiln_core::Value)| config.get(name) != Some(*value);
    let values = other.iter().filter(differs).map(|(name, value)| (name.clone(), value.clone()));
    let only = Config::new(values.collect());
    if only.is_empty() { "itself".into() } else { only.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rival_is_called_by_what_differs() {
        let config = |text: &str| Config::parse(text).unwrap();
        assert_eq!(difference(&config("A=1,B=8,C=x"), &config("A=1,B=4,C=y")), "B=8,C=x");
        assert_eq!(difference(&config("A=1"), &config("A=1")), "itself");
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        let measuring = Measuring { samples: 100, cold: false, warm: false, threads: 1, pin: true, seed: None };
        let fine = BenchRequest {
            selecting: Selecting::default(),
            measuring,
            config: String::new(),
            study: None,
            against: None,
            baseline: None,
            width: 1.0,
            max_samples: 500,
            early: true,
            dead_zone: 0.0,
            all: false,
            save: None,
        };
        assert!(sensible(&fine).is_ok());
        let refused = |request: BenchRequest| sensible(&request).unwrap_err().to_string();
        for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(BenchRequest { width, ..fine.clone() }).contains("above 0 and at most 100"));
        }
        for dead_zone in [-5.0, f64::NAN, 100.0] {
            assert!(refused(BenchRequest { dead_zone, ..fine.clone() }).contains("at least 0 and below 100"));
        }
        assert!(refused(BenchRequest { max_samples: 99, ..fine.clone() }).contains("allow --max-samples 100"));
    }
}
