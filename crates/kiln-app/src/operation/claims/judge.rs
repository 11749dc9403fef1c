//! A claimed figure against a measured one. In: the claim with its tolerance, and an estimate with its interval. Out: confirmed where
//! the estimate is as claimed or better, refuted where its whole interval is worse than the claim allows, and otherwise
//! unverifiable: the samples do not tell.

use kiln_formats::{Claim, ClaimedFigure};
use kiln_stats::{Estimate, Interval};

use super::ClaimVerdict;

/// A verdict, and why in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) verdict: ClaimVerdict,
    pub(super) why: String,
}

/// Judges a claim by what was measured.
pub(super) fn judged(claim: &Claim, found: Estimate) -> Judged {
    // A time is judged as a speed, so that more is better in both.
    let ([low, high], speed) = match claim.figure {
        ClaimedFigure::Speedup(range) => (range, found),
        ClaimedFigure::Time([low, high]) => ([1.0 / high, 1.0 / low], inverse(found)),
    };
    let told = |verdict, why: &str| Judged { verdict, why: why.into() };
    match (low * (1.0 - claim.tolerance), high * (1.0 + claim.tolerance)) {
        (least, _) if speed.interval.high < least => told(ClaimVerdict::Refuted, ""),
        (least, _) if speed.value < least => {
            told(ClaimVerdict::Unverifiable, "too noisy to tell: measure with more --samples, or on a quieter machine")
        }
        (_, most) if speed.value > most => told(ClaimVerdict::Confirmed, "better than claimed"),
        _ => told(ClaimVerdict::Confirmed, ""),
    }
}

fn inverse(found: Estimate) -> Estimate {
    let Interval { low, high } = found.interval;
    Estimate { value: 1.0 / found.value, interval: Interval { low: 1.0 / high, high: 1.0 / low } }
}

#[cfg(test)]
mod tests {
    use kiln_formats::read_claims;

    use super::*;

    fn verdict(figure: &str, value: f64, share: f64) -> (ClaimVerdict, bool) {
        let text = format!("[[claims]]\nclaim = \"c\"\nkernel = \"k\"\nbaseline = \"b\"\ndevice = \"d\"\n{figure}\n");
        let claim = read_claims("c", &text).unwrap().remove(0);
        let interval = Interval { low: value * (1.0 - share), high: value * (1.0 + share) };
        let judged = judged(&claim, Estimate { value, interval });
        (judged.verdict, judged.why.contains("better"))
    }

    #[test]
    fn a_claim_holds_when_it_is_so_or_better_within_its_tolerance() {
        use ClaimVerdict::{Confirmed, Refuted, Unverifiable};
        assert_eq!(verdict("speedup = 2", 1.95, 0.01), (Confirmed, false));
        assert_eq!(verdict("speedup = 2", 1.7, 0.01), (Refuted, false));
        assert_eq!(verdict("speedup = 2", 1.7, 0.2), (Unverifiable, false));
        assert_eq!(verdict("speedup = 2", 3.0, 0.01), (Confirmed, true));
        assert_eq!(verdict("speedup = [1.2, 2.4]", 1.5, 0.01), (Confirmed, false));
        assert_eq!(verdict("speedup = [1.2, 2.4]", 0.12, 0.01), (Refuted, false));
        assert_eq!(verdict("speedup = 2\ntolerance = 1", 1.95, 0.01), (Refuted, false));
        assert_eq!(verdict("time = \"1.36 ms\"", 1.36e-3, 0.01), (Confirmed, false));
        assert_eq!(verdict("time = \"1.36 ms\"", 2e-3, 0.01), (Refuted, false));
        assert_eq!(verdict("time = \"1.36 ms\"", 1e-3, 0.01), (Confirmed, true));
        assert_eq!(verdict("time = [\"1 ms\", \"2 ms\"]", 1.9e-3, 0.01), (Confirmed, false));
    }
}
