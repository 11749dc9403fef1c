//! Numbers that kernels forget: zeros, ties, ends of ranges, bytes that are no bool, elements that share a place.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::atomic::{AtomicUsize, Ordering};

use kiln_core::{Fault, Gate, Outcome};
use kiln_judge::{Distribution, Exam, Inputs, Level, Precision, Signature, Tensor, encode};
use kiln_spec::Dtype;

use crate::desk::{Desk, IN, OUT, file, gate, marks, matmul};

/// The numbers of an input.
fn numbers(exam: &Exam, name: &str) -> Vec<f64> {
    exam.inputs().tensors().find(|(n, _)| *n == name).unwrap().1.data.clone()
}

fn zeros(values: &[f64]) -> (usize, usize) {
    let of = |negative: bool| values.iter().filter(|v| **v == 0.0 && v.is_sign_negative() == negative).count();
    (of(false), of(true))
}

fn elementwise(arguments: &[(&str, &str, &str)], expression: &str) -> Desk {
    let reference = format!("builtin = \"elementwise\"\nexpressions = {{ y = \"{expression}\" }}");
    Desk::new(&file("R = 40, N = 50", arguments, &reference))
}

#[test]
fn the_full_level_asks_about_zeros_ties_and_ends() {
    for level in [Level::Full, Level::Suite] {
        for distribution in [Distribution::Few, Distribution::Lowest, Distribution::Highest] {
            assert!(level.plan().distributions.contains(&distribution), "{distribution}");
        }
    }
    let desk = Desk::new(&matmul("f32", 8, 8, 8, ""));
    assert!(desk.question(Distribution::Few, 1).is_some());
    assert!(desk.question(Distribution::Lowest, 1).is_none());
    assert!(desk.question(Distribution::Highest, 1).is_none());
}

#[test]
fn few_values_have_zeros_of_both_signs_a_row_of_zeros_and_ties() {
    for dtype in ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"] {
        let kind = format!("{dtype}[R, N]");
        let desk = elementwise(&[("a", &kind, IN), ("b", &kind, IN), ("y", "f32[R, N]", OUT)], "a * b");
        let exam = desk.question(Distribution::Few, 3).unwrap();
        let (a, b) = (numbers(&exam, "a"), numbers(&exam, "b"));
        let (plus, minus) = zeros(&a);
        assert!((120..300).contains(&plus) && (60..200).contains(&minus), "{dtype}: {plus} {minus}");
        assert_eq!(a.chunks(50).filter(|row| row.iter().all(|v| *v == 0.0)).count(), 1, "{dtype}");
        assert!(a.iter().all(|v| v.abs() <= 2.0 && v % 0.25 == 0.0), "{dtype}");
        assert!(a.iter().zip(&b).filter(|(a, b)| a == b).count() > 50, "{dtype}");
        // Eight bits have no room for small numbers.
        if !dtype.starts_with("f8") {
            let declared = desk.question(Distribution::Declared, 3).unwrap();
            assert_eq!(zeros(&numbers(&declared, "a")), (0, 0), "{dtype}");
        }
    }
    // Where only positive numbers are wanted, no negative zero comes.
    let uniform = "role = \"in\"\ninit = \"uniform\"";
    let desk = elementwise(&[("a", "f32[N]", uniform), ("y", "f32[N]", OUT)], "a * 2");
    let a = numbers(&desk.question(Distribution::Few, 3).unwrap(), "a");
    assert!(zeros(&a).0 > 0 && zeros(&a).1 == 0 && a.iter().all(|v| (0.0..1.0).contains(v)), "{a:?}");
}

#[test]
fn zeros_that_make_no_sense_are_left_out() {
    // The expression has no number for a division by zero: what is divided may still be zero.
    let arguments = [("a", "f32[R, N]", IN), ("b", "f32[R, N]", IN), ("y", "f32[R, N]", OUT)];
    let exam = elementwise(&arguments, "a / b").question(Distribution::Few, 3).unwrap();
    assert!(zeros(&numbers(&exam, "a")).1 > 0);
    assert_eq!(zeros(&numbers(&exam, "b")), (0, 0));

    // From outside come NaN, infinities, or nothing at all.
    let desk = Desk::new(&file("R = 40, N = 50", &[arguments[0], arguments[2]], "python = \"r.py:f\""));
    let asked = |answer: &(dyn Fn(&Tensor) -> Result<Vec<f64>, Fault> + Sync)| {
        let outside = |_: &Signature, inputs: &Inputs, _: Precision| {
            Ok(vec![Tensor::new(&[40, 50], answer(inputs.tensors().next().unwrap().1)?)])
        };
        let place = (&desk.regions[..], desk.total);
        Exam::drawn(&desk.signature, &desk.rules, (Distribution::Few, 3), place, Some(&outside), None).unwrap()
    };
    let zero_rows = |a: &[f64]| a.chunks(50).filter(|row| row.iter().all(|v| *v == 0.0)).count();
    let inverse = asked(&|x| Ok(x.data.iter().map(|v| 1.0 / v).collect())).unwrap();
    assert_eq!(zeros(&numbers(&inverse, "a")), (0, 0));
    let normalised = asked(&|x| {
        let of = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
        Ok(x.data.chunks(50).flat_map(|row| row.iter().map(|v| v / of(row)).collect::<Vec<_>>()).collect())
    });
    let a = numbers(&normalised.unwrap(), "a");
    assert!(zeros(&a).0 > 0 && zero_rows(&a) == 0);
    let fails = |x: &Tensor| match x.data.contains(&0.0) {
        true => Err(Fault::new("asking", "ZeroDivisionError")),
        false => Ok(x.data.clone()),
    };
    assert_eq!(zeros(&numbers(&asked(&fails).unwrap(), "a")), (0, 0));
    assert!(asked(&|_| Err(Fault::new("asking", "ties"))).is_none());
    // An infinity that is there on all inputs says nothing about zeros.
    let tries = AtomicUsize::new(0);
    let masked = asked(&|x| {
        tries.fetch_add(1, Ordering::Relaxed);
        Ok(x.data.iter().enumerate().map(|(i, v)| if i == 7 { f64::NEG_INFINITY } else { *v }).collect())
    });
    assert!(zero_rows(&numbers(&masked.unwrap(), "a")) == 1 && tries.load(Ordering::Relaxed) <= 4);
}

#[test]
fn both_ends_of_a_range_are_asked_about() {
    let arguments = [
        ("x", "f32[R, N]", "role = \"in\"\nrange = [-1, 1]"),
        ("i", "i64[N]", "role = \"in\"\nrange = [3, 900]"),
        ("alpha", "f32", "role = \"scalar\"\nvalue = 0.5\nrange = [0, 1]"),
        ("k", "i32", "role = \"scalar\"\nvalue = 3\nrange = [0, 1000]"),
        ("y", "f32[R, N]", OUT),
    ];
    let desk = elementwise(&arguments, "alpha * x + 0.001 * k + i");
    for (distribution, scalars, x, i) in
        [(Distribution::Lowest, [0.0, 0.0], -1.0, 3.0), (Distribution::Highest, [1.0, 1000.0], 1.0, 900.0)]
    {
        let exam = desk.question(distribution, 5).unwrap();
        assert_eq!(exam.inputs().scalars().map(|(_, value)| value).collect::<Vec<_>>(), scalars);
        assert!(numbers(&exam, "x").contains(&x) && numbers(&exam, "i").contains(&i));
        assert!(numbers(&exam, "x").iter().any(|v| *v != x));
    }
    // An end that the reference cannot take is left out; the other scalar still has its own.
    let divided = elementwise(&arguments, "x / alpha + 0.001 * k + i");
    let exam = divided.question(Distribution::Lowest, 5).unwrap();
    let scalars: Vec<f64> = exam.inputs().scalars().map(|(_, value)| value).collect();
    assert!(scalars[0] > 0.0 && scalars[1] == 0.0, "{scalars:?}");
}

#[test]
fn a_bool_is_zero_or_one() {
    let text = file("N = 4", &[("x", "f32[N]", IN), ("y", "bool[N]", OUT)], "python = \"r.py:f\"");
    let desk = Desk::new(&text);
    let inputs = Inputs::draw(&desk.signature, Distribution::Declared, 1);
    let outside = |_: &Signature, _: &Inputs, _: Precision| Ok(vec![Tensor::new(&[4], vec![1.0, 0.0, 1.0, 0.0])]);
    let exam = Exam::new(&desk.signature, &desk.rules, inputs, &desk.regions, desk.total, Some(&outside)).unwrap();
    let judged = |bytes: [u8; 4]| {
        let mut after = vec![0; desk.total];
        exam.lay(&mut after);
        after[desk.region("y")].copy_from_slice(&bytes);
        exam.judge(&after)
    };
    assert!(gate(judged([1, 0, 1, 0])).is_none());
    for byte in [2, 255] {
        let Outcome::Refused(refusal) = judged([1, 0, byte, 0]) else { panic!("{byte} passed") };
        assert_eq!(refusal.gate, Gate::Numerics);
        assert_eq!(refusal.measured, format!("y[2] is the byte {byte}"));
        assert_eq!(refusal.limit, "a bool is the byte 0 or 1");
    }
    assert_eq!(gate(judged([1, 0xA5, 1, 0])).unwrap().0, Gate::UnwrittenOutput);
    assert_eq!(gate(judged([1, 1, 1, 0])).unwrap().0, Gate::Numerics);
}

#[test]
fn the_reference_sees_what_lies_in_memory_where_elements_share_a_place() {
    let strided = |strides: &str| format!("role = \"in\"\nstrides = {strides}");
    let (one, window) = (strided("[0, 0]"), strided("[1, 1]"));
    for strides in [&one, &window] {
        let desk = elementwise(&[("x", "f32[R, N]", strides), ("y", "f32[R, N]", OUT)], "x * 2 + 1");
        for distribution in Level::Full.plan().distributions {
            let Some(exam) = desk.question(*distribution, 7) else { continue };
            let mut memory = vec![0; desk.total];
            exam.lay(&mut memory);
            let x = desk.region("x");
            let step = usize::from(strides == &window);
            let at = |i: usize| f32::from_ne_bytes(memory[x.start + 4 * i..][..4].try_into().unwrap());
            let values: Vec<f64> = (0..40)
                .flat_map(|r| (0..50).map(move |c| (r + c) * step))
                .map(|i| f64::from(at(i) * 2.0 + 1.0))
                .collect();
            memory[desk.region("y")].copy_from_slice(&encode(Dtype::F32, &values));
            assert_eq!(gate(exam.judge(&memory)), None, "{distribution}");
        }
    }
}

#[test]
fn denormals_stand_among_ordinary_numbers_and_may_be_flushed() {
    for (dtype, smallest) in [("f32", 2f64.powi(-126)), ("f16", 2f64.powi(-14)), ("bf16", 2f64.powi(-126))] {
        let kind = format!("{dtype}[R, N]");
        let desk = elementwise(&[("a", &kind, IN), ("b", &kind, IN), ("y", "f32[R, N]", OUT)], "a * b");
        let exam = desk.question(Distribution::Denormals, 3).unwrap();
        let (a, b) = (numbers(&exam, "a"), numbers(&exam, "b"));
        let is_below = |v: f64| v != 0.0 && v.abs() < smallest;
        let below: Vec<f64> = a.iter().copied().filter(|v| is_below(*v)).collect();
        assert!((100..400).contains(&below.len()), "{dtype}: {}", below.len());
        assert!(below.iter().any(|v| *v < 0.0) && below.iter().any(|v| *v > 0.0), "{dtype}");
        let flushed = |v: f64| if is_below(v) { 0.0 } else { v };
        let answer: Vec<f64> = a.iter().zip(&b).map(|(a, b)| flushed(*a) * flushed(*b)).collect();
        marks(exam.judge(&desk.hand_in(&exam, &answer)));
    }
    // Where they would make the answer infinite they are left out, and then nothing is new.
    let divided = elementwise(&[("a", "f32[R, N]", IN), ("y", "f32[R, N]", OUT)], "1 / a");
    assert!(divided.question(Distribution::Denormals, 3).is_none());
}
