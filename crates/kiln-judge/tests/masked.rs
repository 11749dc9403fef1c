//! Attention with a mask, shared heads, two outputs and either layout: what passes, and what each mistake costs.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::Gate;
use kiln_judge::{Distribution, Exam, Tensor, encode, scatter};

use crate::desk::{Desk, file, gate, marks};

/// A kernel file with two heads of queries for one of keys.
fn attention(dtype: &str, queries: usize, keys: usize, causal: bool, layout: &str) -> Desk {
    let (q, kv, lse) = (format!("{dtype}[B, H, Q, D]"), format!("{dtype}[B, 1, K, D]"), "f32[B, H, Q]");
    let strides = if layout == "bshd" { "strides = [\"H * Q * D\", \"D\", \"H * D\", \"1\"]" } else { "" };
    let (input, output) = (format!("role = \"in\"\n{strides}"), format!("role = \"out\"\n{strides}"));
    let (scale, mask) = ("role = \"scalar\"\nvalue = \"1 / sqrt(D)\"", format!("role = \"scalar\"\nvalue = {causal}"));
    let arguments = [
        ("q", &*q, &*input),
        ("k", &kv, "role = \"in\""),
        ("v", &kv, "role = \"in\""),
        ("o", &q, &output),
        ("lse", lse, "role = \"out\""),
        ("scale", "f32", scale),
        ("causal", "i32", &mask),
    ];
    let reference = "builtin = \"attention\"\ntolerance = { lse = { abs = 1e-4, rel = 1e-5 } }";
    Desk::new(&file(&format!("B = 2, H = 2, Q = {queries}, K = {keys}, D = 64"), &arguments, reference))
}

/// What a simulated kernel gets wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slip {
    Nothing,
    /// The mask is aligned at the first key, as some libraries have it.
    TopLeft,
    /// A row that sees nothing gets the mean of v.
    Uniform,
    /// Logarithms to base 2.
    Base2,
    /// The second head looks at keys of its own, which are those of the next batch.
    OwnKeys,
    /// One key too many is seen.
    OneMore,
}

/// o and lse of a kernel in double precision, rounded once.
fn run(exam: &Exam, slip: Slip) -> (Vec<f64>, Vec<f64>) {
    let inputs = exam.inputs();
    let tensors: Vec<&Tensor> = inputs.tensors().map(|(_, tensor)| tensor).collect();
    let [q, k, v] = [0, 1, 2].map(|i| tensors[i]);
    let (queries, keys, d) = (q.shape[2], k.shape[2], 64);
    let causal = inputs.scalars().any(|(name, value)| name == "causal" && value != 0.0);
    let (mut o, mut lse) = (Vec::new(), Vec::new());
    for (row, query) in q.data.chunks(d).enumerate() {
        let (batch, head, i) = (row / queries / 2, row / queries % 2, row % queries);
        let batch = if slip == Slip::OwnKeys { (batch + head) % 2 } else { batch };
        let end = match slip {
            Slip::TopLeft => i + 1,
            Slip::OneMore => (i + 2 + keys).saturating_sub(queries),
            _ => (i + 1 + keys).saturating_sub(queries),
        };
        let seen = if causal { end.min(keys) } else { keys };
        let part = |t: &Tensor| t.data[batch * keys * d..][..keys * d].to_vec();
        let (k, v) = (part(k), part(v));
        let dot = |k: &[f64]| query.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() / 8.0;
        let mut scores: Vec<f64> = k.chunks(d).take(seen).map(dot).collect();
        if slip == Slip::Uniform && scores.is_empty() {
            scores = vec![0.0; keys];
        }
        let sum: f64 = scores.iter().map(|s| s.exp()).sum();
        lse.push(if slip == Slip::Base2 { sum.log2() } else { sum.ln() });
        let weighted = |c: usize| scores.iter().zip(v.chunks(d)).map(|(s, v)| s.exp() / sum * v[c]).sum::<f64>();
        o.extend((0..d).map(weighted));
    }
    (o, lse)
}

/// Memory after a call that leaves these.
fn hand_in(desk: &Desk, exam: &Exam, answers: (&[f64], &[f64])) -> Vec<u8> {
    let mut memory = vec![0; desk.total];
    exam.lay(&mut memory);
    for ((i, slot), values) in desk.signature.outputs().zip([answers.0, answers.1]) {
        scatter(slot, &encode(slot.dtype, values), &mut memory[desk.regions[i].clone()]);
    }
    memory
}

#[test]
fn right_answers_pass_on_every_mask_layout_and_distribution() {
    for (dtype, layout) in [("f16", "bhsd"), ("bf16", "bshd")] {
        for (queries, keys, causal) in [(65, 65, false), (70, 150, true), (90, 33, true), (40, 1, true)] {
            let desk = attention(dtype, queries, keys, causal, layout);
            for distribution in [Distribution::Declared, Distribution::Increasing, Distribution::Constant] {
                let exam = desk.exam(distribution, 3);
                let (o, lse) = run(&exam, Slip::Nothing);
                let marks = marks(exam.judge(&hand_in(&desk, &exam, (&o, &lse))));
                assert_eq!(marks.outputs.iter().map(|m| &*m.name).collect::<Vec<_>>(), ["o", "lse"]);
                assert!(marks.worst < 0.6, "{dtype} {queries} {keys} {distribution}: {marks:?}");
                assert!(exam.nulls().iter().all(|null| null.fault().is_none()), "{queries} {keys} {distribution}");
            }
        }
    }
}

#[test]
fn mistakes_with_masks_and_heads_are_refused() {
    for (slip, queries, keys, causal, expected) in [
        (Slip::TopLeft, 70, 150, true, Gate::Numerics),
        (Slip::Uniform, 90, 33, true, Gate::Numerics),
        (Slip::Base2, 65, 65, false, Gate::Numerics),
        (Slip::OwnKeys, 65, 65, false, Gate::Numerics),
        (Slip::OneMore, 129, 129, true, Gate::Numerics),
    ] {
        let desk = attention("bf16", queries, keys, causal, "bhsd");
        let exam = desk.exam(Distribution::Declared, 4);
        let (o, lse) = run(&exam, slip);
        let found = gate(exam.judge(&hand_in(&desk, &exam, (&o, &lse))));
        assert_eq!(found.as_ref().map(|(gate, _)| *gate), Some(expected), "{slip:?}: {found:?}");
    }
}

#[test]
fn rows_that_see_nothing_must_be_zero_and_minus_infinity() {
    // Enough rows that only a sample of the others is computed.
    let desk = attention("f16", 4096, 1000, true, "bhsd");
    let exam = desk.exam(Distribution::Declared, 5);
    let expected = &exam.answers()[1].expected;
    assert!(expected.sampled().is_some_and(|rows| rows.len() < 4 * 4096 && rows.len() > 4 * 3096));
    assert_eq!(expected.row(1), Some(&[f64::NEG_INFINITY][..]));
    let (o, mut lse) = run(&exam, Slip::Nothing);
    marks(exam.judge(&hand_in(&desk, &exam, (&o, &lse))));
    lse[1] = -1e30;
    assert_eq!(gate(exam.judge(&hand_in(&desk, &exam, (&o, &lse)))).unwrap().0, Gate::Numerics);
    lse[1] = f64::NAN;
    assert_eq!(gate(exam.judge(&hand_in(&desk, &exam, (&o, &lse)))).unwrap().0, Gate::Nonfinite);
}
