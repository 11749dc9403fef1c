//! New rows. In: one record, inside a transaction. Refuses one whose key is already there, and numbers that would not
//! read back.

use kiln_core::Fault;

use crate::database::column::{count, finite, json, samples};
use crate::database::fault::{fault, is_double};
use crate::database::session::Session;
use crate::{Measurement, Study, Trial};

pub(crate) fn insert_study(session: &mut Session<'_>, what: &str, study: &Study) -> Result<(), Fault> {
    let insert = sqlx::query(
        "INSERT INTO studies (id, started_ms, ended_ms, state, owner, kernel, path, target, arch, variant, seed, \
         strategy, options, environment, git_commit, spec_hash, spec_text, kiln_version, verdict, summary, seconds, \
         recorded) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, \
         $21, 0)",
    )
    .bind(study.id.as_str())
    .bind(study.started_ms)
    .bind(study.ended_ms)
    .bind(study.state.name())
    .bind(study.owner.as_str())
    .bind(study.kernel.as_str())
    .bind(study.path.as_str())
    .bind(study.target.as_str())
    .bind(study.arch.as_deref())
    .bind(study.variant.as_str())
    .bind(study.seed.to_string())
    .bind(study.strategy.as_str())
    .bind(json(what, "options", &study.options)?)
    .bind(json(what, "environment", &study.environment)?)
    .bind(study.git_commit.as_deref())
    .bind(study.spec_hash.as_str())
    .bind(study.spec_text.as_str())
    .bind(study.kiln_version.as_str())
    .bind(study.verdict.as_deref())
    .bind(study.summary.as_ref().map(|s| json(what, "summary", s)).transpose()?)
    .bind(finite(what, "seconds", study.seconds)?);
    match session.change(insert) {
        Err(e) if is_double(&e) => Err(Fault::new(what, "there is already a study of that id")),
        done => done.map(|_| ()).map_err(|e| fault(what, &e)),
    }
}

pub(crate) fn insert_trial(session: &mut Session<'_>, what: &str, study: &str, trial: &Trial) -> Result<(), Fault> {
    let refusal = trial.refusal.as_ref().map(serde_json::to_string).transpose().map_err(|e| Fault::new(what, e))?;
    let insert = sqlx::query(
        "INSERT INTO trials (study, place, phase, number, config, state, cost, refusal, workload, artifact, started_ms, \
         build_s, check_s, measure_s, wall_s, details) VALUES ($1, (SELECT recorded - 1 FROM studies WHERE id = $1), \
         $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    )
    .bind(study)
    .bind(trial.phase.as_str())
    .bind(count(what, "the trial's number", trial.number)?)
    .bind(trial.config.as_str())
    .bind(trial.state.name())
    .bind(trial.cost.map(|cost| finite(what, "cost", cost)).transpose()?)
    .bind(refusal)
    .bind(trial.workload.as_deref())
    .bind(trial.artifact.as_deref())
    .bind(trial.started_ms)
    .bind(finite(what, "build_s", trial.build_s)?)
    .bind(finite(what, "check_s", trial.check_s)?)
    .bind(finite(what, "measure_s", trial.measure_s)?)
    .bind(finite(what, "wall_s", trial.wall_s)?)
    .bind(json(what, "details", &trial.details)?);
    match session.change(insert) {
        Err(e) if is_double(&e) => Err(Fault::new(what, "it is already recorded")
            .hint("another kiln may be running this study; a study has one at a time")),
        done => done.map(|_| ()).map_err(|e| fault(what, &e)),
    }
}

pub(crate) fn insert_measurement(
    session: &mut Session<'_>,
    what: &str,
    study: &str,
    trial: &Trial,
    item: i64,
    measurement: &Measurement,
) -> Result<(), Fault> {
    let insert = sqlx::query(
        "INSERT INTO measurements (study, place, item, workload, subject, block, samples, calls, cache) \
         SELECT study, place, $4, $5, $6, $7, $8, $9, $10 FROM trials WHERE study = $1 AND phase = $2 AND number = $3",
    )
    .bind(study)
    .bind(trial.phase.as_str())
    .bind(count(what, "the trial's number", trial.number)?)
    .bind(item)
    .bind(measurement.workload.as_str())
    .bind(measurement.subject.as_str())
    .bind(count(what, "the block's number", measurement.block)?)
    .bind(samples(what, &measurement.samples)?)
    .bind(i64::from(measurement.calls))
    .bind(measurement.cache.as_str());
    session.change(insert).map(|_| ()).map_err(|e| fault(what, &e))
}
