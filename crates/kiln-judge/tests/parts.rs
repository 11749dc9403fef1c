//! Outputs that are written in part, and those of which only the sum counts.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::{Gate, Outcome};
use kiln_judge::{Distribution, Exam, encode, scatter};

use crate::desk::{Desk, IN, file, gate};

/// Twice x in the inner part of y, whose elements lie as `more` says.
fn inner(more: &str) -> Desk {
    let out = format!("role = \"out\"\nwritten = [\"1 : H - 1\", \"2 : W - 1\"]\n{more}");
    let arguments = [("x", "f32[H, W]", IN), ("y", "f32[H, W]", &*out)];
    Desk::new(&file("H = 5, W = 7", &arguments, "builtin = \"elementwise\"\nexpressions = { y = \"2 * x\" }"))
}

/// Memory after a call that doubles x there, with one element off by so much.
fn doubled(desk: &Desk, exam: &Exam, off: f64) -> Vec<u8> {
    let inputs = exam.inputs();
    let x = &inputs.tensors().next().unwrap().1.data;
    let mut values: Vec<f64> = (1..4).flat_map(|h| (2..6).map(move |w| 2.0 * x[h * 7 + w])).collect();
    values[5] += off;
    let mut memory = vec![0; desk.total];
    exam.lay(&mut memory);
    let slot = desk.signature.slots.last().unwrap();
    scatter(slot, &encode(slot.dtype, &values), &mut memory[desk.region("y")]);
    memory
}

#[test]
fn expressions_are_about_the_whole_array_and_elements_are_named_in_it() {
    for strides in ["", "strides = [1, \"H + 1\"]"] {
        let desk = inner(strides);
        let exam = desk.exam(Distribution::Declared, 3);
        assert!(matches!(exam.judge(&doubled(&desk, &exam, 0.0)), Outcome::Passed(_)), "{strides}");
        let (wrong, words) = gate(exam.judge(&doubled(&desk, &exam, 1.0))).unwrap();
        assert_eq!(wrong, Gate::Numerics);
        // The second element of the second row of the part.
        assert!(words.starts_with("y[2, 3] is "), "{words}");
        let (wrong, words) = gate(exam.judge(&doubled(&desk, &exam, f64::NAN))).unwrap();
        assert!(wrong == Gate::Nonfinite && words == "y[2, 3] is NaN", "{words}");
    }
}

#[test]
fn a_write_to_the_rest_of_the_array_is_called_that() {
    let desk = inner("");
    let exam = desk.exam(Distribution::Declared, 3);
    let region = desk.region("y");
    // y[1, 1], and between two rows of the part y[2, 1].
    for (at, byte) in [(region.start - 4, 32), (region.start + 24, 60)] {
        let mut memory = doubled(&desk, &exam, 0.0);
        memory[at] ^= 1;
        let (wrong, words) = gate(exam.judge(&memory)).unwrap();
        assert_eq!(wrong, Gate::OutOfBounds);
        assert_eq!(words, format!("a write to byte {byte} of y, outside the part that is to be written"));
    }
}

#[test]
fn a_returned_array_is_read_in_the_part_that_counts() {
    let dense: Vec<f64> = (0..35).map(f64::from).collect();
    let part: Vec<f64> = (1..4).flat_map(|h| (2..6).map(move |w| f64::from(h * 7 + w))).collect();
    for strides in ["", "strides = [1, \"H\"]", "strides = [1, \"H + 1\"]", "strides = [9, 1]"] {
        let desk = inner(strides);
        let slot = desk.signature.slots.last().unwrap();
        assert_eq!(*slot.part_of(&encode(slot.dtype, &dense)), encode(slot.dtype, &part), "{strides}");
        assert_eq!(slot.written(), [(1, 4), (2, 6)]);
    }
}

#[test]
fn builtins_give_the_sum_of_a_summed_output() {
    let shares = "role = \"out\"\ncompare = \"sum\"";
    let squares = "builtin = \"elementwise\"\nexpressions = { y = \"x * x\" }";
    for (kind, shares_kind, reference, power) in [
        ("f32", "f32", "builtin = \"reduction\"", 1),
        ("f32", "f32", squares, 2),
        ("i32", "i64", "builtin = \"reduction\"", 1),
        ("u8", "u32", squares, 2),
    ] {
        let (x, y) = (format!("{kind}[N]"), format!("{shares_kind}[4]"));
        let arguments = [("x", &*x, "role = \"in\"\nrange = [0, 100]"), ("y", &*y, shares)];
        let desk = Desk::new(&file("N = 37", &arguments, reference));
        let exam = desk.exam(Distribution::Declared, 3);
        let inputs = exam.inputs();
        let sum: f64 = inputs.tensors().next().unwrap().1.data.iter().map(|v| v.powi(power)).sum();
        let first = (sum / 3.0).floor();
        let right = desk.hand_in(&exam, &[first, 0.0, sum - first - 1.0, 1.0]);
        assert!(matches!(exam.judge(&right), Outcome::Passed(_)), "{kind} {reference}");
        let wrong = desk.hand_in(&exam, &[first, 0.0, sum - first - 1.0, 1.0 + (sum / 10.0).floor()]);
        assert_eq!(gate(exam.judge(&wrong)).unwrap().0, Gate::Numerics, "{kind} {reference}");
    }
}
