//! What the newest attempt of a session is judged by, however long the session is. In: a session and its newest attempt. Out: all others of a
//! short session; of a long one the newest, and those few older ones that a rule may still ask for, with the times of phases added up by
//! the store. A test holds both against each other.

use std::collections::BTreeMap;

use kiln_core::Fault;
use kiln_session::{Attempted, PhaseStretch, PhaseTime, Session, SessionPhase, phase_times};

use crate::Store;
use crate::attempt::{COLUMNS, attempt};
use crate::database::engine::LINES;

/// Attempts up to which a session is read whole: that costs less than choosing among them.
const WHOLE: i64 = 100;
/// The newest that are read of a longer one. What rules count by one by one is less.
const NEAR: i64 = 40;
/// Attempts before a session that are looked through for the same mistake.
const EARLIER: i64 = 200;

/// A session's attempts without the newest.
#[derive(Debug, Clone, PartialEq)]
pub struct Recent {
    /// Those that count, oldest first.
    pub others: Vec<Attempted>,
    /// Time by phase, without the newest and with it; none where `others` are all there are.
    pub times: Option<(Vec<PhaseTime>, Vec<PhaseTime>)>,
}

/// The measurements that rules look at one by one, all with the newest attempt's kernel and workload.
const SERIES: &str =
    "session = $1 AND id <> $2 AND kernel = $3 AND path = $4 AND speedup IS NOT NULL AND COALESCE(workload, '') = $5";
/// Attempts of the newest one's kernel.
const KERNEL: &str = "session = $1 AND id <> $2 AND kernel = $3 AND path = $4";
/// All others.
const OTHERS: &str = "session = $1 AND id <> $2";
/// Commands that say of a kernel that it is correct.
const CORRECT: &str = "verb IN ('check', 'fuzz', 'bench', 'tune', 'sweep', 'ci')";
const FAILED: &str = "outcome IN ('refused', 'fault')";
const NEWEST: &str = "ORDER BY at_ms DESC, id DESC";

impl Store {
    /// What a session's newest attempt is judged by.
    pub fn recent(&self, session: &Session, made: &Attempted) -> Result<Recent, Fault> {
        let count = sqlx::query("SELECT COUNT(*) AS n FROM attempts WHERE session = $1").bind(session.id.clone());
        let count = self.read("counting attempts", count, |row| row.get::<i64>("n"))?;
        if count.first().is_none_or(|count| *count <= WHOLE + 1) {
            let mut others = self.attempts(crate::AttemptsOf::Session(&session.id))?;
            others.retain(|one| one.id != made.id);
            return Ok(Recent { others, times: None });
        }
        let others = self.landmarks(session, made)?;
        Ok(Recent { others, times: Some(self.phase_times(session, &made.id)?) })
    }

    /// When the last attempt of a session ended; none where it has none.
    pub fn last_ended_ms(&self, session: &str) -> Result<Option<i64>, Fault> {
        let statement =
            sqlx::query("SELECT MAX(at_ms + CAST(1000 * seconds AS bigint)) AS ended FROM attempts WHERE session = $1");
        let found =
            self.read("looking for the last attempt", statement.bind(session.to_string()), |row| row.get("ended"))?;
        Ok(found.into_iter().next().flatten())
    }

    /// The newest attempts of a session, and what rules ask of older ones.
    fn landmarks(&self, session: &Session, made: &Attempted) -> Result<Vec<Attempted>, Fault> {
        let newest = |of: &str, most: &str| {
            format!("SELECT id FROM (SELECT id FROM attempts WHERE {of} {NEWEST} LIMIT {most}) AS found")
        };
        let first_by = |of: &str, by: &str, order: &str, keep: &str| {
            format!(
                "SELECT id FROM (SELECT id, speedup, ROW_NUMBER() OVER ({by} ORDER BY {order}) AS place FROM attempts WHERE {of}) \
                 AS found WHERE {keep}"
            )
        };
        let since = format!(
            "at_ms > COALESCE((SELECT MAX(at_ms) FROM attempts WHERE {KERNEL} AND outcome NOT IN ('refused', 'fault')), -1)"
        );
        let late = "at_ms DESC, id DESC";
        let mut sets = vec![
            newest(OTHERS, "$8"),
            // Rows of failures by one cause.
            newest(KERNEL, "4"),
            // What was measured before, what the series was like lately, and the best before that.
            newest(&format!("{KERNEL} AND speedup IS NOT NULL"), "1"),
            newest(SERIES, "7"),
            format!(
                "SELECT id FROM ({} ORDER BY speedup DESC LIMIT 2) AS best",
                first_by(SERIES, "", late, "place > 5")
            ),
            first_by(
                &format!("{OTHERS} AND speedup IS NOT NULL"),
                "PARTITION BY kernel, path, workload",
                "speedup DESC, at_ms, id",
                "place = 1",
            ),
            // Whether it was profiled, since when the sources are these, what profiles promise.
            newest(
                &format!("{KERNEL} AND (limited_by IS NOT NULL OR (phase = 'profile' AND outcome = 'passed'))"),
                "1",
            ),
            newest(&format!("{KERNEL} AND COALESCE(sources, '') <> $6"), "1"),
            first_by(&format!("{OTHERS} AND promise IS NOT NULL"), "PARTITION BY kernel", late, "place = 1"),
            // The last failure, and what ended a row of them.
            newest(&format!("{KERNEL} AND {FAILED}"), "1"),
            newest(&format!("{KERNEL} AND NOT {FAILED}"), "1"),
            newest(&format!("{KERNEL} AND outcome = 'passed' AND {CORRECT}"), "1"),
            newest(&format!("{KERNEL} AND outcome = 'passed' AND verb = 'bench'"), "1"),
            // The beginning of a row of failing builds.
            format!(
                "SELECT id FROM (SELECT id FROM attempts WHERE {KERNEL} AND {FAILED} AND (phase = 'build' OR cause LIKE 'build%') \
                 AND {since} ORDER BY at_ms, id LIMIT 1) AS found"
            ),
        ];
        if made.mistake().is_some() {
            // The same mistake, and the last time that anything passed.
            sets.push(first_by(
                &format!("{OTHERS} AND {FAILED} AND (lesson = $7 OR (lesson IS NULL AND cause = $7))"),
                "PARTITION BY kernel, path, verb",
                "at_ms, id",
                "place = 1",
            ));
            sets.push(first_by(
                &format!("{OTHERS} AND outcome = 'passed'"),
                "PARTITION BY kernel, path, verb",
                late,
                "place = 1",
            ));
        }
        let sql = format!("{COLUMNS} WHERE id IN ({}) ORDER BY at_ms, id", sets.join(" UNION "));
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(session.id.clone())
            .bind(made.id.clone())
            .bind(made.kernel.clone())
            .bind(made.path.clone())
            .bind(made.workload.clone().unwrap_or_default())
            .bind(made.sources.clone().unwrap_or_default())
            .bind(made.mistake().unwrap_or_default().to_string())
            .bind(NEAR);
        self.list("listing attempts", statement, attempt)
    }

    /// Time by phase of a session without its newest attempt and with it. A thousand rows cost a few milliseconds as rows, and next to
    /// nothing as lines of one text.
    fn phase_times(&self, session: &Session, without: &str) -> Result<(Vec<PhaseTime>, Vec<PhaseTime>), Fault> {
        let sql = format!(
            "SELECT {LINES} AS lines FROM (SELECT id || ' ' || at_ms || ' ' || seconds || ' ' || phase || ' ' || parts AS line \
             FROM attempts WHERE session = $1 ORDER BY at_ms, id) AS laid"
        );
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.id.clone());
        let found =
            self.read("adding up the phases of a session", statement, |row| row.get::<Option<String>>("lines"))?;
        let text = found.into_iter().flatten().next().unwrap_or_default();
        let all: Vec<Line<'_>> = text.lines().filter_map(line).collect();
        let times = |keep: &dyn Fn(&str) -> bool| {
            let mut until = session.started_ms;
            let stretch = |one: &Line<'_>| {
                let ended = one.at_ms + (1e3 * one.seconds) as i64;
                let before_s = (one.at_ms - until).max(0) as f64 / 1e3;
                let own_s = (ended - until.max(one.at_ms)).max(0) as f64 / 1e3;
                until = until.max(ended);
                let (phase, parts, seconds) = (one.phase, one.parts.clone(), one.seconds);
                PhaseStretch { phase, parts, seconds, attempts: 1, before_s, own_s }
            };
            let stretches: Vec<PhaseStretch> = all.iter().filter(|one| keep(one.id)).map(stretch).collect();
            phase_times(stretches.iter())
        };
        Ok((times(&|id| id != without), times(&|_| true)))
    }

    /// Of the newest attempts before a session, those that say whether a mistake was made and put right before.
    pub fn met_before(&self, session: &Session, what: &str) -> Result<Vec<Attempted>, Fault> {
        let recent = format!("(SELECT * FROM attempts WHERE at_ms < $2 {NEWEST} LIMIT $3) AS recent");
        let first_by = |of: &str, by: &str, order: &str| {
            format!(
                "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS place FROM {recent} WHERE {of}) \
                 AS found WHERE place = 1"
            )
        };
        let sets = [
            first_by(
                &format!("{FAILED} AND (lesson = $1 OR (lesson IS NULL AND cause = $1))"),
                "kernel, path, verb",
                "at_ms, id",
            ),
            first_by("outcome = 'passed'", "kernel, path, verb", "at_ms DESC, id DESC"),
            first_by("at_ms < $2", "kernel, path", "at_ms DESC, id DESC"),
        ];
        let sql = format!("{COLUMNS} WHERE id IN ({}) ORDER BY at_ms, id", sets.join(" UNION "));
        let statement =
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(what.to_string()).bind(session.started_ms).bind(EARLIER);
        self.list("listing attempts", statement, attempt)
    }
}

/// An attempt's time, as the store gives it in a line: id, beginning, seconds, phase, parts.
struct Line<'a> {
    id: &'a str,
    at_ms: i64,
    seconds: f64,
    phase: SessionPhase,
    parts: BTreeMap<String, f64>,
}

/// None where it cannot be read.
fn line(text: &str) -> Option<Line<'_>> {
    let mut words = text.splitn(5, ' ');
    let (id, at_ms, seconds) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (phase, parts) = (SessionPhase::named(words.next()?)?, serde_json::from_str(words.next()?).ok()?);
    Some(Line { id, at_ms, seconds, phase, parts })
}
