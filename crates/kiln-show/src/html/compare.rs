//! Two studies, or two runs, beside each other. In: looks at both, or what was compared. Out: their facts in columns, what differs between them, their figures.

use std::collections::BTreeMap;

use kiln_app::{Compared, StudyLook};
use kiln_core::Config;
use kiln_store::Environment;

use super::study::outcome::summary;
use super::study::searches::Searched;
use super::{Address, Block, Cell, Section, Table, View};
use crate::results::compare::{CompareView, p_value};
use crate::studies::past::{Past, speedup_is, tried};
use crate::words::number::{duration, stretch};

/// Settings that the facts have.
const SHOWN_ABOVE: [&str; 3] = ["seed", "strategy", "baseline"];

/// Two studies.
pub fn compare_sections(a: &StudyLook, b: &StudyLook, view: &View) -> Vec<Section> {
    let looks = [a, b];
    let pasts = looks.map(|look| Past::of(&look.story.now));
    let names = [0, 1].map(|at| format!("{} {}", pasts[at].study.kernel, pasts[at].study.short_id()));
    let titles = ["fact", names[0].as_str(), names[1].as_str()];
    let mut facts = Table::new("The two studies", &titles);
    for (at, past) in pasts.iter().enumerate() {
        let id = past.study.short_id().to_string();
        facts.columns[at + 1].link = view.is_page.then(|| Address::Study(id, String::new()).to_string());
    }
    let mut row = |name: &str, cell: &dyn Fn(usize) -> Cell| {
        facts.row(vec![name.into(), cell(0), cell(1)]);
    };
    row("state", &|at| pasts[at].state.name().into());
    row("verdict", &|at| pasts[at].study.verdict.clone().unwrap_or("-".into()).into());
    row("device", &|at| pasts[at].device().into());
    row("target", &|at| format!("{} {}", pasts[at].study.target, pasts[at].study.variant).trim().into());
    row("configurations tried", &|at| Cell::figure(pasts[at].trials as f64, tried(&pasts[at])));
    row("took", &|at| Cell::figure(pasts[at].seconds, stretch(pasts[at].seconds)));
    row("strategy", &|at| pasts[at].study.strategy.clone().into());
    row("seed", &|at| pasts[at].study.seed.to_string().into());
    row("commit", &|at| pasts[at].study.git_commit.clone().unwrap_or("-".into()).into());
    row("kernel file", &|at| Cell::code(pasts[at].study.spec_hash.chars().take(12).collect::<String>()));
    row("baseline", &|at| baseline(looks[at]).unwrap_or("-").into());
    row("speedup", &|at| {
        let over = baseline(looks[at]).map_or(String::new(), |name| format!(" over {name}"));
        let of = speedup_is(&pasts[at].study).map_or(String::new(), |words| format!(", {words}"));
        pasts[at].speedup().map_or("-".into(), |(value, _)| Cell::figure(value, format!("{value:.2}x{over}{of}")))
    });
    row("95 % interval", &|at| {
        pasts[at].speedup().map_or("-".into(), |(_, [low, high])| format!("[{low:.2}, {high:.2}]").into())
    });
    row("kiln", &|at| pasts[at].study.kiln_version.clone().into());
    let mut sections =
        vec![Section::new("compared", format!("{} beside {}", names[0], names[1]), vec![Block::Table(facts)])];
    sections.push(Section::new("workloads", "Workloads", workloads(looks, &titles)));
    sections.push(Section::new("winners", "Winning configurations", vec![winners(looks, &titles)]));
    sections.push(Section::new("environment", "What else differs", vec![differences(looks, &titles)]));
    let figures = looks.iter().flat_map(|look| Searched::of(look, &kiln_app::TrialFilter::default()).convergence());
    let figures: Vec<Block> = figures.map(Block::Figure).collect();
    if !figures.is_empty() {
        sections.push(Section::new("convergence", "Convergence", figures));
    }
    sections
}

/// Who the winner's speedup is over.
fn baseline(look: &StudyLook) -> Option<&str> {
    let asked = || look.story.now.study.options.read().ok()?.baseline.as_deref();
    summary(look).and_then(|summary| summary.baseline.as_deref()).or_else(asked)
}

/// Times of the winners. They were measured at different times: what differs may be the machine.
fn workloads(looks: [&StudyLook; 2], titles: &[&str; 3]) -> Vec<Block> {
    let found = looks.map(|look| summary(look).map(|summary| summary.workloads.clone()).unwrap_or_default());
    let mut names: Vec<&String> = Vec::new();
    for one in found.iter().flatten() {
        if !names.contains(&&one.name) {
            names.push(&one.name);
        }
    }
    if names.is_empty() {
        return vec![Block::words("Neither has confirmed figures.")];
    }
    let has_none = found.each_ref().map(Vec::is_empty);
    let caption = match looks.map(baseline) {
        [one, other] if has_none != [false, false] => {
            let (with, over, without) = if has_none[1] { ("first", one, "second") } else { ("second", other, "first") };
            let over = over.unwrap_or("an unnamed baseline");
            format!(
                "Times of the {with} study's winner, and its speedup over {over}; the {without} study has no result"
            )
        }
        [Some(one), Some(other)] if one == other => {
            format!("Times of the winners, and their speedup over {one}; the studies ran at different times")
        }
        [one, other] => {
            let [one, other] = [one, other].map(|name| name.unwrap_or("an unnamed baseline"));
            format!(
                "Times of the winners, and their speedup over {one} in the first study and over {other} in the second: the \
                 speedups do not compare; the studies ran at different times"
            )
        }
    };
    let mut table = Table::new(caption, &["workload", titles[1], titles[2], "second over first #"]);
    let (apart, shapes) = (apart(looks), looks.map(shapes));
    let (mut unlike, mut has_ratio) = (Vec::new(), false);
    for name in names {
        let of = |at: usize| found[at].iter().find(|one| one.name == *name);
        let cell = |at: usize| {
            of(at).map_or("-".into(), |one| {
                Cell::figure(one.best_ms, format!("{} ({:.2}x)", duration(one.best_ms / 1e3), one.speedup))
            })
        };
        let both = of(0).zip(of(1));
        let [first, second] = [0, 1].map(|at| shapes[at].get(name));
        let differ = first.zip(second).filter(|(one, other)| both.is_some() && one != other);
        unlike.extend(differ.map(|(one, other)| format!("{name}: {one} in the first study, {other} in the second")));
        let ratio = both.filter(|_| apart.is_empty() && differ.is_none()).map(|(a, b)| b.best_ms / a.best_ms);
        has_ratio |= ratio.is_some();
        let ratio = ratio.map_or("-".into(), |ratio| Cell::figure(ratio, format!("{ratio:.3}")));
        table.row(vec![Cell::text(name.clone()), cell(0), cell(1), ratio]);
    }
    let mut blocks = vec![Block::Table(table)];
    let [one, other] = looks.map(|look| look.story.sources());
    if has_ratio && one.zip(other).is_some_and(|(one, other)| one != other) {
        let words = "The kernel's sources, or those of its baselines or reference, differ between the two studies: a ratio is of two \
                     versions, not of two configurations of one.";
        blocks.push(Block::words(words));
    }
    let mut why = |words: &str, differ: Vec<String>| {
        if !differ.is_empty() {
            blocks.push(Block::words(words));
            blocks.push(Block::List(differ.into_iter().map(Cell::text).collect()));
        }
    };
    why("No ratio of times is shown: it would say nothing about the kernel, because the studies differ in", apart);
    why("No ratio of times is shown where a workload has other dimensions in the two studies:", unlike);
    blocks
}

/// In what studies differ that makes their times no measure of each other, as `kiln compare` has it.
fn apart(looks: [&StudyLook; 2]) -> Vec<String> {
    let parts = looks.map(|look| {
        let study = &look.story.now.study;
        let options = study.options.read().ok();
        [
            ("kernel", Some(study.kernel.clone())),
            ("device", study.device().map(String::from)),
            ("target", Some(study.target.clone())),
            ("variant", Some(study.variant.clone())),
            ("cache", options.and_then(|options| options.cache.clone())),
            ("threads", options.and_then(|options| options.threads).map(|threads| threads.to_string())),
        ]
    });
    let [one, other] = parts;
    // What a record does not say cannot differ.
    type Part = (&'static str, Option<String>);
    let differs = |((what, one), (_, other)): (Part, Part)| {
        let (one, other) = (one.filter(|one| !one.is_empty())?, other.filter(|other| !other.is_empty())?);
        (one != other).then(|| format!("{what}: {one} and {other}"))
    };
    one.into_iter().zip(other).filter_map(differs).collect()
}

/// Dimensions of each workload; nothing where the kernel file of a study cannot be read.
fn shapes(look: &StudyLook) -> BTreeMap<String, String> {
    let study = &look.story.now.study;
    let Ok((spec, _)) = kiln_spec::parse(&study.path, study.spec_text.as_bytes()) else { return BTreeMap::new() };
    spec.workloads.iter().map(|workload| (workload.name.to_string(), workload.shape())).collect()
}

fn winners(looks: [&StudyLook; 2], titles: &[&str; 3]) -> Block {
    let config = |look: &StudyLook| look.winners().first().map(|(_, config)| config.clone()).unwrap_or_default();
    let (a, b) = (config(looks[0]), config(looks[1]));
    let value = |config: &Config, name: &str| config.get(name).map_or("-".to_string(), ToString::to_string);
    let mut table = Table::new("Tunables of the winners", &["tunable", titles[1], titles[2]]);
    let more = b.iter().filter(|(name, _)| a.get(name).is_none());
    for (name, _) in a.iter().chain(more) {
        let (one, other) = (value(&a, name), value(&b, name));
        let class = if one == other { "" } else { "best" };
        table.row(vec![Cell::text(name.to_string()), Cell::code(one), Cell::code(other)]).class = class;
    }
    if table.rows.is_empty() { Block::words("Neither has a winner.") } else { Block::Table(table) }
}

/// What was asked and what it ran on, as far as it is not the same.
fn differences(looks: [&StudyLook; 2], titles: &[&str; 3]) -> Block {
    let [a, b] = looks.map(asked);
    let mut table =
        Table::new("What differs in what was asked, and between the environments", &["part", titles[1], titles[2]]);
    let names: Vec<&String> = a.iter().chain(&b).map(|(name, _)| name).collect();
    let value = |all: &[(String, String)], wanted: &String| {
        all.iter().find(|(name, _)| name == wanted).map_or("-".to_string(), |(_, value)| value.clone())
    };
    for (at, name) in names.iter().enumerate().filter(|(at, name)| !names[..*at].contains(*name)) {
        let (one, other) = (value(&a, name), value(&b, name));
        if one != other {
            table.row(vec![Cell::text(names[at].clone()), one.into(), other.into()]);
        }
    }
    if table.rows.is_empty() { Block::words("Nothing that is recorded of them.") } else { Block::Table(table) }
}

/// What a study was asked and what it ran on: all that its figures depend on.
fn asked(look: &StudyLook) -> Vec<(String, String)> {
    let study = &look.story.now.study;
    let mut all: Vec<(String, String)> = vec![
        ("kernel".into(), study.kernel.clone()),
        ("target".into(), study.target.clone()),
        ("variant".into(), study.variant.clone()),
        ("architecture".into(), study.arch.clone().unwrap_or("-".into())),
        ("kernel file".into(), study.spec_hash.chars().take(12).collect()),
    ];
    all.extend(look.story.sources().map(|hash| ("sources".into(), hash.chars().take(12).collect())));
    all.extend(baseline(look).map(|name| ("baseline".into(), name.into())));
    // The names of settings are those of their flags, nearly.
    let options = study.options.read().ok().and_then(|options| serde_json::to_value(options).ok());
    for (name, value) in options.iter().filter_map(|options| options.as_object()).flatten() {
        if !value.is_null() && !SHOWN_ABOVE.contains(&name.as_str()) {
            let words = value.as_str().map_or_else(|| value.to_string(), String::from);
            all.push((name.replace('_', " "), words));
        }
    }
    let environment = study.environment.read().map(parts).unwrap_or_default();
    all.extend(environment.into_iter().map(|(name, value)| (name.to_string(), value)));
    all
}

/// What may matter of an environment.
fn parts(on: &Environment) -> BTreeMap<&'static str, String> {
    let python = on.python.clone().unwrap_or_default();
    let known = [
        ("host", on.host.clone()),
        ("compiler", on.compiler.clone()),
        ("system", on.system.clone()),
        ("governor", on.governor.clone()),
        ("python", python.version),
        ("NumPy", python.numpy),
        ("PyTorch", python.torch),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Two runs, as `kiln compare` judges them.
pub fn compare_runs_sections(compared: &Compared) -> Vec<Section> {
    let Compared { base, candidate, workloads, overall, verdict, side, .. } = compared;
    let named = |run: &kiln_app::RunFile| run.id.clone().unwrap_or_else(|| run.source.clone());
    let mut facts = vec![
        ("verdict".to_string(), Cell::text(verdict.name())),
        ("base".into(), Cell::code(named(base))),
        ("candidate".into(), Cell::code(named(candidate))),
        ("compared".into(), side.clone().into()),
    ];
    facts.extend(overall.map(|found| {
        let interval = format!("{:.3}x [{:.3}, {:.3}]", found.value, found.interval.low, found.interval.high);
        ("speedup over all workloads".to_string(), Cell::figure(found.value, interval))
    }));
    let mut table = Table::new(
        "The candidate against the base run",
        &["workload", "base #", "candidate #", "speedup #", "95 % interval", "p #", "verdict"],
    );
    for one in workloads {
        let found = &one.comparison;
        table.row(vec![
            Cell::text(one.workload.clone()),
            Cell::figure(found.baseline.median, duration(found.baseline.median)),
            Cell::figure(found.candidate.median, duration(found.candidate.median)),
            Cell::figure(found.speedup, format!("{:.3}x", found.speedup)),
            format!("[{:.3}, {:.3}]", found.speedup_ci95.low, found.speedup_ci95.high).into(),
            Cell::figure(found.p_value, p_value(found.p_value)),
            one.verdict.name().into(),
        ]);
    }
    let mut blocks = vec![Block::Facts(facts), Block::Table(table)];
    let remarks = CompareView { compared, command: "" }.remarks();
    if !remarks.is_empty() {
        blocks.push(Block::words("What these figures rest on:"));
        blocks.push(Block::List(remarks.into_iter().map(Cell::text).collect()));
    }
    vec![Section::new("compared", format!("{}: two runs", candidate.kernel), blocks)]
}
