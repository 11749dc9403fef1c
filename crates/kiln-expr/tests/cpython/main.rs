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

mod case;
mod python;
mod seen;
mod trees;

use std::time::Instant;

use case::{Case, compare};
use python::Python;
use seen::Seen;

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
