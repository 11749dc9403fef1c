//! Inputs for one timed call after another. In: a workload. Out: what each call reads, drawn once under a key that no worker
//! has. What a Python function fills takes long to make, so a few sets of it are made, and calls take turns with them.

use std::cell::Cell;

use kiln_core::Fault;
use kiln_judge::{Fresh, Key, Rules, Signature, Slot, Tensor};

use crate::bench::Bench;
use crate::questions::filling::filled;
use crate::questions::stage::Stage;

/// Sets of what functions fill.
pub(crate) const FILLINGS: usize = 4;

/// Inputs for calls on one workload.
pub(crate) struct Draws {
    key: Key,
    next: u64,
    rules: Rules,
    /// By argument, each set.
    fillings: Vec<(String, Vec<Tensor>)>,
}

impl Draws {
    /// Makes what functions fill.
    pub(crate) fn new(bench: &Bench<'_>, stage: &Stage<'_>) -> Result<Draws, Fault> {
        let key = Key::secret()?;
        let mut fillings = Vec::new();
        let functions = stage.layout.signature.slots.iter().filter(|slot| slot.is_input() && slot.function.is_some());
        // One seed for all arguments of a set: what one function makes may depend on what another made of it.
        let seed = |set: usize| key.number(u64::MAX - set as u64);
        for slot in functions {
            let sets = (0..FILLINGS).map(|set| filled(bench, slot, stage.workload, seed(set)));
            fillings.push((slot.name.clone(), sets.collect::<Result<_, _>>()?));
        }
        Ok(Draws { key, next: 0, rules: bench.rules.clone(), fillings })
    }

    /// A number as unknown as the key.
    pub(crate) fn secret(&mut self) -> u64 {
        self.next += 1;
        self.key.number(self.next - 1)
    }

    /// What the next calls read.
    pub(crate) fn take(&mut self, signature: &Signature, calls: usize) -> Result<Vec<Fresh>, Fault> {
        let first = self.next;
        self.next += calls as u64;
        let set = Cell::new(0);
        let filler = |slot: &Slot, _: u64| {
            let sets = self.fillings.iter().find(|(name, _)| *name == slot.name).map(|(_, sets)| sets);
            let tensor = sets.and_then(|sets| sets.get(set.get() % sets.len().max(1)));
            tensor.cloned().ok_or_else(|| Fault::new(format!("filling {}", slot.name), "nothing was made for it"))
        };
        let draw = |number: u64| {
            set.set(number as usize);
            Fresh::draw(signature, &self.rules, &self.key, number, Some(&filler))
        };
        (first..self.next).map(draw).collect()
    }
}
