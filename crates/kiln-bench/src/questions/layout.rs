//! Where the arguments of a workload lie in shared memory. In: a signature. Out: slots for a worker, regions for an exam,
//! fresh memory. Refuses an alignment that mapped memory cannot have.

use std::ops::Range;

use kiln_core::Fault;
use kiln_judge::{Distribution, Exam, Filler, Outside, Rules, Signature};
use kiln_run::{ALIGNMENT, Arena, MOST_ALIGNMENT, MappedSlot, page};
use kiln_spec::Role;

/// A signature and its places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub(crate) signature: Signature,
    pub(crate) slots: Vec<MappedSlot>,
    /// Stretches between arguments that end a worker which touches them.
    pub(crate) holes: Vec<(usize, usize)>,
    regions: Vec<Range<usize>>,
    /// Bytes that exams see.
    total: usize,
}

/// On which side of an argument memory cannot be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Behind its last byte, as near as its alignment allows.
    End,
    /// Before its first byte.
    Start,
}

impl Layout {
    /// With every argument on pages of its own, between pages that end a worker which touches them.
    pub(crate) fn edged(signature: Signature, edge: Edge) -> Result<Layout, Fault> {
        let mut layout = Layout::new(signature)?;
        let page = page();
        let mut at = page;
        let mut regions = Vec::with_capacity(layout.signature.slots.len());
        let mut holes = vec![(0, page)];
        for slot in &layout.signature.slots {
            let room = slot.room().max(1).next_multiple_of(page);
            let alignment = slot.alignment.max(ALIGNMENT);
            let start = match edge {
                Edge::Start => at,
                Edge::End => at + (room - slot.room()) / alignment * alignment,
            };
            regions.push(start..start + slot.room());
            holes.push((at + room, at + room + page));
            at += room + page;
        }
        for (slot, region) in layout.slots.iter_mut().zip(&regions) {
            slot.offset = region.start;
        }
        layout.regions = parts(&layout.signature, &regions);
        (layout.holes, layout.total) = (holes, at);
        Ok(layout)
    }

    pub(crate) fn new(signature: Signature) -> Result<Layout, Fault> {
        if let Some(slot) = signature.slots.iter().find(|s| s.alignment > MOST_ALIGNMENT) {
            let why = format!("{} asks for an alignment of {} bytes", slot.name, slot.alignment);
            let fault = Fault::new("laying out the arguments", why);
            return Err(fault.hint(format!("up to {MOST_ALIGNMENT} bytes are possible here")));
        }
        let wanted: Vec<(usize, usize)> = signature.slots.iter().map(|s| (s.room(), s.alignment)).collect();
        let regions = Arena::plan(&wanted);
        let total = Arena::end(&regions);
        let slots = signature.slots.iter().zip(&regions).map(|(slot, region)| MappedSlot {
            name: slot.name.clone(),
            offset: region.start,
            bytes: region.len(),
            dtype: slot.dtype.name().into(),
            shape: slot.whole.as_ref().map_or_else(|| slot.shape.clone(), |whole| whole.shape.clone()),
            role: role_name(slot.role).into(),
            strides: (!slot.lies_packed()).then(|| slot.strides.clone()),
            part: slot.whole.as_ref().map(|_| (slot.lead(), slot.bytes())),
            written: slot.written(),
            ..MappedSlot::default()
        });
        let slots = slots.collect();
        let regions = parts(&signature, &regions);
        Ok(Layout { signature, slots, holes: Vec::new(), regions, total })
    }

    /// Fresh memory for it.
    pub(crate) fn arena(&self) -> Result<Arena, Fault> {
        Arena::over(std::slice::from_ref(&(0..self.total)))
    }

    /// A question about it; none where the distribution makes no sense.
    pub(crate) fn exam(
        &self,
        rules: &Rules,
        draw: (Distribution, u64),
        outside: Option<Outside<'_>>,
        filler: Option<Filler<'_>>,
    ) -> Result<Option<Exam>, Fault> {
        Exam::drawn(&self.signature, rules, draw, (self.own(), self.total), outside, filler)
    }

    /// The question that a call was, from the bytes of what it read, by the number of the argument.
    pub(crate) fn exam_of(
        &self,
        rules: &Rules,
        given: &[(usize, &[u8])],
        outside: Option<Outside<'_>>,
    ) -> Result<Exam, Fault> {
        Exam::of_bytes(&self.signature, rules, given, self.own(), self.total, outside)
    }

    /// The tensors that a call reads and its scalars: their numbers and where they lie.
    pub(crate) fn read(&self) -> impl Iterator<Item = (usize, &Range<usize>)> {
        let read = |slot: &kiln_judge::Slot| slot.is_input() || slot.scalar.is_some();
        let slots = self.signature.slots.iter().zip(self.own()).enumerate();
        slots.filter(move |(_, (slot, _))| read(slot)).map(|(number, (_, range))| (number, range))
    }

    /// A question about the same arguments that was laid out otherwise.
    pub(crate) fn relaid(&self, exam: &Exam) -> Result<Exam, Fault> {
        exam.relaid(&self.signature, self.own(), self.total)
    }

    /// Puts a question into memory.
    pub(crate) fn lay(&self, exam: &Exam, arena: &mut Arena) {
        exam.lay(&mut arena.bytes_mut()[..self.total]);
    }

    /// The same with other bytes around the arguments.
    pub(crate) fn lay_otherwise(&self, exam: &Exam, arena: &mut Arena) {
        exam.lay_otherwise(&mut arena.bytes_mut()[..self.total]);
    }

    /// The part of memory an exam judges.
    pub(crate) fn seen<'a>(&self, arena: &'a Arena) -> &'a [u8] {
        &arena.bytes()[..self.total]
    }

    /// The same, to be changed.
    pub(crate) fn seen_mut<'a>(&self, arena: &'a mut Arena) -> &'a mut [u8] {
        &mut arena.bytes_mut()[..self.total]
    }

    /// Forgets the answers that are in memory.
    pub(crate) fn repoison(&self, exam: &Exam, arena: &mut Arena) {
        exam.repoison(&mut arena.bytes_mut()[..self.total]);
    }

    /// Everything an exam sees but the tensors that are only read, as stretches from a first byte to before a last one.
    pub(crate) fn written(&self) -> Vec<(usize, usize)> {
        let slots = self.signature.slots.iter().zip(self.own());
        let mut read: Vec<&Range<usize>> =
            slots.filter(|(slot, _)| matches!(slot.role, Role::In | Role::Constant)).map(|(_, r)| r).collect();
        read.sort_by_key(|range| range.start);
        let starts = std::iter::once(0).chain(read.iter().map(|range| range.end));
        let ends = read.iter().map(|range| range.start).chain([self.total]);
        starts.zip(ends).filter(|(start, end)| start < end).collect()
    }

    /// Bytes of all arguments.
    pub(crate) fn bytes(&self) -> usize {
        self.regions.iter().map(Range::len).sum()
    }

    fn own(&self) -> &[Range<usize>] {
        &self.regions
    }
}

/// Where what exams look at lies: of an argument that is written in part, that part. What is left of it is between
/// arguments, where nobody may write.
fn parts(signature: &Signature, regions: &[Range<usize>]) -> Vec<Range<usize>> {
    let part = |(slot, region): (&kiln_judge::Slot, &Range<usize>)| {
        let start = region.start + slot.lead();
        start..start + slot.bytes()
    };
    signature.slots.iter().zip(regions).map(part).collect()
}

/// What a worker is told. Only kernels that kiln launches itself have constants: to all others they are inputs.
pub(crate) fn role_name(role: Role) -> &'static str {
    let role = if role == Role::Constant { Role::In } else { role };
    Role::ALL.iter().find(|(_, r)| *r == role).map_or("in", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_all_but_the_tensors_that_are_read() {
        let text = "[kernel]\nname = \"k\"\nentry = \"f\"\n[target.cpu]\nsource = \"f.c\"\n[tunables]\nX = [1]\n\
            [[arguments]]\nname = \"a\"\ntype = \"f32[100]\"\nrole = \"in\"\n\
            [[arguments]]\nname = \"o\"\ntype = \"f32[7]\"\nrole = \"out\"\n\
            [[arguments]]\nname = \"b\"\ntype = \"f32[9]\"\nrole = \"in\"\n[reference]\nbuiltin = \"softmax\"\n";
        let (spec, _) = kiln_spec::parse("k", text.as_bytes()).unwrap();
        let selection = spec.select(kiln_spec::Choice::default()).unwrap();
        let layout = Layout::new(Signature::of(&selection, None).unwrap()).unwrap();
        let written = layout.written();
        let is_written = |at: usize| written.iter().any(|(start, end)| (*start..*end).contains(&at));
        for at in 0..layout.total {
            let read = layout.own()[0].contains(&at) || layout.own()[2].contains(&at);
            assert_eq!(is_written(at), !read, "byte {at}");
        }
    }
}
