//! What a study was asked and what it came to. In: a look. Out: the facts, the verdict, the figures of the winner.

use kiln_app::StudyLook;
use kiln_store::{Ablated, State};
use kiln_study::Summary;

use crate::html::{Address, Block, Cell, Section, Table, View};
use crate::studies::past::{Past, speedup_is, tried};
use crate::studies::study::repeat;
use crate::words::command::Command;
use crate::words::number::{counted, duration, stretch};
use crate::words::scrutiny::{least_checked, notes};
use crate::words::time::moment;

/// What was asked, on what, and how it stands.
pub(super) fn overview(look: &StudyLook, view: &View) -> Section {
    let past = Past::of(&look.story.now);
    let (study, labels) = (&past.study, &past.labels);
    let mut facts: Vec<(String, Cell)> = Vec::new();
    let mut fact = |name: &str, value: Cell| facts.push((name.to_string(), value));
    let link = |address: Address| view.is_page.then(|| address.to_string());
    fact("kernel", Cell::text(study.kernel.clone()).to(link(Address::Kernel(study.kernel.clone()))));
    fact("state", past.state.name().into());
    fact("verdict", study.verdict.clone().unwrap_or("none yet".into()).into());
    fact(
        "target",
        [Some(study.target.as_str()), study.arch.as_deref(), Some(study.variant.as_str())]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
            .into(),
    );
    fact("device", past.device().into());
    fact("configurations tried", Cell::figure(past.trials as f64, tried(&past)));
    fact("when", format!("{}, for {}", moment(study.started_ms, &view.zone), stretch(past.seconds)).into());
    if let Some((cost, price)) = past.spent() {
        fact("cost", Cell::figure(cost, format!("{cost:.2} at {price}/h")));
    }
    if let Some(name) = &labels.name {
        fact("name", name.clone().into());
    }
    if !labels.tags.is_empty() {
        fact("tags", labels.tags.join(", ").into());
    }
    fact("id", Cell::code(study.id.clone()));
    fact("seed", format!("{}, strategy {}", study.seed, study.strategy).into());
    fact("file", Cell::code(study.path.clone()));
    fact("commit", study.git_commit.clone().map_or("not in a repository".into(), Cell::code));
    fact("kiln", study.kiln_version.clone().into());
    let mut blocks = vec![Block::Facts(facts)];
    let so_far = counted(past.trials as u128, "configuration");
    match (past.state, summary(look)) {
        (_, Some(summary)) => {
            blocks.push(Block::words(format!("{}: {}.", summary.verdict, summary.reason)));
            // Of workloads tuned apart the verdict is that of the worst: lists have another figure.
            let together = summary.speedup.zip(summary.speedup_ci95).filter(|_| summary.config.is_none());
            blocks.extend(together.zip(speedup_is(study)).map(|((speedup, interval), mean)| {
                let (low, high) = (interval.low, interval.high);
                Block::words(format!("Together: {speedup:.2}x [{low:.2}, {high:.2}], {mean}."))
            }));
        }
        (State::Running, _) => {
            blocks.push(Block::words(format!("Running, as process {}, {so_far} so far.", study.owner)))
        }
        (State::Interrupted, _) => {
            blocks.push(Block::words(format!("Interrupted after {so_far}. Continue with:")));
            blocks.push(Block::Command(Command::resume(&view.kiln, study).to_string()));
        }
        (State::Failed, _) => {
            let why = look.story.notes.iter().rev().find(|note| note.kind == "fault");
            let why = why.map_or(String::new(), |note| format!(": {}", note.text));
            blocks.push(Block::words(format!("Ended by a fault after {so_far}{why}.")));
            blocks.push(Block::words("Once that is put right, continue with:"));
            blocks.push(Block::Command(Command::resume(&view.kiln, study).to_string()));
        }
        (State::Finished, None) => blocks.push(Block::words("Finished; this kiln cannot read its figures.")),
    }
    blocks.push(Block::words("Repeat the study:"));
    blocks.push(Block::Command(repeat(&view.kiln, study)));
    Section::new("study", format!("{}, study {}", study.kernel, study.short_id()), blocks)
}

/// The end of a study, where it has one that this kiln reads.
pub(in crate::html) fn summary(look: &StudyLook) -> Option<&Summary> {
    look.story.now.study.summary.as_ref()?.read().ok()
}

/// The winner's figures on every workload, and what its choices are worth.
pub(super) fn figures(look: &StudyLook) -> Option<Section> {
    let summary = summary(look)?;
    if summary.workloads.is_empty() {
        return None;
    }
    let baseline = summary.baseline.as_deref().unwrap_or("default");
    let mut blocks = Vec::new();
    if let Some(config) = &summary.config {
        blocks.push(Block::Facts(vec![("configuration".into(), Cell::code(config.to_string()))]));
    }
    let mut table = Table::new(
        format!("The winner against {baseline}, measured in turns"),
        &[
            "workload",
            "best #",
            "95 % interval #",
            "baseline #",
            "speedup #",
            "95 % interval",
            "effect #",
            "samples #",
            "verdict",
        ],
    );
    for one in &summary.workloads {
        let name = if one.holdout { format!("{} (holdout)", one.name) } else { one.name.clone() };
        let (low, high) = (one.speedup_ci95.low, one.speedup_ci95.high);
        let (from, to) = (one.best_ci95_ms.low, one.best_ci95_ms.high);
        table.row(vec![
            name.into(),
            Cell::figure(one.best_ms, duration(one.best_ms / 1e3)),
            Cell::text(format!("[{}, {}]", duration(from / 1e3), duration(to / 1e3))),
            Cell::figure(one.baseline_ms, duration(one.baseline_ms / 1e3)),
            Cell::figure(one.speedup, format!("{:.2}x", one.speedup)),
            Cell::text(format!("[{low:.2}, {high:.2}]")),
            Cell::figure(one.cliffs_delta, format!("{:+.2}", one.cliffs_delta)),
            Cell::figure(one.samples as f64, one.samples.to_string()),
            one.verdict.name().into(),
        ]);
    }
    if let (Some(speedup), Some(interval)) = (summary.speedup, summary.speedup_ci95) {
        let blank = || Cell::text("");
        let figure = Cell::figure(speedup, format!("{speedup:.2}x"));
        let interval = Cell::text(format!("[{:.2}, {:.2}]", interval.low, interval.high));
        table.row(vec![
            "tuned, together (geometric mean)".into(),
            blank(),
            blank(),
            blank(),
            figure,
            interval,
            blank(),
            blank(),
            blank(),
        ]);
    }
    blocks.push(Block::Table(table));
    let warnings: Vec<Cell> = summary
        .workloads
        .iter()
        .flat_map(|one| one.warnings.iter().map(|words| Cell::text(format!("{}: {words}", one.name))))
        .collect();
    if !warnings.is_empty() {
        blocks.push(Block::words("Warnings:"));
        blocks.push(Block::List(warnings));
    }
    let known = least_checked(&summary.workloads).map(|line| line.replace("\n    ", "; "));
    let known: Vec<Cell> = known.into_iter().chain(notes(&summary.workloads)).map(Cell::text).collect();
    if !known.is_empty() {
        blocks.push(Block::words("What these figures rest on:"));
        blocks.push(Block::List(known));
    }
    blocks.extend(worth(&summary.ablation).map(Block::Table));
    if let Some(limit) = &summary.limit {
        let cause = limit.cause.clone().unwrap_or_else(|| format!("no known cause, bound by {}", limit.bound));
        blocks.push(Block::words(format!("What limits it: {cause}. {}", limit.explanation)));
        blocks.extend(limit.fix.iter().map(|fix| Block::words(format!("What to change first: {fix}"))));
    }
    Some(Section::new("result", "Result", blocks))
}

/// What each choice of the winner is worth.
pub(in crate::html) fn worth(ablation: &[Ablated]) -> Option<Table> {
    let mut table = Table::new(
        "What each choice is worth: the winner with one tunable set back to its default",
        &["tunable", "winner's value", "default", "time with the default #"],
    );
    for one in ablation {
        let of = one.workload.as_ref().map_or(String::new(), |workload| format!("{workload}: "));
        let worth = match (one.worth, &one.why) {
            (Some(worth), _) => Cell::figure(worth, format!("{worth:.2}x as long")),
            (None, Some(why)) => why.clone().into(),
            (None, None) => "-".into(),
        };
        table.row(vec![
            Cell::text(format!("{of}{}", one.tunable)),
            Cell::code(one.from.clone()),
            Cell::code(one.to.clone()),
            worth,
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}
