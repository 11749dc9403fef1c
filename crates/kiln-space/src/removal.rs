//! What each rule costs. In: a problem. Out: for each rule, how many raw configurations it would remove were it the only
//! one, exactly, as long as the tunables it reads have no more than [`PROJECTION_LIMIT`] assignments; and whether it can
//! never or always hold.

use crate::clause::Clauses;
use crate::problem::Problem;
use crate::space::Space;

/// Rules over more assignments than this are not counted.
pub const PROJECTION_LIMIT: u128 = 10_000_000;

/// What one rule does on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removal {
    /// How many raw configurations it removes; none when there are too many to count or it cannot be evaluated alone.
    pub removes: Option<u128>,
    /// True when it removes nothing.
    pub always: bool,
    /// True when it removes everything.
    pub never: bool,
}

/// The removals of all rules, in order.
pub fn removals(problem: &Problem) -> Vec<Removal> {
    (0..problem.rules.len()).map(|rule| removal(problem, rule)).collect()
}

fn removal(problem: &Problem, rule: usize) -> Removal {
    let alone = Problem { rules: vec![problem.rules[rule].clone()], ..problem.clone() };
    let unknown = Removal { removes: None, always: false, never: false };
    let Ok(clauses) = Clauses::new(&alone) else { return unknown };
    // What bounds alone decide needs no counting.
    let decided_always = clauses.clauses.is_empty()
        && !clauses.empty
        && clauses.domains.iter().zip(&problem.dimensions).all(|(left, d)| left.len() == d.values.len());
    let Some(raw) = problem.raw() else {
        return Removal { always: decided_always, never: clauses.empty, ..unknown };
    };
    if clauses.empty || decided_always {
        let removes = if clauses.empty { raw } else { 0 };
        return Removal { removes: Some(removes), always: decided_always, never: clauses.empty };
    }
    let reads = |name: &str| reads(problem, rule, name);
    let projected = problem
        .dimensions
        .iter()
        .filter(|d| reads(&d.name))
        .try_fold(1u128, |product, d| product.checked_mul(d.values.len() as u128));
    if projected.is_none_or(|p| p > PROJECTION_LIMIT) {
        return unknown;
    }
    match Space::build(&alone) {
        Ok(space) => {
            let removes = raw - space.len();
            Removal { removes: Some(removes), always: removes == 0, never: space.is_empty() }
        }
        Err(_) => unknown,
    }
}

/// Whether a rule depends on a name, directly or through derived values.
fn reads(problem: &Problem, rule: usize, name: &str) -> bool {
    let mut open: Vec<String> =
        problem.rules[rule].expression.names().into_iter().map(|(n, _)| n.to_string()).collect();
    let mut seen = 0;
    while seen < open.len() {
        if let Some((_, formula)) = problem.derived.iter().find(|(n, _)| **n == *open[seen]) {
            for (inner, _) in formula.names() {
                if !open.iter().any(|o| **o == *inner) {
                    open.push(inner.to_string());
                }
            }
        }
        seen += 1;
    }
    open.iter().any(|o| o == name)
}
