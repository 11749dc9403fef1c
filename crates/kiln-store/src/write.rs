//! Everything that changes the store. In: studies, trials with their samples, remarks. Each call is one transaction.
//! Refuses a study or a trial that is already there, one that is not, and numbers that would not read back.

use kiln_core::{Fault, Refusal};
use uuid::Uuid;

use crate::database::column::{count, finite, json};
use crate::database::fault::fault;
use crate::database::insert::{insert_measurement, insert_study, insert_trial};
use crate::{Kept, Measurement, State, Store, Study, Summary, Trial};

impl Store {
    /// A new study, as it stands.
    pub fn begin(&self, study: &Study) -> Result<(), Fault> {
        let what = &format!("beginning study {}", study.id);
        if Uuid::try_parse(&study.id).is_ok_and(|id| id.to_string() == study.id) {
            self.transaction(what, |session| insert_study(session, what, study))
        } else {
            Err(Fault::new(what, "its id is not a UUID in lower case with dashes"))
        }
    }

    /// The end of a running study's run. `seconds` is how long it has run, all its runs together.
    pub fn finish(
        &self,
        id: &str,
        state: State,
        verdict: Option<&str>,
        summary: Option<&Summary>,
        ended_ms: i64,
        seconds: f64,
    ) -> Result<(), Fault> {
        let what = &format!("finishing study {id}");
        if state == State::Running {
            return Err(Fault::new(what, "a study does not end as running"));
        }
        let change = sqlx::query(
            "UPDATE studies SET state = $1, verdict = $2, summary = $3, ended_ms = $4, seconds = $5 \
             WHERE id = $6 AND state = 'running'",
        )
        .bind(state.name())
        .bind(verdict)
        .bind(summary.map(|s| json(what, "summary", &Kept::new(s))).transpose()?)
        .bind(ended_ms)
        .bind(finite(what, "seconds", seconds)?)
        .bind(id);
        self.transaction(what, |session| match session.change(change).map_err(|e| fault(what, &e))? {
            0 => Err(Fault::new(what, "there is no running study of that id")
                .hint("it was never begun, or it has already ended; reopen it to run it again")),
            _ => Ok(()),
        })
    }

    /// A study that was stopped, or whose process is gone, runs again under `owner`. What its end said is forgotten; its
    /// trials and its seconds stay.
    pub fn reopen(&self, id: &str, owner: &str) -> Result<(), Fault> {
        let what = &format!("reopening study {id}");
        let change = sqlx::query(
            "UPDATE studies SET state = 'running', owner = $1, ended_ms = NULL, verdict = NULL, summary = NULL WHERE id = $2",
        )
        .bind(owner)
        .bind(id);
        self.transaction(what, |session| match session.change(change).map_err(|e| fault(what, &e))? {
            0 => Err(unknown(what)),
            _ => Ok(()),
        })
    }

    /// A trial with its samples: all of it, or nothing. The trial's number must be new within its phase, and the
    /// measurements must name the trial they come with.
    pub fn record(&self, study: &str, trial: &Trial, measurements: &[Measurement]) -> Result<(), Fault> {
        let what = &format!("recording trial {} of phase {} in study {study}", trial.number, trial.phase);
        if let Some(other) = measurements.iter().find(|m| m.phase != trial.phase || m.trial != trial.number) {
            let why = format!("a measurement names trial {} of phase {}", other.trial, other.phase);
            return Err(Fault::new(what, why).hint("record each measurement together with its own trial"));
        }
        self.transaction(what, |session| {
            // Counting first makes those who record in one study wait for each other, with any engine.
            let counted = sqlx::query("UPDATE studies SET recorded = recorded + 1 WHERE id = $1").bind(study);
            if session.change(counted).map_err(|e| fault(what, &e))? == 0 {
                return Err(unknown(what));
            }
            insert_trial(session, what, study, trial)?;
            for (item, measurement) in (0..).zip(measurements) {
                insert_measurement(session, what, study, trial, item, measurement)?;
            }
            Ok(())
        })
    }

    /// What was found out later about a refused trial: its refusal with more evidence.
    pub fn explain(&self, study: &str, phase: &str, number: u64, refusal: &Refusal) -> Result<(), Fault> {
        let what = &format!("explaining trial {number} of phase {phase} in study {study}");
        let text = serde_json::to_string(refusal).map_err(|e| Fault::new(what, e))?;
        let change = sqlx::query(
            "UPDATE trials SET refusal = $1 WHERE study = $2 AND phase = $3 AND number = $4 AND refusal IS NOT NULL",
        )
        .bind(text)
        .bind(study)
        .bind(phase)
        .bind(count(what, "the trial's number", number)?);
        self.transaction(what, |session| match session.change(change).map_err(|e| fault(what, &e))? {
            0 => Err(Fault::new(what, "there is no such trial that was refused")),
            _ => Ok(()),
        })
    }

    /// A free remark about a study.
    pub fn note(&self, study: &str, at_ms: i64, kind: &str, text: &str) -> Result<(), Fault> {
        let what = &format!("noting a remark in study {study}");
        let insert = sqlx::query(
            "INSERT INTO notes (study, place, at_ms, kind, text) \
             SELECT id, (SELECT COUNT(*) FROM notes WHERE study = $1), $2, $3, $4 FROM studies WHERE id = $1",
        )
        .bind(study)
        .bind(at_ms)
        .bind(kind)
        .bind(text);
        self.transaction(what, |session| match session.change(insert).map_err(|e| fault(what, &e))? {
            0 => Err(unknown(what)),
            _ => Ok(()),
        })
    }
}

fn unknown(what: &str) -> Fault {
    Fault::new(what, "there is no study of that id")
}
