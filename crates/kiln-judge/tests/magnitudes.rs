//! Inputs as large and as small as types allow: plain honest kernels pass on all of them, and those that only work on small
//! numbers do not.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use half::{bf16, f16};
use kiln_core::Gate;
use kiln_judge::{Distribution, Exam, Level};

use crate::desk::{Desk, IN, OUT, attention, file, gate, matmul, softmax};

const TYPES: [&str; 3] = ["f32", "f16", "bf16"];

/// The inputs as the kernel reads them.
fn read(exam: &Exam) -> Vec<Vec<f32>> {
    exam.inputs().tensors().map(|(_, t)| t.data.iter().map(|v| *v as f32).collect()).collect()
}

fn narrow(dtype: &str) -> fn(f32) -> f32 {
    match dtype {
        "f16" => |v| f16::from_f32(v).to_f32(),
        "bf16" => |v| bf16::from_f32(v).to_f32(),
        _ => |v| v,
    }
}

fn wide(values: impl IntoIterator<Item = f32>) -> Vec<f64> {
    values.into_iter().map(f64::from).collect()
}

fn softmax_of(x: &[f32], columns: usize, subtract: bool) -> Vec<f64> {
    let row = |x: &[f32]| {
        let max = if subtract { x.iter().copied().fold(f32::NEG_INFINITY, f32::max) } else { 0.0 };
        let e: Vec<f32> = x.iter().map(|v| (v - max).exp()).collect();
        let sum: f32 = e.iter().sum();
        e.into_iter().map(move |v| v / sum).collect::<Vec<f32>>()
    };
    wide(x.chunks(columns).flat_map(row))
}

fn product_of(a: &[f32], b: &[f32], (m, n, k): (usize, usize, usize), round: fn(f32) -> f32) -> Vec<f64> {
    let element = |i: usize| (0..k).fold(0.0, |sum, t| round(sum + a[i / n * k + t] * b[t * n + i % n]));
    wide((0..m * n).map(element))
}

fn attention_of(qkv: &[Vec<f32>], (s, d): (usize, usize), dtype: &str, subtract: bool) -> Vec<f64> {
    let (q, k, v) = (&qkv[0], &qkv[1], &qkv[2]);
    let scale = 1.0 / (d as f32).sqrt();
    let mut out = Vec::new();
    for (row, q) in q.chunks(d).enumerate() {
        let head = row / s * s * d;
        let keys = k[head..][..s * d].chunks(d);
        let scores: Vec<f32> = keys.map(|k| scale * q.iter().zip(k).map(|(q, k)| q * k).sum::<f32>()).collect();
        let max = if subtract { scores.iter().copied().fold(f32::NEG_INFINITY, f32::max) } else { 0.0 };
        let weights: Vec<f32> = scores.iter().map(|score| (score - max).exp()).collect();
        let sum: f32 = weights.iter().sum();
        for column in 0..d {
            let products = weights.iter().zip(v[head..][..s * d].chunks(d));
            out.push(products.map(|(w, v)| narrow(dtype)(*w) * v[column]).sum::<f32>() / sum);
        }
    }
    wide(out)
}

fn sum_of(x: &[f32], columns: usize, round: fn(f32) -> f32) -> Vec<f64> {
    wide(x.chunks(columns).map(|row| row.iter().fold(0.0, |sum, v| round(sum + v))))
}

fn reduction(dtype: &str, out: &str, rows: usize, columns: usize) -> String {
    let (x, y) = (format!("{dtype}[R, C]"), format!("{out}[R]"));
    file(&format!("R = {rows}, C = {columns}"), &[("x", &x, IN), ("y", &y, OUT)], "builtin = \"reduction\"")
}

fn elementwise(dtype: &str, expression: &str) -> String {
    let t = format!("{dtype}[N]");
    let reference = format!("builtin = \"elementwise\"\nexpressions = {{ y = \"{expression}\" }}");
    file("N = 3000", &[("a", &t, IN), ("b", &t, IN), ("y", &t, OUT)], &reference)
}

/// Every question a suite asks, and what became of it.
fn suite(text: &str, answer: impl Fn(&Exam) -> Vec<f64>) -> Vec<(Distribution, Option<(Gate, String)>)> {
    let desk = Desk::new(text);
    let mut asked = Vec::new();
    for (seed, distribution) in Level::Suite.plan().distributions.iter().enumerate() {
        for seed in [seed as u64, 1000 + seed as u64] {
            let Some(exam) = desk.question(*distribution, seed) else { continue };
            asked.push((*distribution, gate(exam.judge(&desk.hand_in(&exam, &answer(&exam))))));
        }
    }
    asked
}

fn honest(what: &str, text: &str, wanted: &[Distribution], answer: impl Fn(&Exam) -> Vec<f64>) {
    let asked = suite(text, answer);
    for (distribution, refused) in &asked {
        assert!(refused.is_none(), "{what} on {distribution}: {refused:?}");
    }
    for wanted in wanted {
        assert!(asked.iter().any(|(d, _)| d == wanted), "{what} is not asked {wanted}");
    }
}

use Distribution::{Large, Mixed, Spike, Tiny};

#[test]
fn honest_kernels_pass_on_every_magnitude() {
    for t in TYPES {
        honest(t, &softmax(t, 16, 300, ""), &[Large, Spike, Mixed], |e| softmax_of(&read(e)[0], 300, true));
        for k in [16, 512] {
            honest(t, &matmul(t, 24, 40, k, ""), &[Large, Tiny, Spike, Mixed], |e| {
                product_of(&read(e)[0], &read(e)[1], (24, 40, k), |v| v)
            });
        }
        honest(t, &attention(t, 2, 96, 32, ""), &[Large, Tiny, Spike, Mixed], |e| {
            attention_of(&read(e), (96, 32), t, true)
        });
        honest(t, &reduction(t, t, 40, 700), &[Large, Tiny, Spike, Mixed], |e| sum_of(&read(e)[0], 700, |v| v));
        honest(t, &reduction(t, "f32", 40, 700), &[Large, Tiny], |e| sum_of(&read(e)[0], 700, |v| v));
        let pairs = |e: &Exam, f: fn(f32, f32) -> f32| {
            let read = read(e);
            wide(read[0].iter().zip(&read[1]).map(|(a, b)| f(*a, *b)))
        };
        honest(t, &elementwise(t, "max(a * b + a, 0)"), &[Large, Tiny], |e| pairs(e, |a, b| (a * b + a).max(0.0)));
        honest(t, &elementwise(t, "a * a / (1 + a * a + b * b)"), &[], |e| {
            pairs(e, |a, b| a * a / (1.0 + a * a + b * b))
        });
        honest(t, &elementwise(t, "sqrt(a * a + b * b) - b"), &[], |e| pairs(e, |a, b| (a * a + b * b).sqrt() - b));
    }
}

#[test]
fn exponentials_without_their_maximum_subtracted_are_refused() {
    let full = Level::Full.plan().distributions;
    for t in TYPES {
        let failed = |asked: Vec<(Distribution, Option<(Gate, String)>)>| {
            asked.iter().any(|(d, refused)| full.contains(d) && refused.is_some())
        };
        assert!(failed(suite(&softmax(t, 16, 300, ""), |e| softmax_of(&read(e)[0], 300, false))), "softmax {t}");
        let asked = suite(&attention(t, 2, 96, 32, ""), |e| attention_of(&read(e), (96, 32), t, false));
        assert!(failed(asked), "attention {t}");
    }
}

#[test]
fn sums_in_too_narrow_a_type_overflow() {
    let half = narrow("f16");
    let asked = suite(&reduction("f16", "f32", 40, 700), |e| sum_of(&read(e)[0], 700, half));
    let large = |asked: &[(Distribution, Option<(Gate, String)>)]| {
        asked
            .iter()
            .filter(|(d, _)| *d == Large)
            .all(|(_, refused)| refused.as_ref().is_some_and(|r| r.0 == Gate::Nonfinite))
    };
    assert!(large(&asked), "{asked:?}");
    let asked = suite(&matmul("f16", 24, 40, 512, ""), |e| product_of(&read(e)[0], &read(e)[1], (24, 40, 512), half));
    assert!(asked.iter().any(|(_, refused)| refused.is_some()));
    // Products flushed to zero.
    let flushed = |v: f32| if v.abs() < 1e-20 { 0.0 } else { v };
    let asked = suite(&matmul("f32", 24, 40, 64, ""), |e| product_of(&read(e)[0], &read(e)[1], (24, 40, 64), flushed));
    assert!(asked.iter().any(|(d, refused)| *d == Tiny && refused.is_some()));
}

/// A sum of half a million numbers without the last, or the first: seen in every row, whatever was drawn.
#[test]
fn a_number_forgotten_at_an_end_of_a_long_sum_always_shows() {
    let columns = 500_003;
    let desk = Desk::new(&reduction("f32", "f32", 2, columns));
    for seed in 0..12 {
        let exam = desk.question(Spike, seed).unwrap();
        let x = &read(&exam)[0];
        for forgotten in [0, columns - 1] {
            // The sum in double, so that nothing but what is forgotten is wrong.
            let sum = |row: &[f32]| row.iter().map(|v| f64::from(*v)).sum::<f64>();
            let mut rows: Vec<f64> = x.chunks(columns).map(sum).collect();
            assert_eq!(gate(exam.judge(&desk.hand_in(&exam, &rows))), None);
            rows[seed as usize % 2] -= f64::from(x[seed as usize % 2 * columns + forgotten]);
            let refused = gate(exam.judge(&desk.hand_in(&exam, &rows)));
            assert_eq!(refused.expect("refused").0, Gate::Numerics, "seed {seed}, {forgotten}");
        }
    }
}
