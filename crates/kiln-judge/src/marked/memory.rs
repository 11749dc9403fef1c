//! What a call may touch. In: the slots, where they lie and how large memory is. Out: memory as it must be before a call,
//! and afterwards pass or a refusal: a write outside every buffer, an input changed. Whatever nobody may read or must
//! write is filled with bytes that are NaN in every floating-point type, so that a read beyond a buffer shows too.

use std::ops::Range;

use kiln_core::{Fault, Gate, Outcome, Refusal};
use kiln_spec::{Dtype, Role};

use crate::described::signature::{Signature, Slot};
use crate::drawn::element::{encode, encode_into, is_float};
use crate::drawn::inputs::Inputs;
use crate::marked::parallel::{copy_in_parallel, fill_in_parallel, in_parallel};
use crate::marked::strides::{offsets, scatter};

/// How much of memory is looked at after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// All of it.
    Everything,
    /// All but the tensors that are only read.
    Written,
}

/// NaN in every floating-point type, whatever the alignment.
pub const POISON: u8 = 0xFF;
/// A number in every floating-point type.
const NUMBER: u8 = 0x3F;
/// Bytes compared at a time by one processor.
const PIECE: usize = 1 << 20;
/// In outputs of other types: neither a boolean nor as common a number as -1.
const ODD: u8 = 0xA5;

/// The byte an unwritten element of a type consists of.
pub fn poison(dtype: Dtype) -> u8 {
    if is_float(dtype) { POISON } else { ODD }
}

/// Memory before a call, and who owns what.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) before: Vec<u8>,
    pub(crate) slots: Vec<(Slot, Range<usize>)>,
    /// Everything between the slots.
    guards: Vec<Range<usize>>,
    /// Padding inside outputs.
    padding: Vec<Range<usize>>,
}

impl Memory {
    pub(crate) fn new(
        signature: &Signature,
        inputs: &Inputs,
        regions: &[Range<usize>],
        total: usize,
    ) -> Result<Memory, Fault> {
        Memory::with(signature, regions, total, |slot, bytes| {
            let Some((_, tensor)) = inputs.tensors().find(|(name, _)| *name == slot.name) else { return false };
            if slot.is_packed() && tensor.exact.is_none() {
                encode_into(slot.dtype, &tensor.data, bytes);
            } else {
                scatter(slot, &tensor.bytes(slot.dtype), bytes);
            }
            true
        })
    }

    /// Memory whose inputs and scalars are there as bytes, by the number of the argument.
    pub(crate) fn of_bytes(
        signature: &Signature,
        given: &[(usize, &[u8])],
        regions: &[Range<usize>],
        total: usize,
    ) -> Result<Memory, Fault> {
        let names: Vec<(&str, &[u8])> = given.iter().map(|(i, b)| (signature.slots[*i].name.as_str(), *b)).collect();
        Memory::with(signature, regions, total, |slot, bytes| {
            let Some((_, old)) = names.iter().find(|(name, _)| *name == slot.name) else { return false };
            copy_in_parallel(old, bytes);
            true
        })
    }

    /// The same inputs with the arguments elsewhere.
    pub(crate) fn relaid(
        &self,
        signature: &Signature,
        regions: &[Range<usize>],
        total: usize,
    ) -> Result<Memory, Fault> {
        let wanted = signature.slots.iter().filter(|slot| slot.is_input());
        if !wanted.eq(self.inputs().map(|(slot, _)| slot)) {
            return Err(Fault::new("laying out the arguments", "the inputs are not those of the question"));
        }
        Memory::with(signature, regions, total, |slot, bytes| {
            let Some((_, old)) = self.inputs().find(|(old, _)| old.name == slot.name) else { return false };
            copy_in_parallel(old, bytes);
            true
        })
    }

    /// Memory whose inputs `put` lays out; false for a slot that is none.
    fn with(
        signature: &Signature,
        regions: &[Range<usize>],
        total: usize,
        put: impl Fn(&Slot, &mut [u8]) -> bool,
    ) -> Result<Memory, Fault> {
        let fault = |why: String| Fault::new("laying out the arguments", why);
        if regions.len() != signature.slots.len() {
            return Err(fault(format!("{} regions for {} arguments", regions.len(), signature.slots.len())));
        }
        let mut before = vec![0; total];
        fill_in_parallel(&mut before, PIECE, |_, part| part.fill(POISON));
        let mut slots = Vec::with_capacity(regions.len());
        for (slot, region) in signature.slots.iter().zip(regions) {
            if region.len() != slot.bytes() || region.end > total {
                return Err(fault(format!("{} takes {} bytes, its region is {region:?}", slot.name, slot.bytes())));
            }
            let bytes = &mut before[region.clone()];
            match slot.scalar {
                _ if put(slot, bytes) => {}
                Some(value) => bytes.copy_from_slice(&encode(slot.dtype, &[value])),
                None if slot.is_output() && poison(slot.dtype) != POISON => {
                    scatter(slot, &vec![poison(slot.dtype); slot.elements() * slot.dtype.bytes() as usize], bytes);
                }
                None => {}
            }
            slots.push((slot.clone(), region.clone()));
        }
        let mut taken: Vec<Range<usize>> = regions.to_vec();
        taken.sort_by_key(|r| (r.start, r.end));
        if let Some(pair) = taken.windows(2).find(|pair| pair[0].end > pair[1].start) {
            return Err(fault(format!("regions {:?} and {:?} overlap", pair[0], pair[1])));
        }
        let padding =
            slots.iter().filter(|(slot, _)| slot.is_output()).flat_map(|(slot, r)| padding(slot, r)).collect();
        Ok(Memory { before, slots, guards: between(&taken, 0..total), padding })
    }

    /// The inputs in order, with their bytes.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&Slot, &[u8])> {
        let inputs = self.slots.iter().filter(|(slot, _)| slot.is_input());
        inputs.map(|(slot, range)| (slot, &self.before[range.clone()]))
    }

    /// The slots a call leaves answers in.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &(Slot, Range<usize>)> {
        self.slots.iter().filter(|(slot, _)| slot.is_output())
    }

    /// Outputs and everything between the slots as before a call.
    pub(crate) fn repoison(&self, bytes: &mut [u8]) {
        for range in self.outputs().map(|(_, range)| range).chain(&self.guards) {
            copy_in_parallel(&self.before[range.clone()], &mut bytes[range.clone()]);
        }
    }

    /// Exchanges whatever nobody may read, around the arguments, in scratch and in padding, for other bytes: NaN for numbers
    /// and back.
    pub(crate) fn exchange(&self, bytes: &mut [u8]) {
        let scratch = self.slots.iter().filter(|(slot, _)| slot.role == Role::Scratch).map(|(_, range)| range);
        for range in self.guards.iter().chain(&self.padding).chain(scratch) {
            bytes[range.clone()].iter_mut().for_each(|byte| *byte ^= POISON ^ NUMBER);
        }
    }

    /// Judges where a call wrote; what it wrote is looked at elsewhere. Tensors that are only read are left out when
    /// `after` does not hold them.
    pub(crate) fn judge(&self, after: &[u8], look: Look) -> Outcome<()> {
        let differs = |range: &Range<usize>| {
            let (old, new) = (&self.before[range.clone()], &after[range.clone()]);
            // Whole stretches first: that is one fast comparison.
            if old == new { None } else { old.iter().zip(new).position(|(a, b)| a != b).map(|at| range.start + at) }
        };
        let outside = || self.guards.iter().chain(&self.padding);
        if let Some(at) = outside().find_map(differs) {
            return refuse(Gate::OutOfBounds, "memory", self.words(at), "writes inside the outputs");
        }
        let kept = |slot: &Slot| match slot.role {
            Role::Scratch => false,
            Role::In | Role::Constant => look == Look::Everything,
            _ => !slot.is_output(),
        };
        let inputs = self.slots.iter().filter(|(slot, _)| kept(slot));
        // All inputs together: there may be a lot of them, and little else.
        let split = |r: &Range<usize>| r.clone().step_by(PIECE).map(|at| at..r.end.min(at + PIECE)).collect::<Vec<_>>();
        let pieces: Vec<Range<usize>> = inputs.clone().flat_map(|(_, range)| split(range)).collect();
        let Some(at) = in_parallel(&pieces, differs).into_iter().flatten().next() else { return Outcome::Passed(()) };
        let Some((slot, range)) = inputs.clone().find(|(_, range)| range.contains(&at)) else {
            return Outcome::Passed(());
        };
        let measured = format!("byte {} of {} was changed", at - range.start, slot.name);
        refuse(Gate::InputModified, &slot.name, measured, "inputs as they were")
    }

    /// Where a stray byte lies, seen from the nearest slot.
    fn words(&self, at: usize) -> String {
        let distance = |r: &Range<usize>| if at < r.start { r.start - at } else { (at + 1).saturating_sub(r.end) };
        let named = self.slots.iter().filter(|(_, range)| !range.is_empty());
        // The array goes on where the part that calls write ends.
        let array = |slot: &Slot, r: &Range<usize>| {
            r.start.saturating_sub(slot.lead())..r.start - slot.lead().min(r.start) + slot.room()
        };
        let partly = named.clone().filter(|(slot, _)| slot.whole.is_some());
        if let Some((slot, array)) =
            partly.map(|(slot, r)| (slot, array(slot, r))).find(|(_, array)| array.contains(&at))
        {
            return format!(
                "a write to byte {} of {}, outside the part that is to be written",
                at - array.start,
                slot.name
            );
        }
        match named.min_by_key(|(_, range)| distance(range)) {
            Some((slot, r)) if at < r.start => format!("a write {} before {}", bytes(r.start - at), slot.name),
            Some((slot, r)) if at < r.end => {
                format!("a write into the padding of {}, at byte {}", slot.name, at - r.start)
            }
            Some((slot, r)) => format!("a write {} beyond the end of {}", bytes(at + 1 - r.end), slot.name),
            None => format!("a write to byte {at}"),
        }
    }
}

fn bytes(count: usize) -> String {
    if count == 1 { "1 byte".into() } else { format!("{count} bytes") }
}

fn refuse(gate: Gate, rule: &str, measured: String, limit: &str) -> Outcome<()> {
    let (rule, limit) = (rule.into(), limit.into());
    Outcome::Refused(Refusal { gate, rule, measured, limit, evidence: String::new(), hint: None })
}

/// What sorted ranges leave of a whole.
fn between(taken: &[Range<usize>], whole: Range<usize>) -> Vec<Range<usize>> {
    let mut from = whole.start;
    let mut gaps = Vec::new();
    for range in taken.iter().chain(std::iter::once(&(whole.end..whole.end))) {
        if range.start > from {
            gaps.push(from..range.start);
        }
        from = from.max(range.end);
    }
    gaps
}

/// The bytes of a slot's region that belong to no element.
pub fn padding(slot: &Slot, region: &Range<usize>) -> Vec<Range<usize>> {
    if slot.is_packed() {
        return vec![];
    }
    let size = slot.dtype.bytes() as usize;
    let mut elements: Vec<Range<usize>> =
        offsets(slot).map(|at| region.start + at * size..region.start + (at + 1) * size).collect();
    elements.sort_unstable_by_key(|r| r.start);
    between(&elements, region.clone())
}
