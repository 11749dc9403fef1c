//! What profiles promised, held against what came after. In: attempts. Out: each promise with the gain that was measured once
//! something was changed.

use serde::{Deserialize, Serialize};

use crate::Attempted;

/// A promise and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// What limited the kernel.
    pub cause: String,
    /// The kernel.
    pub kernel: String,
    /// The speedup that its removal promised.
    pub promised: f64,
    /// The gain that was measured: the speedup after over the one before, on the same workload; none where nothing was measured after.
    pub measured: Option<f64>,
}

/// Of a promised gain, the share that is kept where nothing is known. Stated, not measured: half.
const UNKNOWN: f64 = 0.5;

impl Promise {
    /// The share of the promised gain that came true, from 0 to 1.
    pub fn kept(&self) -> Option<f64> {
        let promised = self.promised - 1.0;
        self.measured.filter(|_| promised > 0.01).map(|measured| ((measured - 1.0) / promised).clamp(0.0, 1.0))
    }
}

/// Every promise, in order.
pub fn promises(attempts: &[Attempted]) -> Vec<Promise> {
    let mut found = Vec::new();
    for (index, attempt) in attempts.iter().enumerate() {
        let (Some(cause), Some(promised)) = (&attempt.limit, attempt.promise) else { continue };
        let same = |one: &&Attempted| one.speedup.is_some() && one.same_kernel(attempt);
        // A study measures and profiles in one.
        let before = attempts[..=index].iter().rfind(same);
        let changed = |one: &&Attempted| one.sources != attempt.sources || one.config != attempt.config;
        let measured = before.and_then(|before| {
            // Another workload says nothing of what the change gave.
            let beside = |one: &&Attempted| same(one) && changed(one) && one.workload == before.workload;
            Some(attempts[index + 1..].iter().find(beside)?.speedup? / before.speedup?)
        });
        found.push(Promise { cause: cause.clone(), kernel: attempt.kernel.clone(), promised, measured });
    }
    found
}

/// The share of promised gains that is kept here: the mean of those known, with one of a half beside them.
pub(crate) fn likelihood(promises: &[Promise]) -> f64 {
    let kept: Vec<f64> = promises.iter().filter_map(Promise::kept).chain([UNKNOWN]).collect();
    kept.iter().sum::<f64>() / kept.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::sample::{bench, profile};

    #[test]
    fn a_promise_is_held_against_the_next_change_that_is_measured() {
        let fixed = Attempted { sources: Some("two".into()), ..bench(4.0, 0.9) };
        let found = promises(&[bench(1.0, 0.6), profile(2.0, "bank_conflicts", 2.0), bench(3.0, 0.61), fixed]);
        assert_eq!(found.len(), 1);
        assert!((found[0].measured.unwrap() - 1.5).abs() < 1e-9 && (found[0].kept().unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(promises(&[profile(2.0, "x", 2.0)])[0].measured, None);
        let on = |name: &str, one: Attempted| Attempted { workload: Some(name.into()), ..one };
        let other = Attempted { sources: Some("two".into()), ..on("large", bench(3.0, 5.0)) };
        let mixed = [on("small", bench(1.0, 0.5)), profile(2.0, "x", 2.0), other];
        assert_eq!(promises(&mixed)[0].measured, None, "another workload");
        assert_eq!(likelihood(&[]), 0.5);
        assert_eq!(likelihood(&found), 0.5);
    }
}
