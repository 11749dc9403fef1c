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
                    let mut object = json!({
                        "name": &*rule.name,
                        "expression": rule.expression.text(),
                        "removes": removal.removes.map(json_count),
                    });
                    if let Some(of) = &rule.of {
                        object["implementation"] = json!(**of);
                    }
                    object
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
        if let (Some(map), true) = (object.as_object_mut(), self.selection.competing()) {
            map.insert("implementations".into(), self.implementations().map(Contest::json).collect());
        }
        if let (Some(map), true) = (object.as_object_mut(), with_configs) {
            map.insert("configurations".into(), json!(self.configs));
        }
        if let (Some(map), Some(recorded)) = (object.as_object_mut(), self.recorded) {
            map.insert("recorded".into(), recorded.into());
        }
        object
    }

    /// The implementations that compete, and those that do not run here.
    fn implementations(&self) -> impl Iterator<Item = Contest<'_>> {
        let counts = self.space.implementations();
        let valid = move |name: &str| counts.iter().find(|(own, _)| *own == name).map_or(0, |(_, count)| *count);
        let competing = self.problem.alternatives.iter().map(move |one| Contest {
            name: &one.name,
            tunables: one.problem.dimensions.iter().map(|d| &*d.name).collect(),
            raw: one.problem.raw(),
            valid: valid(&one.name),
            left_out: None,
        });
        let left_out = self.selection.left_out.iter().map(|one| Contest {
            name: one.name.as_deref().unwrap_or_default(),
            tunables: one.tunables.iter().map(|t| &*t.name).collect(),
            raw: None,
            valid: 0,
            left_out: Some(format!("runs on {}", one.places())),
        });
        competing.chain(left_out)
    }

    fn rules(&self, gate: bool) -> impl Iterator<Item = (&kiln_space::Rule, &Removal)> {
        self.problem.rules.iter().zip(self.removals).filter(move |(rule, _)| (rule.gate != Gate::Constraint) == gate)
    }

    fn write_rules(&self, f: &mut fmt::Formatter<'_>, gate: bool, title: &str) -> fmt::Result {
        let rows: Vec<Vec<String>> = self
            .rules(gate)
            .map(|(rule, removal)| {
                let own = self.problem.alternatives.iter().find(|one| Some(&one.name) == rule.of.as_ref());
                let raw = own.map_or(self.problem, |one| &one.problem).raw();
                let removes = removal.removes.map_or("not counted".into(), grouped);
                let share = removal.removes.zip(raw).map_or(String::new(), |(part, whole)| percent(part, whole));
                let name = rule.of.as_ref().map_or_else(|| rule.name.to_string(), |of| format!("{of}: {}", rule.name));
                vec![name, removes, share, rule.expression.text().into()]
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let aligns = [Align::Left, Align::Right, Align::Right, Align::Left];
        write!(f, "\n{title}\n{}", lines(&rows, &aligns))
    }
}

/// One of several implementations.
struct Contest<'a> {
    name: &'a str,
    tunables: Vec<&'a str>,
    raw: Option<u128>,
    valid: u128,
    left_out: Option<String>,
}

impl Contest<'_> {
    fn json(self) -> Value {
        let mut object = json!({
            "name": self.name,
            "tunables": self.tunables,
            "raw": self.raw.map(json_count),
            "valid": json_count(self.valid),
        });
        if let Some(why) = self.left_out {
            object["left_out"] = json!(why);
        }
        object
    }

    fn row(&self) -> Vec<String> {
        match &self.left_out {
            Some(why) => vec![self.name.into(), "left out".into(), why.clone()],
            None => vec![self.name.into(), grouped(self.valid), self.tunables.join(" ")],
        }
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
        if self.selection.competing() {
            let rows: Vec<Vec<String>> = self.implementations().map(|one| one.row()).collect();
            write!(
                f,
                "\nimplementations, and the valid configurations of each\n{}",
                lines(&rows, &[Align::Left, Align::Right, Align::Left])
            )?;
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
