//! Whether times hold where nothing can be remembered. A sample of a short kernel is many calls on the same inputs, and a
//! kernel that computes once and then does nothing looks fast. So now and then one call is timed alone, right after
//! inputs were exchanged for others and outputs poisoned, and its answer is checked. In: what was timed, what the parent
//! waited, what single calls took. Out: nothing, or a refusal of the times.

use kiln_core::{Gate, Refusal};
use kiln_stats::median;

/// A call alone may take this many times what it takes in a row: caches are warm, but nothing is in registers, predictors
/// have seen other numbers, and the clock is read once a call.
const ALONE: f64 = 2.5;
/// And this much more, in seconds: reading clocks, first misses.
const ALONE_SLACK: f64 = 2e-6;
/// The same where several threads work: those that have gone to sleep are woken first.
const WAKING: f64 = 200e-6;
/// The same on a GPU: a launch alone shows what a row of them hides.
const LAUNCHING: f64 = 15e-6;
/// The parent may wait this many times what the worker claims, in the middle of all samples.
const WAITED: f64 = 2.0;
/// And this much more, in seconds, for question and answer.
const WAITED_SLACK: f64 = 1e-3;

/// What is known of one subject's times on one workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Seconds of one call, as sampled.
    samples: Vec<f64>,
    /// Seconds of a call alone, with everything exchanged before it.
    alone: Vec<f64>,
    /// Seconds of a whole sample: claimed by the worker, waited by the parent.
    claimed: Vec<f64>,
    waited: Vec<f64>,
}

impl Evidence {
    /// A sample: seconds of one call, of the whole, and of the parent's wait. A sample that memory is prepared for takes
    /// longer than its calls, and says nothing about the wait.
    pub(crate) fn sample(&mut self, seconds: f64, calls: u32, waited: Option<f64>) {
        self.samples.push(seconds);
        if let Some(waited) = waited {
            self.claimed.push(seconds * f64::from(calls));
            self.waited.push(waited);
        }
    }

    /// A call alone.
    pub(crate) fn alone(&mut self, seconds: f64) {
        self.alone.push(seconds);
    }

    /// Why the times are not believed.
    pub(crate) fn doubt(&self, threads: usize, on_device: bool) -> Option<Refusal> {
        if let (Ok(claimed), Ok(waited)) = (median(&self.claimed), median(&self.waited))
            && waited > WAITED * claimed + WAITED_SLACK
        {
            let measured = format!("samples of {} by the worker's clock", shown(claimed));
            let limit = format!("about {}, the parent's wait", shown(waited));
            return Some(refusal(measured, limit, "a kernel must not touch the clock"));
        }
        let (row, alone) = (median(&self.samples).ok()?, median(&self.alone).ok()?);
        let slack = match (on_device, threads) {
            (true, _) => LAUNCHING,
            (false, 0 | 1) => ALONE_SLACK,
            (false, _) => WAKING,
        };
        (alone > ALONE * row + slack).then(|| {
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

    fn evidence(row: f64, calls: u32, waited: f64, alone: f64) -> Evidence {
        let mut evidence = Evidence::default();
        for _ in 0..9 {
            evidence.sample(row, calls, Some(waited));
            evidence.alone(alone);
        }
        evidence
    }

    #[test]
    fn honest_times_are_believed() {
        assert_eq!(evidence(1e-6, 400, 5e-4, 2e-6).doubt(1, false), None);
        assert_eq!(evidence(1e-2, 1, 1.1e-2, 1.3e-2).doubt(1, false), None);
        // Threads that were asleep.
        assert_eq!(evidence(1e-5, 40, 5e-4, 1e-4).doubt(2, false), None);
        // Nothing measured alone, nothing to compare.
        let mut few = Evidence::default();
        few.sample(1e-3, 1, None);
        assert_eq!(few.doubt(1, false), None);
    }

    #[test]
    fn one_stalled_sample_is_no_reason_to_doubt() {
        let mut one = evidence(1e-6, 400, 5e-4, 1e-6);
        one.sample(1e-6, 400, Some(0.5));
        one.alone(1e-2);
        assert_eq!(one.doubt(1, false), None);
    }

    #[test]
    fn remembered_answers_and_wrong_clocks_are_doubted() {
        let remembered = evidence(1e-7, 4000, 5e-4, 5e-5).doubt(1, false).unwrap();
        assert!(remembered.measured.contains("0.10 us a call in a row, 50.00 us alone"), "{}", remembered.measured);
        let clock = evidence(1e-7, 4000, 8e-3, 1e-7).doubt(1, false).unwrap();
        assert!(clock.limit.contains("8.00 ms"), "{}", clock.limit);
    }
}
