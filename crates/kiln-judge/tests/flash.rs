//! Attention in 16 bits: what the rule lets through and what it does not, on simulated kernels.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use half::{bf16, f16};
use kiln_core::Gate;
use kiln_judge::{Distribution, Exam, Tensor};

use crate::desk::{Desk, attention, gate, marks};

/// Where a simulated kernel keeps only 16 bits.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Narrow {
    /// Weights, as every tensor-core kernel does.
    Weights,
    /// Weights, and the output after each block of keys.
    OutputPerBlock,
    /// Weights, and the output after each key.
    OutputPerKey,
    /// Weights and scores.
    Scores,
    /// Everything, dot products included.
    All,
}

fn rounder(dtype: &str) -> fn(f32) -> f32 {
    if dtype == "f16" { |v| f16::from_f32(v).to_f32() } else { |v| bf16::from_f32(v).to_f32() }
}

/// A flash kernel: one pass over blocks of 64 keys with a running maximum.
fn flash(exam: &Exam, dtype: &str, narrow: Narrow) -> Vec<f64> {
    let round = rounder(dtype);
    let inputs = exam.inputs();
    let tensors: Vec<&Tensor> = inputs.tensors().map(|(_, tensor)| tensor).collect();
    let (s, d) = (tensors[0].shape[1], tensors[0].shape[2]);
    let [q, k, v] = [0, 1, 2].map(|i| tensors[i].data.iter().map(|v| *v as f32).collect::<Vec<f32>>());
    let scale = 1.0 / (d as f32).sqrt();
    let mut out = Vec::with_capacity(q.len());
    for (row, q) in q.chunks(d).enumerate() {
        let head = row / s * s * d;
        let (mut max, mut sum, mut o) = (f32::NEG_INFINITY, 0.0f32, vec![0.0f32; d]);
        for (k, v) in k[head..][..s * d].chunks(64 * d).zip(v[head..][..s * d].chunks(64 * d)) {
            let dot = |k: &[f32]| match narrow {
                Narrow::All => q.iter().zip(k).fold(0.0, |sum, (q, k)| round(sum + round(q * k))),
                _ => q.iter().zip(k).fold(0.0, |sum, (q, k)| sum + q * k),
            };
            let mut scores: Vec<f32> = k.chunks(d).map(|k| dot(k) * scale).collect();
            if matches!(narrow, Narrow::Scores | Narrow::All) {
                scores.iter_mut().for_each(|s| *s = round(*s));
            }
            let new = scores.iter().copied().fold(max, f32::max);
            let shrink = (max - new).exp();
            max = new;
            sum *= shrink;
            o.iter_mut().for_each(|o| *o *= shrink);
            for (score, v) in scores.iter().zip(v.chunks(d)) {
                let weight = (score - max).exp();
                sum += weight;
                let weight = round(weight);
                for (o, v) in o.iter_mut().zip(v) {
                    *o += weight * v;
                    if matches!(narrow, Narrow::OutputPerKey | Narrow::All) {
                        *o = round(*o);
                    }
                }
            }
            if narrow == Narrow::OutputPerBlock {
                o.iter_mut().for_each(|o| *o = round(*o));
            }
        }
        out.extend(o.iter().map(|o| f64::from(round(o / sum))));
    }
    out
}

/// The largest error and the length of the error over the answer's.
fn errors(found: &[f64], right: &[f64]) -> (f64, f64) {
    let pairs = || found.iter().zip(right).map(|(f, r)| f - r);
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
    let length = square(&mut pairs()) / square(&mut right.iter().copied());
    (pairs().fold(0.0, |most, e| e.abs().max(most)), length.sqrt())
}

#[test]
fn a_good_kernel_uses_a_fraction_of_what_is_allowed() {
    // Largest error and relative length, as measured elsewhere for S of 128 to 2048, with room for other draws.
    for (dtype, most, length, limit) in [("f16", 6e-4, 3.0e-4, 4.0e-4), ("bf16", 4e-3, 2.4e-3, 3.2e-3)] {
        for s in [128, 512] {
            let desk = Desk::new(&attention(dtype, 1, s, 64, ""));
            let exam = desk.exam(Distribution::Declared, 5);
            assert_eq!(exam.answers()[0].bound.rel_l2, Some(limit));
            let marks = marks(exam.judge(&desk.hand_in(&exam, &flash(&exam, dtype, Narrow::Weights))));
            let mark = &marks.outputs[0];
            assert!(mark.max_abs < most && mark.rel_l2 < length, "{dtype} {s}: {mark:?}");
            // Its error is about half the plain program's, of which twice is allowed, and rounding noise comes on top.
            assert!(mark.worst > 0.05 && mark.worst < 0.3, "{dtype} {s}: {mark:?}");
        }
    }
}

#[test]
fn sums_in_16_bits_are_refused() {
    for dtype in ["f16", "bf16"] {
        let desk = Desk::new(&attention(dtype, 1, 512, 64, ""));
        let exam = desk.exam(Distribution::Declared, 6);
        let bound = exam.answers()[0].bound;
        for narrow in [Narrow::Scores, Narrow::OutputPerBlock, Narrow::OutputPerKey, Narrow::All] {
            let found = flash(&exam, dtype, narrow);
            let (max, length) = errors(&found, exam.answers()[0].expected.computed());
            let (gate, words) = gate(exam.judge(&desk.hand_in(&exam, &found))).unwrap();
            assert_eq!(gate, Gate::Numerics);
            // Rounding scores, or the output once a block, stays well below what FlashAttention's rule allows an
            // element: only the length of the whole error gives it away. Rounding it with every key does not.
            let (share, small) = (max / bound.allowed.abs, matches!(narrow, Narrow::Scores | Narrow::OutputPerBlock));
            assert_eq!(share < 0.5, small, "{dtype} {narrow:?}: {share}");
            assert_eq!(share > 1.0, !small, "{dtype} {narrow:?}: {share}");
            assert!(length > bound.rel_l2.unwrap(), "{dtype} {narrow:?}: {length:e}");
            assert_eq!(words.starts_with("the length of o's error"), small, "{words}");
        }
    }
}

#[test]
fn a_good_kernel_passes_every_distribution_and_no_null_does() {
    for dtype in ["f16", "bf16"] {
        let desk = Desk::new(&attention(dtype, 2, 129, 64, ""));
        for (seed, distribution) in Distribution::ALL.into_iter().enumerate() {
            let exam = desk.exam(distribution, seed as u64);
            let marks = marks(exam.judge(&desk.hand_in(&exam, &flash(&exam, dtype, Narrow::Weights))));
            assert!(marks.worst < 0.3, "{dtype} {distribution}: {marks:?}");
            let answer = &exam.answers()[0];
            assert!(answer.bound.allowed.abs < 0.05 * answer.expected.largest(), "{dtype} {distribution}: {answer:?}");
            for null in exam.nulls() {
                // The mean of equal values is that value, and a copy of v; nothing else passes, on no other inputs.
                let may = distribution == Distribution::Constant && null.name != "zeros";
                assert!(!null.passes || may && null.equals, "{dtype} {distribution}: {null:?}");
            }
        }
    }
}
