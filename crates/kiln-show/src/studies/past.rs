//! A recorded study as it stands now, for people and for machines.

use jiff::tz::TimeZone;
use kiln_app::{StudyNow, configurations_tried};
use kiln_store::{Labels, Remark, State, Study, Trial, Validation};
use serde_json::{Value, json};

use crate::results::fuzz::validation;
use crate::words::number::{grouped, json_count, mean_of};
use crate::words::remark::remarks_json;
use crate::words::time::stamp;

/// What a study's one speedup is, where it has several workloads: not that of any of them.
pub(crate) fn speedup_is(study: &Study) -> Option<String> {
    let summary = study.summary.as_ref()?.read().ok()?;
    mean_of(summary.workloads.iter().filter(|one| !one.holdout).count())
}

/// The number of configurations tried, and how many of them while searching.
pub(crate) fn tried(past: &Past) -> String {
    match past.ablated {
        None | Some(0) => grouped(past.trials as u128),
        Some(more) => format!(
            "{} ({} while searching, {} more in the ablation)",
            grouped(past.trials as u128),
            grouped((past.trials - more) as u128),
            grouped(more as u128)
        ),
    }
}

/// A study with what the record alone does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The record.
    pub study: Study,
    /// How it stands: as recorded, but interrupted when the process that ran it is gone.
    pub state: State,
    /// Configurations tried.
    pub trials: usize,
    /// How many of them only the ablation tried; none in old studies, which counted only what was searched.
    pub ablated: Option<usize>,
    /// How long it has run, as far as is known.
    pub seconds: f64,
    /// Where the reader is.
    pub zone: TimeZone,
    /// Its name and tags.
    pub labels: Labels,
    /// What was validated of its winners.
    pub validated: Vec<Validation>,
    /// What reviewers remarked on it and its trials.
    pub remarks: Vec<Remark>,
}

impl Past {
    /// A study of which `gone` says whether its process is; the figures come from its summary, or from `trials` where it
    /// has none.
    pub fn new(study: Study, gone: bool, trials: &[Trial], zone: TimeZone) -> Past {
        let state = if gone && study.state == State::Running { State::Interrupted } else { study.state };
        let (tried, ablated) = configurations_tried(&study, trials);
        // While it runs the record does not say; what its trials took is known.
        let recorded: f64 = trials.iter().map(|t| t.wall_s).sum();
        let seconds = if study.state == State::Running { recorded } else { study.seconds };
        let (labels, validated, remarks) = (Labels::default(), Vec::new(), Vec::new());
        Past { study, state, trials: tried, ablated, seconds, zone, labels, validated, remarks }
    }

    /// A study as it stands now, where the reader is here.
    pub fn of(now: &StudyNow) -> Past {
        let past = Past::new(now.study.clone(), now.gone, &now.trials, TimeZone::system());
        let (labels, validated, remarks) = (now.labels.clone(), now.validated.clone(), now.remarks.clone());
        Past { labels, validated, remarks, ..past }
    }

    /// What it ran on.
    pub(crate) fn device(&self) -> &str {
        self.study.device().unwrap_or("-")
    }

    /// The speedup and its interval, where one was confirmed.
    pub(crate) fn speedup(&self) -> Option<(f64, [f64; 2])> {
        self.study.speedup()
    }

    /// What it cost and the price of an hour, where that is known.
    pub(crate) fn spent(&self) -> Option<(f64, f64)> {
        let summary = self.study.summary.as_ref()?.read().ok()?;
        summary.cost.zip(summary.price)
    }

    /// The figures a list has of it.
    pub(crate) fn json(&self) -> Value {
        let (study, speedup) = (&self.study, self.speedup());
        json!({
            "id": study.id,
            "short_id": study.short_id(),
            "name": self.labels.name,
            "tags": self.labels.tags,
            "started": stamp(study.started_ms),
            "started_ms": study.started_ms,
            "ended_ms": study.ended_ms,
            "kernel": study.kernel,
            "path": study.path,
            "target": study.target,
            "arch": study.arch,
            "variant": study.variant,
            "state": self.state.name(),
            "verdict": study.verdict,
            "validated": self.validated.iter().map(validation).collect::<Vec<_>>(),
            "remarks": remarks_json(&self.remarks),
            "speedup": speedup.map(|(value, _)| value),
            "speedup_ci95": speedup.map(|(_, interval)| interval),
            "trials": self.trials,
            "ablated": self.ablated,
            "seconds": self.seconds,
            "cost": self.spent().map(|(cost, _)| cost),
            "device": study.device(),
            "seed": json_count(study.seed.into()),
            "strategy": study.strategy,
            "kiln_version": study.kiln_version,
        })
    }
}
