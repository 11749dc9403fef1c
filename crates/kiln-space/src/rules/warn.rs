//! What is odd about a space: constraints that never or always hold, and nothing being valid.

use kiln_core::{Config, Gate, Report};
use kiln_expr::{Kind, Range};
use kiln_spec::{Implementation, Selection};

use crate::error::SpaceError;
use crate::problem::{Problem, Rule};
use crate::rules::clause::Clauses;
use crate::rules::judge::Judgement;
use crate::rules::removal::Removal;
use crate::space::Space;

/// Warnings about a built space, each at its place in the file.
pub fn warnings(selection: &Selection<'_>, problem: &Problem, space: &Space, removals: &[Removal]) -> Vec<Report> {
    let mut reports = Vec::new();
    for (rule, removal) in problem.rules.iter().zip(removals) {
        // A gate that follows from the device is allowed to have nothing to refuse.
        let report = if removal.never {
            let none = rule.of.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
            Report::warning(format!("{} is never true: no configuration{none} is valid", rule.name))
                .label(bounds(problem, rule).unwrap_or_else(|| "false for every configuration".into()))
        } else if removal.always && rule.gate == Gate::Constraint {
            Report::warning(format!("{} is always true: it removes nothing", rule.name))
                .label(bounds(problem, rule).unwrap_or_else(|| "true for every configuration".into()))
        } else {
            continue;
        };
        reports.push(placed(selection, rule, report));
    }
    reports.extend(refused_defaults(selection, problem));
    if space.is_empty() && !removals.iter().any(|r| r.never) {
        reports.push(
            Report::warning("no configuration is valid: the rules exclude each other")
                .hint("`kiln gate PATH --config ...` shows which rules refuse a configuration"),
        );
    }
    reports
}

/// A default that breaks a rule is not the known good configuration it is meant to be. One that leaves tunables out cannot be
/// judged whole.
fn refused_defaults(selection: &Selection<'_>, problem: &Problem) -> Vec<Report> {
    let stated = selection.implementations.iter().filter(|one| !one.default.is_empty());
    stated
        .filter_map(|one| Some((*one, one.stated_default()?)))
        .filter_map(|(one, c)| refused(one, problem, &c))
        .collect()
}

fn refused(one: &Implementation, problem: &Problem, config: &Config) -> Option<Report> {
    let broken = problem.judge(config).into_iter().find_map(|(rule, judgement)| match judgement {
        Judgement::Refuses(refusal) => Some((rule.name.clone(), refusal.measured)),
        _ => None,
    });
    let (rule, measured) = broken?;
    let of = one.name.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
    let report = Report::warning(format!("the default configuration{of} is refused by {rule}: {measured}"));
    Some(report.hint("`kiln gate PATH` shows every rule with its numbers"))
}

fn placed(selection: &Selection<'_>, rule: &Rule, report: Report) -> Report {
    let one = selection.implementations.iter().find(|one| one.name == rule.of);
    let constraint = one.and_then(|one| one.constraints.iter().find(|c| c.name == rule.name));
    match constraint {
        Some(c) if rule.gate == Gate::Constraint => {
            report.at(c.formula.place(&selection.spec.source, 0..c.formula.expression.text().len()))
        }
        _ => report,
    }
}

/// The bounds of the two sides of a plain comparison: `smem_bytes is at least 65536, the other side at most 49152`.
fn bounds(problem: &Problem, rule: &Rule) -> Option<String> {
    let own = problem.alternatives.iter().find(|one| Some(&one.name) == rule.of.as_ref());
    let problem = own.map_or(problem, |one| &one.problem);
    let Kind::Compare(left, rest) = &rule.expression.root().kind else { return None };
    let [(_, right)] = &rest[..] else { return None };
    // Bounds that leave the answer open would explain nothing.
    Clauses::range_of(problem, rule.expression.root())?.truth()?;
    let text = |side: &kiln_expr::Expr| {
        if matches!(side.kind, Kind::Literal(_)) {
            return Some(String::new());
        }
        let range = Clauses::range_of(problem, side)?;
        let part = rule.expression.part(side);
        Some(match range {
            Range::Int(a, b) if a == b => format!("{part} is {a}"),
            Range::Int(a, b) => format!("{part} is {a} to {b}"),
            Range::Float(a, b) if a == b => format!("{part} is {a:?}"),
            Range::Float(a, b) => format!("{part} is {a:?} to {b:?}"),
            _ => return None,
        })
    };
    let sides = [text(left)?, text(right)?];
    Some(sides.into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(", "))
}

impl SpaceError {
    /// The error at the place in the file it comes from.
    pub fn report(&self, selection: &Selection<'_>) -> Report {
        let report = Report::error(self.to_string());
        match self {
            SpaceError::Evaluation { rule, derived, error, config, .. } => {
                let target = selection.implementation(config);
                let formula = if *derived {
                    target.derived.iter().find(|d| *d.name == **rule).map(|d| &d.formula)
                } else {
                    target.constraints.iter().find(|c| *c.name == **rule).map(|c| &c.formula)
                };
                let report = report.hint("refuse such values with a constraint of their own, or leave them out");
                match formula {
                    Some(formula) => {
                        report.at(formula.place(&selection.spec.source, error.span.clone())).label(error.kind.words())
                    }
                    None => report,
                }
            }
            SpaceError::TooEntangled { .. } => report.hint("split the constraint, or give the tunables fewer values"),
            SpaceError::TooMany => {
                let report = Report::error(format!("{} has 2^128 configurations or more", selection.spec.name));
                report.label("in [tunables]; they cannot be counted").hint("give the tunables fewer values")
            }
            SpaceError::TooManyTunables(_) => report.hint("remove the tunables that matter least"),
            _ => report,
        }
    }
}
