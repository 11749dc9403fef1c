//! Speedups that no longer stand. In: an attempt that measured one, and what came after it. Out: whether the same code was refused since:
//! a wrong result that is fast is no gain; and whether the code as it is now was refused, so that nothing can end with it.

use crate::{AttemptOutcome, Attempted, SessionPhase};

/// Whether code that was measured was found wrong later: the same sources in the same configuration.
pub(crate) fn is_refuted(attempts: &[Attempted], at: usize) -> bool {
    let Some((measured, later)) = attempts.get(at..).and_then(<[Attempted]>::split_first) else { return false };
    let same = |one: &Attempted| measured.sources.is_some() && one.sources == measured.sources;
    later.iter().any(|one| wrong(one) && one.same_kernel(measured) && same(one) && one.config == measured.config)
}

/// The newest refusal after an attempt that leaves its kernel as it is now without a working build or a correct result. What was tried
/// with another configuration of the same sources breaks nothing.
pub(crate) fn broken_since(attempts: &[Attempted], at: usize) -> Option<&Attempted> {
    let (measured, later) = attempts.get(at..)?.split_first()?;
    let own = |one: &Attempted| one.same_kernel(measured);
    let edited = |one: &Attempted| one.sources.is_some() && one.sources != measured.sources;
    let breaks = |one: &Attempted| wrong(one) && own(one) && (edited(one) || one.config == measured.config);
    let newest = later.iter().rposition(breaks)?;
    // The sources that were measured may be back.
    let mended = |one: &Attempted| {
        one.answers(&later[newest]) || own(one) && one.passed() && one.ran_kernel() && one.sources == measured.sources
    };
    (!later[newest + 1..].iter().any(mended)).then(|| &later[newest])
}

/// Whether a build or a check refused.
fn wrong(one: &Attempted) -> bool {
    let judges = matches!(one.phase, SessionPhase::Build | SessionPhase::Check) || one.verb == "bench";
    judges && one.outcome == AttemptOutcome::Refused && one.verb != "bisect" && one.verb != "diagnose"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionPhase::{Build, Check};
    use crate::attempt::sample::{at, bench, refused};

    #[test]
    fn a_result_that_was_found_wrong_does_not_stand() {
        let wrong = refused(2.0, "fuzz", Check, "numerics");
        assert!(is_refuted(&[bench(1.0, 1.3), wrong.clone()], 0));
        assert!(!is_refuted(&[wrong.clone(), bench(3.0, 1.3)], 1), "what came before is answered by it");
        let other = Attempted { config: Some("A=9".into()), ..wrong.clone() };
        let edited = Attempted { sources: Some("two".into()), ..wrong };
        assert!(!is_refuted(&[bench(1.0, 1.3), other.clone(), edited.clone()], 0));
        assert!(broken_since(&[bench(1.0, 1.3), other], 0).is_none(), "another configuration was tried");
        let broken = [bench(1.0, 1.3), edited.clone()];
        assert_eq!(broken_since(&broken, 0).map(|one| one.verb.as_str()), Some("fuzz"));
        let mended = Attempted { sources: Some("three".into()), ..at(3.0, "check", Check) };
        assert!(broken_since(&[bench(1.0, 1.3), edited.clone(), mended], 0).is_none());
        assert!(broken_since(&[bench(1.0, 1.3), edited, at(3.0, "gate", Build)], 0).is_none(), "it was taken back");
    }
}
