//! Commands that judged something. In: an attempt, once, at its end. Out: those of a session, of a kernel or of all, oldest first.

use kiln_core::Fault;
use kiln_session::{AttemptOutcome, Attempted, SessionPhase};

use crate::Store;
use crate::database::column::{Columns, finite};
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
    /// Those of kernels that met a lesson, from the first time on, the newest thousand.
    Lesson(&'a str),
}

pub(crate) const COLUMNS: &str = "SELECT id, at_ms, seconds, session, kernel, path, verb, phase, parts, outcome, cause, words, config, \
     sources, environment, speedup, workload, limited_by, promise, lesson, hypothesis FROM attempts";

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
             kiln_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, \
             $21, $22, $23, $24)",
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
        .bind(env!("CARGO_PKG_VERSION"));
        self.transaction(what, |session| session.change(insert).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// Attempts, oldest first.
    pub fn attempts(&self, of: AttemptsOf<'_>) -> Result<Vec<Attempted>, Fault> {
        let newest = " ORDER BY at_ms DESC, id DESC LIMIT ";
        let (sql, text, number, most) = match of {
            AttemptsOf::All => (format!("{COLUMNS} WHERE $1 = $1 AND $2 = $2{newest}$3"), "", 0, ANY),
            AttemptsOf::Session(id) => (format!("{COLUMNS} WHERE session = $1 AND $2 = $2{newest}$3"), id, 0, ANY),
            AttemptsOf::Kernel(name, most) => {
                (format!("{COLUMNS} WHERE kernel = $1 AND $2 = $2{newest}$3"), name, 0, most)
            }
            AttemptsOf::Before(ms, most) => (format!("{COLUMNS} WHERE $1 = $1 AND at_ms < $2{newest}$3"), "", ms, most),
            AttemptsOf::Lesson(id) => {
                let met = "kernel IN (SELECT kernel FROM attempts WHERE lesson = $1) \
                           AND at_ms >= (SELECT MIN(at_ms) FROM attempts WHERE lesson = $1) AND $2 = $2";
                (format!("{COLUMNS} WHERE {met}{newest}$3"), id, 0, MET)
            }
        };
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(text.to_string()).bind(number).bind(i64::from(most));
        let mut found = self.list("listing attempts", statement, attempt)?;
        found.reverse();
        Ok(found)
    }
}

pub(crate) fn attempt(row: Columns<'_>) -> Result<Attempted, Fault> {
    Ok(Attempted {
        id: row.get("id")?,
        at_ms: row.get("at_ms")?,
        seconds: row.get("seconds")?,
        session: row.get("session")?,
        kernel: row.get("kernel")?,
        path: row.get("path")?,
        verb: row.get("verb")?,
        phase: row.read("phase", SessionPhase::named)?,
        parts: row.json("parts")?,
        outcome: row.read("outcome", AttemptOutcome::named)?,
        cause: row.get("cause")?,
        words: row.get("words")?,
        config: row.get("config")?,
        sources: row.get("sources")?,
        environment: row.get("environment")?,
        speedup: row.get("speedup")?,
        workload: row.get("workload")?,
        limit: row.get("limited_by")?,
        promise: row.get("promise")?,
        lesson: row.get("lesson")?,
        hypothesis: row.get("hypothesis")?,
    })
}
