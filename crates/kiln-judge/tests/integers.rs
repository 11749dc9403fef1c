//! Integers: over their whole range, in 64 bits to the last one, and inside the range a file states.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::Gate;
use kiln_judge::{Distribution, Exam};

use crate::desk::{Desk, IN, OUT, file, gate};

fn integers(exam: &Exam, which: usize) -> Vec<i128> {
    let inputs = exam.inputs();
    let (_, tensor) = inputs.tensors().nth(which).unwrap();
    match &tensor.exact {
        Some(exact) => exact.clone(),
        None => tensor.data.iter().map(|v| *v as i128).collect(),
    }
}

/// Memory after a call that writes these integers of 64 bits into the only output.
fn hand_in(desk: &Desk, exam: &Exam, values: &[i64]) -> Vec<u8> {
    let mut memory = desk.hand_in(exam, &vec![0.0; values.len()]);
    let (i, _) = desk.signature.outputs().next().unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    memory[desk.regions[i].clone()].copy_from_slice(&bytes);
    memory
}

#[test]
fn the_last_bit_of_64_counts() {
    let arguments = [("a", "i64[N]", IN), ("b", "i64[N]", IN), ("y", "i64[N]", OUT)];
    let text = file("N = 500", &arguments, "builtin = \"elementwise\"\nexpressions = { y = \"max(a, b)\" }");
    let desk = Desk::new(&text);
    let exam = desk.question(Distribution::Declared, 3).unwrap();
    let (a, b) = (integers(&exam, 0), integers(&exam, 1));
    assert!(a.contains(&i64::MIN.into()) && a.contains(&i64::MAX.into()) && a.contains(&0) && a.contains(&1));
    let right: Vec<i64> = a.iter().zip(&b).map(|(a, b)| *a.max(b) as i64).collect();
    assert!(gate(exam.judge(&hand_in(&desk, &exam, &right))).is_none());
    let large = right.iter().position(|v| *v > 1 << 60 && *v < i64::MAX).unwrap();
    let mut off = right.clone();
    off[large] ^= 1;
    let (gate, words) = gate(exam.judge(&hand_in(&desk, &exam, &off))).unwrap();
    assert_eq!(gate, Gate::Numerics);
    assert!(words.contains(&off[large].to_string()), "{words}");
    // As doubles both would be the same.
    assert_eq!(off[large] as f64, right[large] as f64);
    assert!(exam.nulls().iter().all(|null| null.fault().is_none()));
}

#[test]
fn sums_of_64_bits_are_exact_and_32_bit_sums_fail_them() {
    let text = file("R = 8, C = 100", &[("x", "i64[R, C]", IN), ("y", "i64[R]", OUT)], "builtin = \"reduction\"");
    let desk = Desk::new(&text);
    let exam = desk.question(Distribution::Declared, 3).unwrap();
    let x = integers(&exam, 0);
    let sums = |keep: fn(i128) -> i64| -> Vec<i64> {
        x.chunks(100).map(|row| row.iter().fold(0, |sum, v| keep(i128::from(sum) + v))).collect()
    };
    assert!(gate(exam.judge(&hand_in(&desk, &exam, &sums(|v| v as i64)))).is_none());
    assert!(gate(exam.judge(&hand_in(&desk, &exam, &sums(|v| (v as i32).into())))).is_some());
    let in_doubles: Vec<i64> = x.chunks(100).map(|r| r.iter().map(|v| *v as f64).sum::<f64>() as i64).collect();
    assert!(gate(exam.judge(&hand_in(&desk, &exam, &in_doubles))).is_some());
}

#[test]
fn products_of_narrow_integers_need_wide_sums() {
    let arguments = [("a", "i8[M, K]", IN), ("b", "i8[K, N]", IN), ("c", "i32[M, N]", OUT)];
    let desk = Desk::new(&file("M = 9, N = 7, K = 64", &arguments, "builtin = \"matmul\""));
    let exam = desk.question(Distribution::Declared, 3).unwrap();
    let (a, b) = (integers(&exam, 0), integers(&exam, 1));
    let product = |keep: fn(i128) -> i128| -> Vec<f64> {
        let element = |i: usize| (0..64).fold(0, |sum, k| keep(sum + a[i / 7 * 64 + k] * b[k * 7 + i % 7]));
        (0..63).map(|i| element(i) as f64).collect()
    };
    assert!(gate(exam.judge(&desk.hand_in(&exam, &product(|v| v)))).is_none());
    assert!(gate(exam.judge(&desk.hand_in(&exam, &product(|v| (v as i16).into())))).is_some());
}

#[test]
fn a_stated_range_is_kept_and_scalars_vary() {
    let arguments = [
        ("i", "i32[N]", "role = \"in\"\nrange = [0, \"N - 1\"]"),
        ("x", "f32[N]", "role = \"in\"\nrange = [0.5, 2]"),
        ("s", "f32", "role = \"scalar\"\nvalue = 1.5\nrange = [1, 2]"),
        ("k", "i32", "role = \"scalar\"\nvalue = 3\nrange = [2, 5]"),
        ("y", "f32[N]", OUT),
    ];
    let text = file("N = 200", &arguments, "builtin = \"elementwise\"\nexpressions = { y = \"s * x + k + i\" }");
    let desk = Desk::new(&text);
    let mut seen = Vec::new();
    let mut usual = 0;
    for seed in 0..20 {
        let exam = desk.question(Distribution::Declared, seed).unwrap();
        assert!(integers(&exam, 0).iter().all(|v| (0..200).contains(v)));
        let inputs = exam.inputs();
        let (_, x) = inputs.tensors().nth(1).unwrap();
        assert!(x.data.iter().all(|v| (0.5..=2.0).contains(v)));
        let scalars: Vec<f64> = inputs.scalars().map(|(_, v)| v).collect();
        assert!((1.0..=2.0).contains(&scalars[0]) && [2.0, 3.0, 4.0, 5.0].contains(&scalars[1]));
        seen.push(scalars[1]);
        usual += usize::from(scalars[0] == 1.5);
        let data: Vec<f64> =
            x.data.iter().zip(integers(&exam, 0)).map(|(x, i)| scalars[0] * x + scalars[1] + i as f64).collect();
        assert!(gate(exam.judge(&desk.hand_in(&exam, &data))).is_none());
        // Laid out anew, the question stays what it was.
        let other = exam.relaid(&desk.signature, &desk.regions, desk.total).unwrap();
        assert_eq!(other.inputs(), inputs);
    }
    assert!([2.0, 3.0, 4.0, 5.0].iter().all(|v| seen.contains(v)));
    // What the file gives is asked about too, and not alone.
    assert!((1..15).contains(&usual), "{usual}");
    // Nothing here is plain data, so there is nothing else to ask.
    assert!(desk.question(Distribution::Scaled(4), 1).is_none());
}

#[test]
fn an_answer_that_does_not_fit_is_the_files_mistake() {
    let arguments = [("x", "i32[N]", "role = \"in\"\nrange = [1_000_000_000, 2_000_000_000]"), ("y", "i32[N]", OUT)];
    let text = file("N = 9", &arguments, "builtin = \"elementwise\"\nexpressions = { y = \"x * 4\" }");
    let desk = Desk::new(&text);
    let inputs = kiln_judge::Inputs::draw(&desk.signature, Distribution::Declared, 1);
    let fault = Exam::new(&desk.signature, &desk.rules, inputs, &desk.regions, desk.total, None).unwrap_err();
    assert!(fault.to_string().contains("i32 cannot hold it") && fault.to_string().contains("range"), "{fault}");
}
