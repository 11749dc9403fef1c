//! What judging costs: memory compared and answers held against the right ones, for a product of two matrices.
//!
//! Usage: cargo run --release -p kiln-judge --example cost [N]

use std::time::Instant;

use kiln_judge::{Distribution, Exam, Inputs, Rules, Signature};
use kiln_spec::Choice;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n: usize = std::env::args().nth(1).map_or(Ok(1024), |n| n.parse())?;
    let argument =
        |name: &str, role: &str| format!("[[arguments]]\nname = \"{name}\"\ntype = \"f32[N, N]\"\nrole = \"{role}\"\n");
    let text = format!(
        "[kernel]\nname = \"cost\"\nentry = \"f\"\n[target.cpu]\nsource = \"f.c\"\n[tunables]\nT = [1]\n{}{}{}[[workloads]]\nname = \"n\"\n\
         dims = {{ N = {n} }}\n[reference]\nbuiltin = \"matmul\"\n",
        argument("a", "in"),
        argument("b", "in"),
        argument("c", "out")
    );
    let (spec, _) = kiln_spec::parse("cost", text.as_bytes()).map_err(|e| format!("{e:?}"))?;
    let selection = spec.select(Choice::default()).map_err(|e| e.to_string())?;
    let signature = Signature::of(&selection, spec.workloads.first()).map_err(|e| e.to_string())?;
    let rules = Rules::of(&selection).map_err(|e| e.to_string())?;
    let mut at = 0;
    let mut regions = Vec::new();
    for bytes in signature.sizes() {
        regions.push(at + 4096..at + 4096 + bytes);
        at += bytes + 8192;
    }
    let timed = |what: &str, started: Instant| println!("{what}: {:.2} ms", started.elapsed().as_secs_f64() * 1e3);
    let started = Instant::now();
    let inputs = Inputs::draw(&signature, Distribution::Declared, 1);
    timed("drawing inputs", started);
    let started = Instant::now();
    let exam = Exam::new(&signature, &rules, inputs, &regions, at, None)?;
    timed("right answers", started);
    let mut memory = vec![0; at];
    for _ in 0..3 {
        let started = Instant::now();
        exam.lay(&mut memory);
        timed("laying", started);
        // Not the answer, but as much work as one: the first element decides only after all were looked at.
        memory[regions[2].clone()].fill(0);
        let started = Instant::now();
        let judged = exam.judge(&memory);
        timed("judging", started);
        let started = Instant::now();
        let outputs = exam.outputs(&memory);
        timed("taking outputs", started);
        let started = Instant::now();
        let again = exam.judge_again(&memory, &outputs);
        timed("judging again", started);
        std::hint::black_box((judged, again));
    }
    Ok(())
}
