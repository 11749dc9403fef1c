//! From a selection of a kernel file to a problem: its tunables, its constraints, and the static gates that follow from
//! its launches and the device.

use kiln_core::Gate;
use kiln_expr::{ExprError, Expression};
use kiln_spec::{Constants, Formula, Implementation, Launch, Selection};

use crate::problem::{Alternative, Dimension, Problem, Rule};

impl Problem {
    /// The problem of a selection: all its workloads must be satisfied at once, and those its winner is checked on. Where
    /// implementations compete, each has its own.
    pub fn from_selection(selection: &Selection<'_>) -> Result<Problem, ExprError> {
        if selection.competing() {
            let alternative = |one: &&'_ Implementation| {
                let name = one.name.clone().unwrap_or_default();
                Ok(Alternative { name, problem: Problem::of_one(&selection.only(one), one)? })
            };
            return Ok(Problem::united(selection.implementations.iter().map(alternative).collect::<Result<_, _>>()?));
        }
        Problem::of_one(selection, selection.first())
    }

    /// The problem of one implementation, which is all that is selected.
    fn of_one(selection: &Selection<'_>, target: &Implementation) -> Result<Problem, ExprError> {
        let required = selection.required();
        let mut constants: Vec<Constants> = required.iter().map(|w| Constants::of(selection, Some(w))).collect();
        if constants.is_empty() {
            constants.push(Constants::of(selection, None));
        }
        let mut rules: Vec<Rule> = target
            .constraints
            .iter()
            .map(|c| Rule {
                name: c.name.clone(),
                gate: Gate::Constraint,
                expression: c.formula.expression.clone(),
                hint: c.hint.clone(),
                of: None,
            })
            .collect();
        // Limits belong to an architecture: without one there is nothing to hold a launch against.
        if let Some(arch) = selection.arch {
            let limits = arch.limits();
            for launch in &target.launches {
                rules.extend(smem_overflow(launch)?);
                rules.extend(launch_limits(launch, &limits.block_dims, &limits.grid_dims, limits.cluster_size)?);
            }
        }
        Ok(Problem {
            dimensions: target
                .tunables
                .iter()
                .map(|t| Dimension { name: t.name.clone(), values: t.values.clone() })
                .collect(),
            constants,
            derived: target.derived.iter().map(|d| (d.name.clone(), d.formula.expression.clone())).collect(),
            rules,
            alternatives: Vec::new(),
        })
    }
}

fn smem_overflow(launch: &Launch) -> Result<Option<Rule>, ExprError> {
    let Some(shared) = &launch.shared else { return Ok(None) };
    let text = format!("0 <= {} <= device.smem_per_block", bracketed(shared));
    rule(Gate::SmemOverflow, &text, "smaller tiles or fewer stages need less shared memory").map(Some)
}

/// Threads in all and along each axis, blocks along each axis, blocks in a cluster.
fn launch_limits(launch: &Launch, block: &[u32; 3], grid: &[u64; 3], cluster: u32) -> Result<Option<Rule>, ExprError> {
    let mut parts = Vec::new();
    if !launch.block.is_empty() {
        let threads: Vec<String> = launch.block.iter().map(bracketed).collect();
        parts.push(format!("1 <= {} <= device.threads_per_block", threads.join(" * ")));
    }
    // Along x the total is the tighter limit.
    for (axis, most) in launch.block.iter().zip(block).skip(1) {
        parts.push(format!("1 <= {} <= {most}", bracketed(axis)));
    }
    for (axis, most) in launch.grid.iter().zip(grid) {
        parts.push(format!("1 <= {} <= {most}", bracketed(axis)));
    }
    if !launch.cluster.is_empty() {
        // Beyond the portable size Hopper and later run 16 blocks when asked to; before, there are no clusters.
        let most = if cluster > 1 { 16 } else { 1 };
        let blocks: Vec<String> = launch.cluster.iter().map(bracketed).collect();
        parts.push(format!("1 <= {} <= {most}", blocks.join(" * ")));
    }
    if parts.is_empty() {
        return Ok(None);
    }
    rule(Gate::LaunchLimits, &parts.join(" and "), "keep block and grid within the device's limits").map(Some)
}

fn rule(gate: Gate, text: &str, hint: &str) -> Result<Rule, ExprError> {
    Ok(Rule { name: gate.name().into(), gate, expression: Expression::parse(text)?, hint: Some(hint.into()), of: None })
}

fn bracketed(formula: &Formula) -> String {
    let text = formula.expression.text();
    let simple = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
    if simple { text.into() } else { format!("({text})") }
}
