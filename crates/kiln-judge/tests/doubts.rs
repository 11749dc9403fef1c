//! Questions that check little are found out; references from outside say themselves how exact they are.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::{Fault, Outcome};
use kiln_judge::{Distribution, Exam, Inputs, Precision, Signature, Source, Tensor, ignored};

use crate::desk::{Desk, IN, OUT, file, matmul};

#[test]
fn inputs_that_do_not_matter_are_named() {
    let arguments = [("a", "f32[N]", IN), ("b", "f32[N]", IN), ("y", "f32[N]", OUT)];
    let of = |expression: &str| {
        let reference = format!("builtin = \"elementwise\"\nexpressions = {{ y = \"{expression}\" }}");
        let desk = Desk::new(&file("N = 100", &arguments, &reference));
        let (exam, other) =
            (desk.question(Distribution::Declared, 1).unwrap(), desk.question(Distribution::Declared, 2));
        let null = exam.null_of(&other.unwrap()).remove(0);
        (ignored(&desk.signature, &desk.rules, &exam, None, None).unwrap(), null.passes)
    };
    assert_eq!(of("a + b"), (vec![], false));
    assert_eq!(of("a + 0 * b"), (vec!["b".to_owned()], false));
    assert_eq!(of("0 * a + 0 * b + 3"), (vec!["a".to_owned(), "b".to_owned()], true));
    let desk = Desk::new(&matmul("f16", 20, 30, 40, ""));
    let exam = desk.question(Distribution::Declared, 1).unwrap();
    assert!(ignored(&desk.signature, &desk.rules, &exam, None, None).unwrap().is_empty());
}

/// A reference in Python, played: sums of rows, in double precision and in the kernel's own.
fn sums(_: &Signature, inputs: &Inputs, precision: Precision) -> Result<Vec<Tensor>, Fault> {
    let (_, x) = inputs.tensors().next().unwrap();
    let one = |row: &[f64]| match precision {
        Precision::Double => row.iter().sum(),
        Precision::Own => f64::from(row.iter().fold(0.0f32, |sum, v| sum + *v as f32)),
    };
    Ok(vec![Tensor::new(&x.shape[..1], x.data.chunks(x.shape[1]).map(one).collect())])
}

#[test]
fn a_reference_outside_shows_its_own_error() {
    let arguments = [("x", "f32[R, C]", "role = \"in\"\ninit = \"uniform\""), ("y", "f32[R]", OUT)];
    let desk = Desk::new(&file("R = 20, C = 3000", &arguments, "python = \"r.py:f\""));
    let exam = |outside: kiln_judge::Outside<'_>| {
        let inputs = Inputs::draw(&desk.signature, Distribution::Declared, 1);
        Exam::new(&desk.signature, &desk.rules, inputs, &desk.regions, desk.total, Some(outside)).unwrap()
    };
    let derived = exam(&sums);
    let bound = derived.answers()[0].bound;
    assert_eq!(bound.source, Source::Derived);
    assert!(bound.allowed.abs > 1e-3 && bound.allowed.abs < 0.1, "{bound:?}");
    // One that widens by itself, or cannot, says nothing.
    let widens = |s: &Signature, i: &Inputs, _: Precision| {
        let round = |t: Tensor| Tensor::new(&t.shape, t.data.iter().map(|v| f64::from(*v as f32)).collect());
        Ok(sums(s, i, Precision::Double)?.into_iter().map(round).collect())
    };
    let fails = |s: &Signature, i: &Inputs, p: Precision| match p {
        Precision::Double => sums(s, i, p),
        Precision::Own => Err(Fault::new("asking", "no")),
    };
    assert!([exam(&widens), exam(&fails)].iter().all(|e| e.answers()[0].bound.source == Source::Assumed));
    // A refusal names what would pass.
    let right: Vec<f64> = derived.answers()[0].expected.computed().iter().map(|v| v + 1.0).collect();
    let Outcome::Refused(refusal) = derived.judge(&desk.hand_in(&derived, &right)) else { panic!() };
    assert!(refusal.hint.unwrap().contains("tolerance = { y = { abs = 1.3e0 } }"));
}
