//! Everything that is read back. In: a study's id, or which studies. Out: records equal to those that went in. Refuses a
//! record that cannot be understood, naming its column, and trials of a study that is not there. Lists leave such records
//! out, and count them.

use kiln_core::Fault;
use sqlx::any::AnyRow;

use crate::database::column::{Columns, count};
use crate::database::fault::fault;
use crate::database::session::Statement;
use crate::{Filter, Measurement, Note, State, Store, Study, Trial, TrialState};

/// `SELECT` of whole studies, with what follows `FROM studies`.
macro_rules! select_studies {
    ($rest:literal) => {
        sqlx::query(concat!(
            "SELECT id, started_ms, ended_ms, state, owner, kernel, path, target, arch, variant, seed, strategy, options, ",
            "environment, git_commit, spec_hash, spec_text, kiln_version, verdict, summary, seconds FROM studies ",
            $rest
        ))
    };
}
pub(crate) use select_studies;

/// Trials read at once.
const STRETCH: i64 = 4096;

impl Store {
    /// Studies, newest first.
    pub fn studies(&self, filter: &Filter) -> Result<Vec<Study>, Fault> {
        let limit = filter.limit.map_or(i64::MAX, i64::from);
        let statement = match &filter.kernel {
            Some(kernel) => {
                select_studies!("WHERE kernel = $1 ORDER BY started_ms DESC, id DESC LIMIT $2").bind(kernel).bind(limit)
            }
            None => select_studies!("ORDER BY started_ms DESC, id DESC LIMIT $1").bind(limit),
        };
        self.list("listing studies", statement, study)
    }

    /// The newest study of a kernel on a target that runs or was interrupted.
    pub fn unfinished(&self, kernel: &str, target: &str) -> Result<Option<Study>, Fault> {
        let statement = select_studies!(
            "WHERE kernel = $1 AND target = $2 AND state IN ('running', 'interrupted') \
             ORDER BY started_ms DESC, id DESC LIMIT 1"
        );
        Ok(self.read("looking for an unfinished study", statement.bind(kernel).bind(target), study)?.pop())
    }

    /// The trials of a study, in the order recorded. They are read a stretch at a time: a row takes several times the memory of its
    /// record.
    pub fn trials(&self, study: &str) -> Result<Vec<Trial>, Fault> {
        let mut trials: Vec<Trial> = Vec::new();
        let mut after = -1;
        loop {
            let statement = sqlx::query(
                "SELECT place, phase, number, config, state, cost, refusal, workload, artifact, started_ms, build_s, check_s, \
                 measure_s, wall_s, details FROM trials WHERE study = $1 AND place > $2 ORDER BY place LIMIT $3",
            );
            let statement = statement.bind(study).bind(after).bind(STRETCH);
            let placed = |row: Columns<'_>| Ok((row.get::<i64>("place")?, trial(row)?));
            let found = match trials.is_empty() {
                true => self.of_study("trials", study, statement, placed)?,
                false => self.read(&format!("reading the trials of study {study}"), statement, placed)?,
            };
            let read = found.len();
            for (place, trial) in found {
                after = place;
                trials.push(trial);
            }
            if (read as i64) < STRETCH {
                return Ok(trials);
            }
        }
    }

    /// The measurements of one trial, in the order recorded.
    pub fn measurements_of(&self, study: &str, phase: &str, number: u64) -> Result<Vec<Measurement>, Fault> {
        let what = &format!("reading the measurements of {phase} {number} of study {study}");
        let statement = sqlx::query(
            "SELECT t.phase AS phase, t.number AS trial, m.workload AS workload, m.subject AS subject, \
             m.block AS block, m.samples AS samples, m.calls AS calls, m.cache AS cache \
             FROM measurements m JOIN trials t ON t.study = m.study AND t.place = m.place \
             WHERE m.study = $1 AND t.phase = $2 AND t.number = $3 ORDER BY m.place, m.item",
        );
        let number = count(what, "number", number)?;
        self.read(what, statement.bind(study).bind(phase).bind(number), measurement)
    }

    /// The measurements of a study, in the order recorded.
    pub fn measurements(&self, study: &str) -> Result<Vec<Measurement>, Fault> {
        let statement = sqlx::query(
            "SELECT t.phase AS phase, t.number AS trial, m.workload AS workload, m.subject AS subject, \
             m.block AS block, m.samples AS samples, m.calls AS calls, m.cache AS cache \
             FROM measurements m JOIN trials t ON t.study = m.study AND t.place = m.place \
             WHERE m.study = $1 ORDER BY m.place, m.item",
        );
        self.of_study("measurements", study, statement.bind(study), measurement)
    }

    /// The remarks about a study, in the order noted.
    pub fn notes(&self, study: &str) -> Result<Vec<Note>, Fault> {
        let statement = sqlx::query("SELECT at_ms, kind, text FROM notes WHERE study = $1 ORDER BY place");
        self.of_study("remarks", study, statement.bind(study), note)
    }

    /// How long each phase of each study took in all: kernel, phase and seconds of its trials.
    pub fn phase_seconds(&self) -> Result<Vec<(String, String, f64)>, Fault> {
        let statement = sqlx::query(
            "SELECT s.kernel AS kernel, t.phase AS phase, SUM(t.wall_s) AS seconds FROM trials t \
             JOIN studies s ON s.id = t.study GROUP BY t.study, s.kernel, t.phase ORDER BY t.study, t.phase",
        );
        let times = |row: Columns<'_>| Ok((row.get("kernel")?, row.get("phase")?, row.get("seconds")?));
        self.read("adding up the phases of studies", statement, times)
    }

    /// Every row of a statement, understood.
    pub(crate) fn read<T>(
        &self,
        what: &str,
        statement: Statement<'_>,
        record: impl Fn(Columns<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let rows: Vec<AnyRow> = self.turn(|session| session.rows(statement).map_err(|e| fault(what, &e)))?;
        rows.iter().map(|row| record(Columns { row, what })).collect()
    }

    /// The same for a list: rows that cannot be understood are left out, and their ids are remembered.
    pub(crate) fn list<T>(
        &self,
        what: &str,
        statement: Statement<'_>,
        record: impl Fn(Columns<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        Ok(self.list_counted(what, statement, record)?.0)
    }

    /// The same for records that are not named by their id alone: `attempt 0199...`.
    pub(crate) fn list_of<T>(
        &self,
        noun: &str,
        statement: Statement<'_>,
        record: impl Fn(Columns<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let what = &format!("listing {noun}s");
        let rows: Vec<AnyRow> = self.turn(|session| session.rows(statement).map_err(|e| fault(what, &e)))?;
        let understood = |row: &AnyRow| {
            let columns = || Columns { row, what };
            let read = record(columns());
            read.inspect_err(|why| {
                let id = columns().get("id").unwrap_or_else(|_| "without an id".to_string());
                self.leave_out(&format!("{noun} {id} ({})", why.why));
            })
            .ok()
        };
        Ok(rows.iter().filter_map(understood).collect())
    }

    /// The same, with how many were left out.
    pub(crate) fn list_counted<T>(
        &self,
        what: &str,
        statement: Statement<'_>,
        record: impl Fn(Columns<'_>) -> Result<T, Fault>,
    ) -> Result<(Vec<T>, usize), Fault> {
        let rows: Vec<AnyRow> = self.turn(|session| session.rows(statement).map_err(|e| fault(what, &e)))?;
        let understood = |row: &AnyRow| match record(Columns { row, what }) {
            Ok(record) => Some(record),
            Err(_) => {
                let id = Columns { row, what }.get("id").unwrap_or_else(|_| "one without an id".to_string());
                self.leave_out(&id);
                None
            }
        };
        let records: Vec<T> = rows.iter().filter_map(understood).collect();
        let left_out = rows.len() - records.len();
        Ok((records, left_out))
    }

    /// The same for what a study has; nothing at all may mean that there is no such study.
    fn of_study<T>(
        &self,
        noun: &str,
        id: &str,
        statement: Statement<'_>,
        record: impl Fn(Columns<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let what = &format!("reading the {noun} of study {id}");
        let records = self.read(what, statement, record)?;
        if records.is_empty() {
            let known = sqlx::query("SELECT id FROM studies WHERE id = $1").bind(id);
            if self.turn(|session| session.row(known).map_err(|e| fault(what, &e)))?.is_none() {
                return Err(Fault::new(what, "there is no study of that id"));
            }
        }
        Ok(records)
    }
}

pub(crate) fn study(row: Columns<'_>) -> Result<Study, Fault> {
    Ok(Study {
        id: row.get("id")?,
        started_ms: row.get("started_ms")?,
        ended_ms: row.get("ended_ms")?,
        state: row.read("state", State::from_name)?,
        owner: row.get("owner")?,
        kernel: row.get("kernel")?,
        path: row.get("path")?,
        target: row.get("target")?,
        arch: row.get("arch")?,
        variant: row.get("variant")?,
        seed: row.read("seed", |text| text.parse().ok())?,
        strategy: row.get("strategy")?,
        options: row.json("options")?,
        environment: row.json("environment")?,
        git_commit: row.get("git_commit")?,
        spec_hash: row.get("spec_hash")?,
        spec_text: row.get("spec_text")?,
        kiln_version: row.get("kiln_version")?,
        verdict: row.get("verdict")?,
        summary: row.maybe_json("summary")?,
        seconds: row.get("seconds")?,
    })
}

fn trial(row: Columns<'_>) -> Result<Trial, Fault> {
    Ok(Trial {
        number: row.count("number")?,
        phase: row.get("phase")?,
        config: row.get("config")?,
        state: row.read("state", TrialState::from_name)?,
        cost: row.get("cost")?,
        refusal: row.maybe_json("refusal")?,
        workload: row.get("workload")?,
        artifact: row.get("artifact")?,
        started_ms: row.get("started_ms")?,
        build_s: row.get("build_s")?,
        check_s: row.get("check_s")?,
        measure_s: row.get("measure_s")?,
        wall_s: row.get("wall_s")?,
        details: row.json("details")?,
    })
}

fn measurement(row: Columns<'_>) -> Result<Measurement, Fault> {
    Ok(Measurement {
        phase: row.get("phase")?,
        trial: row.count("trial")?,
        workload: row.get("workload")?,
        subject: row.get("subject")?,
        block: row.count("block")?,
        samples: row.json("samples")?,
        calls: row.count("calls")?,
        cache: row.get("cache")?,
    })
}

fn note(row: Columns<'_>) -> Result<Note, Fault> {
    Ok(Note { at_ms: row.get("at_ms")?, kind: row.get("kind")?, text: row.get("text")? })
}
