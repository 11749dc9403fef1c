//! One drawn set of inputs. In: a signature, a distribution and a seed. Out: the numbers of each input, rounded to its
//! dtype, so that the reference sees exactly what the kernel sees. The same seed gives the same numbers on every machine;
//! each slot has a stream of its own, so that one slot's size does not move another's numbers. Scalars with a stated range
//! are drawn too. Elements that share a place in memory have one value.

use kiln_core::Fault;
use kiln_spec::Role;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::{Distribution, uniform};
use crate::drawn::element::{is_float, round_all, round_to};
use crate::drawn::integers::integers;
use crate::drawn::interval::Interval;
use crate::drawn::magnitude::reach;
use crate::drawn::narrow::intervals;
use crate::drawn::scalar::varied;
use crate::drawn::special::Special;
use crate::drawn::whole::is_wide;
use crate::marked::strides::settle;
use crate::right::tensor::Tensor;

/// How far values rise along the keys, the second to last dimension. Products of two such rows of 64 then rise by about 18
/// once scaled: several times what an online softmax may ignore, and far from overflow.
const RISE: f64 = 1.5;
/// The same for the only input of an operation, which is reduced along its last dimension and multiplied with nothing.
const RISE_ALONE: f64 = 12.0;
/// Integers of a [`Distribution::Small`] question are no larger.
const SMALL: i128 = 4;
/// The streams that say where special numbers go begin here.
const SPECIAL: usize = 1 << 32;

/// Fills the arguments for which the kernel file names a function, from a seed.
pub type Filler<'a> = &'a dyn Fn(&Slot, u64) -> Result<Tensor, Fault>;

/// A set of inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// What they were drawn from.
    pub distribution: Distribution,
    /// The seed they were drawn with.
    pub seed: u64,
    tensors: Vec<(String, Tensor)>,
    scalars: Vec<(String, f64)>,
}

impl Signature {
    /// Whether a distribution can say anything new about these arguments.
    pub fn suits(&self, distribution: Distribution) -> bool {
        match distribution {
            Distribution::Declared | Distribution::Small => true,
            Distribution::Lowest | Distribution::Highest => self.slots.iter().any(Slot::has_ends),
            Distribution::Few => {
                self.slots.iter().any(|slot| slot.is_plain() || slot.has_real_range() || slot.is_ranged_integer())
            }
            _ => self.slots.iter().any(Slot::is_plain),
        }
    }
}

impl Inputs {
    /// Draws every input of a signature, whatever is computed from it. What a function fills is zero.
    pub fn draw(signature: &Signature, distribution: Distribution, seed: u64) -> Inputs {
        let drawn: Vec<Option<Interval>> = signature.slots.iter().map(Slot::drawn_from).collect();
        Inputs::drawn(signature, &drawn, (distribution, 0), seed, &Special::all(signature, distribution))
    }

    /// Draws the inputs of a question: integers so that a right answer fits, magnitudes as large or small as what is
    /// computed allows. None where the distribution makes no sense for it.
    pub fn question(
        signature: &Signature,
        rules: &Rules,
        distribution: Distribution,
        seed: u64,
        filler: Option<Filler<'_>>,
    ) -> Result<Option<Inputs>, Fault> {
        Inputs::with_specials(signature, rules, (distribution, seed), &Special::all(signature, distribution), filler)
    }

    /// The same with these special numbers only.
    pub(crate) fn with_specials(
        signature: &Signature,
        rules: &Rules,
        (distribution, seed): (Distribution, u64),
        specials: &[Special],
        filler: Option<Filler<'_>>,
    ) -> Result<Option<Inputs>, Fault> {
        if !signature.suits(distribution) {
            return Ok(None);
        }
        let from = intervals(signature, rules);
        let power = match distribution.needs_reach() {
            true => {
                let base = Inputs::drawn(signature, &from, (Distribution::Declared, 0), seed, &[]).given(rules);
                reach(signature, rules, &base).and_then(|reach| distribution.power(reach))
            }
            false => Some(0),
        };
        let Some(power) = power else { return Ok(None) };
        let mut inputs = Inputs::drawn(signature, &from, (distribution, power), seed, specials).given(rules);
        for slot in signature.slots.iter().filter(|slot| slot.is_input() && slot.function.is_some()) {
            let filler = filler.ok_or_else(|| {
                Fault::new(format!("filling {}", slot.name), "its init is a Python function, and there is no Python")
            })?;
            if let Some((_, tensor)) = inputs.tensors.iter_mut().find(|(name, _)| *name == slot.name) {
                *tensor = filler(slot, seed)?;
                settle(slot, tensor);
            }
        }
        Ok(Some(inputs))
    }

    fn drawn(
        signature: &Signature,
        from: &[Option<Interval>],
        (distribution, power): (Distribution, i32),
        seed: u64,
        specials: &[Special],
    ) -> Inputs {
        let alone = signature.slots.iter().filter(|s| s.is_input()).count() == 1;
        let stream = |i: usize| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(i as u64);
            rng
        };
        let whole: Vec<usize> = (0..from.len()).filter(|i| !is_float(signature.slots[*i].dtype)).collect();
        let draw = |i: usize, slot: &Slot| {
            let mut rng = stream(i);
            let count = slot.elements();
            let interval = match from[i] {
                Some(Interval::Assumed(low, high)) if distribution == Distribution::Small => {
                    Some(Interval::Whole(low.max(-SMALL), high.min(SMALL)))
                }
                other => other,
            };
            let mut data: Vec<f64> = match interval {
                // Both ends and a few between them.
                Some(Interval::Real(low, high)) if distribution == Distribution::Few && slot.has_real_range() => {
                    let step = (high - low) / 8.0;
                    (0..count).map(|_| (low + step * f64::from(rng.next_u32() % 9)).clamp(low, high)).collect()
                }
                Some(Interval::Real(low, high)) => {
                    (0..count).map(|_| (low + (high - low) * uniform(&mut rng)).clamp(low, high)).collect()
                }
                Some(interval) => {
                    let number = whole.iter().position(|w| *w == i).unwrap_or(0);
                    let exact = integers(&interval, count, number, &mut rng);
                    if is_wide(slot.dtype) {
                        return Tensor::of_integers(&slot.shape, exact);
                    }
                    exact.into_iter().map(|v| v as f64).collect()
                }
                None if slot.function.is_some() => vec![0.0; count],
                None => {
                    let (back, rise) = if alone { (1, RISE_ALONE) } else { (2, RISE) };
                    let keys = slot.shape.len().saturating_sub(back);
                    distribution.fill(slot, keys, rise, power, &mut rng)
                }
            };
            round_all(slot.dtype, &mut data);
            match is_wide(slot.dtype) {
                true => Tensor::of_integers(&slot.shape, data.iter().map(|v| *v as i128).collect()),
                false => Tensor::new(&slot.shape, data),
            }
        };
        let tensors = signature.slots.iter().enumerate().filter(|(_, s)| s.is_input());
        let tensors = tensors.map(|(i, slot)| {
            let mut tensor = draw(i, slot);
            for special in specials.iter().filter(|special| special.slot == i) {
                special.put(slot, &mut tensor, &mut stream(SPECIAL + i));
            }
            settle(slot, &mut tensor);
            (slot, tensor)
        });
        let mut inputs = Inputs::known(distribution, seed, tensors, signature.slots.iter());
        for (i, slot) in signature.slots.iter().enumerate().filter(|(_, s)| s.role == Role::Scalar) {
            let Some(range) = &slot.range else { continue };
            let value = varied(slot, range, &mut stream(i));
            let special = specials.iter().find(|special| special.slot == i);
            let value = special.and_then(|special| special.scalar(slot)).unwrap_or(value);
            if let Some((_, scalar)) = inputs.scalars.iter_mut().find(|(name, _)| *name == slot.name) {
                *scalar = round_to(slot.dtype, value);
            }
        }
        inputs
    }

    /// The same with the scalars that a case states.
    fn given(mut self, rules: &Rules) -> Inputs {
        for (name, value) in &rules.scalars {
            if let Some((_, scalar)) = self.scalars.iter_mut().find(|(own, _)| own.as_str() == &**name) {
                *scalar = *value;
            }
        }
        self
    }

    /// Inputs that are known, and the scalars among the slots.
    pub(crate) fn known<'s>(
        distribution: Distribution,
        seed: u64,
        tensors: impl Iterator<Item = (&'s Slot, Tensor)>,
        slots: impl Iterator<Item = &'s Slot>,
    ) -> Inputs {
        let scalars = slots.filter(|slot| slot.role == Role::Scalar);
        Inputs {
            distribution,
            seed,
            tensors: tensors.map(|(slot, tensor)| (slot.name.clone(), tensor)).collect(),
            scalars: scalars.map(|slot| (slot.name.clone(), slot.scalar.unwrap_or(0.0))).collect(),
        }
    }

    /// The same with one argument taken from others; none where that changes nothing.
    pub(crate) fn with(&self, name: &str, others: &Inputs) -> Option<Inputs> {
        let mut changed = self.clone();
        for (own, other) in changed.tensors.iter_mut().zip(&others.tensors).filter(|(own, _)| own.0 == name) {
            own.1.clone_from(&other.1);
        }
        for (own, other) in changed.scalars.iter_mut().zip(&others.scalars).filter(|(own, _)| own.0 == name) {
            own.1 = other.1;
        }
        (changed != *self).then_some(changed)
    }

    /// The in and inout arguments, in order.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// The scalars, in order.
    pub fn scalars(&self) -> impl Iterator<Item = (&str, f64)> {
        self.scalars.iter().map(|(name, value)| (name.as_str(), *value))
    }
}
