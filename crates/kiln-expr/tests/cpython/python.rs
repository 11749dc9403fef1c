//! The python3 that knows the right results: cases go in as lines, outcomes come out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use kiln_core::Value;
use kiln_expr::EvalErrorKind;
use serde_json::{Value as Json, json};

use crate::case::*;

pub(crate) struct Python {
    pub(crate) child: Child,
    pub(crate) input: ChildStdin,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Python {
    pub(crate) fn start() -> Python {
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
    pub(crate) fn send(&mut self, lines: &[String]) {
        let text = format!("{}\n{}\n", lines.len(), lines.join("\n"));
        self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush()).expect("python3 reads its input");
    }

    pub(crate) fn receive(&mut self, count: usize) -> Vec<Vec<Outcome>> {
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

pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Int(v) => json!(["int", v.to_string()]),
        Value::Float(v) => json!(["float", v.to_bits().to_string()]),
        Value::Bool(v) => json!(["bool", if *v { "True" } else { "False" }]),
        Value::Str(v) => json!(["str", &**v]),
    }
}

pub(crate) fn from_python(kind: &str, text: &str) -> Outcome {
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
