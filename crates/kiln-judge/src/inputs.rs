//! One drawn set of inputs. In: a signature, a distribution and a seed. Out: the numbers of each input, rounded to its
//! dtype, so that the reference sees exactly what the kernel sees. The same seed gives the same numbers on every machine;
//! each slot has a stream of its own, so that one slot's size does not move another's numbers.

use kiln_spec::Role;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::distribution::Distribution;
use crate::element::round_all;
use crate::signature::{Signature, Slot};
use crate::tensor::Tensor;

/// How far values rise along the keys, the second to last dimension. Products of two such rows of 64 then rise by about 18
/// once scaled: several times what an online softmax may ignore, and far from overflow.
const RISE: f64 = 1.5;
/// The same for the only input of an operation, which is reduced along its last dimension and multiplied with nothing.
const RISE_ALONE: f64 = 12.0;

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

impl Inputs {
    /// Draws every input of a signature.
    pub fn draw(signature: &Signature, distribution: Distribution, seed: u64) -> Inputs {
        let alone = signature.slots.iter().filter(|s| s.is_input()).count() == 1;
        let draw = |i: usize, slot: &Slot| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(i as u64);
            let (back, rise) = if alone { (1, RISE_ALONE) } else { (2, RISE) };
            let keys = slot.shape.len().saturating_sub(back);
            let mut data = distribution.fill(slot, keys, rise, &mut rng);
            round_all(slot.dtype, &mut data);
            Tensor { shape: slot.shape.clone(), data }
        };
        let tensors = signature.slots.iter().enumerate().filter(|(_, s)| s.is_input());
        let tensors = tensors.map(|(i, slot)| (slot, draw(i, slot)));
        Inputs::known(distribution, seed, tensors, signature.slots.iter())
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

    /// The in and inout arguments, in order.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// The scalars, in order.
    pub fn scalars(&self) -> impl Iterator<Item = (&str, f64)> {
        self.scalars.iter().map(|(name, value)| (name.as_str(), *value))
    }
}
