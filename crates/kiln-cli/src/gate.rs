//! `kiln gate`: one configuration up the ladder: the static rules, then build, launch, check and a first measurement.

use kiln_core::{Config, Report, Value, nearest};
use kiln_loop::{Bench, Evaluation, Event, Settings};
use kiln_show::{GateView, LadderView};
use kiln_space::Problem;
use kiln_spec::{Selection, Target, TargetKind, Tunable};

use crate::args::GateArgs;
use crate::exit::{Failure, Success};
use crate::load::load;
use crate::output;
use crate::seed::seed;
use crate::work;

pub(crate) fn run(args: &GateArgs) -> Result<Success, Failure> {
    let loaded = load(&args.selecting.path)?;
    let selection = loaded.select(&args.selecting)?;
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    let (config, defaulted) = complete(&selection, &args.config)?;
    let judgements = problem.judge(&config);
    let view = GateView { selection: &selection, config: &config, defaulted: &defaulted, judgements: &judgements };
    let ladder = if view.passed() && !args.r#static { climb(args, &selection, &config)? } else { None };
    let ladder = ladder.as_ref().map(|evaluation| LadderView { evaluation });
    if args.json {
        let mut object = view.json();
        if let (Some(map), Some(ladder)) = (object.as_object_mut(), &ladder) {
            map.insert("passed".into(), ladder.passed().into());
            map.insert("ladder".into(), ladder.json());
        }
        output::data(&format!("{object}\n"))?;
    } else {
        output::warnings(&loaded.warnings);
        output::data(&view.to_string())?;
        if let Some(ladder) = &ladder {
            output::data(&ladder.to_string())?;
        } else if view.passed() && !args.r#static && selection.target.kind == TargetKind::Cuda {
            output::note(&unclimbed(&loaded.spec.targets));
        }
    }
    let passed = view.passed() && ladder.is_none_or(|l| l.passed());
    Ok(if passed { Success::Done } else { Success::Refused })
}

/// Why the ladder ends at the static rules, and which target goes further.
fn unclimbed(targets: &[Target]) -> String {
    let here = targets.iter().map(|t| t.kind).find(|kind| *kind != TargetKind::Cuda);
    let further = here.map_or(String::new(), |kind| format!("; --target {} takes that one further", kind.name()));
    format!("this version of kiln does not build or run cuda targets{further}")
}

/// Builds, runs, checks and measures it, where the target can be run here and the file says what is right.
fn climb(args: &GateArgs, selection: &Selection<'_>, config: &Config) -> Result<Option<Evaluation>, Failure> {
    let kind = selection.target.kind;
    // A kernel in Python may name its file in the entry.
    let without_source = selection.target.sources.is_empty() && kind != TargetKind::Python;
    if kind == TargetKind::Cuda || without_source || selection.spec.reference.is_none() {
        return Ok(None);
    }
    let kernel = work::kernel(selection.clone(), &args.selecting.path)?;
    let settings = Settings { seed: seed(None)?, ..Settings::default() };
    let listener = |event: &Event<'_>| {
        if let Event::Note { text } = event {
            eprintln!("note: {text}");
        }
    };
    let mut bench = Bench::new(&kernel, &settings, work::surroundings(&listener, true)?)?;
    Ok(Some(bench.ladder(config)?))
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

fn default(selection: &Selection<'_>, tunable: &Tunable) -> Option<Value> {
    let stated = selection.target.default.iter().find(|(n, _)| *n == tunable.name).map(|(_, v)| v);
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
