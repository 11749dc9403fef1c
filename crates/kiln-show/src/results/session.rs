//! A session: how it stands, and the report at its end; in words, as Markdown, as JSON and as a figure.

mod figure;
mod markdown;
mod words;

use std::fmt;

use jiff::tz::TimeZone;
use kiln_app::{Decision, DecisionKind, Session, SessionReport, SessionRow, budgeted};
use serde_json::{Value, json};

use crate::words::number::{counted, stretch};
use crate::words::table::{Align, lines};
use crate::words::time::{moment, stamp};
pub(crate) use figure::picture as session_picture;
pub(crate) use words::figure as best_figure;
pub(crate) use words::{amount, attempts, came, factor, goal, graded, maybe_stretch, newest, short, warnings};

/// A session that begins.
pub struct BegunSessionView<'a>(pub &'a Session);

impl BegunSessionView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!({ "session": self.0, "started": stamp(self.0.started_ms) })
    }
}

impl fmt::Display for BegunSessionView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Session { goal, kernel, gpu, baseline, smallest, criteria, budget_s, prices, .. } = self.0;
        writeln!(f, "session {} is open: commands in this folder join it", self.0.short_id())?;
        let goal = Some(goal.text.clone()).filter(|goal| !goal.is_empty());
        let price = |name: &str, price: Option<f64>| price.map(|price| format!("{name} {price}/h"));
        let all = [price("GPU", prices.gpu), price("engineer", prices.engineer), price("assistant", prices.assistant)];
        let prices: Vec<String> = all.into_iter().flatten().collect();
        let rows = [
            ("goal", goal),
            ("budget", Some(stretch(*budget_s))),
            ("prices", (!prices.is_empty()).then(|| prices.join(", "))),
            ("kernel", kernel.clone()),
            ("device", gpu.clone()),
            ("baseline", baseline.clone()),
            ("smallest case", smallest.clone()),
            ("criteria", criteria.clone()),
        ];
        let rows: Vec<Vec<String>> =
            rows.into_iter().filter_map(|(name, value)| Some(vec![name.to_string(), value?])).collect();
        f.write_str(&lines(&rows, &[Align::Left, Align::Left]))
    }
}

/// A session as it stands, or its report.
pub struct SessionView<'a> {
    /// Everything about it.
    pub report: &'a SessionReport,
    /// Whether it is over.
    pub over: bool,
}

impl SessionView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let budgets = budgeted(&self.report.session, &self.report.phases);
        let mut object = json!(self.report);
        object["budgets"] = json!(budgets);
        object
    }

    /// The report as Markdown.
    pub fn markdown(&self) -> String {
        markdown::markdown(self.report)
    }

    /// Sessions beside each other, as a picture.
    pub fn svg(&self) -> String {
        figure::picture(&rows(self.report)).standalone()
    }
}

/// Earlier sessions that a report shows beside this one.
const BESIDE: usize = 10;

/// Earlier sessions, the newest few, and this one.
fn rows(report: &SessionReport) -> Vec<SessionRow> {
    let older = report.earlier.len().saturating_sub(BESIDE);
    report.earlier[older..].iter().chain([&report.row]).cloned().collect()
}

/// How many earlier sessions a report does not show.
fn hidden(report: &SessionReport) -> Option<String> {
    let older = report.earlier.len().saturating_sub(BESIDE);
    (older > 0).then(|| format!("{} older: kiln session list", counted(older as u128, "session")))
}

impl fmt::Display for SessionView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        let Session { goal, budget_s, .. } = &report.session;
        let row = &report.row;
        let state = if self.over { report.session.state.name() } else { "open" };
        let about = report.session.kernel.as_ref().map_or(String::new(), |kernel| format!(" on {kernel}"));
        writeln!(f, "session {} ({state}){about}", report.session.short_id())?;
        let best = match (&report.best, goal.speedup) {
            (Some(best), Some(target)) => format!("{} (goal {target:.2}x)", words::figure(best)),
            (Some(best), None) => words::figure(best),
            (None, Some(target)) => format!("nothing measured yet (goal {target:.2}x)"),
            (None, None) => "nothing measured yet".into(),
        };
        let mut facts = vec![
            vec!["goal".into(), words::goal(report)],
            vec!["time".into(), format!("{} of {}", stretch(row.elapsed_s), stretch(*budget_s))],
            vec!["best speedup".into(), best],
            vec!["attempts".into(), attempts(report)],
            vec!["working build after".into(), maybe_stretch(row.time_to_build_s)],
            vec!["bottleneck after".into(), maybe_stretch(row.time_to_bottleneck_s)],
        ];
        if let Some(newest) = &report.newest {
            facts.insert(3, vec!["newest".into(), words::newest(newest)]);
        }
        if let Some(total) = report.cost.total {
            let part = |name: &str, value: Option<f64>| value.map(|value| format!("{name} {}", amount(value)));
            let cost = &report.cost;
            let parts = [part("GPU", cost.gpu), part("engineer", cost.engineer), part("assistant", cost.assistant)];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            facts.push(vec!["cost".into(), format!("{} ({})", amount(total), parts.join(", "))]);
        }
        f.write_str(&lines(&facts, &[Align::Left, Align::Left]))?;
        words::phases(f, report)?;
        words::trouble(f, report)?;
        words::hypotheses(f, report)?;
        words::decisions(f, report)?;
        if self.over {
            words::grade(f, report)?;
        }
        if !report.earlier.is_empty() {
            f.write_str("\nbeside earlier sessions\n")?;
            f.write_str(&table(&rows(report)))?;
            hidden(report).into_iter().try_for_each(|said| writeln!(f, "  {said}"))?;
            words::beside(report).into_iter().try_for_each(|said| writeln!(f, "  {said}"))?;
            f.write_str(&figure::text(&rows(report)))?;
        }
        writeln!(f, "\nnext")?;
        report.next.iter().try_for_each(|step| writeln!(f, "  {step}"))
    }
}

/// Sessions, one a line.
pub(crate) fn table(rows: &[SessionRow]) -> String {
    use Align::{Left, Right};
    let titles = [
        "session",
        "when",
        "goal",
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
    let mut all = vec![titles.map(String::from).to_vec()];
    let zone = TimeZone::system();
    all.extend(rows.iter().map(|row| cells(row, &zone)));
    lines(&all, &[Left, Left, Left, Right, Right, Right, Right, Right, Right, Right, Right, Right, Left])
}

fn cells(row: &SessionRow, zone: &TimeZone) -> Vec<String> {
    let goal = if row.goal.is_empty() { "-".to_string() } else { row.goal.chars().take(24).collect() };
    vec![
        short(&row.session).into(),
        moment(row.started_ms, zone),
        goal,
        row.attempts.to_string(),
        row.attempts_to_best.map_or("-".into(), |count| count.to_string()),
        stretch(row.elapsed_s),
        maybe_stretch(row.time_to_build_s),
        maybe_stretch(row.time_to_bottleneck_s),
        row.speedup.map_or("-".into(), factor),
        row.cost.map_or("-".into(), amount),
        row.blind.to_string(),
        row.repeated.to_string(),
        row.grade.clone(),
    ]
}

/// Sessions that are over.
pub struct SessionsView<'a> {
    /// Those that are shown, oldest first.
    pub rows: &'a [SessionRow],
    /// How many older ones there are.
    pub older: usize,
}

impl SessionsView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!({ "sessions": self.rows, "older": self.older })
    }
}

impl fmt::Display for SessionsView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows {
            [] => writeln!(f, "no session is over in this folder\nnext\n  kiln session start --goal \"1.2x\""),
            rows => {
                f.write_str(&(table(rows) + &figure::text(rows)))?;
                match self.older {
                    0 => Ok(()),
                    older => {
                        writeln!(f, "\n{} older: --limit {}", counted(older as u128, "session"), older + rows.len())
                    }
                }
            }
        }
    }
}

/// Something that was decided.
pub struct DecisionView<'a>(pub &'a Decision);

impl DecisionView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!(self.0)
    }
}

impl fmt::Display for DecisionView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decision { kind, kernel, choice, because, options, .. } = self.0;
        match kind {
            DecisionKind::Retired => return writeln!(f, "retired: {kernel} ({because})"),
            DecisionKind::Restored => return writeln!(f, "restored: {kernel}"),
            DecisionKind::Chosen => writeln!(f, "decided: {choice} ({because})")?,
        }
        writeln!(f, "{}", counted(options.len() as u128, "option"))?;
        f.write_str(&words::options(options))
    }
}

#[cfg(test)]
mod tests;
