//! How a configuration fared on the ladder: refused at a gate, or measured.

use kiln_core::Refusal;
use kiln_stats::median;
use serde::Serialize;

use crate::building::resources::Resources;

/// One configuration's way up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// How it ended.
    pub outcome: Ended,
    /// The build's key; none when it was not built.
    pub artifact: Option<String>,
    /// What each kernel takes of the GPU, as the compiler says; empty elsewhere, and when taken from a record.
    pub resources: Vec<Resources>,
    /// Seconds spent waiting for the build.
    pub build_s: f64,
    /// Seconds spent checking, calls included.
    pub check_s: f64,
    /// Seconds spent in timed calls and their warm-up.
    pub measure_s: f64,
    /// Seconds in all.
    pub wall_s: f64,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// Which of several devices it was tried on, from 0; none where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station: Option<usize>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Refused, on the named workload where there was one.
    Refused(Refusal, Option<String>),
    /// Measured on every workload, or given up as hopeless after some.
    Measured {
        /// One for each workload that was reached.
        workloads: Vec<Measured>,
        /// True when it was given up early.
        hopeless: bool,
        /// What the search is told, in seconds.
        cost: f64,
    },
}

/// Samples on one workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// The workload.
    pub workload: String,
    /// Seconds of one call, in the order taken.
    pub samples: Vec<f64>,
    /// Calls in each sample.
    pub calls: u32,
}

impl Measured {
    /// The middle sample.
    pub fn median(&self) -> f64 {
        median(&self.samples).unwrap_or(f64::INFINITY)
    }
}

impl Evaluation {
    /// One whose build was waited for so long, and that is not refused yet.
    pub(crate) fn begun(build_s: f64, started_ms: i64) -> Evaluation {
        Evaluation {
            outcome: Ended::Measured { workloads: Vec::new(), hopeless: false, cost: f64::INFINITY },
            artifact: None,
            resources: Vec::new(),
            build_s,
            check_s: 0.0,
            measure_s: 0.0,
            wall_s: 0.0,
            started_ms,
            station: None,
        }
    }

    /// The cost to rank by; none when refused.
    pub fn cost(&self) -> Option<f64> {
        match &self.outcome {
            Ended::Measured { cost, .. } => Some(*cost),
            Ended::Refused(..) => None,
        }
    }

    /// The refusal, if it was one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.outcome {
            Ended::Refused(refusal, _) => Some(refusal),
            Ended::Measured { .. } => None,
        }
    }

    /// Whether it was measured to the end: only those may win.
    pub fn complete(&self) -> bool {
        matches!(&self.outcome, Ended::Measured { hopeless: false, .. })
    }

    /// The samples, as far as they go.
    pub fn measured(&self) -> &[Measured] {
        match &self.outcome {
            Ended::Measured { workloads, .. } => workloads,
            Ended::Refused(..) => &[],
        }
    }
}
