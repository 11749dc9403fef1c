//! The verdicts for other people's tools: a row for each workload, and one for each kernel that did not come to a verdict.

use kiln_app::{CiKernel, CiState, CiVerdict, CiWorkload};
use kiln_formats::{ReportOutcome, ReportRow, bencher, benchmark_action, junit, sarif};

use super::{CiView, change, headline};
use crate::words::number::duration;

impl CiView<'_> {
    /// As JUnit XML.
    pub fn junit(&self) -> String {
        junit(&self.rows())
    }

    /// As SARIF.
    pub fn sarif(&self) -> String {
        sarif(&self.rows(), env!("CARGO_PKG_VERSION"))
    }

    /// As Bencher Metric Format: only what was measured.
    pub fn bencher(&self) -> String {
        bencher(&self.measured())
    }

    /// As github-action-benchmark reads it: only what was measured.
    pub fn benchmark_action(&self) -> String {
        benchmark_action(&self.measured())
    }

    fn measured(&self) -> Vec<ReportRow> {
        self.rows().into_iter().filter(|row| row.seconds > 0.0).collect()
    }

    fn rows(&self) -> Vec<ReportRow> {
        self.guarded.kernels.iter().flat_map(rows).collect()
    }
}

fn rows(kernel: &CiKernel) -> Vec<ReportRow> {
    let mut rows: Vec<ReportRow> = kernel.workloads.iter().map(|workload| row(kernel, workload)).collect();
    if let Some(step) = kernel.steps.iter().find(|s| matches!(s.state, CiState::Refused | CiState::Failed)) {
        rows.push(ReportRow {
            kernel: kernel.kernel.clone(),
            workload: step.step.into(),
            file: Some(kernel.path.clone()),
            seconds: 0.0,
            interval: [0.0, 0.0],
            verdict: step.state.name().into(),
            outcome: ReportOutcome::Failed,
            words: headline(kernel),
        });
    }
    rows
}

fn row(kernel: &CiKernel, workload: &CiWorkload) -> ReportRow {
    let seconds = workload.candidate.map_or(0.0, |found| found.value);
    let interval = workload.candidate.map_or([0.0, 0.0], |found| [found.interval.low, found.interval.high]);
    let words = match (change(workload), workload.base) {
        (Some((time, interval)), Some(base)) => {
            let (base, own) = (duration(base.value), duration(seconds));
            format!("{}: {base} to {own}, time {time} {interval}", workload.verdict.name())
        }
        _ => workload.verdict.name().to_string(),
    };
    ReportRow {
        kernel: kernel.kernel.clone(),
        workload: workload.workload.clone(),
        file: Some(kernel.path.clone()),
        seconds,
        interval,
        verdict: workload.verdict.name().into(),
        outcome: match workload.verdict {
            CiVerdict::Regression => ReportOutcome::Failed,
            CiVerdict::TooNoisy | CiVerdict::New | CiVerdict::OtherMachine => ReportOutcome::Unknown,
            CiVerdict::Improvement | CiVerdict::Same | CiVerdict::Identical => ReportOutcome::Passed,
        },
        words,
    }
}
