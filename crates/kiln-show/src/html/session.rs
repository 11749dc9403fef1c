//! Sessions: the list of those that are over, and one with its report. In: reports. Out: sections.

use kiln_app::{ChecklistState, NextStep, SessionReport, SessionRow};

use super::{Address, Block, Cell, Section, Table, View};
use crate::results::session::{
    amount, attempts, best_figure, came, factor, goal, graded, maybe_stretch, newest, session_picture, short, warnings,
};
use crate::words::number::{counted, stretch};
use crate::words::time::moment;

/// Sessions that one page shows, the newest.
const SHOWN: usize = 100;

/// Sessions that are over, oldest first.
pub fn sessions_sections(rows: &[SessionRow], view: &View) -> Vec<Section> {
    if rows.is_empty() {
        let words = "No session is over yet. kiln session start begins one.";
        return vec![Section::new("sessions", "Sessions", vec![Block::words(words)])];
    }
    let older = rows.len().saturating_sub(SHOWN);
    let rows = &rows[older..];
    let mut blocks = vec![Block::Table(table(rows, view)), Block::Figure(session_picture(rows))];
    if older > 0 {
        let words = format!("{} older: kiln session list --limit {}", counted(older as u128, "session"), older + SHOWN);
        blocks.push(Block::words(words));
    }
    vec![Section::new("sessions", "Sessions", blocks)]
}

pub(super) fn table(rows: &[SessionRow], view: &View) -> Table {
    let mut table = Table::new(
        "Sessions, oldest first",
        &["session", "kernel", "goal", "began", "attempts #", "to the best #", "time #", "best #", "cost #", "grade"],
    );
    for row in rows {
        let id = short(&row.session).to_string();
        let link = view.is_page.then(|| Address::Session(id.clone()).to_string());
        let number = |value: Option<f64>, shown: fn(f64) -> String| {
            value.map_or("-".into(), |value| Cell::figure(value, shown(value)))
        };
        table.row(vec![
            Cell::text(id).to(link),
            row.kernel.clone().unwrap_or("-".into()).into(),
            row.goal.clone().into(),
            moment(row.started_ms, &view.zone).into(),
            Cell::figure(row.attempts as f64, row.attempts.to_string()),
            row.attempts_to_best.map_or("-".into(), |count| Cell::figure(count as f64, count.to_string())),
            Cell::figure(row.elapsed_s, stretch(row.elapsed_s)),
            number(row.speedup, factor),
            number(row.cost, amount),
            row.grade.clone().into(),
        ]);
    }
    table
}

/// One session: what was asked, where the time went, what was learned.
pub fn session_sections(report: &SessionReport, view: &View) -> Vec<Section> {
    let (session, row) = (&report.session, &report.row);
    let about = session.kernel.as_ref().map_or(String::new(), |kernel| format!(" on {kernel}"));
    let title = format!("Session {}{about}: {}", session.short_id(), graded(&report.grade.letter));
    let known = |value: &Option<String>| Cell::text(value.clone().unwrap_or("-".into()));
    let money = |value: Option<f64>| value.map_or("-".into(), |value| Cell::figure(value, amount(value)));
    let facts = vec![
        ("goal".to_string(), Cell::text(goal(report))),
        ("criteria".into(), known(&session.criteria)),
        ("began".into(), moment(session.started_ms, &view.zone).into()),
        (
            "time".into(),
            Cell::figure(row.elapsed_s, format!("{} of {}", stretch(row.elapsed_s), stretch(session.budget_s))),
        ),
        ("device".into(), known(&session.gpu)),
        ("baseline".into(), known(&session.baseline)),
        (
            "best speedup".into(),
            match (&report.best, row.speedup) {
                (Some(best), _) => Cell::figure(best.speedup, best_figure(best)),
                (None, best) => best.map_or("-".into(), |best| Cell::figure(best, factor(best))),
            },
        ),
        ("newest".into(), report.newest.as_ref().map_or("-".into(), |one| Cell::text(newest(one)))),
        ("attempts".into(), Cell::figure(row.attempts as f64, attempts(report))),
        (
            "attempts up to the best".into(),
            row.attempts_to_best.map_or("-".into(), |count| Cell::figure(count as f64, count.to_string())),
        ),
        ("time to a working build".into(), maybe_stretch(row.time_to_build_s).into()),
        ("time to a named bottleneck".into(), maybe_stretch(row.time_to_bottleneck_s).into()),
        ("cost of the GPU".into(), money(report.cost.gpu)),
        ("cost of the engineer".into(), money(report.cost.engineer)),
        ("cost of the assistant".into(), money(report.cost.assistant)),
        ("cost in all".into(), money(report.cost.total)),
    ];
    let mut sections = vec![Section::new("session", title, vec![Block::Facts(facts)])];
    let mut table = Table::new("Where the time went", &["phase", "attempts #", "commands #", "in all #", "expected"]);
    for time in &report.phases {
        let expected = report.expected.iter().find(|one| one.phase == time.phase).map(|one| one.elapsed_s);
        table.row(vec![
            time.phase.name().into(),
            Cell::figure(time.attempts as f64, time.attempts.to_string()),
            Cell::figure(time.commands_s, stretch(time.commands_s)),
            Cell::figure(time.elapsed_s, stretch(time.elapsed_s)),
            maybe_stretch(expected).into(),
        ]);
    }
    let mut add = |id, title: &str, blocks: Vec<Block>| sections.push(Section::new(id, title, blocks));
    if !table.rows.is_empty() {
        add("phases", "Phases", vec![Block::Table(table)]);
    }
    let mut table = Table::new("What was tried to know something", &["hypothesis", "command", "result", "time #"]);
    for one in &report.hypotheses {
        table.row(vec![
            Cell::text(one.hypothesis.clone()),
            Cell::code(one.command.clone()),
            came(one).into(),
            Cell::figure(one.seconds, stretch(one.seconds)),
        ]);
    }
    if !table.rows.is_empty() {
        add("hypotheses", "Hypotheses", vec![Block::Table(table)]);
    }
    let mut table = Table::new("What profiles promised, and what came of it", &["cause", "promised #", "measured #"]);
    for one in &report.promises {
        let measured = one.measured.map_or("-".into(), |gain| Cell::figure(gain, factor(gain)));
        table.row(vec![Cell::text(one.cause.clone()), Cell::figure(one.promised, factor(one.promised)), measured]);
    }
    if !table.rows.is_empty() {
        add("promises", "Predicted and measured", vec![Block::Table(table)]);
    }
    let decisions = report.decisions.iter().map(|one| Cell::text(format!("{}: {}", one.choice, one.because)));
    let mistakes = report.repeated.iter().map(|one| Cell::text(format!("repeated: {}, {}", one.kernel, one.what)));
    let blind = report
        .blind
        .iter()
        .map(|one| Cell::text(format!("blind: {}, {} -> {}", one.kernel, factor(one.before), factor(one.after))));
    let used = report
        .lessons_used
        .iter()
        .map(|(id, worked)| Cell::text(format!("lesson {id}: {}", if *worked { "put right" } else { "open" })));
    let learned = report.lessons_learned.iter().map(|id| Cell::text(format!("lesson written: {id}")));
    let lists: [(&'static str, &str, Vec<Cell>); 4] = [
        ("decisions", "Decisions", decisions.collect()),
        ("learned", "Lessons and mistakes", used.chain(learned).chain(mistakes).chain(blind).collect()),
        ("warnings", "Warnings", warnings(report).map(|one| Cell::text(one.what.clone())).collect()),
        ("next", "Next", report.next.iter().map(|line| Cell::text(line.clone())).collect()),
    ];
    for (id, title, lines) in lists {
        if !lines.is_empty() {
            add(id, title, vec![Block::List(lines)]);
        }
    }
    let mut table = Table::new("Targets of the grade", &["target", "met", "found"]);
    for one in &report.grade.targets {
        let met = one.met.map_or("did not come up", |met| if met { "met" } else { "missed" });
        table.row(vec![Cell::text(one.target.clone()), met.into(), one.found.clone().into()]);
    }
    add("grade", "Grade", vec![Block::Table(table)]);
    if !report.earlier.is_empty() {
        let rows: Vec<SessionRow> = report.earlier.iter().cloned().chain([row.clone()]).collect();
        add(
            "earlier",
            "Beside earlier sessions",
            vec![Block::Table(self::table(&rows, view)), Block::Figure(session_picture(&rows))],
        );
    }
    sections
}

/// The decision tree with the way through it, and the checklists that fill themselves in.
pub(super) fn next_sections(step: &NextStep, view: &View) -> Vec<Section> {
    let shown = crate::results::next::NextView { step, kiln: &view.kiln };
    let advice = &step.advice;
    let mut facts =
        vec![("do".to_string(), Cell::text(advice.action.clone())), ("because".into(), advice.because.clone().into())];
    facts.extend(advice.gain.clone().map(|gain| ("gain".to_string(), gain.into())));
    facts.extend(advice.time.clone().map(|time| ("time".to_string(), time.into())));
    let command = shown.command(&advice.command);
    let tree = Block::Fold("The whole tree: * is the way, > is where it leads".into(), vec![Block::Lit(shown.tree())]);
    let way = advice.path.iter().map(|step| {
        let value = step.value.as_ref().map_or(String::new(), |value| format!(" ({value})"));
        Cell::text(format!("{} {}{value}", step.ask, step.answer.name()))
    });
    let blocks = vec![
        Block::Facts(facts),
        Block::Command(command),
        Block::words("The way to it:"),
        Block::List(way.collect()),
        tree,
    ];
    let mut sections = vec![Section::new("next", "What to do next", blocks)];
    let mut table =
        Table::new("Checklists, filled in from what is recorded", &["item", "state", "evidence", "command", "list"]);
    for item in &step.checklists {
        let state = match item.state {
            ChecklistState::Done => "done",
            ChecklistState::Open => "open",
            ChecklistState::Unknown => "not known: look yourself",
        };
        table.row(vec![
            Cell::text(item.says.clone()),
            state.into(),
            item.evidence.clone().unwrap_or_default().into(),
            Cell::code(item.command.as_ref().map_or(String::new(), |command| shown.command(command))),
            item.list.clone().into(),
        ]);
    }
    if !table.rows.is_empty() {
        sections.push(Section::new("checklist", "Pre-flight checklist", vec![Block::Table(table)]));
    }
    sections
}
