//! The list of studies: what was tuned, how it ended, by how much. In: studies, the filter. Out: one section with a table.

use kiln_app::{STUDIES_A_PAGE, StudiesFilter, StudiesLook, StudiesOrder, StudyRow};
use kiln_store::State;
use kiln_study::TuneVerdict;

use super::filters::{Choice, form, pages};
use super::{Address, Block, Cell, Row, Section, Table, View};
use crate::studies::past::speedup_is;
use crate::words::number::{duration, grouped, mean_of};
use crate::words::time::moment;

/// The list.
pub fn studies_sections(look: &StudiesLook, filter: &StudiesFilter, view: &View) -> Vec<Section> {
    let mut blocks = Vec::new();
    if view.is_page {
        blocks.push(Block::Control(controls(look, filter)));
    }
    let count = match look.rows.len() {
        shown if shown == look.all => format!("{} in all", grouped(look.all as u128)),
        shown => format!("{} of {}", grouped(shown as u128), grouped(look.all as u128)),
    };
    let more = if look.more { ", older ones not among them" } else { "" };
    blocks.push(Block::words(format!("Studies: {count}{more}.")));
    if look.damaged > 0 {
        blocks.push(Block::words(format!("{} records cannot be read; kiln doctor names them.", look.damaged)));
    }
    if look.all == 0 {
        blocks.push(Block::words("No study is recorded yet. The first makes the record:"));
        blocks.push(Block::Command(format!("{} tune KERNEL", view.kiln)));
    } else {
        let first = filter.page.min(look.rows.len().saturating_sub(1) / STUDIES_A_PAGE) * STUDIES_A_PAGE;
        let shown = look.rows.iter().skip(first).take(STUDIES_A_PAGE);
        let searching = shown.clone().any(|row| row.best_s.is_some() && !row.is_confirmed);
        let mut table = Table::new(
            "Studies",
            &[
                "study",
                "kernel",
                "state",
                "verdict",
                "best #",
                "speedup #",
                "95 % interval",
                "trials #",
                "device",
                "started",
            ],
        );
        for (at, order) in [
            (0, StudiesOrder::Newest),
            (1, StudiesOrder::Kernel),
            (4, StudiesOrder::Best),
            (5, StudiesOrder::Speedup),
            (7, StudiesOrder::Trials),
        ] {
            let way =
                if matches!(order, StudiesOrder::Kernel | StudiesOrder::Best) { "ascending" } else { "descending" };
            table.columns[at].sorted = (filter.order == order).then_some(way);
            let sorted = StudiesFilter { order, page: 0, ..filter.clone() };
            table.columns[at].link = view.is_page.then(|| Address::Studies(sorted.query()).to_string());
        }
        table.rows = shown.map(|row| cells(row, view)).collect();
        blocks.push(Block::Table(table));
        blocks.extend(searching.then(|| Block::words("* the fastest while searching; not a result.")));
        let all = look.rows.len().div_ceil(STUDIES_A_PAGE);
        let at = |page| Address::Studies(StudiesFilter { page, ..filter.clone() }.query()).to_string();
        blocks.push(Block::Control(pages(first / STUDIES_A_PAGE, all, at)));
    }
    vec![Section::new("studies", "Studies", blocks)]
}

fn cells(row: &StudyRow, view: &View) -> Row {
    let StudyRow { now, state, trials, best_s, best_over, best_on, is_confirmed } = row;
    let study = &now.study;
    let link = |address: Address| view.is_page.then(|| address.to_string());
    let called = now.labels.name.clone().unwrap_or_else(|| study.short_id().to_string());
    let speedup = study.speedup();
    let of =
        if study.variant.is_empty() { study.target.clone() } else { format!("{} {}", study.target, study.variant) };
    let cells = vec![
        Cell::text(called).to(link(Address::Study(study.short_id().into(), String::new()))),
        Cell::text(format!("{} ({of})", study.kernel)).to(link(Address::Kernel(study.kernel.clone()))),
        state.name().into(),
        study.verdict.clone().unwrap_or("-".into()).into(),
        best_s.map_or("-".into(), |best| {
            let of = best_on.as_ref().map(|workload| format!("on {workload}")).or_else(|| mean_of(*best_over));
            let of = of.map_or(String::new(), |words| format!(" ({words})"));
            Cell::figure(best, format!("{}{}{of}", duration(best), if *is_confirmed { "" } else { " *" }))
        }),
        speedup.map_or("-".into(), |(value, _)| {
            let of = speedup_is(study).map_or(String::new(), |words| format!(" ({words})"));
            Cell::figure(value, format!("{value:.2}x{of}"))
        }),
        speedup.map_or("-".into(), |(_, [low, high])| Cell::text(format!("[{low:.2}, {high:.2}]"))),
        Cell::figure(*trials as f64, grouped(*trials as u128)),
        study.device().unwrap_or("-").into(),
        moment(study.started_ms, &view.zone).into(),
    ];
    Row {
        id: Some(format!("study-{}", study.short_id())),
        class: if *state == State::Failed { "refused" } else { "" },
        cells,
    }
}

fn controls(look: &StudiesLook, filter: &StudiesFilter) -> String {
    let chosen = |key: &str| filter.pairs().into_iter().find(|(own, _)| own == key).map(|(_, value)| value);
    let names = |all: Vec<&str>| all.into_iter().map(String::from).collect();
    let choices = [
        Choice::Among("kernel", "Kernel", look.kernels.clone(), chosen("kernel")),
        Choice::Among("state", "State", names(State::ALL.iter().map(|state| state.name()).collect()), chosen("state")),
        Choice::Among(
            "verdict",
            "Verdict",
            names(TuneVerdict::ALL.iter().map(|one| one.name()).collect()),
            chosen("verdict"),
        ),
        Choice::Typed("device", "Device", chosen("device")),
        Choice::Typed("tag", "Tag", chosen("tag")),
        Choice::Among("sort", "Sort", names(StudiesOrder::ALL.iter().map(|one| one.name()).collect()), chosen("sort")),
    ];
    form("/", "Filter of studies", &choices)
}
