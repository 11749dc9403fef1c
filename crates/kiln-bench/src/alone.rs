//! On a GPU: whether times hold where nothing can be remembered. A sample of a short kernel is many calls on the same inputs, and a
//! kernel that computes once and then does nothing looks fast. So now and then one call is timed alone, right after
//! inputs were exchanged for others and outputs poisoned, and its answer is checked. In: what was timed and what
//! single calls took. Out: nothing, or a refusal of the times.

use kiln_core::{Gate, Refusal};
use kiln_stats::median;

/// A call alone may take this many times what it takes in a row: caches are warm, but nothing is in registers, predictors
/// have seen other numbers, and the clock is read once a call.
const ALONE: f64 = 2.5;
/// And this much more, in seconds: a launch alone shows what a row of them hides.
const LAUNCHING: f64 = 15e-6;

/// What is known of one subject's times on one workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Seconds of one call, as sampled.
    samples: Vec<f64>,
    /// Seconds of a call alone, with everything exchanged before it.
    alone: Vec<f64>,
}

impl Evidence {
    /// A sample: seconds of one call.
    pub(crate) fn sample(&mut self, seconds: f64) {
        self.samples.push(seconds);
    }

    /// A call alone.
    pub(crate) fn alone(&mut self, seconds: f64) {
        self.alone.push(seconds);
    }

    /// Why the times are not believed.
    pub(crate) fn doubt(&self) -> Option<Refusal> {
        let (row, alone) = (median(&self.samples).ok()?, median(&self.alone).ok()?);
        (alone > ALONE * row + LAUNCHING).then(|| {
            let measured = format!("{} a call in a row, {} alone with new inputs", shown(row), shown(alone));
            refusal(measured, "times that do not depend on what came before".into(), "is an answer remembered?")
        })
    }
}

fn refusal(measured: String, limit: String, hint: &str) -> Refusal {
    let (rule, evidence) = (String::new(), String::new());
    Refusal { gate: Gate::WorkerProtocol, rule, measured, limit, evidence, hint: Some(hint.into()) }
}

fn shown(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:.2} us", seconds * 1e6) } else { format!("{:.2} ms", seconds * 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_answers_are_doubted() {
        let evidence = |row: f64, alone: f64| {
            let mut evidence = Evidence::default();
            for _ in 0..5 {
                evidence.sample(row);
                evidence.alone(alone);
            }
            evidence
        };
        assert_eq!(evidence(1e-5, 3e-5).doubt(), None);
        let remembered = evidence(1e-7, 5e-5).doubt().unwrap();
        assert!(remembered.measured.contains("0.10 us a call in a row, 50.00 us alone"), "{}", remembered.measured);
        let mut few = Evidence::default();
        few.sample(1e-3);
        assert_eq!(few.doubt(), None);
    }
}
