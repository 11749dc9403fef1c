//! `kiln bench`: one configuration against baselines, measured and compared.

use kiln_core::{Config, Fault, Outcome, Report};
use kiln_show::{BenchView, Progress};
use kiln_stats::Thresholds;
use kiln_store::{Store, Study};
use kiln_study::{Baselines, Bench, Event, Kernel, Settings, peaks, versus};

use crate::args::{BenchArgs, Selecting};
use crate::exit::{Failure, Success};
use crate::gate::complete;
use crate::load::load;
use crate::output;
use crate::seed::seed;
use crate::work;

pub(crate) fn run(args: &BenchArgs) -> Result<Success, Failure> {
    let loaded = load(&args.selecting.path)?;
    output::warnings(&loaded.warnings);
    let study = args.study.as_ref().map(|name| Store::open(&work::store())?.find(name)).transpose()?;
    let selecting = match &study {
        Some(study) => of_study(&args.selecting, study),
        None => args.selecting.clone(),
    };
    let (selection, card) = work::runnable(&loaded, &selecting)?;
    let kernel = work::kernel(selection, &args.selecting.path)?;
    work::preflight(&kernel.selection, &selecting)?;
    let config = config(args, study.as_ref(), selecting.workload.as_deref(), &kernel)?;
    work::baseline(&kernel, args.baseline.as_deref())?;
    if let Some((refusal, _)) = kernel.broken(&config) {
        return refused(args, &refusal);
    }
    let defaults = Settings::default();
    let settings = Settings {
        seed: seed(args.measuring.seed)?,
        pairs: args.measuring.samples.div_ceil(defaults.pair_samples).max(5),
        most_pairs: args.max_samples.div_ceil(defaults.pair_samples),
        width: args.width / 100.0,
        cache: work::cache_state(&args.measuring, card.as_ref()),
        threads: work::threads(&args.measuring)?,
        pin: !args.measuring.no_pin,
        ..defaults
    };
    let progress = Progress::new();
    let listener = |event: &Event<'_>| progress.hear(event);
    let _held = work::lock(card.as_ref())?;
    let mut bench = Bench::new(&kernel, &settings, work::surroundings(&listener, true, card.as_ref())?)?;
    bench.peaks = peaks(&bench).ok();
    let baselines = Baselines::find(&bench, args.baseline.as_deref())?;
    for (name, why) in &baselines.skipped {
        eprintln!("note: baseline {name} is skipped: {why}");
    }
    let subject = match bench.subject(&config)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return refused(args, &refusal),
    };
    if let Some((refusal, _)) = bench.quick_check(&subject)? {
        return refused(args, &refusal);
    }
    let thresholds = Thresholds::with_dead_zone(args.dead_zone / 100.0);
    let figures = match versus(&bench, &subject, &baselines.ready, &thresholds, args.all)? {
        Ok(figures) => figures,
        Err(lost) if lost.subject == 0 => return refused(args, &lost.refusal),
        Err(lost) => {
            let name = &baselines.ready[lost.subject - 1].name;
            let why = format!("{}: {}", lost.refusal.gate, lost.refusal.measured);
            return Err(Fault::new(format!("measuring baseline {name} on {}", lost.workload), why).into());
        }
    };
    let view = BenchView {
        kernel: &kernel,
        config: &config,
        settings: &settings,
        processor: bench.hardware(),
        figures: &figures,
    };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(Success::Done)
}

/// What a study was about, where the flags say nothing else: its winner may be valid for that alone.
fn of_study(selecting: &Selecting, study: &Study) -> Selecting {
    let workload = || study.options["workload"].as_str().map(String::from);
    let variant = || Some(study.variant.clone()).filter(|variant| !variant.is_empty());
    Selecting {
        target: selecting.target.clone().or_else(|| Some(study.target.clone())),
        variant: selecting.variant.clone().or_else(variant),
        workload: selecting.workload.clone().or_else(workload),
        ..selecting.clone()
    }
}

/// The configuration asked for: typed, a study's winner, or the default.
fn config(
    args: &BenchArgs,
    study: Option<&Study>,
    workload: Option<&str>,
    kernel: &Kernel<'_>,
) -> Result<Config, Failure> {
    let typed = match study {
        Some(study) => {
            let won = winner(study, workload)?;
            let word = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), |s| format!("\"{s}\""));
            won.iter().map(|(name, value)| format!("{name}={}", word(value))).collect::<Vec<_>>().join(",")
        }
        None => args.config.clone(),
    };
    let (config, _) = complete(&kernel.selection, &typed)?;
    Ok(config)
}

/// The winner of a study, or the one of a workload where each has its own.
fn winner<'s>(
    study: &'s Study,
    workload: Option<&str>,
) -> Result<&'s serde_json::Map<String, serde_json::Value>, Failure> {
    let summary = study.summary.as_ref();
    if let Some(won) = summary.and_then(|s| s.get("config")).and_then(|c| c.as_object()) {
        return Ok(won);
    }
    let rows = summary.and_then(|s| s.get("workloads")).and_then(|w| w.as_array()).map_or(&[][..], Vec::as_slice);
    let apart: Vec<_> =
        rows.iter().filter_map(|w| Some((w.get("name")?.as_str()?, w.get("config")?.as_object()?))).collect();
    if let Some((_, won)) = apart.iter().find(|(name, _)| Some(*name) == workload) {
        return Ok(won);
    }
    let names: Vec<&str> = apart.iter().map(|(name, _)| *name).collect();
    let report = Report::error(format!("study {} has no winner", study.id));
    let hint = format!("each workload has its own: choose --workload {}", names.join(" or --workload "));
    Err(report.maybe_hint((!names.is_empty()).then_some(hint)).into())
}

fn refused(args: &BenchArgs, refusal: &kiln_core::Refusal) -> Result<Success, Failure> {
    if args.json {
        output::data(&format!("{}\n", serde_json::json!({ "refused": refusal })))?;
    } else {
        output::data(&kiln_show::refusal(refusal))?;
    }
    Ok(Success::Refused)
}
