//! `kiln tune`: the whole loop, from the default configuration to a confirmed winner.

use std::time::Instant;

use camino::Utf8PathBuf;
use kiln_core::{Fault, Report};
use kiln_run::Card;
use kiln_show::{Progress, SummaryView};
use kiln_store::{State, Store, Study};
use kiln_study::{
    Bench, Budget, Event, Kernel, Record, Settings, TuneVerdict, adopt, environment, peaks, table, tune, write_best,
};
use serde_json::json;

use crate::args::{TuneArgs, Until};
use crate::exit::{Failure, Success};
use crate::forge;
use crate::load::load;
use crate::output;
use crate::prior;
use crate::resume;
use crate::seed::seed;
use crate::work;

pub(crate) fn run(args: &TuneArgs) -> Result<Success, Failure> {
    if let Some(Until::Build) = args.until {
        return forge::run(args);
    }
    let store = Store::open(&work::store())?;
    let loaded = load(&args.selecting.path)?;
    output::warnings(&loaded.warnings);
    let (selecting, beside) = work::devices(&args.selecting);
    let (selection, card) = work::runnable(&loaded, &selecting)?;
    let kernel = work::kernel(selection, &args.selecting.path)?;
    if args.replay.is_none() {
        work::preflight(&kernel.selection, &selecting)?;
    }
    let begun = match (&args.replay, &args.resume) {
        (Some(name), _) => Some(store.find(name)?),
        (None, Some(name)) => Some(resume::study(&store, name, &kernel)?),
        (None, None) => None,
    };
    let settings = match &begun {
        Some(study) => resume::settings(study, &kernel, &spec_hash(&kernel), &args.selecting)?,
        None => settings(args, &kernel, card.as_ref(), &store)?,
    };
    let priors = prior::read(&settings.priors)?;
    let folder: Utf8PathBuf =
        args.out.clone().unwrap_or_else(|| format!("{}/best/{}", work::FOLDER, kernel.name()).into());
    if args.adopt {
        table(&kernel)?;
    }
    if args.replay.is_none() {
        // Not after an hour of work.
        fs_err::create_dir_all(&folder).map_err(|e| Fault::new(format!("making {folder} for the winner"), e))?;
        resume::others(&store)?;
    }
    let progress = Progress::new();
    let listener = |event: &Event<'_>| progress.hear(event);
    let live = args.replay.is_none();
    let card = card.filter(|_| live);
    let others = work::others(&beside, card.as_ref())?;
    let _held = work::lock(card.iter().chain(&others))?;
    let mut bench = Bench::new(&kernel, &settings, work::surroundings(&listener, live, card.as_ref())?)?;
    bench.priors = priors;
    for card in &others {
        bench.add_device(Some(card.uuid.clone()))?;
    }
    let spent = begun.as_ref().map_or(0.0, |s| s.seconds);
    let study = match begun {
        Some(study) => study,
        None => {
            bench.peaks = peaks(&bench).ok();
            let study = new_study(args, &kernel, &settings, &bench);
            store.begin(&study)?;
            store.note(&study.id, study.started_ms, resume::SOURCES, &kernel.fingerprint()?)?;
            study
        }
    };
    if bench.peaks.is_none() && live {
        bench.peaks = peaks(&bench).ok();
    }
    let record = if live {
        store.reopen(&study.id, &owner(&bench))?;
        Record::in_store(&store, &study.id, settings.cache)?
    } else {
        Record::replay(&store, &study.id, settings.cache)?
    };
    listener(&Event::Study {
        study: &study.id,
        kernel: kernel.name(),
        target: kernel.target(),
        configurations: kernel.space.len(),
        workloads: kernel.selection.workloads.iter().map(|w| &*w.name).collect(),
        seed: settings.seed,
        recorded: record.len(),
    });
    let budget = Budget::new(minutes(args));
    let ended = tune(&mut bench, &record, &budget, &study.id, spent);
    let seconds = spent + budget.elapsed(Instant::now()).as_secs_f64();
    let now = jiff::Timestamp::now().as_millisecond();
    let summary = match ended {
        Ok(summary) => summary,
        Err(trouble) => {
            let interrupted = work::interrupted();
            if live {
                let state = if interrupted { State::Interrupted } else { State::Failed };
                store.finish(&study.id, state, None, None, now, seconds)?;
            }
            if interrupted {
                let adopt = if args.adopt { " --adopt" } else { "" };
                let next = format!("kiln tune {} --resume {}{adopt}", args.selecting.path, study.short_id());
                eprintln!("interrupted; go on with: {next}");
                if args.json {
                    let report = Report::error("interrupted").hint(next);
                    output::data(&format!("{}\n", json!({ "errors": [report], "study": study.id })))?;
                }
                return Ok(Success::Interrupted);
            }
            // A full disk or a lost tool can be put right; what was done need not be done again.
            if live && store.trials(&study.id).is_ok_and(|trials| !trials.is_empty()) {
                eprintln!(
                    "what is done is saved; go on with: kiln tune {} --resume {}",
                    args.selecting.path,
                    study.short_id()
                );
            }
            return Err(trouble.into());
        }
    };
    let mut files = Vec::new();
    let mut adopted = Ok(None);
    if live {
        let object = json!(summary);
        store.finish(&study.id, State::Finished, Some(summary.verdict.name()), Some(&object), now, seconds)?;
        if let Some(written) = write_best(&kernel, &summary, bench.hardware(), &folder)? {
            files = vec![written.toml.to_string(), written.header.to_string()];
        }
        if args.adopt {
            adopted = adopt(&kernel, &summary, bench.hardware());
            files.extend(adopted.iter().flatten().map(ToString::to_string));
        }
        // A cache that is too large is no reason to lose the result.
        if let Err(fault) = bench.trim_cache() {
            eprintln!("note: {fault}");
        }
    }
    if args.json {
        output::data(&format!("{}\n", json!(summary)))?;
    } else {
        let next = next(args, &summary.verdict, study.short_id());
        output::data(&SummaryView { summary: &summary, files: &files, next: &next }.to_string())?;
    }
    // After what was found is told.
    adopted?;
    Ok(match summary.verdict {
        TuneVerdict::Reached => Success::Done,
        TuneVerdict::NoValidCandidate => Success::Refused,
        TuneVerdict::NotReached | TuneVerdict::Stopped => Success::NotReached,
    })
}

fn settings(args: &TuneArgs, kernel: &Kernel<'_>, card: Option<&Card>, store: &Store) -> Result<Settings, Failure> {
    sensible(args, kernel)?;
    let priors = match (&args.prior[..], args.no_prior) {
        ([], false) => prior::automatic(store, kernel)?,
        (named, _) => named.to_vec(),
    };
    let defaults = Settings::default();
    let (seed_trials, search_trials) = match args.trials {
        Some(trials) => (trials.min(defaults.seed_trials), trials.saturating_sub(defaults.seed_trials)),
        None => (defaults.seed_trials, defaults.search_trials),
    };
    let known = kiln_search::Kind::parse(&args.strategy);
    known.map_err(|e| Report::error(format!("--strategy: {e}")))?;
    // Fewer than five pairs of workers decide nothing.
    if args.measuring.samples < 25 {
        return Err(Report::error(format!("--samples {}", args.measuring.samples))
            .label("expected at least 25")
            .into());
    }
    Ok(Settings {
        seed: seed(args.measuring.seed)?,
        strategy: args.strategy.clone(),
        priors,
        seed_trials,
        search_trials,
        pairs: args.measuring.samples.div_ceil(defaults.pair_samples),
        workload: args.selecting.workload.clone(),
        baseline: args.baseline.clone(),
        stop_rule: !args.no_stop,
        cache: work::cache_state(&args.measuring, card),
        // Compilers for a GPU run on every processor, and must have something to do.
        ahead: if card.is_some() { kiln_study::Machine::look().cpus.len().max(defaults.ahead) } else { defaults.ahead },
        threads: work::threads(&args.measuring)?,
        pin: !args.measuring.no_pin,
        ablation: !args.no_ablation,
        target_speedup: args.target_speedup,
        ..defaults
    })
}

/// Refuses numbers that mean nothing, and a baseline the file does not have.
fn sensible(args: &TuneArgs, kernel: &Kernel<'_>) -> Result<(), Failure> {
    let above_zero = |flag: &str, value: Option<f64>| match value {
        Some(v) if !(v.is_finite() && v > 0.0) => {
            Err(Report::error(format!("--{flag} {v}")).label("expected a number above 0"))
        }
        _ => Ok(()),
    };
    above_zero("minutes", args.minutes)?;
    above_zero("cost", args.cost)?;
    above_zero("price", args.price)?;
    above_zero("target-speedup", args.target_speedup)?;
    work::baseline(kernel, args.baseline.as_deref())
}

fn minutes(args: &TuneArgs) -> Option<f64> {
    let bought = args.cost.zip(args.price).map(|(cost, price)| Budget::minutes_for(cost, price));
    match (args.minutes, bought) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn spec_hash(kernel: &Kernel<'_>) -> String {
    blake3::hash(kernel.selection.spec.source.text.as_bytes()).to_hex()[..16].to_string()
}

fn owner(bench: &Bench<'_>) -> String {
    format!("{}@{}", std::process::id(), bench.machine.host)
}

fn new_study(args: &TuneArgs, kernel: &Kernel<'_>, settings: &Settings, bench: &Bench<'_>) -> Study {
    Study {
        id: Study::new_id(),
        started_ms: jiff::Timestamp::now().as_millisecond(),
        ended_ms: None,
        state: State::Running,
        owner: owner(bench),
        kernel: kernel.name().into(),
        path: args.selecting.path.to_string(),
        target: kernel.target().into(),
        arch: kernel.selection.arch.map(|a| a.name().to_string()),
        variant: kernel.variant(),
        seed: settings.seed,
        strategy: settings.strategy.clone(),
        options: json!(settings),
        environment: environment(bench),
        git_commit: git_commit(kernel),
        spec_hash: spec_hash(kernel),
        spec_text: kernel.selection.spec.source.text.to_string(),
        kiln_version: env!("CARGO_PKG_VERSION").into(),
        verdict: None,
        summary: None,
        seconds: 0.0,
    }
}

/// The commit the kernel's folder is at, with a `+` when files differ from it; none outside a repository.
fn git_commit(kernel: &Kernel<'_>) -> Option<String> {
    let git = |words: &[&str]| {
        let output = std::process::Command::new("git").arg("-C").arg(&kernel.folder).args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", "."])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}+") })
}

/// What makes sense now.
fn next(args: &TuneArgs, verdict: &TuneVerdict, short: &str) -> Vec<String> {
    let path = &args.selecting.path;
    match verdict {
        TuneVerdict::Reached => vec![format!("kiln show {short}"), format!("kiln bench {path} --study {short}")],
        TuneVerdict::NotReached => {
            vec![format!("kiln show {short}"), format!("kiln tune {path} --trials {}", 2 * args.trials.unwrap_or(120))]
        }
        TuneVerdict::NoValidCandidate => vec![format!("kiln show {short}"), format!("kiln gate {path}")],
        TuneVerdict::Stopped => vec![format!("kiln show {short}"), format!("kiln tune {path} --no-stop")],
    }
}
