//! A result by what the user calls it. In: the path of a run file, or the id or name of a study or run. Out: a run with its samples; of a
//! study, those of its confirmation. Refuses what kiln did not measure, and a study without a winner.

use camino::Utf8Path;
use kiln_core::{CANDIDATE, MeasuredSide, MeasuredWorkload, Report};
use kiln_formats::RunFile;
use kiln_store::{Measurement, Store, Study};

use crate::failure::Failure;
use crate::operation::compare::read;
use crate::project::Project;
use crate::record::resume::SOURCES;
use crate::record::run_file;
use crate::record::winner::winner;

/// What a result is recorded as.
pub(super) struct Past {
    /// In words.
    pub(super) what: String,
    pub(super) run: RunFile,
    /// The hash of the kernel's files, of a study.
    pub(super) sources: Option<String>,
}

impl Past {
    pub(super) fn find(project: &Project, name: &str) -> Result<Past, Failure> {
        if Utf8Path::new(name).is_file() {
            let run = read::run(project, name)?;
            if !run.source.starts_with("kiln") {
                return Err(Report::error(format!("{name} was measured by {}: kiln cannot build it", run.source))
                    .hint("reproduce takes run files of `kiln bench --save FILE`")
                    .into());
            }
            return Ok(Past { what: format!("run {name}"), run, sources: None });
        }
        let Some(store) = project.recorded()? else {
            return Err(Report::error(format!("there is no file `{name}` and no {} here", project.store_place()))
                .hint("give a run file (kiln bench --save FILE), or run kiln in the folder you tuned in")
                .into());
        };
        match store.find(name) {
            Ok(study) => of_study(&store, &study),
            Err(missing) => match store.find_run(name)? {
                Some(run) if run.sweep().is_some() => {
                    let report = Report::error(format!("run {} is a sweep over shapes", run.short_id()));
                    Err(report
                        .hint("measure the grid again: kiln sweep PATH; compare both: kiln compare RUN RUN")
                        .into())
                }
                Some(run) => {
                    let what = format!("run {}", run.short_id());
                    Ok(Past { what, run: run_file(&run)?, sources: None })
                }
                None => Err(missing.into()),
            },
        }
    }
}

/// The confirmation of a study's winner, as a run.
fn of_study(store: &Store, study: &Study) -> Result<Past, Failure> {
    let what = format!("study {}", study.short_id());
    let notes = store.notes(&study.id)?;
    let sources = notes.iter().rev().find(|note| note.kind == SOURCES).map(|note| note.text.clone());
    let apart = study.winners();
    let config = match (study.winner(), apart.len()) {
        (None, 2..) => {
            let names: Vec<&str> = apart.iter().map(|(name, _)| name.as_str()).collect();
            return Err(Report::error(format!("{what} has a winner for each workload"))
                .label(names.join(", "))
                .hint("measure one with `kiln bench PATH --study STUDY --workload NAME --save FILE` and reproduce that")
                .into());
        }
        _ => winner(study, apart.first().map(|(name, _)| name.as_str()))?,
    };
    let workloads = confirmed(store.measurements(&study.id)?);
    if workloads.is_empty() {
        return Err(Report::error(format!("{what} confirmed no winner"))
            .hint(format!("`kiln show {}` shows how it ended", study.short_id()))
            .into());
    }
    let options = study.options.read().ok();
    let environment = serde_json::to_value(&study.environment).unwrap_or_default();
    let run = RunFile {
        id: Some(study.id.clone()),
        started_ms: Some(study.started_ms),
        seconds: Some(study.seconds),
        kernel: study.kernel.clone(),
        path: Some(study.path.clone()),
        target: Some(study.target.clone()),
        arch: study.arch.clone(),
        variant: Some(study.variant.clone()),
        config: Some(config),
        cache: options.and_then(|options| options.cache.clone()),
        threads: options.and_then(|options| options.threads).map(|threads| threads as u64),
        seed: Some(study.seed),
        device: study.device().map(String::from),
        commit: study.git_commit.clone(),
        spec_hash: Some(study.spec_hash.clone()),
        environment,
        workloads,
        ..RunFile::by(format!("kiln {}", study.kiln_version))
    };
    // Without the hash, whether the sources are the same is not known.
    Ok(Past { what, run, sources: Some(sources.unwrap_or_default()) })
}

/// The samples of the last confirmation.
fn confirmed(measurements: Vec<Measurement>) -> Vec<MeasuredWorkload> {
    let of_confirmation: Vec<Measurement> =
        measurements.into_iter().filter(|m| m.phase.rsplit('/').next() == Some("confirm")).collect();
    let last = of_confirmation.iter().map(|m| m.trial).max();
    let mut workloads: Vec<MeasuredWorkload> = Vec::new();
    let mut sorted: Vec<Measurement> = of_confirmation.into_iter().filter(|m| Some(m.trial) == last).collect();
    sorted.sort_by_key(|m| m.block);
    for block in sorted {
        let name = match block.subject.strip_prefix("baseline:") {
            Some(baseline) => baseline.to_string(),
            None => CANDIDATE.to_string(),
        };
        let place = workloads.iter().position(|w| w.name == block.workload).unwrap_or_else(|| {
            workloads.push(MeasuredWorkload { name: block.workload.clone(), ..MeasuredWorkload::default() });
            workloads.len() - 1
        });
        let sides = &mut workloads[place].sides;
        let side = sides.iter().position(|side| side.name == name).unwrap_or_else(|| {
            sides.push(MeasuredSide { name, ..MeasuredSide::default() });
            sides.len() - 1
        });
        sides[side].rounds.push(block.samples);
        sides[side].calls.push(block.calls);
    }
    workloads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_is_its_last_confirmation() {
        let block = |phase: &str, trial, subject: &str, block, seconds: f64| Measurement {
            phase: phase.into(),
            trial,
            workload: "w".into(),
            subject: subject.into(),
            block,
            samples: vec![seconds],
            calls: 1,
            cache: "warm".into(),
        };
        let found = confirmed(vec![
            block("search", 3, "candidate", 0, 9.0),
            block("confirm", 0, "candidate", 0, 8.0),
            block("confirm", 1, "candidate", 1, 2.0),
            block("confirm", 1, "candidate", 0, 1.0),
            block("confirm", 1, "baseline:naive", 0, 4.0),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sides[0].rounds, [[1.0], [2.0]]);
        assert_eq!((found[0].sides[1].name.as_str(), found[0].sides[1].rounds.len()), ("naive", 1));
    }
}
