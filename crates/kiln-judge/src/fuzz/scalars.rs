//! Scalars of a case: numbers that a call takes beside its shape. In: a signature, which says what each may be: its `range`, or what
//! `[fuzz] scalars` states. Out: numbers for a case. Half of them are those that kernels forget: the ends, 0, 1 and -1; of
//! the others half are the value that the file gives. Only scalars of another value are part of a case, so that the rest of it reads as before.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::described::signature::{Signature, Slot};
use crate::drawn::element::round_to;
use crate::drawn::interval::Interval;
use crate::fuzz::aim::below;

/// Numbers of a case, by the argument's name.
pub type CaseScalars = Vec<(Arc<str>, f64)>;

/// Numbers that kernels have shortcuts for.
const SPECIAL: [f64; 3] = [0.0, 1.0, -1.0];
/// A number between the ends is one of so many: short to print, and as likely as any other.
const STEPS: usize = 64;

impl Signature {
    /// Why numbers make no sense for these arguments; none where they do.
    pub fn objection(&self, scalars: &CaseScalars) -> Option<String> {
        scalars.iter().find_map(|(name, value)| {
            let slot = self.slots.iter().find(|slot| slot.name == **name);
            match slot.and_then(Slot::fuzzed) {
                None => Some(format!("{name} does not vary")),
                Some(range) if range.holds(*value) => None,
                Some(range) => Some(format!("{name} is {value}, and the kernel file allows {}", words(&range))),
            }
        })
    }

    /// Numbers for a case; where `usual`, those that the file gives.
    pub(crate) fn case_scalars(&self, usual: bool, rng: &mut ChaCha8Rng) -> CaseScalars {
        let ranged = self.slots.iter().filter_map(|slot| Some((slot, slot.fuzzed()?)));
        let one = |(slot, range): (&Slot, Interval)| {
            let value = round_to(slot.dtype, drawn(slot, &range, usual, rng));
            // Without a range of its own it has its usual value where the case does not say otherwise.
            let told = slot.range.is_some() || Some(value) != slot.scalar;
            (told && range.holds(value)).then(|| (slot.name.as_str().into(), value))
        };
        ranged.filter_map(one).collect()
    }

    /// Simpler numbers than a case has for one of its scalars, the simplest first; none: the case says nothing of it.
    pub(crate) fn simpler(&self, name: &str, value: f64) -> Vec<Option<f64>> {
        let Some(slot) = self.slots.iter().find(|slot| slot.name == name) else { return vec![None] };
        let Some(range) = slot.fuzzed() else { return vec![None] };
        let usual = slot.scalar.filter(|usual| slot.range.is_some() && range.holds(*usual));
        let first = if slot.range.is_some() { usual } else { None };
        let others = SPECIAL.into_iter().filter(|special| range.holds(*special)).map(Some);
        let ranked: Vec<Option<f64>> = match (first, slot.range.is_some()) {
            (Some(usual), _) => std::iter::once(Some(usual)).chain(others).collect(),
            (None, true) => others.collect(),
            (None, false) => std::iter::once(None).chain(others).collect(),
        };
        ranked.into_iter().take_while(|simpler| *simpler != Some(value)).collect()
    }
}

/// A number, usual or not, not yet rounded to its type.
fn drawn(slot: &Slot, range: &Interval, usual: bool, rng: &mut ChaCha8Rng) -> f64 {
    let (low, high) = match *range {
        Interval::Real(low, high) => (low, high),
        other => (other.whole().0 as f64, other.whole().1 as f64),
    };
    // Drawn all the same where it is not used, so that what comes after does not depend on it.
    let (word, at) = (rng.next_u32(), below(rng, STEPS + 1));
    let between = low + (high - low) * (at as f64 / STEPS as f64);
    let between = if matches!(range, Interval::Real(..)) { between } else { between.floor() }.clamp(low, high);
    let known = slot.scalar.filter(|value| range.holds(*value));
    if usual {
        return known.unwrap_or(between);
    }
    match word % 8 {
        0 => low,
        1 => high,
        2 | 3 => {
            let special: Vec<f64> = SPECIAL.into_iter().filter(|value| range.holds(*value)).collect();
            special.get(at % special.len().max(1)).copied().unwrap_or(between)
        }
        4 | 5 => known.unwrap_or(between),
        _ => between,
    }
}

fn words(range: &Interval) -> String {
    match *range {
        Interval::Real(low, high) => format!("{low} to {high}"),
        other => format!("{} to {}", other.whole().0, other.whole().1),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use kiln_core::Config;
    use kiln_spec::Choice;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nA = [1]\n[target.cpu]\nsource = \"k.c\"\n\
        [[arguments]]\nname = \"x\"\ntype = \"f32[N, D]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"y\"\ntype = \"f32[N, D]\"\nrole = \"out\"\n\
        [[arguments]]\nname = \"scale\"\ntype = \"f32\"\nrole = \"scalar\"\nvalue = \"1 / sqrt(D)\"\n\
        [[arguments]]\nname = \"beta\"\ntype = \"f32\"\nrole = \"scalar\"\nvalue = 0.5\nrange = [-2, 2]\n\
        [[arguments]]\nname = \"k\"\ntype = \"i32\"\nrole = \"scalar\"\nvalue = 3\nrange = [0, 9]\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 8, D = 16 }\n\
        [fuzz]\nscalars = { scale = [0, \"4 / sqrt(D)\"] }\n";

    pub(crate) fn signature() -> Signature {
        let (spec, _) = kiln_spec::parse("k.toml", FILE.as_bytes()).unwrap();
        let selection = spec.select(Choice::default()).unwrap();
        Signature::under(&selection, selection.workloads.first().copied(), &Config::default()).unwrap()
    }

    #[test]
    fn a_case_has_ends_special_numbers_and_the_usual_one() {
        let signature = signature();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut seen: Vec<(String, f64)> = Vec::new();
        for _ in 0..400 {
            let scalars = signature.case_scalars(false, &mut rng);
            assert_eq!(signature.objection(&scalars), None);
            seen.extend(scalars.iter().map(|(name, value)| (name.to_string(), *value)));
        }
        for (name, value) in [
            ("scale", 0.0),
            ("scale", 1.0),
            ("beta", -2.0),
            ("beta", 2.0),
            ("beta", 0.0),
            ("beta", 1.0),
            ("beta", -1.0),
        ] {
            assert!(seen.contains(&(name.into(), value)), "{name}={value}");
        }
        assert!(seen.contains(&("beta".into(), 0.5)) && seen.contains(&("k".into(), 3.0)));
        // The usual scale is what a case has that does not name it.
        assert!(!seen.contains(&("scale".into(), 0.25)));
        assert!(seen.iter().all(|(name, value)| name != "k" || value.fract() == 0.0));
        assert_eq!(signature.case_scalars(true, &mut rng), [("beta".into(), 0.5), ("k".into(), 3.0)]);
    }

    #[test]
    fn what_lies_outside_is_refused_and_what_is_simpler_comes_first() {
        let signature = signature();
        let said = |name: &str, value| signature.objection(&vec![(name.into(), value)]).unwrap();
        assert_eq!(said("scale", 1.5), "scale is 1.5, and the kernel file allows 0 to 1");
        assert_eq!(said("x", 1.0), "x does not vary");
        assert!(said("k", 2.5).contains("0 to 9"));
        assert_eq!(signature.simpler("scale", 0.3), [None, Some(0.0), Some(1.0)]);
        assert_eq!(signature.simpler("beta", -1.0), [Some(0.5), Some(0.0), Some(1.0)]);
        assert_eq!(signature.simpler("beta", 0.5), []);
    }
}
