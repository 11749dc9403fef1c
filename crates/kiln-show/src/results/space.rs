//! A space for people and for machines.

use std::fmt;

use kiln_core::{Config, Gate, Report};
use kiln_space::{Problem, Removal, Space};
use kiln_spec::Selection;
use serde_json::{Value, json};

use crate::words::number::{duration, grouped, json_count, percent};
use crate::words::table::{Align, lines};

/// Everything `kiln space` says.
pub struct SpaceView<'a> {
    /// What it is the space of.
    pub selection: &'a Selection<'a>,
    /// What it was built from.
    pub problem: &'a Problem,
    /// The space.
    pub space: &'a Space,
    /// What each rule removes alone, in order.
    pub removals: &'a [Removal],
    /// From the file's bytes to the exact count.
    pub seconds: f64,
    /// Configurations a cache file has recorded.
    pub recorded: Option<u64>,
    /// Configurations to show.
    pub configs: &'a [Config],
    /// What is odd.
    pub warnings: &'a [Report],
}

impl SpaceView<'_> {
    /// One object.
    pub fn json(&self, with_configs: bool) -> Value {
        let rules = |gate: bool| -> Vec<Value> {
            self.rules(gate)
                .map(|(rule, removal)| {
                    json!({
                        "name": &*rule.name,
                        "expression": rule.expression.text(),
                        "removes": removal.removes.map(json_count),
                    })
                })
                .collect()
        };
        let dimensions: Vec<Value> =
            self.space.dimensions().iter().map(|d| json!({ "name": &*d.name, "values": d.values })).collect();
        let mut object = json!({
            "name": self.selection.spec.name,
            "target": self.selection.target.kind.name(),
            "arch": self.selection.arch.map(|a| a.name()),
            "workload": self.selection.workload_name(),
            "raw": self.problem.raw().map(json_count),
            "valid": json_count(self.space.len()),
            "seconds": self.seconds,
            "constraints": rules(false),
            "gates": rules(true),
            "tunables": dimensions,
            "warnings": self.warnings,
        });
        if let (Some(map), true) = (object.as_object_mut(), with_configs) {
            map.insert("configurations".into(), json!(self.configs));
        }
        if let (Some(map), Some(recorded)) = (object.as_object_mut(), self.recorded) {
            map.insert("recorded".into(), recorded.into());
        }
        object
    }

    fn rules(&self, gate: bool) -> impl Iterator<Item = (&kiln_space::Rule, &Removal)> {
        self.problem.rules.iter().zip(self.removals).filter(move |(rule, _)| (rule.gate != Gate::Constraint) == gate)
    }

    fn write_rules(&self, f: &mut fmt::Formatter<'_>, gate: bool, title: &str) -> fmt::Result {
        let raw = self.problem.raw();
        let rows: Vec<Vec<String>> = self
            .rules(gate)
            .map(|(rule, removal)| {
                let removes = removal.removes.map_or("not counted".into(), grouped);
                let share = removal.removes.zip(raw).map_or(String::new(), |(part, whole)| percent(part, whole));
                vec![rule.name.to_string(), removes, share, rule.expression.text().into()]
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let aligns = [Align::Left, Align::Right, Align::Right, Align::Left];
        write!(f, "\n{title}\n{}", lines(&rows, &aligns))
    }
}

/// The one line that says what was looked at.
pub(crate) fn headline(selection: &Selection<'_>) -> String {
    let mut parts = vec![selection.spec.name.clone(), format!("target {}", selection.target.kind.name())];
    if let Some(arch) = selection.arch {
        let assumed = if selection.arch_assumed { " (assumed; choose with --arch)" } else { "" };
        parts.push(format!("{arch}{assumed}"));
    }
    for (name, dtype) in &selection.variant {
        parts.push(format!("{name} = {}", dtype.name()));
    }
    match &selection.workloads[..] {
        [] => {}
        [only] => parts.push(format!("workload {}", only.name)),
        many => parts.push(format!("all {} workloads at once", many.len())),
    }
    parts.join(", ")
}

impl fmt::Display for SpaceView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = self.problem.raw();
        writeln!(f, "{}\n", headline(self.selection))?;
        writeln!(f, "  raw    {}", raw.map_or("more than 2^128".into(), grouped))?;
        let share = raw.map_or(String::new(), |raw| format!("  ({})", percent(self.space.len(), raw)));
        writeln!(f, "  valid  {}{share}, counted in {}", grouped(self.space.len()), duration(self.seconds))?;
        if let Some(recorded) = self.recorded {
            writeln!(f, "  recorded in this cache  {} (its rules are not in the file)", grouped(recorded.into()))?;
        }
        let rows: Vec<Vec<String>> = self
            .space
            .dimensions()
            .iter()
            .map(|d| {
                let values: Vec<String> = d.values.iter().map(|v| v.to_string()).collect();
                vec![d.name.to_string(), values.len().to_string(), shortened(&values)]
            })
            .collect();
        write!(f, "\ntunables\n{}", lines(&rows, &[Align::Left, Align::Right, Align::Left]))?;
        self.write_rules(f, false, "constraints, and how many raw configurations each removes alone")?;
        self.write_rules(f, true, "gates that follow from the launches and the device")?;
        if !self.configs.is_empty() {
            writeln!(f, "\nsome valid configurations")?;
            self.configs.iter().try_for_each(|c| writeln!(f, "  {c}"))?;
        }
        Ok(())
    }
}

/// A long list with its middle left out.
fn shortened(values: &[String]) -> String {
    const SHOWN: usize = 16;
    if values.len() <= SHOWN {
        return values.join(" ");
    }
    let (head, tail) = (&values[..SHOWN - 3], &values[values.len() - 2..]);
    format!("{} ... {}", head.join(" "), tail.join(" "))
}
