//! One configuration against every rule, with the numbers. In: a problem and a full configuration. Out: for each rule
//! whether it holds, refuses, or cannot be evaluated, under the first workload where it does not hold.

use kiln_core::{Config, Refusal};
use kiln_expr::{Env, Expr, Expression, Kind, truth};
use kiln_spec::Constants;

use crate::problem::{Problem, Rule};

/// What a rule says of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// It holds; the text shows its comparisons with numbers in.
    Holds(String),
    /// It refuses.
    Refuses(Refusal),
    /// It cannot be evaluated; the text says why.
    Fails(String),
}

impl Problem {
    /// Every rule's judgement of a configuration, in order.
    pub fn judge(&self, config: &Config) -> Vec<(&Rule, Judgement)> {
        self.meant(config).rules.iter().map(|rule| (rule, self.meant(config).judge_rule(rule, config))).collect()
    }

    fn judge_rule(&self, rule: &Rule, config: &Config) -> Judgement {
        let mut held = None;
        for constants in &self.constants {
            let env = self.bindings(config, constants);
            match rule.expression.eval(&env) {
                Ok(value) if truth(&value) => {
                    held.get_or_insert_with(|| substituted(&rule.expression, rule.expression.root(), &env));
                }
                Ok(_) => return Judgement::Refuses(refusal(rule, constants, &env, self.constants.len() > 1)),
                Err(error) => return Judgement::Fails(error.to_string()),
            }
        }
        Judgement::Holds(held.unwrap_or_default())
    }

    /// The first rule that does not hold for a configuration, and the workload where it does not.
    pub fn broken(&self, config: &Config) -> Option<(Refusal, &str)> {
        if !self.alternatives.is_empty() {
            return self.meant(config).broken(config);
        }
        let (mut refusal, workload) = self
            .constants
            .iter()
            .find_map(|constants| Some((self.broken_on(config, constants)?, &*constants.workload)))?;
        if self.constants.len() > 1 {
            refusal.evidence.push_str(&format!(", workload {workload}"));
        }
        Some((refusal, workload))
    }

    /// The first rule that does not hold for a configuration on one workload, whether or not the problem has it. A rule
    /// that cannot be evaluated there does not hold.
    pub fn broken_on(&self, config: &Config, constants: &Constants) -> Option<Refusal> {
        let env = self.bindings(config, constants);
        self.meant(config).rules.iter().find_map(|rule| match rule.expression.eval(&env) {
            Ok(value) if truth(&value) => None,
            Ok(_) => Some(refusal(rule, constants, &env, false)),
            Err(error) => Some(Refusal { measured: error.to_string(), ..refusal(rule, constants, &env, false) }),
        })
    }
}

fn refusal(rule: &Rule, constants: &Constants, env: &dyn Env, several: bool) -> Refusal {
    let broken = broken(&rule.expression, rule.expression.root(), env);
    let mut evidence: Vec<String> =
        broken.names().iter().filter_map(|(name, _)| Some(format!("{name} = {}", env.value(name)?))).collect();
    if several {
        evidence.push(format!("workload {}", constants.workload));
    }
    Refusal {
        gate: rule.gate,
        rule: rule.name.to_string(),
        measured: substituted(&rule.expression, broken, env),
        limit: rule.expression.part(broken).into(),
        evidence: evidence.join(", "),
        hint: rule.hint.clone(),
    }
}

/// The conjunct that is false: of `a and b` the first of the two that is.
fn broken<'a>(expression: &Expression, expr: &'a Expr, env: &dyn Env) -> &'a Expr {
    if let Kind::And(a, b) = &expr.kind {
        let first_fails = expression.eval_part(a, env).is_ok_and(|v| !truth(&v));
        return broken(expression, if first_fails { a } else { b }, env);
    }
    expr
}

/// The text of a condition with numbers for the sides of its comparisons: `smem <= limit` as `81920 <= 49152`.
fn substituted(expression: &Expression, expr: &Expr, env: &dyn Env) -> String {
    let show = |e: &Expr| match expression.eval_part(e, env) {
        Ok(value) => value.to_string(),
        Err(_) => format!("({})", expression.part(e)),
    };
    match &expr.kind {
        Kind::Compare(first, rest) => {
            rest.iter().fold(show(first), |text, (op, side)| format!("{text} {} {}", op.sign(), show(side)))
        }
        Kind::In(item, negated, list) => {
            let list: Vec<String> = list.iter().map(show).collect();
            let not = if *negated { "not " } else { "" };
            format!("{} {not}in [{}]", show(item), list.join(", "))
        }
        Kind::And(a, b) => format!("{} and {}", substituted(expression, a, env), substituted(expression, b, env)),
        Kind::Or(a, b) => format!("{} or {}", substituted(expression, a, env), substituted(expression, b, env)),
        Kind::Unary(kiln_expr::UnaryOp::Not, a) => format!("not ({})", substituted(expression, a, env)),
        _ => show(expr),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nBLOCK = [16, 24, 32]\n[target.cpu]\nsource = \"k.c\"\n\
        [constraints]\nwhole = \"N % BLOCK == 0\"\nroom = \"64 // (N - 90) < 50\"\n\
        [[workloads]]\nname = \"even\"\ndims = { N = 96 }\n[[workloads]]\nname = \"other\"\ndims = { N = 120 }\n\
        [[workloads]]\nname = \"odd\"\nuse = \"check\"\ndims = { N = 48 }\n";

    /// The rule, its numbers, what it rests on and the workload.
    fn broken(file: &str, workload: Option<&str>, config: &str) -> Option<(String, String, String, String)> {
        let (spec, _) = kiln_spec::parse("kernel.toml", file.as_bytes()).unwrap();
        let selection = spec.select(Choice { workload, ..Choice::default() }).unwrap();
        let problem = Problem::from_selection(&selection).unwrap();
        let (refusal, workload) = problem.broken(&Config::parse(config).unwrap())?;
        Some((refusal.rule, refusal.measured, refusal.evidence, workload.into()))
    }

    #[test]
    fn a_rule_must_hold_on_workloads_for_checking_too() {
        let one = FILE.replace("name = \"other\"", "name = \"other\"\nuse = \"holdout\"");
        assert_eq!(broken(&one, None, "BLOCK=24"), None);
        let (rule, measured, evidence, workload) = broken(&one, None, "BLOCK=32").unwrap();
        assert_eq!((&*rule, &*measured, &*workload), ("whole", "24 == 0", "other"));
        assert_eq!(evidence, "N = 120, BLOCK = 32, workload other");
        let odd = FILE.replace("N = 120", "N = 960");
        assert_eq!(broken(&odd, None, "BLOCK=32").unwrap().3, "odd");
        // Selected alone, nothing but the one counts.
        assert_eq!(broken(&odd, Some("even"), "BLOCK=32"), None);
    }

    #[test]
    fn a_rule_that_cannot_be_evaluated_does_not_hold() {
        let (rule, measured, ..) = broken(&FILE.replace("N = 48", "N = 90"), None, "BLOCK=24").unwrap();
        assert_eq!(rule, "whole", "{measured}");
        let file = FILE.replace("N = 48", "N = 90").replace("whole = \"N % BLOCK == 0\"\n", "");
        let (rule, measured, _, workload) = broken(&file, None, "BLOCK=24").unwrap();
        assert_eq!((&*rule, &*workload), ("room", "odd"));
        assert!(measured.contains("zero"), "{measured}");
    }
}
