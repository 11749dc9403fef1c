//! The report of a session as Markdown, for a pull request or a log book.

use kiln_app::{Decision, SessionReport};

use super::words::figure as best;
use super::words::{amount, attempts, came, factor, goal, graded, maybe_stretch, newest, short, warnings};
use super::{figure, rows};
use crate::words::markdown::{as_code, escaped};
use crate::words::number::stretch;
use crate::words::time::stamp;

fn table(titles: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    laid(titles, rows.map(|cells| cells.iter().map(|text| escaped(text)).collect()))
}

/// A table of cells that are Markdown.
fn laid(titles: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = line(titles.iter().map(|title| title.to_string()).collect());
    let rule = format!("|{}\n", "---|".repeat(titles.len()));
    let body: String = rows.map(line).collect();
    if body.is_empty() { String::new() } else { format!("{head}{rule}{body}") }
}

fn list<'l>(lines: impl Iterator<Item = String> + 'l) -> String {
    lines.map(|line| format!("- {}\n", escaped(&line))).collect()
}

/// A decision with its options below it.
fn decision(one: &Decision) -> String {
    let because = if one.because.is_empty() { String::new() } else { format!(": {}", one.because) };
    let words = format!("{}{because}", one.choice);
    let options = one.options.iter().map(|option| {
        let time = maybe_stretch(option.time_s);
        let (cost, best) = (option.cost.map_or("-".into(), amount), option.best_case.map_or("-".into(), factor));
        format!("  - option: {}; time {time}, cost {cost}, best case {best}\n", escaped(&option.what))
    });
    format!("- {}\n{}", escaped(&words), options.collect::<String>())
}

/// The report.
pub(super) fn markdown(report: &SessionReport) -> String {
    let (session, row) = (&report.session, &report.row);
    let about = session.kernel.as_ref().map_or(String::new(), |kernel| format!(" on {kernel}"));
    let title = format!("Session {}{about}: {}", session.short_id(), graded(&report.grade.letter));
    let mut text = format!("# {}\n\n", escaped(&title));
    if let Some(why) = &report.grade.ungraded {
        text += &format!("There is no grade: {}.\n\n", escaped(why));
    }
    let known = |value: &Option<String>| value.clone().unwrap_or("-".into());
    let facts = [
        ("goal", goal(report)),
        ("criteria", known(&session.criteria)),
        ("began", stamp(session.started_ms).unwrap_or_default()),
        ("time", format!("{} of {}", stretch(row.elapsed_s), stretch(session.budget_s))),
        ("device", known(&session.gpu)),
        ("baseline", known(&session.baseline)),
        ("smallest case", known(&session.smallest)),
        ("best speedup", report.best.as_ref().map_or_else(|| row.speedup.map_or("-".into(), factor), best)),
        ("newest", report.newest.as_ref().map_or("-".into(), newest)),
        (
            "attempts (up to the best)",
            format!("{} ({})", attempts(report), row.attempts_to_best.map_or("-".into(), |n| n.to_string())),
        ),
        ("time to working build", maybe_stretch(row.time_to_build_s)),
        ("time to bottleneck", maybe_stretch(row.time_to_bottleneck_s)),
        ("cost: GPU, engineer, assistant, total", {
            let cost = &report.cost;
            let all = [cost.gpu, cost.engineer, cost.assistant, cost.total];
            all.map(|value| value.map_or("-".into(), amount)).join(", ")
        }),
        (
            "lessons used",
            joined(
                report
                    .lessons_used
                    .iter()
                    .map(|(id, worked)| format!("{id} ({})", if *worked { "put right" } else { "open" })),
            ),
        ),
        ("lessons learned", joined(report.lessons_learned.iter().cloned())),
    ];
    text += &table(&["", ""], facts.into_iter().map(|(name, value)| vec![name.to_string(), value]));
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            text += &format!("\n## {title}\n\n{body}");
        }
    };
    let met = |met: Option<bool>| match met {
        Some(true) => "met",
        Some(false) => "missed",
        None => "did not come up",
    };
    let targets = report.grade.targets.iter();
    section(
        "Grade",
        table(
            &["target", "", "found"],
            targets.map(|one| vec![one.target.clone(), met(one.met).into(), one.found.clone()]),
        ),
    );
    let phases = report.phases.iter().map(|time| {
        let expected = report.expected.iter().find(|one| one.phase == time.phase).map(|one| one.elapsed_s);
        let name = time.phase.name().to_string();
        vec![
            name,
            time.attempts.to_string(),
            stretch(time.commands_s),
            stretch(time.elapsed_s),
            maybe_stretch(expected),
        ]
    });
    section("Phases", table(&["phase", "attempts", "commands", "in all", "expected"], phases));
    section(
        "Blind changes",
        list(report.blind.iter().map(|one| {
            format!("{}: {} -> {} ({})", one.kernel, factor(one.before), factor(one.after), one.changed.words())
        })),
    );
    section(
        "Several changes at once",
        list(report.crowded.iter().map(|one| format!("{}: {}", one.kernel, one.changed.words()))),
    );
    section(
        "Repeated mistakes",
        list(report.repeated.iter().map(|one| {
            let when = if one.earlier_session { "before this session" } else { "in this session" };
            format!("{}: {} was put right {when}", one.kernel, one.what)
        })),
    );
    section(
        "Predicted and measured",
        table(
            &["cause", "promised", "measured"],
            report
                .promises
                .iter()
                .map(|one| vec![one.cause.clone(), factor(one.promised), one.measured.map_or("-".into(), factor)]),
        ),
    );
    section(
        "Hypotheses",
        laid(
            &["hypothesis", "command", "result", "time"],
            report.hypotheses.iter().map(|one| {
                // A command can be pasted from where it stands.
                let command = as_code(&one.command).replace('|', "\\|");
                vec![escaped(&one.hypothesis), command, escaped(&came(one)), stretch(one.seconds)]
            }),
        ),
    );
    section("Decisions", report.decisions.iter().map(decision).collect());
    section("Warnings at the end", list(warnings(report).map(|one| one.what.clone())));
    section("Next", list(report.next.iter().cloned()));
    if !report.earlier.is_empty() {
        let all = rows(report);
        let titles = [
            "session",
            "attempts",
            "to best",
            "time",
            "build",
            "bottleneck",
            "best",
            "cost",
            "blind",
            "repeated",
            "grade",
        ];
        let cells = all.iter().map(|row| {
            vec![
                short(&row.session).to_string(),
                row.attempts.to_string(),
                row.attempts_to_best.map_or("-".into(), |n| n.to_string()),
                stretch(row.elapsed_s),
                maybe_stretch(row.time_to_build_s),
                maybe_stretch(row.time_to_bottleneck_s),
                row.speedup.map_or("-".into(), factor),
                row.cost.map_or("-".into(), amount),
                row.blind.to_string(),
                row.repeated.to_string(),
                row.grade.clone(),
            ]
        });
        let said = super::hidden(report).into_iter().chain(super::words::beside(report));
        let said: String = said.map(|said| format!("\n{said}\n")).collect();
        let figure = figure::text(&all);
        section("Beside earlier sessions", format!("{}{said}\n```text{figure}```\n", table(&titles, cells)));
    }
    text
}

fn joined(words: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = words.collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}
