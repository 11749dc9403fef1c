//! Comparisons as other people's tools read them: JUnit XML for a CI's list of tests, SARIF for code scanning, and the metric formats
//! of Bencher and github-action-benchmark. In: rows of a comparison. Out: text.

mod bencher;
mod benchmark_action;
mod junit;
mod sarif;

pub use bencher::bencher;
pub use benchmark_action::benchmark_action;
pub use junit::junit;
pub use sarif::sarif;

/// One workload of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportRow {
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// The kernel file, where it is known.
    pub file: Option<String>,
    /// Seconds of the candidate's median call, with its interval.
    pub seconds: f64,
    /// The interval of those.
    pub interval: [f64; 2],
    /// The verdict, as it is printed.
    pub verdict: String,
    /// What came of it.
    pub outcome: ReportOutcome,
    /// The figures in a sentence.
    pub words: String,
}

/// What a row means to a CI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportOutcome {
    /// Fine.
    Passed,
    /// A regression.
    Failed,
    /// The samples do not tell.
    Unknown,
}

impl ReportRow {
    /// The kernel and the workload.
    fn name(&self) -> String {
        format!("{}/{}", self.kernel, self.workload)
    }
}

#[cfg(test)]
mod tests;
