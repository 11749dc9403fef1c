//! Holds that no text can bring the crate down: random bytes, random tokens and valid expressions with random edits
//! are parsed, checked, evaluated, compiled and read as lists without a panic, every error points at whole characters
//! inside the text and renders, and nesting of any depth ends in an error long before the stack does. That last part
//! runs in a thread with a stack of 512 KiB, a quarter of what Rust gives a thread.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use kiln_core::{Span, Value};
use kiln_expr::{
    Column, Evaluator, ExprError, Expression, Function, Graph, NodeId, Op, Range, Scope, Type, evaluate_list,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const VALID: [&str; 24] = [
    "BLOCK_M % (16 * WARPS) == 0",
    "32 <= x * y <= 1024 and not (a == 1 or b == 2)",
    "x in [1, 2, 3,] and y not in (4, 5)",
    "0 < x <= y in (1, 2.5)",
    "-2**-3**2 // +x % 0x1f - 0b11 * 0o7",
    "a if b else c if d else e",
    "device.smem_per_block // 2 - 1_000",
    "min(a, b, 1e-3) + max(.5, 1.) - abs(-x)",
    "round(x / 3, 2) + round(2.5) + int(-3.9) + float(7)",
    "ceildiv(x, 128) * sqrt(y) + log2(1024)",
    "s + 'é\\n' == \"b\\\"c\" or s < 'xor'",
    "größe == 'größe' and (((x)))",
    "-9223372036854775808 + 9223372036854775807",
    "True + False and 'x' if not y else -0.0",
    "(x ** 63 + 2) / (y - y)",
    "[1, 2] + list(range(32, 1025, 32))",
    "[2**i for i in range(0, 6)]",
    "[i * i for i in range(20, 0, -3) if i % 2 == 0 if i > 4]",
    "sorted([3, 1.5, True]) + [x + 1 for x in [x for x in (1, 2)]]",
    "['a', 'b', 0.5, True, -1]",
    "([1] + tuple(range(3)))",
    "(i for i in [1, 2, 3] if i in [1, 3])",
    "sorted(['b', 'a'])",
    "[]",
];

const TOKENS: [&str; 72] = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "and",
    "or",
    "not",
    "in",
    "if",
    "else",
    "for",
    "lambda",
    "True",
    "False",
    "true",
    "min",
    "max",
    "abs",
    "ceildiv",
    "round",
    "int",
    "float",
    "sqrt",
    "log2",
    "list",
    "range",
    "sorted",
    "tuple",
    "x",
    "y",
    "s",
    "device.smem",
    "größe",
    "0",
    "1",
    "2",
    "7",
    "-1",
    "64",
    "0.5",
    "1e308",
    "1e-5",
    "0x10",
    "1_000",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "'a'",
    "\"é\"",
    "'",
    "\"",
    "\\",
    "&&",
    "=",
    "\n",
    "\u{a0}",
    "€",
];

fn value_of(name: &str) -> Option<Value> {
    Some(match name.len() % 5 {
        0 => Value::Int(-7),
        1 => Value::Int(64),
        2 => Value::Float(2.5),
        3 => Value::Bool(true),
        _ if name == "gone" => return None,
        _ => Value::from("xor"),
    })
}

struct Names;

impl Scope for Names {
    fn type_of(&self, name: &str) -> Option<Type> {
        value_of(name).filter(|_| name.len() % 7 != 6).map(|v| Type::of(&v))
    }

    fn names(&self) -> Vec<String> {
        ["BLOCK_M", "WARPS", "größe", "x"].map(String::from).into()
    }
}

fn hold_span(span: &Span, text: &str) {
    assert!(span.start <= span.end && text.get(span.clone()).is_some(), "span {span:?} of {text:?}");
}

fn hold_error(error: &ExprError, text: &str) {
    hold_span(&error.span, text);
    let report = error.report("file.toml", text).to_string();
    assert!(report.contains(&error.message) && report.contains(&error.label), "{report}");
    assert!(report.contains("^"), "{report}");
    assert!(!error.to_string().is_empty());
}

/// Everything the crate does with a text.
fn put_through(text: &str) {
    match Expression::parse(text) {
        Err(error) => hold_error(&error, text),
        Ok(expression) => put_expression_through(&expression, text),
    }
    if let Err(error) = evaluate_list(text) {
        hold_error(&error, text);
    }
}

fn put_expression_through(expression: &Expression, text: &str) {
    assert_eq!(expression.text(), text);
    hold_span(&expression.root().span, text);
    for (name, span) in expression.names() {
        // Brackets around a part belong to it.
        assert!(text[span].contains(&*name));
    }
    if let Err(errors) = expression.check(&Names) {
        assert!(!errors.is_empty());
        errors.iter().for_each(|error| hold_error(error, text));
    }
    let alone = expression.eval(&value_of);
    if let Err(error) = &alone {
        hold_span(&error.span, text);
        assert_eq!(error.part, text[error.span.clone()]);
        assert!(error.to_string().contains(&error.part));
    }
    for (i, child) in expression.root().children().into_iter().enumerate().take(3) {
        let _ = (i, expression.eval_part(child, &value_of), expression.part(child));
    }

    let mut names: Vec<String> = Vec::new();
    let mut graph = Graph::default();
    let root = graph.expression(expression.root(), &mut |graph, name| {
        value_of(name)?;
        let at = names.iter().position(|n| n == name).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        Some(graph.add(Op::Input(at as u32)))
    });
    let Ok(root) = root else { return };
    let mut ranges: Vec<Range> = Vec::new();
    for id in (0..graph.len() as u32).map(NodeId) {
        ranges.push(Range::of_op(graph.op(id), &|id| ranges[id.index()]));
    }
    for rows in [0, 1, 3] {
        let mut evaluator = Evaluator::new(&graph, &[root], &[]);
        for (i, name) in names.iter().enumerate() {
            let values = vec![value_of(name).unwrap(); rows];
            evaluator.set(graph.add(Op::Input(i as u32)), Column::from_values(&values));
        }
        evaluator.run(&graph, rows);
        for row in 0..rows {
            assert_eq!(evaluator.failed(root, row), alone.is_err(), "{text}");
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        put_through(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_characters_of_the_language(text in "[-+*/%<>=!()\\[\\],.'\"\\\\ \n0-9a-fx_éA-F&|^~;?]{0,40}") {
        put_through(&text);
    }

    #[test]
    fn random_tokens(tokens in prop::collection::vec((select(&TOKENS[..]), any::<bool>()), 0..24)) {
        let text: String = tokens.iter().map(|(t, space)| if *space { format!("{t} ") } else { t.to_string() }).collect();
        put_through(&text);
    }

    #[test]
    fn valid_expressions_with_random_edits(
        text in select(&VALID[..]),
        edits in prop::collection::vec((any::<Index>(), any::<Index>(), 0..5, select(&TOKENS[..]), any::<char>()), 0..5),
    ) {
        let mut text: Vec<char> = text.chars().collect();
        for (at, to, what, token, character) in edits {
            let (at, to) = (at.index(text.len() + 1), to.index(text.len() + 1));
            let (from, to) = (at.min(to), at.max(to));
            match what {
                0 => drop(text.drain(from..to.min(from + 4))),
                1 => drop(text.splice(from..from, format!(" {token} ").chars())),
                2 => text.insert(from, character),
                3 => drop(text.splice(from..to, token.chars())),
                _ => {
                    let copy = text[from..to].to_vec();
                    text.splice(at.min(text.len())..at.min(text.len()), copy);
                }
            }
        }
        put_through(&text.into_iter().collect::<String>());
    }
}

#[test]
fn the_valid_expressions_are_valid() {
    for text in VALID {
        assert!(Expression::parse(text).is_ok() || evaluate_list(text).is_ok(), "{text}");
    }
}

/// Prefix, middle and suffix; the first and last are repeated.
const NESTS: [(&str, &str, &str); 26] = [
    ("(", "1", ")"),
    ("-", "1", ""),
    ("+-", "1", ""),
    ("not ", "1", ""),
    ("not (-", "1", ")"),
    ("min(1, ", "1", ")"),
    ("max(", "1", ", 2)"),
    ("abs(-(", "1", "))"),
    ("1 if 1 else ", "1", ""),
    ("(", "1", " if 1 else 1)"),
    ("1 if (", "1", ") else 1"),
    ("1**", "1", ""),
    ("-2**", "1", ""),
    ("1+", "1", ""),
    ("", "1", "*1"),
    ("1 and ", "1", ""),
    ("1 or ", "1", ""),
    ("1 < ", "1", ""),
    ("x in [", "1", "]"),
    ("0 < (", "1", ") in [1]"),
    ("x in [x < (", "1", ") in (1, 2)]"),
    ("[x for x in ", "[1]", "]"),
    ("list(", "[1]", ")"),
    ("sorted((", "[1]", "))"),
    ("[1] + ", "[1]", ""),
    ("[x + x for x in ", "['ab']", "]"),
];

#[test]
fn deep_nesting_is_refused_before_the_stack_ends() {
    let worker = std::thread::Builder::new().stack_size(512 * 1024).spawn(|| {
        for (before, middle, after) in NESTS {
            for depth in [1, 10, 30, 49, 50, 51, 98, 99, 100, 101, 250, 498, 499, 500, 501, 2_000, 60_000] {
                let text = format!("{}{middle}{}", before.repeat(depth), after.repeat(depth));
                let start = Instant::now();
                put_through(&text);
                let took = start.elapsed();
                assert!(took < Duration::from_secs(120), "{before}..{after} {depth} deep took {took:?}");
            }
            // Left open, as a file cut short leaves it.
            put_through(&before.repeat(100_000 / before.len().max(1)));
        }
    });
    worker.unwrap().join().unwrap();
}

#[test]
fn long_texts_are_refused_or_read_in_good_time() {
    let fifty = |part: &str| part.repeat(60_000 / part.len());
    for text in [
        fifty("€"),
        "€".repeat(50_000),
        "é".repeat(50_000),
        format!("x in [{}]", fifty("1, ")),
        format!("x in [{}]", (0..9_000).map(|i| format!("n{i}, ")).collect::<String>()),
        format!("min({}1)", fifty("x, ")),
        format!("1 {}", fifty("< 2 ")),
        format!("'{}'", fifty("é")),
        format!("[{}]", fifty("1, ")),
        format!("[i for i in range(1000000)]{}", fifty(" ")),
        format!("[i for i in [{}]]", fifty("1, ")),
        format!("[{}]", fifty("0 < (0 < (0 < (0 < (0 < 1 in [1]) in [1]) in [1]) in [1]) in [1], ")),
        "range(1000001)".into(),
        "range(-9223372036854775808, 9223372036854775807, 4611686018427387904)".into(),
        "range(9223372036854775807, -9223372036854775808, -9223372036854775808)".into(),
    ] {
        let start = Instant::now();
        put_through(&text);
        let took = start.elapsed();
        let shown: String = text.chars().take(40).collect();
        assert!(took < Duration::from_secs(120), "{shown}.. took {took:?}");
    }
}

#[test]
fn every_function_survives_every_kind_of_argument() {
    let arguments =
        ["0", "-1", "2.5", "1e308", "-0.0", "True", "'a'", "1e400", "(1e400 - 1e400)", "9223372036854775807"];
    for (_, name, ..) in Function::ALL {
        for a in arguments {
            put_through(&format!("{name}({a})"));
            for b in arguments {
                put_through(&format!("{name}({a}, {b})"));
                put_through(&format!("{name}({a}, {b}, {a})"));
            }
        }
    }
}
