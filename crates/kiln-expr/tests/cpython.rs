//! Holds the expression language against CPython, and its compiled form against itself. Random expressions over random
//! values go to `python3` (see cpython.py) and through [`Expression::eval`]: kind and value must be the same to the
//! bit, and so must the kind of failure. The same expressions then go through [`Graph`] and [`Evaluator`], several rows
//! at once: a row must give what it gives alone and fail where it fails alone, with names as inputs, as constants and
//! as a mixture of both. [`Range`] must hold every value of every node, and where a range is known no row may fail;
//! [`Expression::check`] must name the kind of the result. A second test edits the texts: whatever kiln still reads,
//! Python must read too, and alike.
//!
//! A difference is shrunk, then printed with the seed and the case to repeat it with: `KILN_EXPR_SEED` and
//! `KILN_EXPR_CASES` (a count, or one case as `=N`) are read from the environment. `**` and `log2` come from the C
//! library on both sides, so python3 and this test must run on the same one.
//!
//! Where kiln departs from CPython (see the crate's documentation) cpython.py expects kiln's failure instead of
//! Python's value: integers beyond 64 bits, `round` to a negative number of digits, `int` and `float` of a string,
//! `'a' * 3` and `'%d' % x`, and NaN in a list, which Python finds by identity.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use kiln_core::Value;
use kiln_expr::{Column, EvalErrorKind, Evaluator, Expression, Function, Graph, NodeId, Op, Range, Scope, Type, truth};
use serde_json::{Value as Json, json};

const SEED: u64 = 20_260_401;
const CASES: u64 = 120_000;
/// Most damaged texts are not expressions any more; about a tenth of these are.
const DAMAGED_CASES: u64 = 120_000;
/// Rows of a case that python3 evaluates too; the others make columns longer and ranges wider.
const ASKED: usize = 2;
/// Cases in one exchange with python3.
const BATCH: u64 = 4_000;
/// One python3 each, which works while the thread evaluates its own side.
const WORKERS: u64 = 2;

#[test]
fn expressions_agree_with_cpython_with_columns_and_with_ranges() {
    let seen = run(CASES, |seed, number| Some(Case::random(seed, number)));
    if seen.cases >= 50_000 {
        seen.covers_the_language();
    }
}

#[test]
fn what_kiln_reads_of_a_damaged_text_python_reads_alike() {
    run(DAMAGED_CASES, |seed, number| Case::random(seed, number).damaged(seed, number));
}

/// Holds all cases that `make` gives for a seed and a number; panics with the first difference, shrunk.
fn run(cases: u64, make: fn(u64, u64) -> Option<Case>) -> Seen {
    let seed = std::env::var("KILN_EXPR_SEED").map_or(SEED, |s| s.parse().expect("KILN_EXPR_SEED is a number"));
    let cases = std::env::var("KILN_EXPR_CASES").unwrap_or_else(|_| cases.to_string());
    let (first, last) = match cases.strip_prefix('=') {
        Some(case) => case.parse().map(|n: u64| (n, n + 1)).expect("KILN_EXPR_CASES=N"),
        None => (0, cases.parse().expect("KILN_EXPR_CASES is a count, or =N for one case")),
    };
    let start = Instant::now();
    let seen = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|w| scope.spawn(move || work(make, seed, first..last, w))).collect();
        let mut seen = Seen::default();
        for worker in workers {
            match worker.join() {
                Ok(Ok(part)) => seen.merge(part),
                Ok(Err(difference)) => panic!("{difference}"),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        seen
    });
    println!("seed {seed}: {} expressions, {} rows, {:.1?}", seen.cases, seen.rows, start.elapsed());
    println!("ranges known for {} roots of {}; results and forms: {:?}", seen.known, seen.cases, seen.counts);
    seen
}

fn work(make: fn(u64, u64) -> Option<Case>, seed: u64, all: std::ops::Range<u64>, worker: u64) -> Result<Seen, String> {
    let mut python = Python::start();
    let mut seen = Seen::default();
    let mut from = all.start + worker * BATCH;
    while from < all.end {
        let cases: Vec<(u64, Case)> =
            (from..(from + BATCH).min(all.end)).filter_map(|n| Some((n, make(seed, n)?))).collect();
        let lines: Vec<String> = cases.iter().map(|(_, case)| case.to_json()).collect();
        python.send(&lines);
        let own: Vec<_> = cases.iter().map(|(_, case)| case.evaluate()).collect();
        let expected = python.receive(lines.len());
        for (((number, case), own), expected) in cases.into_iter().zip(own).zip(expected) {
            match own.and_then(|own| compare(&own, &expected).map(|()| own)) {
                Ok(own) => seen.note(&case, &own),
                Err(_) => {
                    let original = case.text();
                    let shrunk = case.shrink(&mut python).describe(&mut python);
                    return Err(format!(
                        "KILN_EXPR_SEED={seed} KILN_EXPR_CASES=={number}: {original}\n  shrunk to: {shrunk}"
                    ));
                }
            }
        }
        from += WORKERS * BATCH;
    }
    Ok(seen)
}

// ---------------------------------------------------------------------------------------------------- one case

/// An expression with the values of its names, a few rows of them.
#[derive(Clone)]
struct Case {
    tree: Tree,
    rows: Vec<Vec<(&'static str, Value)>>,
    /// Decides what is left open by the above: which names become constants, and where.
    choices: u64,
}

/// What kiln makes of a case: an outcome for every row.
struct Own {
    outcomes: Vec<Outcome>,
    known_range: bool,
}

#[derive(Clone, PartialEq)]
enum Outcome {
    Value(Value),
    Fail(EvalErrorKind),
    /// What only python3 says: a text it does not read, a fault in cpython.py.
    Other(String),
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Value(value) => write!(f, "{value:?}"),
            Outcome::Fail(kind) => write!(f, "failure {kind:?}"),
            Outcome::Other(what) => f.write_str(what),
        }
    }
}

/// One NaN is as good as another.
fn canonical(value: Value) -> Value {
    match value {
        Value::Float(v) if v.is_nan() => Value::Float(f64::NAN),
        other => other,
    }
}

impl Case {
    fn random(seed: u64, number: u64) -> Case {
        let mut random = Random(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        // Most cases are tame, as tunables are: otherwise most would end in an overflow.
        let nature = *random.pick(&[Nature::Tame, Nature::Small, Nature::Small, Nature::Wild, Nature::Wild]);
        let depth = 1 + random.below(4);
        let tree = Grow { random: &mut random, nature }.any(depth);
        let mixed = [Kind::Int, Kind::Float, Kind::Bool, Kind::Str];
        let rows = (0..1 + random.below(8))
            .map(|_| {
                NAMES
                    .iter()
                    .map(|(name, kind)| {
                        let kind = kind.unwrap_or_else(|| *random.pick(&mixed));
                        (*name, random_value(&mut random, kind, nature))
                    })
                    .collect()
            })
            .collect();
        Case { tree, rows, choices: random.next() }
    }

    /// The same with its text edited, if kiln still reads it and knows its names.
    fn damaged(self, seed: u64, number: u64) -> Option<Case> {
        let mut random = Random(!seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        let mut text: Vec<char> = self.text().chars().collect();
        for _ in 0..1 + random.below(3) {
            let at = random.below(text.len() + 1);
            let end = (at + random.below(4)).min(text.len());
            // Single characters for literals, words for structure.
            let with = match random.below(3) {
                0 => String::new(),
                1 => random.pick(&DAMAGE.chars().collect::<Vec<char>>()).to_string(),
                _ => random.pick(&DAMAGE_WORDS.split(' ').collect::<Vec<&str>>()).replace('~', " "),
            };
            text.splice(at..end, with.chars());
        }
        let case = Case { tree: Tree::leaf(text.into_iter().collect::<String>()), ..self };
        case.reads().then_some(case)
    }

    /// Whether kiln reads the text and there is a value for every name in it.
    fn reads(&self) -> bool {
        let known = |name: &str| NAMES.iter().any(|(n, _)| *n == name);
        Expression::parse(&self.text()).is_ok_and(|e| e.names().iter().all(|(name, _)| known(name)))
    }

    fn text(&self) -> String {
        self.tree.text()
    }

    /// The names that the expression uses, as kiln finds them.
    fn names(expression: &Expression) -> Vec<String> {
        expression.names().into_iter().map(|(name, _)| name.to_string()).collect()
    }

    fn to_json(&self) -> String {
        let text = self.text();
        let names = Expression::parse(&text).map_or(vec![], |e| Case::names(&e));
        let row = |row: &Vec<(&str, Value)>| -> Json {
            let used = row.iter().filter(|(name, _)| names.iter().any(|n| n == name));
            Json::Object(used.map(|(name, value)| (name.to_string(), to_json(value))).collect())
        };
        json!({ "text": text, "rows": self.rows.iter().take(ASKED).map(row).collect::<Vec<_>>() }).to_string()
    }

    /// Scalar results, held against everything in this crate that must agree with them.
    fn evaluate(&self) -> Result<Own, String> {
        let text = self.text();
        let expression = Expression::parse(&text).map_err(|e| format!("kiln does not parse it: {e}"))?;
        let outcomes: Vec<Outcome> = self.rows.iter().map(|row| scalar(&expression, row)).collect();
        self.hold_check(&expression, &outcomes)?;
        let known_range = self.hold_columns(&expression, &outcomes)?;
        self.hold_constants(&expression, &outcomes)?;
        Ok(Own { outcomes, known_range })
    }

    /// [`Expression::check`] knows the names' kinds, and must be right about the result's.
    fn hold_check(&self, expression: &Expression, outcomes: &[Outcome]) -> Result<(), String> {
        let Ok(expected) = expression.check(&Kinds(&self.rows)) else { return Ok(()) };
        for outcome in outcomes {
            match outcome {
                Outcome::Value(value) if expected != Type::Any && expected != Type::of(value) => {
                    return Err(format!("check says {expected}, the value is {value:?}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// All rows at once, every name an input; true when the range of the result is known.
    fn hold_columns(&self, expression: &Expression, outcomes: &[Outcome]) -> Result<bool, String> {
        let names = Case::names(expression);
        let mut graph = Graph::default();
        let root = graph.expression(expression.root(), &mut |graph, name| {
            names.iter().position(|n| n == name).map(|i| graph.add(Op::Input(i as u32)))
        })?;
        let nodes: Vec<NodeId> = (0..graph.len() as u32).map(NodeId).collect();
        let inputs: Vec<Vec<Value>> =
            names.iter().map(|name| self.rows.iter().map(|r| value(r, name)).collect()).collect();
        let mut evaluator = Evaluator::new(&graph, &nodes, &[]);
        for (i, values) in inputs.iter().enumerate() {
            let same = values.iter().all(|v| *v == values[0]);
            let column = match &values[0] {
                first if same && self.choices >> i & 1 == 0 => Column::One(first.clone()),
                _ => Column::from_values(values),
            };
            evaluator.set(graph.add(Op::Input(i as u32)), column);
        }
        evaluator.run(&graph, self.rows.len());
        for (row, outcome) in outcomes.iter().enumerate() {
            let column = row_outcome(&evaluator, root, row);
            match (outcome, &column) {
                (Outcome::Fail(_), None) => {}
                (Outcome::Value(value), Some(column)) if value == column => {}
                _ => {
                    return Err(format!(
                        "row {row} alone gives {outcome:?}, in a column {column:?} (None is a failure)"
                    ));
                }
            }
        }
        self.hold_given(&graph, root, &evaluator)?;

        // Every node is held, not only the root: ranges of parts are what pruning goes by.
        let mut ranges: Vec<Range> = Vec::with_capacity(nodes.len());
        for id in nodes {
            let range = match graph.op(id) {
                Op::Input(i) => Range::of_all(&inputs[*i as usize]),
                op => Range::of_op(op, &|id| ranges[id.index()]),
            };
            ranges.push(range);
            for row in 0..self.rows.len() {
                let value = row_outcome(&evaluator, id, row);
                let holds = match (&value, range) {
                    (_, Range::Unknown) => true,
                    (Some(Value::Int(v)), Range::Int(a, b)) => (a..=b).contains(v),
                    (Some(Value::Float(v)), Range::Float(a, b)) => (a..=b).contains(v),
                    (Some(Value::Bool(v)), Range::Bool(can_false, can_true)) => {
                        if *v {
                            can_true
                        } else {
                            can_false
                        }
                    }
                    _ => false,
                };
                let sure = match (&value, range.truth()) {
                    (Some(value), Some(sure)) => truth(value) == sure,
                    _ => true,
                };
                if !holds || !sure {
                    let op = graph.op(id);
                    let operands: Vec<Range> = op.children().iter().map(|c| ranges[c.index()]).collect();
                    return Err(format!("{op:?} of {operands:?} has range {range:?}, and row {row} gives {value:?}"));
                }
            }
        }
        Ok(ranges[root.index()].is_known())
    }

    /// A node whose column is handed in must do as well as one that is computed.
    fn hold_given(&self, graph: &Graph, root: NodeId, all: &Evaluator) -> Result<(), String> {
        let whole: Vec<NodeId> = (0..=root.0)
            .map(NodeId)
            .filter(|id| !matches!(graph.op(*id), Op::Const(_)) && all.failures(*id).is_none())
            .collect();
        if whole.is_empty() {
            return Ok(());
        }
        let given = whole[(self.choices >> 20) as usize % whole.len()];
        let mut evaluator = Evaluator::new(graph, &[root], &[given]);
        for id in (0..=root.0).map(NodeId).filter(|id| *id == given || matches!(graph.op(*id), Op::Input(_))) {
            evaluator.set(id, all.column(id).clone());
        }
        evaluator.run(graph, self.rows.len());
        for row in 0..self.rows.len() {
            let (with, without) = (row_outcome(&evaluator, root, row), row_outcome(all, root, row));
            if with != without {
                return Err(format!("row {row} gives {without:?}, but with {given:?} given {with:?}"));
            }
        }
        Ok(())
    }

    /// Each row with all its names as constants must fold to its value, and with some of them as constants give it.
    fn hold_constants(&self, expression: &Expression, outcomes: &[Outcome]) -> Result<(), String> {
        let names = Case::names(expression);
        for (row, outcome) in outcomes.iter().enumerate() {
            for chosen in [u64::MAX, self.choices >> 32 | 1 << row] {
                let is_constant = |i: usize| chosen >> i & 1 == 1;
                let values: Vec<Value> = names.iter().map(|n| value(&self.rows[row], n)).collect();
                let mut graph = Graph::default();
                let root = graph.expression(expression.root(), &mut |graph, name| {
                    let i = names.iter().position(|n| n == name)?;
                    Some(if is_constant(i) {
                        graph.constant(values[i].clone())
                    } else {
                        graph.add(Op::Input(i as u32))
                    })
                })?;
                let mut evaluator = Evaluator::new(&graph, &[root], &[]);
                let mut ranges: Vec<Range> = Vec::with_capacity(graph.len());
                for id in (0..graph.len() as u32).map(NodeId) {
                    if let Op::Input(i) = graph.op(id) {
                        evaluator.set(id, Column::from_values(&values[*i as usize..=*i as usize]));
                        ranges.push(Range::point(&values[*i as usize]));
                    } else {
                        ranges.push(Range::of_op(graph.op(id), &|id| ranges[id.index()]));
                    }
                }
                evaluator.run(&graph, 1);
                let folded = row_outcome(&evaluator, root, 0);
                let same = match (outcome, &folded) {
                    (Outcome::Fail(_), None) => !ranges[root.index()].is_known(),
                    (Outcome::Value(value), Some(folded)) => value == folded,
                    _ => false,
                };
                let whole =
                    chosen != u64::MAX || graph.as_constant(root).is_some() == matches!(outcome, Outcome::Value(_));
                if !same || !whole {
                    let op = graph.op(root);
                    return Err(format!(
                        "row {row} gives {outcome:?}; with names {chosen:x} folded, {folded:?} from {op:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn difference(&self, python: &mut Python) -> Option<String> {
        python.send(&[self.to_json()]);
        let expected = python.receive(1).remove(0);
        self.evaluate().and_then(|own| compare(&own, &expected)).err()
    }

    /// The smallest case found that still differs.
    fn shrink(mut self, python: &mut Python) -> Case {
        let reads = self.reads();
        'smaller: loop {
            let single = (self.rows.len() > 1).then_some(0..self.rows.len()).into_iter().flatten().map(|drop| {
                let mut case = self.clone();
                case.rows.remove(drop);
                case
            });
            let trees = self.tree.smaller().into_iter().map(|tree| Case { tree, ..self.clone() });
            for case in single.chain(trees).collect::<Vec<_>>() {
                if case.reads() == reads && case.difference(python).is_some() {
                    self = case;
                    continue 'smaller;
                }
            }
            return self;
        }
    }

    fn describe(&self, python: &mut Python) -> String {
        let text = self.text();
        let names = Expression::parse(&text).map_or(vec![], |e| Case::names(&e));
        let mut rows = String::new();
        for row in &self.rows {
            let used = row.iter().filter(|(name, _)| names.iter().any(|n| n == name));
            rows += &format!("\n    {}", used.map(|(n, v)| format!("{n} = {v:?}")).collect::<Vec<_>>().join(", "));
        }
        format!("{text}\n  with:{rows}\n  {}", self.difference(python).unwrap_or_default())
    }
}

fn value(row: &[(&'static str, Value)], name: &str) -> Value {
    row.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone()).expect("a generated name")
}

fn scalar(expression: &Expression, row: &[(&'static str, Value)]) -> Outcome {
    let env = |name: &str| row.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
    match expression.eval(&env) {
        Ok(value) => Outcome::Value(canonical(value)),
        Err(error) => Outcome::Fail(error.kind),
    }
}

/// None where the row failed.
fn row_outcome(evaluator: &Evaluator, id: NodeId, row: usize) -> Option<Value> {
    (!evaluator.failed(id, row)).then(|| canonical(evaluator.column(id).get(row)))
}

fn compare(own: &Own, expected: &[Outcome]) -> Result<(), String> {
    match own.outcomes.iter().zip(expected).position(|(own, expected)| own != expected) {
        None => Ok(()),
        Some(row) => Err(format!("row {row}: kiln {:?}, CPython {:?}", own.outcomes[row], expected[row])),
    }
}

struct Kinds<'a>(&'a [Vec<(&'static str, Value)>]);

impl Scope for Kinds<'_> {
    fn type_of(&self, name: &str) -> Option<Type> {
        let values: Vec<Value> = self.0.iter().map(|row| value(row, name)).collect();
        Some(Type::of_all(&values))
    }

    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|(name, _)| name.to_string()).collect()
    }
}

// ---------------------------------------------------------------------------------------------------- python3

struct Python {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Python {
    fn start() -> Python {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cpython.py");
        let mut child = Command::new("python3")
            .args(["-I", "-X", "utf8", "-W", "ignore", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("this test compares with CPython and found no python3 on PATH: {e}"));
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Python { child, input, output }
    }

    /// python3 reads a whole batch before it answers, so neither side can fill a pipe that the other does not empty.
    fn send(&mut self, lines: &[String]) {
        let text = format!("{}\n{}\n", lines.len(), lines.join("\n"));
        self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush()).expect("python3 reads its input");
    }

    fn receive(&mut self, count: usize) -> Vec<Vec<Outcome>> {
        (0..count)
            .map(|_| {
                let mut line = String::new();
                let read = self.output.read_line(&mut line).expect("python3 writes text");
                assert!(read > 0, "python3 ended early: {:?}", self.child.wait());
                let outcomes: Vec<(String, String)> = serde_json::from_str(&line).expect("JSON from cpython.py");
                outcomes.iter().map(|(kind, text)| from_python(kind, text)).collect()
            })
            .collect()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // Its input ends with `self.input`; nothing it still says is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Int(v) => json!(["int", v.to_string()]),
        Value::Float(v) => json!(["float", v.to_bits().to_string()]),
        Value::Bool(v) => json!(["bool", if *v { "True" } else { "False" }]),
        Value::Str(v) => json!(["str", &**v]),
    }
}

fn from_python(kind: &str, text: &str) -> Outcome {
    Outcome::Value(match kind {
        "int" => Value::Int(text.parse().expect("a 64-bit integer")),
        "float" if text == "nan" => Value::Float(f64::NAN),
        "float" => Value::Float(f64::from_bits(text.parse().expect("bits"))),
        "bool" => Value::Bool(text == "True"),
        "str" => Value::from(text),
        "fail" => {
            return Outcome::Fail(match text {
                "DivisionByZero" => EvalErrorKind::DivisionByZero,
                "Overflow" => EvalErrorKind::Overflow,
                "Domain" => EvalErrorKind::Domain,
                "Type" => EvalErrorKind::Type,
                _ => return Outcome::Other(format!("fails with {text}")),
            });
        }
        _ => return Outcome::Other(format!("{kind}: {text}")),
    })
}

// ---------------------------------------------------------------------------------------------------- random trees

/// SplitMix64: the same cases on every machine and with every version of every crate.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Int,
    Float,
    Bool,
    Str,
}

/// The names and their kinds; `m` has another one in every row.
const NAMES: [(&str, Option<Kind>); 11] = [
    ("a", Some(Kind::Int)),
    ("B_2", Some(Kind::Int)),
    ("dev.smem", Some(Kind::Int)),
    ("x", Some(Kind::Float)),
    ("_y", Some(Kind::Float)),
    ("dev.clock.ghz", Some(Kind::Float)),
    ("p", Some(Kind::Bool)),
    ("flag", Some(Kind::Bool)),
    ("s", Some(Kind::Str)),
    ("größe", Some(Kind::Str)),
    ("m", None),
];
const INTS: [i64; 15] = [0, 1, -1, 2, -2, 3, 7, 16, 128, 1 << 31, -(1 << 31), 1 << 53, -(1 << 53), i64::MAX, i64::MIN];
const FLOATS: [f64; 28] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.1,
    2.675,
    1e16,
    1e22,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN,
    1e-300,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    2147483648.0,
    9007199254740992.0,
    9223372036854775808.0,
    -9223372036854775808.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
const STRINGS: [&str; 9] = ["", "a", "b", "ab", "xor", "é", "a'b", "\"\\", "\n\t"];

/// What to edit texts with.
const DAMAGE: &str = "0123456789__..eExXobfj+-*/%<>=()[],'\"\\ a!";
const DAMAGE_WORDS: &str = "~and~ ~or~ ~not~ ~in~ ~not~in~ ~if~ ~else~ ~in~[ ~in~( ~in~(1) ~in~(1,) ]~ )~ 1_0 1_e5 1e_5 \
                            1e5_0 0x_f 0_0 07 00.5 1e5 .5e-3 5.e+1 1.__5 1_.5 9223372036854775808 -9223372036854775808 \
                            min( round( -- +- ** //";

/// How far the values of a case go.
#[derive(Clone, Copy, PartialEq)]
enum Nature {
    /// As in a tuning problem: powers of two, fractions above zero.
    Tame,
    /// Around zero.
    Small,
    /// Anything, the ends of every range first.
    Wild,
}

fn random_value(random: &mut Random, kind: Kind, nature: Nature) -> Value {
    match kind {
        Kind::Bool => Value::Bool(random.chance(50)),
        Kind::Str => Value::from(*random.pick(&STRINGS)),
        Kind::Int if nature == Nature::Tame => Value::Int(1 << random.below(9)),
        Kind::Int if nature == Nature::Small => Value::Int(random.below(12) as i64 - 4),
        Kind::Int if random.chance(40) => Value::Int(random.below(40) as i64 - 12),
        Kind::Int if random.chance(30) => Value::Int(random.next() as i64 >> random.below(64)),
        Kind::Int => Value::Int(random.pick(&INTS).saturating_add(random.below(7) as i64 - 3)),
        Kind::Float if nature == Nature::Tame => Value::Float((1 + random.below(64)) as f64 / 8.0),
        Kind::Float if nature == Nature::Small => Value::Float((random.below(15) as f64 - 6.0) / 2.0),
        Kind::Float if random.chance(30) => {
            Value::Float((random.below(4000) as f64 - 1000.0) / *random.pick(&[8.0, 100.0]))
        }
        Kind::Float if random.chance(20) => Value::Float(f64::from_bits(random.next())),
        Kind::Float => Value::Float(*random.pick(&FLOATS)),
    }
}

/// An expression before it is written down.
#[derive(Debug, Clone)]
struct Tree {
    form: Form,
    parts: Vec<Tree>,
    /// Brackets more than needed, spaces, commas: what must not matter.
    style: u8,
}

#[derive(Debug, Clone)]
enum Form {
    /// A name or a literal, as written.
    Leaf(String),
    /// `-`, `+` or `not`.
    Unary(&'static str),
    /// An arithmetic sign, `and` or `or`.
    Binary(&'static str),
    /// One sign fewer than parts.
    Chain(Vec<&'static str>),
    /// A chain that ends in `in` or `not in`; the parts behind it are the list.
    Member(Vec<&'static str>, &'static str),
    /// Parts as written: then, condition, otherwise.
    If,
    Call(&'static str),
}

impl Tree {
    fn leaf(text: impl Into<String>) -> Tree {
        Tree { form: Form::Leaf(text.into()), parts: vec![], style: 0 }
    }

    fn text(&self) -> String {
        self.write(0)
    }

    /// How tightly it binds: 0 for the conditional up to 9 for an atom.
    fn level(&self) -> u8 {
        match &self.form {
            Form::Leaf(text) if text.starts_with('-') => 7,
            Form::Leaf(_) | Form::Call(_) => 9,
            Form::If => 0,
            Form::Binary("or") => 1,
            Form::Binary("and") => 2,
            Form::Unary("not") => 3,
            Form::Chain(_) | Form::Member(..) => 4,
            Form::Binary("+" | "-") => 5,
            Form::Binary("**") => 8,
            Form::Binary(_) => 6,
            Form::Unary(_) => 7,
        }
    }

    fn write(&self, least: u8) -> String {
        let space = if self.style & 1 == 0 { " " } else { "" };
        let list = |parts: &[Tree]| {
            let comma = if self.style & 2 == 0 { ", " } else { "," };
            parts.iter().map(|p| p.write(0)).collect::<Vec<_>>().join(comma)
        };
        let chain = |signs: &[&str]| {
            let mut text = self.parts[0].write(5);
            for (sign, part) in signs.iter().zip(&self.parts[1..]) {
                text += &format!("{space}{sign}{space}{}", part.write(5));
            }
            text
        };
        let text = match &self.form {
            Form::Leaf(text) => text.clone(),
            Form::Unary("not") => format!("not {}", self.parts[0].write(3)),
            Form::Unary(sign) => {
                format!("{sign}{}{}", if self.style & 12 == 0 { " " } else { "" }, self.parts[0].write(7))
            }
            Form::Binary(sign) => {
                let (left, right) = match *sign {
                    "or" => (1, 2),
                    "and" => (2, 3),
                    "+" | "-" => (5, 6),
                    "**" => (9, 7),
                    _ => (6, 7),
                };
                let space = if left < 5 { " " } else { space };
                format!("{}{space}{sign}{space}{}", self.parts[0].write(left), self.parts[1].write(right))
            }
            Form::Chain(signs) => chain(signs),
            Form::Member(signs, word) => {
                let items = &self.parts[signs.len() + 1..];
                let (open, close) = if self.style & 8 == 0 { ("[", "]") } else { ("(", ")") };
                // A tuple of one needs its comma.
                let one = !items.is_empty() && (self.style & 4 == 0 || close == ")" && items.len() == 1);
                format!("{} {word} {open}{}{}{close}", chain(signs), list(items), if one { "," } else { "" })
            }
            Form::If => {
                let [then, condition, otherwise] = &self.parts[..] else { unreachable!() };
                format!("{} if {} else {}", then.write(1), condition.write(1), otherwise.write(0))
            }
            Form::Call(name) => format!("{name}({})", list(&self.parts)),
        };
        let extra = self.style >> 4 == 0;
        if self.level() < least || extra && !matches!(self.form, Form::Leaf(_)) { format!("({text})") } else { text }
    }

    /// Every tree with one part replaced by something simpler.
    fn smaller(&self) -> Vec<Tree> {
        let mut found: Vec<Tree> = self.parts.clone();
        if !matches!(&self.form, Form::Leaf(text) if text == "0" || text == "1") {
            found.extend(["0", "1"].map(Tree::leaf));
        }
        if let Form::Leaf(text) = &self.form {
            let without =
                |i: usize| text.chars().enumerate().filter(|(j, _)| *j != i).map(|(_, c)| c).collect::<String>();
            found.extend((0..text.chars().count()).map(|i| Tree::leaf(without(i))));
        }
        // Fewer arguments and list items, where there may be fewer.
        let least = match &self.form {
            Form::Call("min" | "max") => 2,
            Form::Call("round") => 1,
            Form::Member(signs, _) => signs.len() + 1,
            _ => usize::MAX,
        };
        if self.parts.len() > least {
            let mut tree = self.clone();
            tree.parts.pop();
            found.push(tree);
        }
        // A shorter chain.
        let mut tree = self.clone();
        if let Form::Chain(signs) | Form::Member(signs, _) = &mut tree.form
            && self.parts.len() > 2
            && signs.pop().is_some()
        {
            tree.parts.remove(0);
            found.push(tree);
        }
        for (i, part) in self.parts.iter().enumerate() {
            found.extend(part.smaller().into_iter().map(|smaller| {
                let mut tree = self.clone();
                tree.parts[i] = smaller;
                tree
            }));
        }
        found
    }

    fn forms(&self, note: &mut impl FnMut(&str)) {
        match &self.form {
            Form::Leaf(text) => note(if NAMES.iter().any(|(n, _)| n == text) { text } else { "other text" }),
            Form::Unary(sign) => note(&format!("unary {sign}")),
            Form::Binary(sign) => note(sign),
            Form::Chain(signs) => {
                signs.iter().for_each(|s| note(s));
                note(if signs.len() > 1 { "a chain" } else { "a comparison" });
            }
            Form::Member(signs, word) => {
                note(word);
                note(if signs.is_empty() { "membership" } else { "membership in a chain" });
            }
            Form::If => note("if"),
            Form::Call("round") if self.parts.len() == 2 => note("round to digits"),
            Form::Call(name) => note(name),
        }
        self.parts.iter().for_each(|p| p.forms(note));
    }
}

/// Grows trees that mostly make sense: operands are of the right kind but for a few.
struct Grow<'a> {
    random: &'a mut Random,
    nature: Nature,
}

impl Grow<'_> {
    fn tree(&mut self, form: Form, parts: Vec<Tree>) -> Tree {
        Tree { form, parts, style: self.random.next() as u8 }
    }

    fn any(&mut self, depth: usize) -> Tree {
        if self.random.chance(12) { self.string(depth) } else { self.number(depth) }
    }

    /// An operand that should be a number, and nearly always is.
    fn operand(&mut self, depth: usize) -> Tree {
        if self.random.chance(2) { self.string(depth) } else { self.number(depth) }
    }

    fn number(&mut self, depth: usize) -> Tree {
        if depth == 0 || self.random.chance(10) {
            return self.number_leaf();
        }
        let depth = depth - 1;
        match self.random.below(100) {
            0..40 => {
                let sign = *self.random.pick(&["+", "-", "*", "/", "//", "%", "**", "+", "*", "//", "%"]);
                let left = self.operand(depth);
                // Powers of powers overflow; mostly keep exponents small.
                let right = match sign {
                    "**" if self.random.chance(70) => Tree::leaf(self.random.below(5).to_string()),
                    _ => self.operand(depth),
                };
                self.tree(Form::Binary(sign), vec![left, right])
            }
            40..46 => {
                let sign = *self.random.pick(&["-", "-", "+", "not"]);
                let operand = self.operand(depth);
                self.tree(Form::Unary(sign), vec![operand])
            }
            46..58 => self.chain(depth),
            58..65 => self.member(depth),
            65..72 => {
                let word = *self.random.pick(&["and", "or"]);
                let parts = vec![self.any(depth), self.operand(depth)];
                self.tree(Form::Binary(word), parts)
            }
            72..79 => {
                let parts = vec![self.operand(depth), self.any(depth), self.operand(depth)];
                self.tree(Form::If, parts)
            }
            _ => self.call(depth),
        }
    }

    fn chain(&mut self, depth: usize) -> Tree {
        let count = *self.random.pick(&[1, 1, 1, 2, 2, 3]);
        let signs: Vec<&str> = (0..count).map(|_| *self.random.pick(&["==", "!=", "<", "<=", ">", ">="])).collect();
        let strings = self.random.chance(12);
        let parts = (0..=count).map(|_| if strings { self.string(depth) } else { self.operand(depth) }).collect();
        self.tree(Form::Chain(signs), parts)
    }

    fn member(&mut self, depth: usize) -> Tree {
        let word = *self.random.pick(&["in", "not in"]);
        let led = *self.random.pick(&[0, 0, 0, 1, 2]);
        let signs: Vec<&str> = (0..led).map(|_| *self.random.pick(&["==", "<=", "<", ">"])).collect();
        let strings = self.random.chance(25);
        let count = led + 1 + self.random.below(5);
        let parts = (0..count)
            .map(|i| match (strings, i > led && self.random.chance(50)) {
                (true, _) => self.string(depth),
                (_, true) => self.number_leaf(),
                _ => self.operand(depth),
            })
            .collect();
        self.tree(Form::Member(signs, word), parts)
    }

    fn call(&mut self, depth: usize) -> Tree {
        let name = *self.random.pick(&Function::ALL.map(|(_, name, ..)| name));
        let mut parts = vec![self.operand(depth)];
        match name {
            "min" | "max" => parts.extend((0..1 + self.random.below(3)).map(|_| self.operand(depth))),
            "ceildiv" => parts.push(self.operand(depth)),
            "round" if self.random.chance(50) => parts.push(if self.random.chance(80) {
                Tree::leaf(self.random.pick(&["0", "1", "2", "3", "7", "15", "20", "300", "400", "True"]).to_string())
            } else {
                self.operand(depth)
            }),
            _ => {}
        }
        self.tree(Form::Call(name), parts)
    }

    fn string(&mut self, depth: usize) -> Tree {
        if depth == 0 || self.random.chance(60) {
            return Tree::leaf(match self.random.below(3) {
                0 => "s".into(),
                1 => "größe".into(),
                _ => {
                    let text = *self.random.pick(&STRINGS);
                    let quote = *self.random.pick(&['\'', '"']);
                    let escaped: String = text
                        .chars()
                        .map(|c| match c {
                            '\n' => "\\n".into(),
                            '\t' => "\\t".into(),
                            c if c == quote || c == '\\' => format!("\\{c}"),
                            c => c.to_string(),
                        })
                        .collect();
                    format!("{quote}{escaped}{quote}")
                }
            });
        }
        let depth = depth - 1;
        let parts = vec![self.string(depth), self.string(depth)];
        match self.random.below(5) {
            0 => self.tree(Form::Binary("+"), parts),
            1 => self.tree(Form::Binary("and"), parts),
            2 => self.tree(Form::Call("min"), parts),
            3 => self.tree(Form::Call("max"), parts),
            _ => {
                let [then, otherwise] = parts.try_into().expect("two");
                let condition = self.any(depth);
                self.tree(Form::If, vec![then, condition, otherwise])
            }
        }
    }

    fn number_leaf(&mut self) -> Tree {
        Tree::leaf(match self.random.below(10) {
            0..2 => self.int_literal(),
            2 => self.float_literal(),
            3 if self.random.chance(30) => self.random.pick(&["True", "False"]).to_string(),
            4 if self.random.chance(25) => "m".into(),
            5 if self.random.chance(40) => self.random.pick(&["p", "flag"]).to_string(),
            6..8 => self.random.pick(&["x", "_y", "dev.clock.ghz"]).to_string(),
            _ => self.random.pick(&["a", "B_2", "dev.smem"]).to_string(),
        })
    }

    fn int_literal(&mut self) -> String {
        let value = match random_value(self.random, Kind::Int, self.nature) {
            Value::Int(v) if v == i64::MIN => return v.to_string(),
            Value::Int(v) => v.unsigned_abs(),
            _ => unreachable!(),
        };
        match self.random.below(12) {
            0 => format!("{value:#x}"),
            1 => format!("{value:#b}"),
            2 => format!("0O{value:o}"),
            3 if value > 999 => format!("{}_{:03}", value / 1000, value % 1000),
            _ => value.to_string(),
        }
    }

    fn float_literal(&mut self) -> String {
        let value = match random_value(self.random, Kind::Float, self.nature) {
            Value::Float(v) if v.is_finite() => v.abs(),
            Value::Float(_) => return "1e400".into(),
            _ => unreachable!(),
        };
        match self.random.below(6) {
            0 => format!("{value:e}").replace('e', ".0e").replacen(".0e", if value == 0.0 { ".0e" } else { "e" }, 1),
            1 if value < 1.0 && value > 1e-4 => format!("{value:?}").trim_start_matches('0').into(),
            2 if value.fract() == 0.0 && value < 1e15 => format!("{value:.0}."),
            3 if value < 1e15 => format!("{value:.3}"),
            // The shortest decimal, and one that lies between two doubles.
            4 if value < 1e15 => format!("{value:.25}"),
            _ => format!("{value:?}"),
        }
    }
}

// ---------------------------------------------------------------------------------------------------- what was seen

#[derive(Default)]
struct Seen {
    cases: u64,
    rows: u64,
    known: u64,
    /// How often each form, and each kind of result.
    counts: BTreeMap<String, u64>,
}

impl Seen {
    fn note(&mut self, case: &Case, own: &Own) {
        self.cases += 1;
        self.rows += case.rows.len() as u64;
        self.known += u64::from(own.known_range);
        case.tree.forms(&mut |form| *self.counts.entry(form.to_string()).or_default() += 1);
        for outcome in &own.outcomes {
            let kind = match outcome {
                Outcome::Value(Value::Float(v)) if v.is_nan() => "gives NaN".into(),
                Outcome::Value(v) => format!("gives {}", v.kind()),
                Outcome::Fail(kind) => format!("fails with {kind:?}"),
                Outcome::Other(_) => continue,
            };
            *self.counts.entry(kind).or_default() += 1;
        }
    }

    fn merge(&mut self, other: Seen) {
        self.cases += other.cases;
        self.rows += other.rows;
        self.known += other.known;
        other.counts.into_iter().for_each(|(k, n)| *self.counts.entry(k).or_default() += n);
    }

    /// A test that has stopped generating something would pass without holding it.
    fn covers_the_language(&self) {
        let mut wanted: Vec<String> = NAMES.iter().map(|(name, _)| name.to_string()).collect();
        wanted.extend(Function::ALL.iter().map(|(_, name, ..)| name.to_string()));
        wanted.extend(
            "+ - * / // % ** == != < <= > >= and or if in".split(' ').map(str::to_string).chain(
                [
                    "not in",
                    "unary -",
                    "unary +",
                    "unary not",
                    "a chain",
                    "membership in a chain",
                    "round to digits",
                    "gives integer",
                    "gives float",
                    "gives boolean",
                    "gives string",
                    "gives NaN",
                    "fails with DivisionByZero",
                    "fails with Overflow",
                    "fails with Domain",
                    "fails with Type",
                ]
                .map(str::to_string),
            ),
        );
        for form in wanted {
            let count = self.counts.get(&form).copied().unwrap_or_default();
            assert!(count * 500 >= self.cases, "only {count} of {} expressions for: {form}", self.cases);
        }
        assert!(self.known * 10 >= self.cases, "only {} of {} ranges are known", self.known, self.cases);
    }
}
