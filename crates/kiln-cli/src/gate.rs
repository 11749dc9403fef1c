//! `kiln gate`: one configuration up the ladder: the static rules, then build, launch, check and a first measurement.

use std::sync::Arc;

use kiln_core::{Config, Outcome, Report, Value, nearest};
use kiln_show::{BuiltView, GateView, LadderView};
use kiln_space::Problem;
use kiln_spec::{Selection, TargetKind, Tunable};
use kiln_study::{Bench, CacheState, Evaluation, Event, Forged, Settings, toolchain};

use crate::args::{GateArgs, Selecting, Until};
use crate::exit::{Failure, Success};
use crate::forge;
use crate::load::{Loaded, load};
use crate::output;
use crate::seed::seed;
use crate::work;

pub(crate) fn run(args: &GateArgs) -> Result<Success, Failure> {
    let loaded = load(&args.selecting.path)?;
    let selecting = work::for_this_gpu(&loaded, &args.selecting);
    let selection = loaded.select(&selecting)?;
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    let (config, defaulted) = complete(&selection, &args.config)?;
    let judgements = problem.judge(&config);
    let view = GateView { selection: &selection, config: &config, defaulted: &defaulted, judgements: &judgements };
    let way = if view.passed() { climb(args, &loaded, &selection, &config)? } else { Way::Static(None) };
    let passed = view.passed() && way.passed();
    if args.json {
        let mut object = view.json();
        if let Some(map) = object.as_object_mut() {
            map.insert("passed".into(), passed.into());
            match &way {
                Way::Static(_) => {}
                Way::Built(forged, _) => {
                    map.insert("build".into(), BuiltView { forged }.json());
                }
                Way::Climbed(evaluation) => {
                    map.insert("ladder".into(), LadderView { evaluation }.json());
                }
            }
        }
        output::data(&format!("{object}\n"))?;
    } else {
        output::warnings(&loaded.warnings);
        output::data(&view.to_string())?;
        match &way {
            Way::Static(_) => {}
            Way::Built(forged, _) => output::data(&BuiltView { forged }.to_string())?,
            Way::Climbed(evaluation) => output::data(&LadderView { evaluation }.to_string())?,
        }
        if let Way::Static(Some(note)) | Way::Built(_, Some(note)) = &way {
            output::note(note);
        }
    }
    Ok(if passed { Success::Done } else { Success::Refused })
}

/// How far a configuration was taken.
enum Way {
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
}

/// Builds, runs, checks and measures it, as far as is asked for, the target can be run here and the file says what is right.
fn climb(args: &GateArgs, loaded: &Loaded, selection: &Selection<'_>, config: &Config) -> Result<Way, Failure> {
    let kind = selection.target.kind;
    // A kernel in Python may name its file in the entry.
    let without_source = selection.target.sources.is_empty() && kind != TargetKind::Python;
    if args.r#static || without_source {
        return Ok(Way::Static(None));
    }
    let build = |note: Option<String>| -> Result<Way, Failure> {
        let kernel = forge::kernel(loaded, &work::for_this_gpu(loaded, &args.selecting))?;
        let toolchain = match (toolchain(&kernel, &work::program()?), &note) {
            // Nobody asked for a build: without a compiler the rules are what there is.
            (Err(fault), Some(note)) => {
                return Ok(Way::Static(Some(format!("{note}, and no compiler: {}", fault.why))));
            }
            (found, _) => found?,
        };
        Ok(Way::Built(Box::new(forge::one(&kernel, toolchain, config)?), note))
    };
    if args.until == Some(Until::Build) {
        return build(None);
    }
    if selection.spec.reference.is_none() {
        return if kind == TargetKind::Cuda {
            build(Some("the file has no [reference]".into()))
        } else {
            Ok(Way::Static(None))
        };
    }
    // The target is the one whose rules were shown, whatever else could be run here.
    let meant = Selecting { target: Some(kind.name().into()), ..args.selecting.clone() };
    let (runnable, card) = match work::runnable(loaded, &meant) {
        Ok(found) => found,
        Err(_) if selection.target.on_gpu => {
            let note = Some("the ladder ends here: there is no GPU for this code to run on".to_string());
            return if kind == TargetKind::Cuda { build(note) } else { Ok(Way::Static(note)) };
        }
        Err(failure) => return Err(failure),
    };
    let kernel = work::kernel(runnable, &args.selecting.path)?;
    let cache = if card.is_some() { CacheState::Cold } else { CacheState::Warm };
    let settings = Settings { seed: seed(None)?, cache, ..Settings::default() };
    let listener = |event: &Event<'_>| {
        if let Event::Note { text } = event {
            eprintln!("note: {text}");
        }
    };
    let _held = work::lock(card.as_ref())?;
    let mut bench = Bench::new(&kernel, &settings, work::surroundings(&listener, true, card.as_ref())?)?;
    Ok(Way::Climbed(Box::new(bench.ladder(config)?)))
}

/// The given values with the rest from the default, in declaration order, and the names that were filled in.
pub(crate) fn complete(selection: &Selection<'_>, typed: &str) -> Result<(Config, Vec<String>), Failure> {
    let given = Config::parse(typed).map_err(|e| Report::error(format!("--config: {e}")))?;
    let tunables = &selection.target.tunables;
    let mut wrong: Vec<Report> = Vec::new();
    for (name, _) in given.iter().filter(|(n, _)| !tunables.iter().any(|t| t.name == **n)) {
        let known = tunables.iter().map(|t| &*t.name);
        let near = nearest(name, known.clone()).map(|near| format!("did you mean {near}?"));
        let known: Vec<&str> = known.collect();
        let report = Report::error(format!("--config: {name} is not a tunable"));
        wrong.push(report.label(format!("expected one of {}", known.join(", "))).maybe_hint(near));
    }
    let mut entries = Vec::with_capacity(tunables.len());
    let (mut defaulted, mut missing) = (Vec::new(), Vec::new());
    for tunable in tunables {
        match given.get(&tunable.name) {
            Some(value) => match listed(tunable, value) {
                Some(value) => entries.push((tunable.name.clone(), value)),
                None => wrong.push(unlisted(tunable, value)),
            },
            None => match default(selection, tunable) {
                Some(value) => {
                    defaulted.push(tunable.name.to_string());
                    entries.push((tunable.name.clone(), value));
                }
                None => missing.push(tunable),
            },
        }
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|t| &*t.name).collect();
        let example: Vec<String> = missing.iter().map(|t| format!("{}={}", t.name, t.values[0])).collect();
        let report = Report::error(format!("--config lacks {}; the file has no default there", names.join(", ")));
        wrong.push(report.hint(format!("add {}", example.join(","))));
    }
    if wrong.is_empty() { Ok((Config::new(entries), defaulted)) } else { Err(wrong.into()) }
}

fn default<'s>(selection: &'s Selection<'_>, tunable: &Tunable) -> Option<Value> {
    let of = |config: &'s [(Arc<str>, Value)]| config.iter().find(|(n, _)| *n == tunable.name).map(|(_, v)| v);
    let stated = selection.tuned().and_then(|entry| of(&entry.config)).or_else(|| of(&selection.target.default));
    match (&tunable.values[..], stated) {
        (_, Some(value)) => Some(value.clone()),
        ([only], None) => Some(only.clone()),
        _ => None,
    }
}

/// The listed value a typed one means: `2` means `2.0`, `1` means `true` and `64` means `"64"` where that is listed.
fn listed(tunable: &Tunable, typed: &Value) -> Option<Value> {
    let exact = tunable.values.iter().find(|v| *v == typed);
    let alike = || tunable.values.iter().find(|v| kiln_expr::equal(v, typed));
    // A list of strings may hold "64", which is typed like a number.
    let spelt = || tunable.values.iter().find(|v| v.to_string() == typed.to_string());
    exact.or_else(alike).or_else(spelt).cloned()
}

fn unlisted(tunable: &Tunable, value: &Value) -> Report {
    let values: Vec<String> = tunable.values.iter().map(Value::to_string).collect();
    Report::error(format!("--config: {} is not a value of {}", value, tunable.name))
        .label(format!("expected one of {}", values.join(", ")))
}
