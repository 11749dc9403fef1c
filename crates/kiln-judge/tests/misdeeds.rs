//! A right answer passes, and each single misdeed is refused at its own gate, whatever the type and the inputs.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::{Gate, Outcome};
use kiln_judge::{Builtin, Distribution, Exam};
use proptest::prelude::*;

use crate::desk::{Desk, IN, OUT, attention, file, gate, marks, matmul, softmax};

const FLOATS: [&str; 6] = ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"];

/// A desk for one of the operations kiln knows, at a small size.
fn desk(operation: usize, dtype: &str, size: usize) -> (Desk, Builtin) {
    let (text, builtin) = match operation {
        0 => (attention(dtype, 2, size, 8, ""), Builtin::Attention),
        1 => (matmul(dtype, size, 9, 17, ""), Builtin::Matmul),
        2 => (softmax(dtype, 5, size, ""), Builtin::Softmax),
        _ => {
            let arguments = [("x", &*format!("{dtype}[R, C]"), IN), ("y", &*format!("{dtype}[R]"), OUT)];
            (file(&format!("R = 6, C = {size}"), &arguments, "builtin = \"reduction\""), Builtin::Reduction)
        }
    };
    (Desk::new(&text), builtin)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_right_answer_passes_at_every_type_and_distribution(
        operation in 0usize..4,
        dtype in proptest::sample::select(&FLOATS[..]),
        distribution in proptest::sample::select(&Distribution::ALL[..]),
        size in 1usize..40,
        seed in any::<u64>(),
    ) {
        let (desk, builtin) = desk(operation, dtype, size);
        let exam = desk.exam(distribution, seed);
        let after = desk.hand_in(&exam, &desk.right(builtin, &exam).data);
        let marks = marks(exam.judge(&after));
        prop_assert!(marks.worst <= 1.0);
        prop_assert_eq!(exam.rerun(&exam.outputs(&after), &exam.outputs(&after)), Outcome::Passed(()));
    }

    #[test]
    fn each_misdeed_has_its_gate(
        operation in 0usize..4,
        dtype in proptest::sample::select(&FLOATS[..]),
        size in 2usize..40,
        seed in any::<u64>(),
        pick in any::<proptest::sample::Index>(),
        bit in 0u32..8,
    ) {
        let (desk, builtin) = desk(operation, dtype, size);
        let exam = desk.exam(Distribution::Declared, seed);
        let right = desk.right(builtin, &exam).data;
        let at = pick.index(right.len());
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut after = desk.hand_in(&exam, &right);
            change(&mut after);
            gate(exam.judge(&after)).map(|(gate, _)| gate)
        };
        let (_, slot) = desk.signature.outputs().next().unwrap();
        let output = desk.region(&slot.name);
        let element = slot.dtype.bytes() as usize;
        let element = output.start + at * element..output.start + (at + 1) * element;
        prop_assert_eq!(refused(&|_| {}), None);

        // One element off by three times what is allowed.
        let allowed = exam.answers()[0].bound.allowed;
        let mut off = right.clone();
        off[at] += 3.0 * (allowed.abs + allowed.rel * right[at].abs());
        // Eight bits may not have a number there that is far enough.
        if !dtype.starts_with("f8") {
            prop_assert_eq!(gate(exam.judge(&desk.hand_in(&exam, &off))).map(|g| g.0), Some(Gate::Numerics));
        }
        off[at] = f64::NAN;
        let nan = gate(exam.judge(&desk.hand_in(&exam, &off))).map(|g| g.0);
        prop_assert_eq!(nan, Some(Gate::Nonfinite));
        let mut poisoned = vec![0; desk.total];
        exam.lay(&mut poisoned);
        prop_assert_eq!(
            refused(&|m| m[element.clone()].copy_from_slice(&poisoned[element.clone()])),
            Some(Gate::UnwrittenOutput)
        );
        prop_assert_eq!(refused(&|m| m[output.end] = 0), Some(Gate::OutOfBounds));
        prop_assert_eq!(refused(&|m| m[output.start - 1] ^= 1 << bit), Some(Gate::OutOfBounds));
        let input = desk.regions[0].clone();
        prop_assert_eq!(
            refused(&|m| m[input.start + pick.index(input.len())] ^= 1 << bit),
            Some(Gate::InputModified)
        );
        // Without the inputs everything else is seen all the same.
        let mut without = desk.hand_in(&exam, &right);
        let outputs = exam.outputs(&without);
        without[input.clone()].fill(0);
        marks(exam.judge_written(&without));
        prop_assert_eq!(exam.judge_again(&without, &outputs), Outcome::Passed(()));
        without[output.end] ^= 1 << bit;
        prop_assert_eq!(gate(exam.judge_written(&without)).map(|g| g.0), Some(Gate::OutOfBounds));
    }

    #[test]
    fn the_answer_to_another_question_is_refused_and_nulls_fail(
        operation in 0usize..4,
        dtype in proptest::sample::select(&["f64", "f32", "f16", "bf16"][..]),
        size in 8usize..40,
        seed in 0u64..1_000_000,
    ) {
        let (desk, builtin) = desk(operation, dtype, size);
        let (exam, other) = (desk.exam(Distribution::Declared, seed), desk.exam(Distribution::Declared, seed + 1));
        let stale = desk.right(builtin, &other).data;
        prop_assert_eq!(gate(exam.judge(&desk.hand_in(&exam, &stale))).map(|g| g.0), Some(Gate::Numerics));
        for null in exam.nulls() {
            prop_assert!(!null.passes, "{} passes", null.name);
        }
    }
}

/// Memory after a call that answers rightly, with the output changed in two ways.
fn two_runs(reference: &str, shift: f64) -> (Exam, Vec<u8>, Vec<u8>) {
    let desk = Desk::new(&softmax("f32", 4, 8, reference));
    let exam = desk.exam(Distribution::Declared, 1);
    let right = desk.right(Builtin::Softmax, &exam).data;
    let moved: Vec<f64> = right.iter().map(|v| v + shift).collect();
    let [first, second] = [&right, &moved].map(|v| exam.outputs(&desk.hand_in(&exam, v)));
    (exam, first, second)
}

#[test]
fn runs_that_differ_are_refused_unless_the_file_allows_it() {
    let (exam, first, second) = two_runs("", 1e-7);
    let (refusal, words) = gate(exam.rerun(&first, &second)).unwrap();
    assert_eq!(refusal, Gate::Nondeterministic);
    assert!(words.starts_with("y[0, 0] is "), "{words}");
    let loose = "deterministic = false\ntolerance = { y = { abs = 1e-6 } }";
    let (exam, first, second) = two_runs(loose, 1e-7);
    assert_eq!(exam.rerun(&first, &second), Outcome::Passed(()));
    let (exam, first, second) = two_runs(loose, 1e-4);
    assert_eq!(gate(exam.rerun(&first, &second)).unwrap().0, Gate::Nondeterministic);
}

#[test]
fn repoisoning_leaves_inputs_and_forgets_answers() {
    let desk = Desk::new(&softmax("f32", 4, 8, ""));
    let exam = desk.exam(Distribution::Declared, 1);
    let mut after = desk.hand_in(&exam, &desk.right(Builtin::Softmax, &exam).data);
    after[0] = 7;
    exam.repoison(&mut after);
    let mut fresh = vec![0; desk.total];
    exam.lay(&mut fresh);
    assert_eq!(after, fresh);
    assert_eq!(gate(exam.judge(&after)).unwrap().0, Gate::UnwrittenOutput);
}

#[test]
fn low_precision_behind_a_wide_output_is_refused() {
    // Inputs rounded to TF32's eleven bits, as tensor cores do with f32 unless told otherwise.
    let desk = Desk::new(&matmul("f32", 64, 64, 256, ""));
    let exam = desk.exam(Distribution::Declared, 4);
    let narrow: Vec<kiln_judge::Tensor> = exam
        .inputs()
        .tensors()
        .map(|(_, t)| {
            let narrow = |v: &f64| f64::from(f32::from_bits((*v as f32).to_bits() & 0xffff_e000));
            kiln_judge::Tensor::new(&t.shape, t.data.iter().map(narrow).collect())
        })
        .collect();
    let found = Builtin::Matmul.compute(&[&narrow[0], &narrow[1]], None).unwrap();
    assert_eq!(gate(exam.judge(&desk.hand_in(&exam, &found.data))).unwrap().0, Gate::Numerics);
}
