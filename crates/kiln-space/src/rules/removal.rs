//! What each rule costs. In: a problem. Out: for each rule, how many raw configurations it would remove were it the only
//! one, exactly, as long as the tunables it reads have no more than [`PROJECTION_LIMIT`] assignments; and whether it can
//! never or always hold.

use std::collections::HashSet;

use crate::problem::Problem;
use crate::rules::clause::Clauses;
use crate::space::Space;

/// Rules over more assignments than this are not counted.
pub const PROJECTION_LIMIT: u128 = 10_000_000;

/// What one rule does on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removal {
    /// How many raw configurations it removes, of its implementation where several compete; none when there are too many to count or it cannot be evaluated alone.
    pub removes: Option<u128>,
    /// True when it removes nothing.
    pub always: bool,
    /// True when it removes everything.
    pub never: bool,
}

/// The removals of all rules, in order.
pub fn removals(problem: &Problem) -> Vec<Removal> {
    if !problem.alternatives.is_empty() {
        return problem.alternatives.iter().flat_map(|one| removals(&one.problem)).collect();
    }
    let mut alone = Problem { rules: vec![], ..problem.clone() };
    problem
        .rules
        .iter()
        .map(|rule| {
            alone.rules = vec![rule.clone()];
            removal(&alone)
        })
        .collect()
}

/// What the only rule of a problem removes.
fn removal(alone: &Problem) -> Removal {
    let unknown = Removal { removes: None, always: false, never: false };
    let Ok(clauses) = Clauses::new(alone) else { return unknown };
    // What bounds alone decide needs no counting.
    let decided_always = clauses.clauses.is_empty()
        && !clauses.empty
        && alone.dimensions.iter().enumerate().all(|(t, d)| clauses.domains[t].len() == d.values.len());
    let Some(raw) = alone.raw() else {
        return Removal { always: decided_always, never: clauses.empty, ..unknown };
    };
    if clauses.empty || decided_always {
        let removes = if clauses.empty { raw } else { 0 };
        return Removal { removes: Some(removes), always: decided_always, never: clauses.empty };
    }
    let names = names_read(alone);
    let projected = alone
        .dimensions
        .iter()
        .filter(|d| names.contains(&*d.name))
        .try_fold(1u128, |product, d| product.checked_mul(d.values.len() as u128));
    if projected.is_none_or(|p| p > PROJECTION_LIMIT) {
        return unknown;
    }
    match Space::build(alone) {
        Ok(space) => {
            let removes = raw - space.len();
            Removal { removes: Some(removes), always: removes == 0, never: space.is_empty() }
        }
        Err(_) => unknown,
    }
}

/// Every name the rules depend on, directly or through derived values.
fn names_read(problem: &Problem) -> HashSet<String> {
    let own = problem.rules.iter().flat_map(|rule| rule.expression.names());
    let mut open: Vec<String> = own.map(|(name, _)| name.to_string()).collect();
    let mut names = HashSet::new();
    while let Some(name) = open.pop() {
        if names.contains(&name) {
            continue;
        }
        if let Some((_, formula)) = problem.derived.iter().find(|(n, _)| **n == *name) {
            open.extend(formula.names().into_iter().map(|(inner, _)| inner.to_string()));
        }
        names.insert(name);
    }
    names
}
