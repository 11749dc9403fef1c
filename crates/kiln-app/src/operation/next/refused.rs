//! The refusal that a kernel's attempts leave open. In: attempts, oldest first, and the digest of the sources as they are now. Out: the
//! newest refusal of those sources that no later success answers, with the cause that a sanitizer named since. A configuration that was
//! wrong is answered by itself alone; one that a rule or the compiler refused is merely not taken where others pass. What was tried
//! with other sources says nothing of these.

use std::collections::BTreeSet;

use kiln_core::Gate;
use kiln_diagnose::next::{OpenRefusal, RefusalKind};
use kiln_session::{AttemptOutcome, Attempted};

/// What a sanitizer says where it found no cause.
const NONE_NAMED: &str = "inconclusive";

/// What the loader says of a function that no source defines.
const UNLINKED: &str = "undefined symbol";

/// The open refusal, and when it was met. `default` is the configuration that commands take by themselves.
pub(super) fn open(attempts: &[Attempted], sources: &str, default: Option<&str>) -> Option<(i64, OpenRefusal)> {
    // Configurations that were found right since.
    let mut right = BTreeSet::new();
    let (mut cause, mut builds, mut keeps_rules) = (None, false, false);
    let of_now = |one: &&Attempted| one.sources.as_deref() == Some(sources);
    for one in attempts.iter().rev().filter(of_now) {
        let config = one.config.as_deref().or(default);
        if right.contains(&config) {
            continue;
        }
        let gate = Gate::ALL.iter().find(|gate| one.cause.as_deref() == Some(gate.name()));
        match (one.outcome, gate) {
            (AttemptOutcome::Fault | AttemptOutcome::Interrupted, _) => {}
            // What a study refuses stands in its record, with more to say.
            _ if one.verb == "tune" => return None,
            (AttemptOutcome::Refused, Some(gate)) => {
                let kind = kind(one, *gate);
                // A cause that is known is worth more than the way in which it showed.
                let kind = if cause.is_some() { RefusalKind::Fault } else { kind };
                let builds = builds || !right.is_empty();
                let answered = builds && kind.is_of_the_build() || keeps_rules && kind == RefusalKind::Rule;
                if !answered {
                    return Some((one.ended_ms(), told(one, gate.name(), kind, cause, default)));
                }
            }
            (AttemptOutcome::Refused, None) if matches!(one.verb.as_str(), "sanitize" | "diagnose") => {
                let named = one.cause.clone().filter(|cause| cause != NONE_NAMED);
                cause = cause.or(named.map(|named| (one, named)));
            }
            // That it is too slow says that it is correct.
            _ if one.says_correct() => {
                right.insert(config);
            }
            (AttemptOutcome::Passed, _) => {
                builds |= one.verb == "gate";
                keeps_rules |= one.verb == "gate --static";
            }
            (AttemptOutcome::Refused, None) => {}
        }
    }
    let (one, _) = cause.clone()?;
    Some((one.ended_ms(), told(one, "the sanitizers", RefusalKind::Fault, cause, default)))
}

/// Whether an attempt was refused for what the kernel does, not for what it asks for.
pub(super) fn is_wrong(one: &Attempted) -> bool {
    let gate = Gate::ALL.iter().find(|gate| one.cause.as_deref() == Some(gate.name()));
    gate.is_some_and(|gate| !matches!(kind(one, *gate), RefusalKind::Rule | RefusalKind::Build))
}

/// What kind of refusal it is: what cannot be linked did not build.
fn kind(one: &Attempted, gate: Gate) -> RefusalKind {
    let unlinked = one.words.as_deref().is_some_and(|words| words.contains(UNLINKED));
    if gate == Gate::LaunchFailed && unlinked { RefusalKind::Build } else { RefusalKind::of(gate) }
}

fn told(
    one: &Attempted,
    gate: &str,
    kind: RefusalKind,
    cause: Option<(&Attempted, String)>,
    default: Option<&str>,
) -> OpenRefusal {
    OpenRefusal {
        gate: gate.into(),
        kind,
        words: one.words.clone().unwrap_or_default(),
        config: one.config.clone().filter(|config| default != Some(config)),
        alike: None,
        cause: cause.map(|(_, named)| named),
        case: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_session::SessionPhase;

    fn made(verb: &str, cause: Option<&str>, sources: &str) -> Attempted {
        let outcome = if cause.is_some() { AttemptOutcome::Refused } else { AttemptOutcome::Passed };
        Attempted {
            id: String::new(),
            at_ms: 0,
            seconds: 1.0,
            session: None,
            kernel: "k".into(),
            path: "k".into(),
            verb: verb.into(),
            phase: SessionPhase::Check,
            parts: Default::default(),
            outcome,
            cause: cause.map(String::from),
            words: cause.map(|cause| format!("by {cause}")),
            config: Some("A=1".into()),
            sources: Some(sources.into()),
            environment: String::new(),
            speedup: None,
            workload: None,
            limit: None,
            promise: None,
            lesson: None,
            hypothesis: None,
            command: None,
        }
    }

    fn gate(attempts: &[Attempted]) -> Option<(String, Option<String>)> {
        open(attempts, "now", None).map(|(_, refusal)| (refusal.gate, refusal.cause))
    }

    #[test]
    fn a_refusal_is_open_until_the_same_sources_pass() {
        let (wrong, right) = (made("check", Some("numerics"), "now"), made("check", None, "now"));
        let numerics = Some(("numerics".to_string(), None));
        assert_eq!(gate(&[right.clone(), wrong.clone()]), numerics);
        assert_eq!(gate(&[wrong.clone(), made("gate", None, "now")]), numerics, "that it builds is no answer");
        assert_eq!(gate(&[wrong.clone(), made("profile", None, "now")]), numerics);
        assert_eq!(gate(&[wrong.clone(), right]), None);
        assert_eq!(gate(&[made("check", Some("numerics"), "then")]), None, "other sources");
        let other = Attempted { config: Some("A=2".into()), ..made("check", None, "now") };
        assert_eq!(gate(&[wrong.clone(), other.clone()]), numerics, "another configuration is no answer");
        let unbuilt = made("gate", Some("build_failed"), "now");
        assert_eq!(gate(&[unbuilt, other]), None, "but one that does not build need not be taken");
        assert_eq!(gate(&[wrong, made("bench", Some("regressed"), "now")]), None, "what was timed was correct");
        assert_eq!(gate(&[made("gate", Some("build_failed"), "now"), made("gate", None, "now")]), None);
        let rules = made("gate --static", None, "now");
        assert_eq!(gate(&[made("gate", Some("constraint"), "now"), rules.clone()]), None);
        assert!(gate(&[made("gate", Some("build_failed"), "now"), rules]).is_some(), "rules build nothing");
    }

    #[test]
    fn a_sanitizer_names_the_cause() {
        let crashed = made("check", Some("runtime_failed"), "now");
        let named = made("sanitize", Some("misaligned_access"), "now");
        let both = Some(("runtime_failed".to_string(), Some("misaligned_access".to_string())));
        assert_eq!(gate(&[crashed.clone(), named.clone()]), both);
        assert_eq!(gate(std::slice::from_ref(&named)).map(|found| found.1), Some(Some("misaligned_access".into())));
        let vague = made("sanitize", Some(NONE_NAMED), "now");
        assert_eq!(gate(&[crashed, vague]), Some(("runtime_failed".into(), None)));
        assert_eq!(gate(&[named, made("check", None, "now")]), None);
        let words = Some("library.so: undefined symbol: k".into());
        let unlinked = Attempted { words, ..made("check", Some("launch_failed"), "now") };
        assert_eq!(open(&[unlinked], "now", None).unwrap().1.kind, RefusalKind::Build);
    }

    #[test]
    fn a_configuration_is_named_unless_it_is_the_default() {
        let wrong = [made("check", Some("numerics"), "now")];
        let config = |default| open(&wrong, "now", default).unwrap().1.config;
        assert_eq!((config(None), config(Some("A=1"))), (Some("A=1".into()), None));
    }
}
