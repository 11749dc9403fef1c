//! Samples of one subject on one workload, taken in one go.

/// One block of samples, as it was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The phase of the trial it belongs to.
    pub phase: String,
    /// The number of that trial within its phase.
    pub trial: u64,
    /// The workload it ran on.
    pub workload: String,
    /// What ran: `candidate`, or `baseline:` and the baseline's name.
    pub subject: String,
    /// Which block of an interleaved measurement, from 0.
    pub block: u64,
    /// Seconds per call, in the order taken; they read back bit for bit.
    pub samples: Vec<f64>,
    /// How many calls one sample averages over.
    pub calls: u32,
    /// `warm` or `cold`.
    pub cache: String,
}
