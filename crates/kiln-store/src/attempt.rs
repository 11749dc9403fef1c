//! Commands that judged something. In: an attempt, once, at its end. Out: those of a session, of a kernel or of all, oldest first.

use kiln_core::Fault;
use kiln_session::{AttemptOutcome, Attempted, SessionPhase};
use serde::Deserialize;

use crate::Store;
use crate::database::column::finite;
use crate::database::engine::{LINES, LIST, exact};
use crate::database::fault::fault;

/// Which attempts are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptsOf<'a> {
    /// All.
    All,
    /// Those of a session.
    Session(&'a str),
    /// Those of a kernel by its name, the newest so many.
    Kernel(&'a str, u32),
    /// Those before a moment, in milliseconds since 1970, the newest so many.
    Before(i64, u32),
    /// Those from a moment on, in milliseconds since 1970.
    From(i64),
    /// Those of kernels that met a lesson, from the first time on, the newest thousand.
    Lesson(&'a str),
}

/// An attempt as a list in JSON. Hundreds of rows cost milliseconds, and lines of one text next to nothing.
fn line() -> String {
    let (seconds, speedup, promise) = (exact("seconds"), exact("speedup"), exact("promise"));
    format!(
        "SELECT {LIST}(id, at_ms, {seconds}, session, kernel, path, verb, phase, parts, outcome, cause, words, config, sources, \
         environment, {speedup}, workload, limited_by, {promise}, lesson, hypothesis, command) AS line, id FROM attempts"
    )
}

/// Attempts that say how often a lesson was met: the newest.
const MET: u32 = 1000;
/// As many as there may be.
const ANY: u32 = u32::MAX;

impl Store {
    /// Records an attempt. Nothing waits for the disk.
    pub fn record_attempt(&self, made: &Attempted) -> Result<(), Fault> {
        let what = &format!("recording attempt {}", made.id);
        let maybe = |name: &str, value: Option<f64>| value.map(|value| finite(what, name, value)).transpose();
        let insert = sqlx::query(
            "INSERT INTO attempts (id, at_ms, seconds, session, kernel, path, verb, phase, parts, outcome, cause, words, config, \
             config_digest, sources, environment, environment_digest, speedup, workload, limited_by, promise, lesson, hypothesis, \
             command, kiln_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, \
             $21, $22, $23, $24, $25)",
        )
        .bind(made.id.as_str())
        .bind(made.at_ms)
        .bind(finite(what, "seconds", made.seconds)?)
        .bind(made.session.as_deref())
        .bind(made.kernel.as_str())
        .bind(made.path.as_str())
        .bind(made.verb.as_str())
        .bind(made.phase.name())
        .bind(serde_json::to_string(&made.parts).map_err(|e| Fault::new(what.as_str(), e))?)
        .bind(made.outcome.name())
        .bind(made.cause.as_deref())
        .bind(made.words.as_deref())
        .bind(made.config.as_deref())
        .bind(made.config_digest())
        .bind(made.sources.as_deref())
        .bind(made.environment.as_str())
        .bind(made.environment_digest())
        .bind(maybe("speedup", made.speedup)?)
        .bind(made.workload.as_deref())
        .bind(made.limit.as_deref())
        .bind(maybe("promise", made.promise)?)
        .bind(made.lesson.as_deref())
        .bind(made.hypothesis.as_deref())
        .bind(made.command.as_deref())
        .bind(env!("CARGO_PKG_VERSION"));
        self.transaction(what, |session| session.change(insert).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// Attempts, oldest first.
    pub fn attempts(&self, of: AttemptsOf<'_>) -> Result<Vec<Attempted>, Fault> {
        let (which, text, number, most) = match of {
            AttemptsOf::All => ("$1 = $1 AND $2 = $2", "", 0, ANY),
            AttemptsOf::Session(id) => ("session = $1 AND $2 = $2", id, 0, ANY),
            AttemptsOf::Kernel(name, most) => ("kernel = $1 AND $2 = $2", name, 0, most),
            AttemptsOf::Before(ms, most) => ("$1 = $1 AND at_ms < $2", "", ms, most),
            AttemptsOf::From(ms) => ("$1 = $1 AND at_ms >= $2", "", ms, ANY),
            AttemptsOf::Lesson(id) => (
                "kernel IN (SELECT kernel FROM attempts WHERE lesson = $1) \
                 AND at_ms >= (SELECT MIN(at_ms) FROM attempts WHERE lesson = $1) AND $2 = $2",
                id,
                0,
                MET,
            ),
        };
        let what = "listing attempts";
        let lines = format!("{} WHERE {which} ORDER BY at_ms DESC, id DESC LIMIT $3", line());
        let asked = |sql: String| {
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(text.to_string()).bind(number).bind(i64::from(most))
        };
        let together = asked(format!("SELECT {LINES} AS lines FROM ({lines}) AS laid"));
        let together = self.read(what, together, |row| row.get::<Option<String>>("lines"));
        let text = together.map(|found| found.into_iter().flatten().next().unwrap_or_default());
        let understood =
            text.ok().and_then(|text| text.lines().map(|line| attempt(line).ok()).collect::<Option<Vec<_>>>());
        let mut found = match understood {
            Some(found) => found,
            // One that cannot be read costs itself: one after another, with its id.
            None => self.list(what, asked(lines), |row| row.parse("line", attempt))?,
        };
        found.reverse();
        Ok(found)
    }

    /// When the last attempt of a session ended; none where it has none.
    pub fn last_ended_ms(&self, session: &str) -> Result<Option<i64>, Fault> {
        let statement =
            sqlx::query("SELECT MAX(at_ms + CAST(1000 * seconds AS bigint)) AS ended FROM attempts WHERE session = $1");
        let found =
            self.read("looking for the last attempt", statement.bind(session.to_string()), |row| row.get("ended"))?;
        Ok(found.into_iter().next().flatten())
    }
}

/// What a line holds, in its order. Numbers that are no integers are words, digits of which none is lost.
#[derive(Deserialize)]
struct Line {
    id: String,
    at_ms: i64,
    seconds: String,
    session: Option<String>,
    kernel: String,
    path: String,
    verb: String,
    phase: String,
    parts: String,
    outcome: String,
    cause: Option<String>,
    words: Option<String>,
    config: Option<String>,
    sources: Option<String>,
    environment: String,
    speedup: Option<String>,
    workload: Option<String>,
    limit: Option<String>,
    promise: Option<String>,
    lesson: Option<String>,
    hypothesis: Option<String>,
    command: Option<String>,
}

/// An attempt from its line.
fn attempt(line: &str) -> Result<Attempted, String> {
    let line: Line = serde_json::from_str(line).map_err(|why| why.to_string())?;
    let number = |name: &str, text: &str| text.parse::<f64>().map_err(|_| format!("{name} is {text:?}"));
    let maybe = |name: &str, text: Option<String>| text.map(|text| number(name, &text)).transpose();
    Ok(Attempted {
        id: line.id,
        at_ms: line.at_ms,
        seconds: number("seconds", &line.seconds)?,
        session: line.session,
        kernel: line.kernel,
        path: line.path,
        verb: line.verb,
        phase: SessionPhase::named(&line.phase).ok_or_else(|| format!("phase is {:?}", line.phase))?,
        parts: serde_json::from_str(&line.parts).map_err(|why| format!("parts: {why}"))?,
        outcome: AttemptOutcome::named(&line.outcome).ok_or_else(|| format!("outcome is {:?}", line.outcome))?,
        cause: line.cause,
        words: line.words,
        config: line.config,
        sources: line.sources,
        environment: line.environment,
        speedup: maybe("speedup", line.speedup)?,
        workload: line.workload,
        limit: line.limit,
        promise: maybe("promise", line.promise)?,
        lesson: line.lesson,
        hypothesis: line.hypothesis,
        command: line.command,
    })
}
