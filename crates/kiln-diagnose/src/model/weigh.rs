//! The model's word on a diagnosis. In: a diagnosis, the kernel and the chip where they are known. Out: the same with what to expect of each cause and
//! fix, and the fixes in the order of it. Which cause comes first is the evidence's to say: causes keep their order.

use super::gain::{Asked, Expected, GainModel};
use crate::profile::ProfileDiagnosis;
use crate::profile::rounded;

impl GainModel {
    /// Says what to expect, and orders the fixes by it.
    pub fn weigh(&self, diagnosis: &mut ProfileDiagnosis, kernel: Option<&str>, chip: Option<&str>) {
        let expect = |promised: f64, cause: &str, fix: Option<&str>| -> Option<Expected> {
            let known = GainModel::knows(cause) && promised > 1.0;
            known.then(|| self.expect(&Asked { promised, cause, fix, kernel, chip }).rounded())
        };
        for own in &mut diagnosis.ranked {
            own.expected = expect(own.expected_speedup, own.cause.id(), None);
        }
        let Some(cause) = diagnosis.cause else { return };
        for fix in &mut diagnosis.fixes {
            fix.expected = expect(fix.expected_speedup, cause.id(), Some(&fix.what));
        }
        let worth = |expected: &Option<Expected>| expected.map_or(0.0, |own| own.speedup);
        diagnosis.fixes.sort_by(|one, other| worth(&other.expected).total_cmp(&worth(&one.expected)));
    }
}

impl Expected {
    /// With three digits that count.
    fn rounded(self) -> Expected {
        let Expected { speedup, low, high, outcomes } = self;
        Expected { speedup: rounded(speedup), low: rounded(low), high: rounded(high), outcomes }
    }
}
