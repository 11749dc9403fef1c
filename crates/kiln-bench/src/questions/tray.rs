//! Memory for timed calls: sets of arguments side by side, one for each call. In: what each call reads. Out: shared memory
//! with those inputs, poisoned outputs and guards between all of them; afterwards what each call wrote, or a refusal when
//! anything else has changed. A set lies in few lines of memory, without pages of its own: the calls are timed.

use std::hint::black_box;
use std::ops::Range;

use kiln_core::{Fault, Gate, Outcome, Refusal};
use kiln_judge::{Fresh, Signature, Written, padding, poison, scatter};
use kiln_run::{ALIGNMENT, Arena, MappedSlot, flush_lines};
use kiln_spec::Role;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Bytes between two arguments, at least.
const GAP: usize = 192;
/// Bytes of a cache line, at least.
const LINE: usize = 64;

/// Sets of arguments in shared memory.
pub(crate) struct Tray {
    signature: Signature,
    /// Where each argument lies in its set.
    places: Vec<Range<usize>>,
    /// Bytes of a set that no call may change.
    kept: Vec<Range<usize>>,
    stride: usize,
    sets: usize,
    /// The first byte of the first set.
    start: usize,
    arena: Arena,
    /// What is laid next, and was laid last.
    image: Vec<u8>,
}

/// What calls left in memory, one lay behind the other.
#[derive(Default)]
pub(crate) struct Taken {
    bytes: Vec<u8>,
}

impl Taken {
    /// Forgets it. Its own memory is kept: as much is taken again, and new pages cost more than what is written to them.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
}

impl Tray {
    /// Bytes that one set of arguments takes.
    pub(crate) fn set_bytes(signature: &Signature) -> usize {
        plan(signature).1
    }

    /// Memory for so many sets.
    pub(crate) fn new(signature: &Signature, sets: usize) -> Result<Tray, Fault> {
        let (places, stride) = plan(signature);
        let (arena, regions) = Arena::new(&[stride.saturating_mul(sets.max(1))])?;
        let start = regions.first().map_or(0, |region| region.start);
        let kept = kept(signature, &places, stride);
        Ok(Tray {
            signature: signature.clone(),
            places,
            kept,
            stride,
            sets: sets.max(1),
            start,
            arena,
            image: Vec::new(),
        })
    }

    /// The arguments as a worker is told of them: those of the first set.
    pub(crate) fn slots(&self, mut slots: Vec<MappedSlot>) -> Vec<MappedSlot> {
        for ((slot, place), own) in slots.iter_mut().zip(&self.places).zip(&self.signature.slots) {
            slot.offset = self.start + place.start - own.lead();
        }
        slots
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(crate) fn sets(&self) -> usize {
        self.sets
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Makes ready what is laid next: inputs of as many calls, poison, and guards that are different each time and finite
    /// in every type, wherever one begins to read.
    pub(crate) fn prepare<'f>(&mut self, calls: impl ExactSizeIterator<Item = &'f Fresh>, noise: &mut ChaCha8Rng) {
        let mut image = std::mem::take(&mut self.image);
        if calls.len() == 0 {
            return;
        }
        image.resize(calls.len().min(self.sets) * self.stride, 0);
        noise.fill_bytes(&mut image[..self.stride.min(4096)]);
        image.iter_mut().take(4096).for_each(|byte| *byte &= 0x3f);
        let (pattern, rest) = image.split_at_mut(self.stride.min(4096));
        rest.chunks_mut(pattern.len().max(1)).for_each(|part| part.copy_from_slice(&pattern[..part.len()]));
        for (set, fresh) in image.chunks_mut(self.stride.max(1)).zip(calls) {
            for ((slot, place), bytes) in self.signature.slots.iter().zip(&self.places).zip(&fresh.slots) {
                if !bytes.is_empty() {
                    set[place.clone()].copy_from_slice(bytes);
                } else if slot.is_output() {
                    set[place.clone()].fill(poison(slot.dtype));
                }
            }
        }
        self.image = image;
    }

    /// Puts it where calls will find it: in memory alone.
    pub(crate) fn lay_far(&mut self) {
        flush_lines(self.lay());
    }

    /// The same, but in the caches of the processor that this runs on, those of calls on these sets nearest; none stands for
    /// one set after another.
    pub(crate) fn lay_near(&mut self, order: &[u32]) {
        let stride = self.stride.max(1);
        let bytes = self.lay();
        let near = |set: usize| {
            bytes.chunks(stride).nth(set).unwrap_or(&[]).chunks(LINE).for_each(|line| {
                black_box(line[0]);
            })
        };
        // What is called first is brought last.
        match order {
            [] => (0..bytes.len() / stride).rev().for_each(near),
            _ => order.iter().rev().for_each(|set| near(*set as usize)),
        }
    }

    fn lay(&mut self) -> &[u8] {
        let bytes = &mut self.arena.bytes_mut()[self.start..self.start + self.image.len()];
        bytes.copy_from_slice(&self.image);
        bytes
    }

    /// Puts an answer that lies elsewhere, dense, where a set's output would have been written. Whether it could be read.
    pub(crate) fn adopt(&mut self, set: usize, output: usize, read: impl FnOnce(&mut [u8]) -> bool) -> bool {
        let Some((place, slot)) = self.signature.outputs().nth(output) else { return false };
        let size = slot.dtype.bytes() as usize;
        let elements = slot.whole.as_ref().map_or_else(|| slot.elements(), |whole| whole.shape.iter().product());
        let mut dense = vec![0; elements * size];
        let start = self.start + set * self.stride;
        let range = start + self.places[place].start..start + self.places[place].end;
        let Some(bytes) = self.arena.bytes_mut().get_mut(range).filter(|_| read(&mut dense)) else { return false };
        scatter(slot, &slot.part_of(&dense), bytes);
        true
    }

    /// What lies there now.
    pub(crate) fn take(&self) -> Taken {
        let mut taken = Taken::default();
        self.add_to(&mut taken);
        taken
    }

    /// Adds it to what earlier calls left.
    pub(crate) fn add_to(&self, taken: &mut Taken) {
        taken.bytes.extend_from_slice(&self.arena.bytes()[self.start..self.start + self.image.len()]);
    }

    /// Whether of what was laid last these sets, which no call had, are as they were.
    pub(crate) fn judge_decoys(&self, taken: &Taken, decoys: &[u32]) -> Outcome<()> {
        let last = &taken.bytes[taken.bytes.len().saturating_sub(self.image.len())..];
        let set = |number: &u32| *number as usize * self.stride..(*number as usize + 1) * self.stride;
        match decoys.iter().map(set).find(|range| last.get(range.clone()) != self.image.get(range.clone())) {
            None => Outcome::Passed(()),
            Some(_) => Outcome::Refused(Refusal {
                gate: Gate::OutOfBounds,
                rule: "memory".into(),
                measured: "a timed call wrote to arguments of another call, which was never made".into(),
                limit: "writes to its own outputs".into(),
                evidence: String::new(),
                hint: None,
            }),
        }
    }

    /// Whether all is as it was laid last but what calls may write.
    pub(crate) fn judge(&self, taken: &Taken) -> Outcome<()> {
        let last = &taken.bytes[taken.bytes.len().saturating_sub(self.image.len())..];
        let sets = last.chunks(self.stride.max(1)).zip(self.image.chunks(self.stride.max(1)));
        for (now, then) in sets {
            if let Some(range) = self.kept.iter().find(|range| now[(*range).clone()] != then[(*range).clone()]) {
                let same = |at: &usize| now[*at] == then[*at];
                let at = range.clone().find(|at| !same(at)).unwrap_or(range.start);
                return Outcome::Refused(self.refusal(at));
            }
        }
        Outcome::Passed(())
    }

    /// The outputs of one call, padding included.
    pub(crate) fn outputs<'t>(&'t self, taken: &'t Taken, set: usize) -> Vec<Written<'t>> {
        let base = set * self.stride;
        let outputs = self.signature.outputs().map(|(place, slot)| (slot, &self.places[place]));
        let read = |place: &Range<usize>| taken.bytes.get(base + place.start..base + place.end);
        outputs.filter_map(|(slot, place)| Some((slot, read(place)?))).collect()
    }

    fn refusal(&self, at: usize) -> Refusal {
        let places = self.signature.slots.iter().zip(&self.places);
        let inside = places.clone().find(|(slot, place)| place.contains(&at) && !slot.is_output());
        let (gate, rule, measured, limit) = match inside {
            Some((slot, place)) => {
                let words = format!("byte {} of {} was changed by a timed call", at - place.start, slot.name);
                (Gate::InputModified, slot.name.clone(), words, "inputs as they were")
            }
            None => {
                let distance = |place: &Range<usize>| place.start.abs_diff(at).min(place.end.abs_diff(at));
                let nearest = places.filter(|(_, place)| !place.is_empty()).min_by_key(|(_, place)| distance(place));
                let name = nearest.map_or_else(String::new, |(slot, _)| format!(" near {}", slot.name));
                (Gate::OutOfBounds, "memory".into(), format!("a timed call wrote{name}"), "writes inside the outputs")
            }
        };
        Refusal { gate, rule, measured, limit: limit.into(), evidence: String::new(), hint: None }
    }
}

/// Where the arguments of a set lie, and how long it is.
fn plan(signature: &Signature) -> (Vec<Range<usize>>, usize) {
    let mut end = GAP;
    let mut places = Vec::with_capacity(signature.slots.len());
    let mut most = ALIGNMENT;
    for slot in &signature.slots {
        let alignment = slot.alignment.max(ALIGNMENT);
        most = most.max(alignment);
        let start = end.next_multiple_of(alignment);
        let part = start + slot.lead();
        places.push(part..part + slot.bytes());
        end = start + slot.room() + GAP;
    }
    // An odd number of times the alignment: the same argument of two sets is not aligned to more than was promised.
    let stride = end.next_multiple_of(most);
    (places, if (stride / most).is_multiple_of(2) { stride + most } else { stride })
}

/// What no call may change: what is only read, what lies between, and padding inside outputs.
fn kept(signature: &Signature, places: &[Range<usize>], stride: usize) -> Vec<Range<usize>> {
    let mut kept = Vec::new();
    let mut from = 0;
    for (slot, place) in signature.slots.iter().zip(places) {
        let written = slot.is_output() || slot.role == Role::Scratch;
        if written {
            kept.push(from..place.start);
            from = place.end;
            if slot.is_output() {
                kept.extend(padding(slot, place));
            }
        }
    }
    kept.push(from..stride);
    kept
}
