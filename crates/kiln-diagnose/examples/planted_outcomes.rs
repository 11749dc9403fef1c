//! The planted programs as outcomes. In: the profiles of `fixtures/ncu` and what their repairs gave. Out, on standard output: the lines of
//! `fixtures/outcomes/planted.jsonl`. Programs at a roofline have nothing to repair, and those whose cause is not claimed no promise: both are left out.
//!
//! `cargo run -q -p kiln-diagnose --example planted_outcomes > fixtures/outcomes/planted.jsonl`

// A broken fixture ends it.
#![allow(clippy::unwrap_used)]

#[path = "../tests/recorded/planted_outcomes.rs"]
mod planted_outcomes;

fn main() {
    for outcome in planted_outcomes::all() {
        println!("{}", serde_json::to_string(&outcome).unwrap());
    }
}
