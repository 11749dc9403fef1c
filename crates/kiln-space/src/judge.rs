//! One configuration against every rule, with the numbers. In: a problem and a full configuration. Out: for each rule
//! whether it holds, refuses, or cannot be evaluated, under the first workload where it does not hold.

use kiln_core::{Config, Refusal};
use kiln_expr::{Env, Expr, Expression, Kind, truth};

use crate::problem::{Constants, Problem, Rule};

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
        let tunable = |name: &str| config.get(name).cloned();
        self.rules.iter().map(|rule| (rule, self.judge_rule(rule, &tunable))).collect()
    }

    fn judge_rule(&self, rule: &Rule, tunable: &dyn Env) -> Judgement {
        let mut held = None;
        for constants in &self.constants {
            let env = self.env(tunable, constants);
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
