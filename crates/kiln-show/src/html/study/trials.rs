//! Every trial, a page at a time, and the one that is looked at. In: trials, the filter. Out: a table with the command that repeats each, and a
//! form that changes the filter.

use kiln_app::{StudyLook, TRIALS_A_PAGE, TrialFilter, TrialOrder};
use kiln_core::Gate;
use kiln_store::{Study, Trial, TrialState};

use crate::html::filters::{Choice, form, pages};
use crate::html::kept::Drawn;
use crate::html::markup::as_id;
use crate::html::{Address, Block, Cell, Row, Section, Table, View};
use crate::studies::columns::Columns;
use crate::words::command::{Command, quoted};
use crate::words::number::{duration, grouped};
use crate::words::refusal::measured;
use crate::words::time::clock;

/// Trials that a file lists.
const MOST_IN_A_FILE: usize = 300;

/// The command that takes a trial's configuration up the gates again, or measures it.
pub(crate) fn repeat_trial(kiln: &str, study: &Study, trial: &Trial) -> String {
    let verb = if trial.state == TrialState::Refused { "gate" } else { "bench" };
    let mut command = Command::at(kiln, verb, study);
    // A study of one workload names it already.
    let own = trial.phase_id().workload.or(trial.workload.as_deref());
    if let Some(workload) = own.filter(|_| study.workload().is_none()) {
        command = command.value("--workload", workload);
    }
    format!("{command} --config {}", quoted(&trial.config))
}

/// Where a row of the table is.
pub(crate) fn row_id(trial: &Trial) -> String {
    format!("trial-{}-{}", as_id(&trial.phase), trial.number)
}

/// The form that changes which trials figures and table show.
pub(super) fn filter_section(look: &StudyLook, filter: &TrialFilter, columns: &Columns) -> Section {
    let (trials, kept) = (&look.story.now.trials, filter.select(&look.story.now.trials).len());
    let words =
        format!("Figures and table below show {} of {} trials.", grouped(kept as u128), grouped(trials.len() as u128));
    Section::new("filter", "Filter", vec![Block::Control(controls(look, filter, columns)), Block::words(words)])
}

/// The table of trials.
pub(super) fn section(look: &StudyLook, filter: &TrialFilter, view: &View) -> Section {
    let (study, trials) = (&look.story.now.study, &look.story.now.trials);
    let mut blocks = Vec::new();
    let kept = filter.select(trials);
    let listed = filter.ordered(trials, kept.clone());
    let (shown, page, all) = match view.is_page {
        true => {
            let all = listed.len().div_ceil(TRIALS_A_PAGE).max(1);
            let page = filter.page.min(all - 1);
            (listed[page * TRIALS_A_PAGE..listed.len().min((page + 1) * TRIALS_A_PAGE)].to_vec(), page, all)
        }
        false => (Drawn::of(trials, &listed, MOST_IN_A_FILE).places, 0, 1),
    };
    let number = |count: usize| grouped(count as u128);
    let mut words = format!("{} of {} trials", number(kept.len()), number(trials.len()));
    if shown.len() < kept.len() {
        words += &format!(", {} of them on this page", number(shown.len()));
    }
    blocks.push(Block::words(format!("{words}.")));
    if let Some(words) = &filter.trial {
        blocks.push(match look.trial(words) {
            Some(trial) => Block::Fold(format!("Trial {} {}", trial.phase, trial.number), one(study, trial, view)),
            None => Block::words(format!("There is no trial {words}.")),
        });
    }
    let mut table = Table::new("Trials", &["trial", "state", "time #", "configuration", "why", "began", "repeat"]);
    for (order, way) in [(TrialOrder::Fastest, "ascending"), (TrialOrder::Slowest, "descending")] {
        if filter.order == order {
            table.columns[2].sorted = Some(way);
        }
    }
    let next = if filter.order == TrialOrder::Fastest { TrialOrder::Slowest } else { TrialOrder::Fastest };
    let sorted = TrialFilter { order: next, page: 0, ..filter.clone() };
    let to = |filter: &TrialFilter| Address::Study(study.short_id().into(), filter.query()).to_string();
    table.columns[2].link = view.is_page.then(|| to(&sorted) + "#trials");
    table.rows = shown.iter().map(|place| row(study, &trials[*place], filter, view)).collect();
    blocks.push(Block::Table(table));
    if view.is_page {
        let at = |page| to(&TrialFilter { page, ..filter.clone() }) + "#trials";
        blocks.push(Block::Control(pages(page, all, at)));
    }
    Section::new("trials", "Trials", blocks)
}

fn row(study: &Study, trial: &Trial, filter: &TrialFilter, view: &View) -> Row {
    let selected = TrialFilter { trial: Some(format!("{}/{}", trial.phase, trial.number)), ..filter.clone() };
    let to = view.is_page.then(|| Address::Study(study.short_id().into(), selected.query()).to_string() + "#trials");
    let why =
        trial.refusal.as_ref().map_or(String::new(), |refusal| format!("{}: {}", refusal.gate, measured(refusal)));
    let cells = vec![
        Cell::text(format!("{} {}", trial.phase, trial.number)).to(to),
        trial.state.name().into(),
        trial.cost.map_or("-".into(), |cost| Cell::figure(cost, duration(cost))),
        Cell::code(trial.config.clone()),
        why.into(),
        clock(trial.started_ms, &view.zone).into(),
        Cell::code(repeat_trial(&view.kiln, study, trial)),
    ];
    let class = if trial.state == TrialState::Refused { "refused" } else { "" };
    Row { id: Some(row_id(trial)), class, cells }
}

/// Everything about one trial.
fn one(study: &Study, trial: &Trial, view: &View) -> Vec<Block> {
    let mut facts: Vec<(String, Cell)> = vec![
        ("configuration".into(), Cell::code(trial.config.clone())),
        ("state".into(), trial.state.name().into()),
        ("began".into(), clock(trial.started_ms, &view.zone).into()),
    ];
    facts.extend(trial.cost.map(|cost| ("time".into(), Cell::figure(cost, duration(cost)))));
    let spent =
        [("build", trial.build_s), ("check", trial.check_s), ("measure", trial.measure_s), ("in all", trial.wall_s)];
    facts.extend(spent.map(|(name, seconds)| (name.to_string(), Cell::figure(seconds, duration(seconds)))));
    let mut blocks = vec![Block::Facts(facts)];
    if let Some(refusal) = &trial.refusal {
        blocks.push(Block::words(format!("Refused by {}: {}", refusal.gate, measured(refusal))));
        blocks.extend((!refusal.evidence.is_empty()).then(|| Block::Text(refusal.evidence.clone())));
        blocks.extend(refusal.hint.as_ref().map(|hint| Block::words(format!("Hint: {hint}"))));
    }
    blocks.push(Block::Command(repeat_trial(&view.kiln, study, trial)));
    blocks
}

fn controls(look: &StudyLook, filter: &TrialFilter, columns: &Columns) -> String {
    let (study, trials) = (&look.story.now.study, &look.story.now.trials);
    let chosen = |key: &str| filter.pairs().into_iter().find(|(own, _)| own == key).map(|(_, value)| value);
    let mut phases: Vec<String> = Vec::new();
    let mut gates: Vec<Gate> = Vec::new();
    for trial in trials {
        if phases.last() != Some(&trial.phase) && !phases.contains(&trial.phase) {
            phases.push(trial.phase.clone());
        }
        gates.extend(trial.refusal.as_ref().map(|refusal| refusal.gate).filter(|gate| !gates.contains(gate)));
    }
    gates.sort();
    let names = |all: Vec<&str>| all.into_iter().map(String::from).collect::<Vec<_>>();
    let mut choices = vec![
        Choice::Among("state", "State", names(TrialState::ALL.iter().map(|one| one.name()).collect()), chosen("state")),
        Choice::Among("phase", "Phase", phases, chosen("phase")),
        Choice::Among("gate", "Gate", names(gates.iter().map(|gate| gate.name()).collect()), chosen("gate")),
        Choice::Typed("top", "Only the fastest", chosen("top")),
        Choice::Among("sort", "Sort", names(TrialOrder::ALL.iter().map(|one| one.name()).collect()), chosen("sort")),
        Choice::Among("refused", "Refused in plots", names(vec!["show", "hide"]), chosen("refused")),
    ];
    let keys: Vec<(String, String, Vec<String>)> = columns
        .varying()
        .map(|column| {
            (
                format!("t.{}", column.name),
                column.name.to_string(),
                column.values.iter().map(|value| value.shown()).collect(),
            )
        })
        .collect();
    for (key, title, values) in &keys {
        choices.push(Choice::Among(key, title, values.clone(), chosen(key)));
    }
    form(&Address::Study(study.short_id().into(), String::new()).to_string(), "Filter of trials", &choices)
}

/// What was noted while it ran, and what reviewers remarked.
pub(super) fn notes(look: &StudyLook, view: &View) -> Option<Section> {
    let mut blocks = Vec::new();
    if !look.story.notes.is_empty() {
        let mut table = Table::new("Notes of the study", &["when", "about", "note"]);
        for note in &look.story.notes {
            table.row(vec![clock(note.at_ms, &view.zone).into(), note.kind.clone().into(), note.text.clone().into()]);
        }
        blocks.push(Block::Table(table));
    }
    if !look.story.now.remarks.is_empty() {
        let mut table = Table::new("Remarks of reviewers", &["reviewer", "about", "remark"]);
        for remark in &look.story.now.remarks {
            let about = format!("{} {}", remark.about.name(), remark.about.part());
            table.row(vec![remark.reviewer.clone().into(), about.trim().into(), remark.text.clone().into()]);
        }
        blocks.push(Block::Table(table));
    }
    (!blocks.is_empty()).then(|| Section::new("notes", "Notes and remarks", blocks))
}
