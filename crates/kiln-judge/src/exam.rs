//! One question put to a candidate: inputs, memory and the correct answer; made once, put many times. In: what a call left in
//! memory. Out: marks, or a refusal. The order is that of trust: a write outside the buffers, a changed input, an output not
//! written, NaN, and only then how far numbers are off. Refuses to be made (a fault, not the candidate's) when there is no
//! right answer to hold an output against.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kiln_core::{Fault, Outcome};

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::Distribution;
use crate::drawn::inputs::{Filler, Inputs};
use crate::drawn::special::Special;
use crate::marked::check::{Marks, check};
use crate::marked::memory::{Look, Memory};
use crate::marked::parallel::{copy_in_parallel, same_in_parallel};
use crate::marked::rerun::rerun;
use crate::marked::strides::gather;
use crate::right::answer::{RightAnswer, answers};
use crate::right::null::{Null, nulls, of_another};
use crate::right::tensor::Tensor;

/// Where right answers come from when kiln does not know them itself: one tensor for each out and inout slot, in order.
pub type Outside<'a> = &'a (dyn Fn(&Signature, &Inputs, Precision) -> Result<Vec<Tensor>, Fault> + Sync);

/// What a reference outside computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As exactly as it can: this is right.
    Double,
    /// In the kernel's own types: so far off a plain program is. Not every reference can.
    Own,
}

/// One question.
#[derive(Debug, Clone)]
pub struct Exam {
    distribution: Distribution,
    seed: u64,
    memory: Memory,
    answers: Vec<RightAnswer>,
    deterministic: bool,
    /// Whether anybody has answered it right.
    passed: Arc<AtomicBool>,
}

impl Exam {
    /// Computes the correct answers, and lays out memory of `total` bytes with the arguments in `regions`.
    pub fn new(
        signature: &Signature,
        rules: &Rules,
        inputs: Inputs,
        regions: &[Range<usize>],
        total: usize,
        outside: Option<Outside<'_>>,
    ) -> Result<Exam, Fault> {
        let signature = &signature.with(inputs.scalars());
        let memory = Memory::new(signature, &inputs, regions, total)?;
        let answers = answers(signature, rules, &inputs, outside)?;
        let (distribution, seed, deterministic) = (inputs.distribution, inputs.seed, rules.deterministic);
        Ok(Exam { distribution, seed, memory, answers, deterministic, passed: Arc::default() })
    }

    /// The question of a level: its inputs are drawn from a distribution with a seed. None where that makes no sense for what
    /// is computed. Special numbers (zeros, ends of ranges) that make the correct answer NaN or infinite are left out.
    pub fn drawn(
        signature: &Signature,
        rules: &Rules,
        draw: (Distribution, u64),
        (regions, total): (&[Range<usize>], usize),
        outside: Option<Outside<'_>>,
        filler: Option<Filler<'_>>,
    ) -> Result<Option<Exam>, Fault> {
        let of = |inputs: Inputs| Exam::new(signature, rules, inputs, regions, total, outside);
        let specials = Special::all(signature, draw.0);
        let Some(inputs) = Inputs::with_specials(signature, rules, draw, &specials, filler)? else { return Ok(None) };
        if !draw.0.is_tentative() {
            return of(inputs).map(Some);
        }
        // A reference may also fail on what it is not made for.
        let whole = of(inputs).ok();
        if whole.as_ref().is_some_and(|exam| exam.infinities() == 0) {
            return Ok(whole);
        }
        let with = |specials: &[Special]| -> Result<Option<Exam>, Fault> {
            let inputs = Inputs::with_specials(signature, rules, draw, specials, filler)?;
            Ok(inputs.and_then(|inputs| of(inputs).ok()))
        };
        let Some(mut best) = with(&[])? else { return Ok(None) };
        // Infinities that are right on any inputs are no sign of nonsense.
        let usual = best.infinities();
        if whole.as_ref().is_some_and(|exam| exam.infinities() <= usual) {
            return Ok(whole);
        }
        let mut kept = Vec::new();
        for special in specials {
            kept.push(special);
            match with(&kept)?.filter(|exam| exam.infinities() <= usual) {
                Some(exam) => best = exam,
                None => kept.truncate(kept.len() - 1),
            }
        }
        // Without any it is a question of its own only where the rest differs from what is declared.
        Ok((!kept.is_empty() || draw.0 == Distribution::Few).then_some(best))
    }

    /// Infinite numbers in the correct answers.
    fn infinities(&self) -> usize {
        self.answers.iter().flat_map(|answer| &answer.expected.data).filter(|v| v.is_infinite()).count()
    }

    /// The question that a call with these bytes was: those of every in and inout argument as they lie in memory, padding
    /// included, and of scalars whose value is not the signature's, each with the argument's number.
    pub fn of_bytes(
        signature: &Signature,
        rules: &Rules,
        given: &[(usize, &[u8])],
        regions: &[Range<usize>],
        total: usize,
        outside: Option<Outside<'_>>,
    ) -> Result<Exam, Fault> {
        let signature = signature.given(given)?;
        let memory = Memory::of_bytes(&signature, given, regions, total)?;
        let (distribution, deterministic) = (Distribution::Declared, rules.deterministic);
        let mut exam = Exam { distribution, seed: 0, memory, answers: vec![], deterministic, passed: Arc::default() };
        exam.answers = answers(&signature, rules, &exam.inputs(), outside)?;
        Ok(exam)
    }

    /// The same question with its arguments elsewhere: scratch may be larger or smaller, nothing else may differ.
    pub fn relaid(&self, signature: &Signature, regions: &[Range<usize>], total: usize) -> Result<Exam, Fault> {
        let scalars = self.memory.slots.iter().filter_map(|(slot, _)| Some((slot.name.as_str(), slot.scalar?)));
        let memory = self.memory.relaid(&signature.with(scalars), regions, total)?;
        Ok(Exam { memory, ..self.clone() })
    }

    /// What its inputs were drawn from.
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    /// The seed they were drawn with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether anybody has answered it right so far.
    pub fn was_passed(&self) -> bool {
        self.passed.load(Ordering::Relaxed)
    }

    /// The inputs it asks about, from memory: kept in double precision they would be larger than all the rest.
    pub fn inputs(&self) -> Inputs {
        let tensor = |slot: &Slot, bytes| Tensor::read(slot.dtype, &slot.shape, &gather(slot, bytes));
        let tensors = self.memory.inputs().map(|(slot, bytes)| (slot, tensor(slot, bytes)));
        Inputs::known(self.distribution, self.seed, tensors, self.memory.slots.iter().map(|(slot, _)| slot))
    }

    /// The correct answers and what each output is held to, in the order of the outputs.
    pub fn answers(&self) -> &[RightAnswer] {
        &self.answers
    }

    /// Memory as before a call.
    pub fn lay(&self, bytes: &mut [u8]) {
        copy_in_parallel(&self.memory.before, bytes);
    }

    /// Memory as before a call, with other bytes wherever nobody may read: a call that reads there, or writes what it finds,
    /// gives another answer or is seen.
    pub fn lay_otherwise(&self, bytes: &mut [u8]) {
        self.lay(bytes);
        self.memory.exchange(bytes);
    }

    /// Judges memory after a call that began so, and leaves it as if it had begun in the usual way.
    pub fn judge_otherwise(&self, after: &mut [u8]) -> Outcome<Marks> {
        self.memory.exchange(after);
        self.judge(after)
    }

    /// Outputs and the bytes between the arguments as before a call.
    pub fn repoison(&self, bytes: &mut [u8]) {
        self.memory.repoison(bytes);
    }

    /// Judges memory after a call.
    pub fn judge(&self, after: &[u8]) -> Outcome<Marks> {
        self.look(after, Look::Everything)
    }

    /// The same without a look at tensors that are only read, which `after` need not hold.
    pub fn judge_written(&self, after: &[u8]) -> Outcome<Marks> {
        self.look(after, Look::Written)
    }

    fn look(&self, after: &[u8], look: Look) -> Outcome<Marks> {
        if let Outcome::Refused(refusal) = self.memory.judge(after, look) {
            return Outcome::Refused(refusal);
        }
        let outputs = self.memory.outputs().zip(&self.answers);
        let outputs = outputs.map(|((slot, range), answer)| (slot, gather(slot, &after[range.clone()]), answer));
        let judged = check(outputs.collect());
        if matches!(judged, Outcome::Passed(_)) {
            self.passed.store(true, Ordering::Relaxed);
        }
        judged
    }

    /// The bytes of the outputs, without padding.
    pub fn outputs(&self, after: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.keep_outputs(after, &mut bytes);
        bytes
    }

    /// The bytes of the outputs in place of what `kept` holds: memory that was used before is quicker to write to.
    pub fn keep_outputs(&self, after: &[u8], kept: &mut Vec<u8>) {
        let outputs: Vec<_> = self.memory.outputs().map(|(slot, range)| gather(slot, &after[range.clone()])).collect();
        kept.resize(outputs.iter().map(|bytes| bytes.len()).sum(), 0);
        let mut rest = &mut kept[..];
        for bytes in outputs {
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(bytes.len());
            copy_in_parallel(&bytes, here);
            rest = behind;
        }
    }

    /// Holds the outputs of two calls on the same inputs against each other.
    pub fn rerun(&self, first: &[u8], second: &[u8]) -> Outcome<()> {
        rerun(self.memory.outputs().map(|(slot, _)| slot).zip(&self.answers), first, second, self.deterministic)
    }

    /// Judges memory after another call on the same inputs: outputs that are those of the first call, which was judged, are
    /// not looked at again, and neither are tensors that are only read.
    pub fn judge_again(&self, after: &[u8], first: &[u8]) -> Outcome<()> {
        if let Outcome::Refused(refusal) = self.memory.judge(after, Look::Written) {
            return Outcome::Refused(refusal);
        }
        let mut rest = first;
        let same = self.memory.outputs().all(|(slot, range)| {
            let now = gather(slot, &after[range.clone()]);
            let (then, behind) = rest.split_at_checked(now.len()).unwrap_or((rest, &[]));
            rest = behind;
            same_in_parallel(&now, then)
        });
        if same {
            return Outcome::Passed(());
        }
        match self.judge_written(after) {
            Outcome::Passed(_) => self.rerun(first, &self.outputs(after)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        }
    }

    /// Whether the correct answer of another question would pass here.
    pub fn null_of(&self, other: &Exam) -> Vec<Null> {
        let outputs = self.memory.outputs().zip(self.answers.iter().zip(&other.answers));
        outputs.filter_map(|((slot, _), (answer, other))| of_another(slot, answer, other)).collect()
    }

    /// Whether answers that take no work would pass.
    pub fn nulls(&self) -> Vec<Null> {
        let outputs = self.memory.outputs().zip(&self.answers);
        outputs.flat_map(|((slot, _), answer)| nulls(slot, answer, self.memory.inputs())).collect()
    }
}
