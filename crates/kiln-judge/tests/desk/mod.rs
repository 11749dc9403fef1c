//! A desk to sit exams at: a small kernel file, its arguments laid out in memory, and answers to hand in.

#![allow(dead_code)]

use std::ops::Range;

use kiln_core::{Gate, Outcome};
use kiln_judge::{Builtin, Coverage, Distribution, Exam, Inputs, Marks, Rules, Signature, Tensor, encode};
use kiln_spec::{Choice, KernelSpec};

/// A kernel file with these arguments and reference, for a workload of these dimensions.
pub(crate) fn file(dims: &str, arguments: &[(&str, &str, &str)], reference: &str) -> String {
    let mut text =
        String::from("[kernel]\nname = \"k\"\n[tunables]\nBLOCK = [16, 32]\n[target.cpu]\nsource = \"k.c\"\n");
    for (name, kind, rest) in arguments {
        text += &format!("[[arguments]]\nname = \"{name}\"\ntype = \"{kind}\"\n{rest}\n");
    }
    text + &format!("[[workloads]]\nname = \"w\"\ndims = {{ {dims} }}\n[reference]\n{reference}\n")
}

pub(crate) const IN: &str = "role = \"in\"";
pub(crate) const OUT: &str = "role = \"out\"";

pub(crate) fn attention(dtype: &str, heads: usize, s: usize, d: usize, reference: &str) -> String {
    let shape = format!("{dtype}[H, S, D]");
    let scale = "role = \"scalar\"\nvalue = \"1 / sqrt(D)\"";
    let arguments =
        [("q", &*shape, IN), ("k", &shape, IN), ("v", &shape, IN), ("o", &shape, OUT), ("scale", "f32", scale)];
    file(&format!("H = {heads}, S = {s}, D = {d}"), &arguments, &format!("builtin = \"attention\"\n{reference}"))
}

pub(crate) fn matmul(dtype: &str, m: usize, n: usize, k: usize, reference: &str) -> String {
    let shapes = [format!("{dtype}[M, K]"), format!("{dtype}[K, N]"), format!("{dtype}[M, N]")];
    let arguments = [("a", &*shapes[0], IN), ("b", &shapes[1], IN), ("c", &shapes[2], OUT)];
    file(&format!("M = {m}, N = {n}, K = {k}"), &arguments, &format!("builtin = \"matmul\"\n{reference}"))
}

pub(crate) fn softmax(dtype: &str, rows: usize, columns: usize, reference: &str) -> String {
    let shape = format!("{dtype}[R, C]");
    let arguments = [("x", &*shape, IN), ("y", &*shape, OUT)];
    file(&format!("R = {rows}, C = {columns}"), &arguments, &format!("builtin = \"softmax\"\n{reference}"))
}

pub(crate) fn spec(text: &str) -> KernelSpec {
    kiln_spec::parse("kernel.toml", text.as_bytes()).map_err(|r| format!("{r:?}")).unwrap().0
}

/// Arguments laid out with guards of 64 bytes.
pub(crate) struct Desk {
    pub(crate) signature: Signature,
    pub(crate) rules: Rules,
    pub(crate) regions: Vec<Range<usize>>,
    pub(crate) total: usize,
}

impl Desk {
    pub(crate) fn new(text: &str) -> Desk {
        let spec = spec(text);
        let selection = spec.select(Choice::default()).unwrap();
        let signature = Signature::of(&selection, spec.workloads.first()).map_err(|r| r.to_string()).unwrap();
        let rules = Rules::of(&selection).map_err(|r| r.to_string()).unwrap();
        let mut end = 64;
        let regions = signature.sizes().into_iter().map(|size| {
            let start = usize::next_multiple_of(end, 64);
            end = start + size + 64;
            start..start + size
        });
        let regions: Vec<Range<usize>> = regions.collect();
        Desk { signature, rules, regions, total: end }
    }

    pub(crate) fn exam(&self, distribution: Distribution, seed: u64) -> Exam {
        let inputs = Inputs::draw(&self.signature, distribution, seed);
        Exam::new(&self.signature, &self.rules, inputs, &self.regions, self.total, None).unwrap()
    }

    /// The question a level asks, with all elements looked at; none where the distribution makes no sense.
    pub(crate) fn question(&self, distribution: Distribution, seed: u64) -> Option<Exam> {
        let rules = self.rules.covering(Coverage::Every);
        let place = (&self.regions[..], self.total);
        Exam::drawn(&self.signature, &rules, (distribution, seed), place, None, None).unwrap()
    }

    /// The region of an argument.
    pub(crate) fn region(&self, name: &str) -> Range<usize> {
        self.regions[self.signature.slots.iter().position(|s| s.name == name).unwrap()].clone()
    }

    /// Memory after a call that writes these numbers into the only output.
    pub(crate) fn hand_in(&self, exam: &Exam, values: &[f64]) -> Vec<u8> {
        let (i, slot) = self.signature.outputs().next().unwrap();
        let mut memory = vec![0; self.total];
        exam.lay(&mut memory);
        memory[self.regions[i].clone()].copy_from_slice(&encode(slot.dtype, values));
        memory
    }

    /// The whole right answer, whatever the exam itself has computed.
    pub(crate) fn right(&self, builtin: Builtin, exam: &Exam) -> Tensor {
        let inputs = exam.inputs();
        let tensors: Vec<&Tensor> = inputs.tensors().map(|(_, tensor)| tensor).collect();
        let scale = inputs.scalars().find(|(name, _)| *name == "scale").map(|(_, value)| value);
        builtin.compute(&tensors, scale).unwrap()
    }
}

pub(crate) fn marks(outcome: Outcome<Marks>) -> Marks {
    match outcome {
        Outcome::Passed(marks) => marks,
        Outcome::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// The gate that refused, and its words.
pub(crate) fn gate<T>(outcome: Outcome<T>) -> Option<(Gate, String)> {
    match outcome {
        Outcome::Passed(_) => None,
        Outcome::Refused(refusal) => Some((refusal.gate, refusal.measured)),
    }
}
