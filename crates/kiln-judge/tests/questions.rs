//! What can be asked, and what cannot: kernel files with mistakes, references from outside, sampled rows, strides.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::{Config, Fault, Gate, Outcome, Value};
use kiln_judge::{Builtin, Distribution, Exam, Inputs, Precision, Rules, Signature, Source, Tensor, encode};
use kiln_spec::Choice;

use crate::desk::{Desk, IN, OUT, attention, file, gate, marks, matmul, softmax, spec};

/// What a file's signature is refused with.
fn refused(text: &str) -> String {
    let spec = spec(text);
    let selection = spec.select(Choice::default()).unwrap();
    Signature::of(&selection, spec.workloads.first()).unwrap_err().to_string()
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let shape = |shape: &str| file("N = 4, Z = 0", &[("x", &*format!("f32[{shape}]"), IN)], "builtin = \"softmax\"");
    let negative = refused(&shape("N - 9"));
    assert!(
        negative.contains("a dimension of x is -5") && negative.contains("^^^^^ expected an integer"),
        "{negative}"
    );
    assert!(refused(&shape("N // Z")).contains("division by zero"));
    assert!(refused(&shape("N ** 25, N ** 25")).contains("x is larger than any memory"));
    assert!(refused(&shape("N * 9223372036854775807")).contains("beyond 64 bits"));
    let scalar = |kind, value: &str| {
        file("N = 4", &[("n", kind, &*format!("role = \"scalar\"\nvalue = \"{value}\""))], "builtin = \"softmax\"")
    };
    assert!(refused(&scalar("i8", "100 * N")).contains("expected a number that i8 can hold"));
    assert!(refused(&scalar("i64", "N ** 31 + 1")).contains("any up to 2 ** 53"));
    // What a double holds arrives as it is.
    let large = spec(&scalar("i64", "N ** 31"));
    let signature = Signature::of(&large.select(Choice::default()).unwrap(), large.workloads.first()).unwrap();
    assert_eq!(encode(signature.slots[0].dtype, &[signature.slots[0].scalar.unwrap()]), (1i64 << 62).to_ne_bytes());
    assert!(refused(&scalar("f16", "1.0e6 * N")).contains("f16 can hold"));
    let overlapping = file("N = 4", &[("y", "f32[N, N]", "role = \"out\"\nstrides = [2, 1]")], "builtin = \"softmax\"");
    assert!(refused(&overlapping).contains("two elements of the output y lie in the same place"));
}

#[test]
fn scratch_may_depend_on_the_configuration() {
    let text = file("N = 4", &[("t", "f32[BLOCK, N]", "role = \"scratch\"")], "builtin = \"softmax\"");
    let hint = refused(&text);
    assert!(hint.contains("a configuration is needed"), "{hint}");
    let spec = spec(&text);
    let selection = spec.select(Choice::default()).unwrap();
    let config = Config::new(vec![("BLOCK".into(), Value::Int(32))]);
    let signature = Signature::under(&selection, spec.workloads.first(), &config).unwrap();
    assert_eq!(signature.sizes(), [32 * 4 * 4]);
}

#[test]
fn inputs_are_read_from_memory_as_they_were_drawn_wherever_they_lie() {
    let strided = "role = \"in\"\nstrides = [40, 1]";
    for dtype in ["f64", "f32", "f16", "bf16", "f8e4m3", "i32", "u8"] {
        let kind = format!("{dtype}[M, K]");
        let arguments =
            [("a", &*kind, strided), ("b", "f32[K, M]", IN), ("n", "i64", "role = \"scalar\"\nvalue = \"K\"")];
        let arguments = [&arguments[..], &[("y", "f32[M, M]", OUT)]].concat();
        let desk = Desk::new(&file("M = 24, K = 33", &arguments, "builtin = \"matmul\""));
        let exam = desk.exam(Distribution::Spikes, 5);
        let drawn = Inputs::draw(&desk.signature, Distribution::Spikes, 5);
        assert_eq!(exam.inputs(), drawn, "{dtype}");
        let regions: Vec<_> = desk.regions.iter().map(|r| r.start + 128..r.end + 128).collect();
        let moved = exam.relaid(&desk.signature, &regions, desk.total + 128).unwrap();
        assert_eq!(moved.inputs(), drawn, "{dtype}");
        let (mut here, mut there) = (vec![0; desk.total], vec![0; desk.total + 128]);
        exam.lay(&mut here);
        moved.lay(&mut there);
        assert_eq!(here, there[128..], "{dtype}");
    }
}

#[test]
fn references_that_say_nothing_are_refused() {
    let rules = |text: &str| Rules::of(&spec(text).select(Choice::default()).unwrap()).unwrap_err().to_string();
    let tensor = [("x", "f32[N]", IN), ("y", "f32[N]", OUT)];
    let words = rules(&file("N = 4", &tensor, "builtin = \"matmul\""));
    assert!(words.contains("the kernel has 1 inputs and 1 outputs"), "{words}");
    let words = rules(&file("N = 4", &tensor, "").replace("[reference]\n", ""));
    assert!(words.contains("k has no reference, so no result can be judged correct"), "{words}");
    assert!(words.contains("kernel.toml has no [reference]"), "{words}");
}

#[test]
fn elementwise_is_what_the_file_writes_down() {
    let tensors = [
        ("x", "f32[N, 3]", IN),
        ("b", "f32[3]", IN),
        ("a", "f32", "role = \"scalar\"\nvalue = \"0.5\""),
        ("y", "f32[N, 3]", OUT),
    ];
    let text = file("N = 4", &tensors, "builtin = \"elementwise\"\nexpressions = { y = \"max(a * x + b, 0)\" }");
    let desk = Desk::new(&text);
    assert!(desk.rules.needs_outside().is_none());
    let inputs = Inputs::draw(&desk.signature, Distribution::Declared, 1);
    let found = |name: &str| inputs.tensors().find(|(n, _)| *n == name).unwrap().1.data.clone();
    let (x, b) = (found("x"), found("b"));
    let exam = Exam::new(&desk.signature, &desk.rules, inputs, &desk.regions, desk.total, None).unwrap();
    let right = exam.answers()[0].expected.computed();
    assert_eq!(right.len(), 12);
    for (i, right) in right.iter().enumerate() {
        assert!((right - (0.5 * x[i] + b[i % 3]).max(0.0)).abs() < 1e-12, "{i}");
    }
    let short = [("x", "f32[2]", IN), ("y", "f32[N, 3]", OUT)];
    let desk = Desk::new(&file("N = 4", &short, "builtin = \"elementwise\"\nexpressions = { y = \"x\" }"));
    let inputs = Inputs::draw(&desk.signature, Distribution::Declared, 1);
    let fault = Exam::new(&desk.signature, &desk.rules, inputs, &desk.regions, desk.total, None).unwrap_err();
    assert!(fault.why.contains("x has shape [2], y has [4, 3]"), "{fault}");
}

#[test]
fn answers_from_outside_are_held_against() {
    let text = file("N = 3", &[("x", "f32[N]", IN), ("y", "f32[N]", OUT)], "python = \"r.py:f\"");
    let desk = Desk::new(&text);
    assert!(desk.rules.needs_outside().is_some());
    let exam = |answer: Result<Vec<Tensor>, Fault>| {
        let inputs = Inputs::draw(&desk.signature, Distribution::Declared, 1);
        let outside = |_: &Signature, _: &Inputs, _: Precision| answer.clone();
        Exam::new(&desk.signature, &desk.rules, inputs, &desk.regions, desk.total, Some(&outside))
    };
    let tensor = |data: &[f64]| Tensor::new(&[data.len()], data.to_vec());
    let made = exam(Ok(vec![tensor(&[1.0, f64::NEG_INFINITY, 3.0])])).unwrap();
    assert_eq!(made.answers()[0].bound.source, Source::Assumed);
    let judged = |values: &[f64]| gate(made.judge(&desk.hand_in(&made, values))).map(|g| g.0);
    assert_eq!(judged(&[1.0, f64::NEG_INFINITY, 3.0]), None);
    assert_eq!(judged(&[1.0, f64::INFINITY, 3.0]), Some(Gate::Nonfinite));
    assert_eq!(judged(&[1.0, -1e30, 3.0]), Some(Gate::Numerics));
    assert_eq!(judged(&[f64::NEG_INFINITY, f64::NEG_INFINITY, 3.0]), Some(Gate::Nonfinite));

    let nan = exam(Ok(vec![tensor(&[1.0, f64::NAN, 3.0])])).unwrap_err();
    assert_eq!((&*nan.what, &*nan.why), ("checking y", "the correct answer is NaN at y[1]"));
    assert!(exam(Ok(vec![])).unwrap_err().why.contains("0 tensors came for 1 outputs"));
    assert!(exam(Ok(vec![tensor(&[1.0])])).unwrap_err().why.contains("[1] came for y, which has [3]"));
    assert!(exam(Err(Fault::new("python", "gone"))).unwrap_err().why == "gone");
}

#[test]
fn a_stated_tolerance_is_about_declared_inputs() {
    let desk = Desk::new(&matmul("f32", 16, 16, 64, "tolerance = { c = { abs = 1e-5 } }"));
    let allowed = |distribution| desk.exam(distribution, 1).answers()[0].bound.allowed.abs;
    assert_eq!(allowed(Distribution::Declared), 1e-5);
    // Answers are 64 times as large, and so are their errors.
    assert!(allowed(Distribution::Scaled(8)) > 1e-4);
}

#[test]
fn integers_must_be_exact_and_may_look_unwritten_by_right() {
    let text = file("N = 4", &[("x", "i32[N]", IN), ("y", "u8[N]", OUT)], "python = \"r.py:f\"");
    let desk = Desk::new(&text);
    let inputs = Inputs::draw(&desk.signature, Distribution::Declared, 1);
    let outside = |_: &Signature, _: &Inputs, _: Precision| Ok(vec![Tensor::new(&[4], vec![165.0, 1.0, 2.0, 3.0])]);
    let exam = Exam::new(&desk.signature, &desk.rules, inputs, &desk.regions, desk.total, Some(&outside)).unwrap();
    let judged = |values: &[f64]| gate(exam.judge(&desk.hand_in(&exam, values))).map(|g| g.0);
    assert_eq!(judged(&[165.0, 1.0, 2.0, 3.0]), None);
    assert_eq!(judged(&[165.0, 165.0, 2.0, 3.0]), Some(Gate::UnwrittenOutput));
    assert_eq!(judged(&[165.0, 1.0, 2.0, 4.0]), Some(Gate::Numerics));
}

#[test]
fn padding_between_rows_belongs_to_nobody() {
    let strided = |role: &str| format!("role = \"{role}\"\nstrides = [12, 1]");
    let arguments = [("x", "f32[R, C]", &*strided("in")), ("y", "f32[R, C]", &*strided("out"))];
    let desk = Desk::new(&file("R = 3, C = 8", &arguments, "builtin = \"softmax\""));
    assert_eq!(desk.signature.sizes(), [(2 * 12 + 8) * 4; 2]);
    let exam = desk.exam(Distribution::Declared, 2);
    let right = desk.right(Builtin::Softmax, &exam).data;
    let mut after = vec![0; desk.total];
    exam.lay(&mut after);
    let y = desk.region("y");
    for (i, v) in right.iter().enumerate() {
        let at = y.start + (i / 8 * 12 + i % 8) * 4;
        after[at..at + 4].copy_from_slice(&(*v as f32).to_ne_bytes());
    }
    assert!(marks(exam.judge(&after)).worst < 1.0);
    assert_eq!(exam.outputs(&after).len(), 3 * 8 * 4);
    after[y.start + 9 * 4] = 0;
    let (refusal, words) = gate(exam.judge(&after)).unwrap();
    assert_eq!((refusal, &*words), (Gate::OutOfBounds, "a write into the padding of y, at byte 36"));
}

#[test]
fn large_outputs_are_sampled_and_still_must_be_numbers() {
    let desk = Desk::new(&matmul("f32", 3000, 300, 300, ""));
    let exam = desk.exam(Distribution::Declared, 3);
    let expected = &exam.answers()[0].expected;
    let rows = expected.sampled().unwrap().to_vec();
    assert!(rows.len() > 100 && rows.len() < 3000 && rows[0] == 0 && rows[rows.len() - 1] == 2999);
    assert_ne!(desk.exam(Distribution::Declared, 4).answers()[0].expected.sampled().unwrap(), rows);
    let mut found = desk.right(Builtin::Matmul, &exam).data;
    assert!(marks(exam.judge(&desk.hand_in(&exam, &found))).worst < 1.0);
    let hidden = (0..3000).find(|row| expected.row(*row).is_none()).unwrap();
    found[hidden * 300 + 7] = f64::INFINITY;
    assert_eq!(gate(exam.judge(&desk.hand_in(&exam, &found))).unwrap().0, Gate::Nonfinite);
    found[hidden * 300 + 7] = 0.0;
    found[rows[5] * 300] += 1.0;
    assert_eq!(gate(exam.judge(&desk.hand_in(&exam, &found))).unwrap().0, Gate::Numerics);
}

#[test]
fn a_check_that_proves_nothing_is_said_to() {
    let desk = Desk::new(&softmax("f32", 16, 512, "tolerance = { y = { abs = 0.1 } }"));
    let nulls = desk.exam(Distribution::Declared, 1).nulls();
    let zeros = nulls.iter().find(|n| n.name == "zeros").unwrap();
    let fault = zeros.fault().unwrap();
    assert!(fault.why.starts_with("zeros would pass this check: the tolerance 1.00e-1 is larger than the outputs"));
    assert_eq!(fault.hint.as_deref(), Some("tighten [reference.tolerance]"));
    assert!(zeros.passes && !zeros.equals && zeros.note().is_none());

    // One key: attention copies v.
    let exam = Desk::new(&attention("f16", 1, 1, 64, "")).exam(Distribution::Declared, 1);
    let copies: Vec<_> = exam.nulls().into_iter().filter(|n| n.passes).collect();
    assert!(copies.len() == 1 && copies[0].name == "input_copy" && copies[0].equals);
    assert_eq!(copies[0].fault(), None);
    assert_eq!(copies[0].note().unwrap(), "o is just input copy on these inputs, so this checks little");
}

#[test]
fn the_same_seed_gives_the_same_inputs() {
    let desk = Desk::new(&attention("bf16", 1, 40, 16, ""));
    let draw = |distribution, seed| Inputs::draw(&desk.signature, distribution, seed);
    assert_eq!(draw(Distribution::Spikes, 3), draw(Distribution::Spikes, 3));
    assert_ne!(draw(Distribution::Spikes, 3), draw(Distribution::Spikes, 4));
    let inputs = draw(Distribution::Declared, 3);
    let tensors: Vec<&Tensor> = inputs.tensors().map(|(_, t)| t).collect();
    assert!(tensors.len() == 3 && tensors[0] != tensors[1], "slots share a stream");
    assert_eq!(inputs.scalars().collect::<Vec<_>>(), [("scale", 0.25)]);
    // Scores rise along the keys for every query.
    let rising = draw(Distribution::Increasing, 3);
    let tensors: Vec<&Tensor> = rising.tensors().map(|(_, t)| t).collect();
    let sum = |row: usize| tensors[1].data[row * 16..][..16].iter().sum::<f64>();
    assert!(sum(0) < sum(20) && sum(20) < sum(39));
    assert!(Distribution::ALL.iter().all(|d| Distribution::named(&d.to_string()) == Some(*d)));
    assert!(matches!(desk.exam(Distribution::Declared, 1).judge(&vec![0; desk.total]), Outcome::Refused(_)));
}

#[test]
fn a_call_that_is_only_bytes_is_judged_like_any_other() {
    let desk = Desk::new(&attention("f32", 2, 24, 8, ""));
    let exam = desk.exam(Distribution::Declared, 7);
    let mut memory = vec![0; desk.total];
    exam.lay(&mut memory);
    let bytes = |i: usize| (i, &memory[desk.regions[i].clone()]);
    let made =
        |given: &[(usize, &[u8])]| Exam::of_bytes(&desk.signature, &desk.rules, given, &desk.regions, desk.total, None);
    let same = made(&[bytes(0), bytes(1), bytes(2), bytes(4)]).unwrap();
    assert_eq!(same.inputs().tensors().collect::<Vec<_>>(), exam.inputs().tensors().collect::<Vec<_>>());
    let right = desk.right(Builtin::Attention, &exam).data;
    assert!(gate(same.judge(&desk.hand_in(&same, &right))).is_none());
    // Another scale, another answer.
    let scale = 3f32.to_ne_bytes();
    let other = made(&[bytes(0), bytes(1), bytes(2), (4, &scale)]).unwrap();
    assert!(gate(other.judge(&desk.hand_in(&other, &right))).is_some());
    let own = desk.right(Builtin::Attention, &other).data;
    assert!(gate(other.judge(&desk.hand_in(&other, &own))).is_none());
    assert!(made(&[bytes(0), bytes(1)]).unwrap_err().to_string().contains("nothing for v"));
    assert!(made(&[bytes(0), bytes(1), (2, &memory[..4])]).unwrap_err().to_string().contains("4 came"));
    assert!(made(&[bytes(0), bytes(1), bytes(2), (9, &[])]).unwrap_err().to_string().contains("does not exist"));
}
