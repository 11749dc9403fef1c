//! What limits a kernel where there are no counters. In: a kernel's machine code and where in it calls spend their time, or what the compiler
//! and the launch say on a GPU; its measured time beside what the machine can do. Out: a [`CoarseDiagnosis`] in the form of a
//! profile's. Promises are upper bounds, and nothing is surer than [`SUREST`]. Refuses nothing: what is not known claims no cause.

mod assembly;
mod cause;
mod gpu;
mod hot;
mod mix;
mod processor;
mod stride;

use serde::Serialize;

use crate::profile::{Bound, Evidence, Fix, Roofline};

pub use assembly::{Function, Instruction, functions};
pub use cause::{CoarseCause, CodeCause};
pub use gpu::{GpuFacts, of_gpu};
pub use hot::{HotLoop, SeenLoop, hot_loop};
pub use processor::{ProcessorFacts, of_processor};

/// No coarse diagnosis is surer.
pub const SUREST: f64 = 0.5;
/// From this share of what the machine can do on, a kernel is at the roof: the rest is all there is to gain.
const AT_ROOF: f64 = 0.75;
/// From this share on a roof is what bounds the kernel.
const BOUNDS: f64 = 0.6;
/// Above this share of what the machine can do, the share is wrong.
const IMPOSSIBLE: f64 = 1.1;
/// Causes that promise less are not worth a change.
const WORTH: f64 = 1.05;

/// A kernel's measured time beside what the machine can do. Shares are none where the kernel file states no cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Position {
    /// Seconds of a call.
    pub seconds: Option<f64>,
    /// The share of memory's peak.
    pub memory: Option<f64>,
    /// The share of arithmetic's peak.
    pub compute: Option<f64>,
    /// Floating-point operations of a call.
    pub flops: Option<f64>,
}

impl Position {
    /// The larger share.
    fn share(&self) -> Option<f64> {
        self.memory.into_iter().chain(self.compute).reduce(f64::max)
    }

    /// No change gives more than what is left below the roof.
    fn bounded(&self, gain: f64) -> f64 {
        let most = self.share().filter(|share| *share > 0.0).map_or(f64::INFINITY, |share| 1.0 / share);
        gain.min(most).max(1.0)
    }

    /// What is wrong with a share that cannot be; none where it can.
    pub fn doubt(&self) -> Option<String> {
        let roofs = [("memory", self.memory), ("arithmetic", self.compute)];
        let (roof, share) = roofs
            .into_iter()
            .filter_map(|(roof, share)| Some((roof, share?)))
            .max_by(|one, other| one.1.total_cmp(&other.1))
            .filter(|(_, share)| *share > IMPOSSIBLE)?;
        Some(format!(
            "{:.0} % of the peak of {roof} cannot be: either [cost] states more work than a call does, or something else slowed the machine \
             down while its peak was measured; nothing is claimed",
            100.0 * share
        ))
    }

    fn roofline(&self) -> Roofline {
        if self.doubt().is_some() {
            let (memory_fraction, compute_fraction) = (self.memory.map(rounded), self.compute.map(rounded));
            return Roofline { memory_fraction, compute_fraction, bound: Bound::Unknown };
        }
        let near = |share: Option<f64>| share.is_some_and(|share| share >= BOUNDS);
        let bound = match (near(self.memory), near(self.compute), self.share()) {
            (_, _, None) => Bound::Unknown,
            (true, true, _) if self.compute > self.memory => Bound::Compute,
            (true, ..) => Bound::Memory,
            (_, true, _) => Bound::Compute,
            _ => Bound::Latency,
        };
        Roofline { memory_fraction: self.memory.map(rounded), compute_fraction: self.compute.map(rounded), bound }
    }
}

/// A cause and its worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoarseRanked {
    /// The cause.
    pub cause: CoarseCause,
    /// The speedup when it is removed, at most.
    pub expected_speedup: f64,
}

/// What a kernel's time goes to, as far as it can be said without counters. It serialises with the keys of a profile's diagnosis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoarseDiagnosis {
    /// The first of `ranked`; none if nothing applies.
    pub cause: Option<CoarseCause>,
    /// How sure that is, from 0 to [`SUREST`].
    pub confidence: f64,
    /// The speedup when it is removed, at most.
    pub expected_speedup: f64,
    /// The figures that say so.
    pub evidence: Vec<Evidence>,
    /// Every cause that applies, the one that promises most first.
    pub ranked: Vec<CoarseRanked>,
    /// Where the kernel stands under the roofs.
    pub roofline: Roofline,
    /// What to change for the first cause.
    pub fixes: Vec<Fix>,
    /// The kernel's name.
    pub kernel: String,
    /// The time of a call in microseconds; none if it was not measured.
    pub time_us: Option<f64>,
    /// The loop in which the time goes, on a processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_loop: Option<HotLoop>,
    /// The first cause in two sentences.
    #[serde(skip)]
    pub explanation: String,
}

/// A cause that applies.
struct Claim {
    cause: CoarseCause,
    gain: f64,
    evidence: Vec<Evidence>,
    explanation: String,
    fixes: Vec<(&'static str, &'static str)>,
}

fn evidence(metric: &str, value: f64, threshold: f64) -> Evidence {
    Evidence { metric: metric.into(), value: rounded(value), threshold: rounded(threshold) }
}

/// The diagnosis that claims come to. At a roof there is nothing else to say.
fn diagnosed(kernel: &str, position: &Position, mut claims: Vec<Claim>, hot_loop: Option<HotLoop>) -> CoarseDiagnosis {
    if position.doubt().is_some() {
        claims.clear();
    }
    if claims.iter().any(|claim| claim.cause.at_roofline()) {
        claims.retain(|claim| claim.cause.at_roofline());
    } else {
        claims.iter_mut().for_each(|claim| claim.gain = position.bounded(claim.gain));
        claims.retain(|claim| claim.gain > WORTH);
    }
    claims.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    let ranked = claims.iter().map(|claim| CoarseRanked { cause: claim.cause, expected_speedup: rounded(claim.gain) });
    let ranked: Vec<CoarseRanked> = ranked.collect();
    // Half of it is how far the next cause is behind; without a measured position a promise has no bound.
    let known = if position.share().is_some() { SUREST } else { 0.5 * SUREST };
    let lead = match claims.as_slice() {
        [] => 0.0,
        [_] => 1.0,
        [first, next, ..] => 1.0 - next.gain / first.gain,
    };
    let confidence = if claims.is_empty() { 0.0 } else { rounded(known * (0.5 + 0.5 * lead)) };
    let first = claims.into_iter().next();
    let gain = first.as_ref().map_or(1.0, |claim| rounded(claim.gain));
    let (cause, evidence, explanation, fixes) = match first {
        Some(Claim { cause, evidence, explanation, fixes, .. }) => (Some(cause), evidence, explanation, fixes),
        None => (None, Vec::new(), String::new(), Vec::new()),
    };
    let fix =
        |(what, how): (&str, &str)| Fix { what: what.into(), how: how.into(), expected_speedup: gain, expected: None };
    CoarseDiagnosis {
        cause,
        confidence,
        expected_speedup: gain,
        evidence,
        ranked,
        roofline: position.roofline(),
        fixes: fixes.into_iter().map(fix).collect(),
        kernel: kernel.into(),
        time_us: position.seconds.map(|seconds| rounded(1e6 * seconds)),
        hot_loop,
        explanation,
    }
}

/// The same at the beginning of a sentence.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A number to three significant digits.
fn rounded(value: f64) -> f64 {
    let digits = 10f64.powi(2 - value.abs().max(1e-9).log10().floor() as i32);
    (value * digits).round() / digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(cause: CodeCause, gain: f64) -> Claim {
        let evidence = vec![evidence("x", 1.0, 2.0)];
        Claim { cause: CoarseCause::Code(cause), gain, evidence, explanation: "Words.".into(), fixes: vec![("a", "b")] }
    }

    #[test]
    fn promises_end_at_the_roof_and_are_never_sure() {
        let position = Position { seconds: Some(2e-3), memory: Some(0.1), compute: Some(0.4), flops: None };
        let found = diagnosed("k", &position, vec![claim(CodeCause::ScalarLoop, 16.0)], None);
        assert_eq!((found.expected_speedup, found.confidence, found.time_us), (2.5, SUREST, Some(2000.0)));
        assert_eq!((found.roofline.bound, found.roofline.memory_fraction), (Bound::Latency, Some(0.1)));
        let unknown = diagnosed("k", &Position::default(), vec![claim(CodeCause::ScalarLoop, 16.0)], None);
        assert_eq!((unknown.expected_speedup, unknown.roofline.bound), (16.0, Bound::Unknown));
        assert!(unknown.confidence <= 0.5 * SUREST);
    }

    /// A share of 655 % says that the stated work is wrong, not that nothing is left to gain.
    #[test]
    fn a_share_that_cannot_be_claims_nothing() {
        let position = Position { seconds: Some(5e-7), memory: Some(6.55), compute: Some(0.1), flops: None };
        let found = diagnosed("k", &position, vec![claim(CodeCause::AtRooflineMemory, 1.0)], None);
        assert_eq!((found.cause, found.confidence, found.roofline.bound), (None, 0.0, Bound::Unknown));
        let doubt = position.doubt().unwrap();
        assert!(doubt.starts_with("655 % of the peak of memory cannot be") && doubt.contains("[cost]"), "{doubt}");
        assert_eq!(Position { memory: Some(1.05), ..position }.doubt(), None);
    }

    #[test]
    fn what_promises_nothing_is_not_named() {
        let position = Position { seconds: Some(1.0), compute: Some(0.98), ..Position::default() };
        let found = diagnosed("k", &position, vec![claim(CodeCause::NarrowVectors, 2.0)], None);
        assert_eq!((found.cause, found.expected_speedup, found.confidence), (None, 1.0, 0.0));
        assert_eq!(found.roofline.bound, Bound::Compute);
        let json = serde_json::to_value(&found).unwrap();
        assert!(json["cause"].is_null() && json["ranked"].as_array().unwrap().is_empty(), "{json}");
    }
}
