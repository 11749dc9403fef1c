//! The comparison for other people's tools: a row for each workload, in their formats.

use kiln_app::{CompareVerdict, Compared, ComparedWorkload};
use kiln_formats::{ReportOutcome, ReportRow, bencher, benchmark_action, junit, sarif};

use super::{CompareView, change};
use crate::words::number::duration;

impl CompareView<'_> {
    /// As JUnit XML.
    pub fn junit(&self) -> String {
        junit(&self.rows())
    }

    /// As SARIF.
    pub fn sarif(&self) -> String {
        sarif(&self.rows(), env!("CARGO_PKG_VERSION"))
    }

    /// As Bencher Metric Format.
    pub fn bencher(&self) -> String {
        bencher(&self.rows())
    }

    /// As github-action-benchmark reads it.
    pub fn benchmark_action(&self) -> String {
        benchmark_action(&self.rows())
    }

    fn rows(&self) -> Vec<ReportRow> {
        let Compared { candidate, workloads, .. } = self.compared;
        let row = |workload: &ComparedWorkload| {
            let (found, (time, interval)) = (&workload.comparison, change(workload));
            let (base, own) = (duration(found.baseline.median), duration(found.candidate.median));
            ReportRow {
                kernel: candidate.kernel.clone(),
                workload: workload.workload.clone(),
                file: candidate.path.clone(),
                seconds: found.candidate.median,
                interval: [found.candidate_ci95.low, found.candidate_ci95.high],
                verdict: workload.verdict.name().into(),
                outcome: match workload.verdict {
                    CompareVerdict::Regression => ReportOutcome::Failed,
                    CompareVerdict::TooNoisy => ReportOutcome::Unknown,
                    CompareVerdict::Improvement | CompareVerdict::Same | CompareVerdict::Identical => {
                        ReportOutcome::Passed
                    }
                },
                words: format!("{}: {base} to {own}, time {time} {interval}", workload.verdict.name()),
            }
        };
        workloads.iter().map(row).collect()
    }
}
