//! What the right answer of attention costs, all rows of it.
//!
//! Usage: cargo run --release -p kiln-judge --example attention_cost [S] [f32|f16]

use std::time::Instant;

use kiln_judge::{Coverage, Distribution, Exam, Inputs, Rules, Signature};
use kiln_spec::Choice;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let s: usize = std::env::args().nth(1).map_or(Ok(1024), |n| n.parse())?;
    let dtype = std::env::args().nth(2).unwrap_or_else(|| "f16".into());
    let argument = |name: &str, role: &str| {
        format!("[[arguments]]\nname = \"{name}\"\ntype = \"{dtype}[4, S, 64]\"\nrole = \"{role}\"\n")
    };
    let text = format!(
        "[kernel]\nname = \"cost\"\nentry = \"f\"\n[target.cpu]\nsource = \"f.c\"\n[tunables]\nT = [1]\n{}{}{}{}[[workloads]]\nname = \"n\"\n\
         dims = {{ S = {s} }}\n[reference]\nbuiltin = \"attention\"\n",
        argument("q", "in"),
        argument("k", "in"),
        argument("v", "in"),
        argument("o", "out")
    );
    let (spec, _) = kiln_spec::parse("cost", text.as_bytes()).map_err(|e| format!("{e:?}"))?;
    let selection = spec.select(Choice::default()).map_err(|e| e.to_string())?;
    let signature = Signature::of(&selection, spec.workloads.first()).map_err(|e| e.to_string())?;
    let rules = Rules::of(&selection).map_err(|e| e.to_string())?.covering(Coverage::Every);
    let mut at = 0;
    let mut regions = Vec::new();
    for bytes in signature.sizes() {
        regions.push(at + 4096..at + 4096 + bytes);
        at += bytes + 8192;
    }
    let inputs = Inputs::draw(&signature, Distribution::Declared, 1);
    let started = Instant::now();
    let exam = Exam::new(&signature, &rules, inputs, &regions, at, None)?;
    let seconds = started.elapsed().as_secs_f64();
    let products = 2.0 * 4.0 * (s * s * 64) as f64;
    println!(
        "right answers of 4 heads, S = {s}, {dtype}: {seconds:.2} s, {:.2} G products/s",
        products / seconds / 1e9
    );
    std::hint::black_box(exam);
    Ok(())
}
