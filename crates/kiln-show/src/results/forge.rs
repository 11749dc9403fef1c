//! What the compiler made of configurations, without any of them having run.

use std::collections::BTreeMap;
use std::fmt;

use kiln_core::{Gate, Outcome};
use kiln_study::{Forged, Kernel, Resources};
use serde_json::{Value, json};

use crate::words::number::{duration, grouped, size};
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};

/// Refusals shown in full, one of each gate.
const SHOWN: usize = 3;

/// One configuration that was built.
pub struct BuiltView<'a> {
    /// What became of it.
    pub forged: &'a Forged,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl BuiltView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let (resources, refusal) = match &self.forged.outcome {
            Outcome::Passed(resources) => (&resources[..], None),
            Outcome::Refused(refusal) => (&[][..], Some(refusal)),
        };
        json!({
            "passed": refusal.is_none(),
            "build_s": self.forged.seconds,
            "resources": resources,
            "warnings": self.forged.warnings,
            "refusal": refusal,
        })
    }
}

impl fmt::Display for BuiltView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.forged.outcome {
            Outcome::Passed(resources) => {
                let took = self.forged.seconds.map_or("from the cache".to_string(), duration);
                let mut rows = vec![vec!["passes".to_string(), "build".into(), took]];
                rows.extend(resources.iter().map(|r| vec![String::new(), r.kernel.clone(), in_words(r)]));
                write!(f, "\n{}", lines(&rows, &[Align::Left, Align::Left, Align::Left]))?;
                self.forged.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
            }
            Outcome::Refused(found) => write!(f, "\nrefused\n{}", refusal(found, self.verbose)),
        }
    }
}

/// What a kernel takes, in a line.
pub(crate) fn in_words(r: &Resources) -> String {
    let mut parts = vec![format!("{} registers", r.registers)];
    parts.push(match r.spilled_bytes {
        0 => "no spills".into(),
        bytes => format!("{bytes} bytes spilled"),
    });
    if r.shared_bytes > 0 {
        parts.push(format!("{} shared", size(r.shared_bytes)));
    }
    let blocks = if r.blocks_per_sm == 1 { "1 block".into() } else { format!("{} blocks", r.blocks_per_sm) };
    parts.push(format!(
        "{blocks} a multiprocessor, {:.0} % of its warps, limited by {}",
        100.0 * r.occupancy,
        r.limited_by
    ));
    if r.wgmma_serialized {
        parts.push("wgmma serialized".into());
    }
    parts.join(", ")
}

/// Many of them.
pub struct ForgeView<'a> {
    /// The kernel.
    pub kernel: &'a Kernel<'a>,
    /// The compiler and its version.
    pub compiler: &'a str,
    /// In the order they were asked for.
    pub forged: &'a [Forged],
    /// Refusals by gate.
    pub refused: &'a BTreeMap<Gate, usize>,
    /// The seed of the choice.
    pub seed: u64,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl ForgeView<'_> {
    fn built(&self) -> usize {
        self.forged.len() - self.refused.values().sum::<usize>()
    }

    fn resources(&self) -> impl Iterator<Item = (&Forged, &Resources)> {
        self.forged.iter().flat_map(|one| match &one.outcome {
            Outcome::Passed(resources) => resources.iter().map(|r| (one, r)).collect::<Vec<_>>(),
            Outcome::Refused(_) => Vec::new(),
        })
    }

    /// One object.
    pub fn json(&self) -> Value {
        let one = |forged: &Forged| {
            let mut object = BuiltView { forged, verbose: self.verbose }.json();
            if let Some(map) = object.as_object_mut() {
                map.insert("config".into(), json!(forged.config));
            }
            object
        };
        let refused: BTreeMap<&str, usize> = self.refused.iter().map(|(gate, count)| (gate.name(), *count)).collect();
        json!({
            "kernel": self.kernel.name(),
            "target": self.kernel.target(),
            "arch": self.kernel.selection.arch.map(|a| a.name().to_string()),
            "compiler": self.compiler,
            "seed": self.seed,
            "valid": crate::words::number::json_count(self.kernel.space.len()),
            "tried": self.forged.len(),
            "built": self.built(),
            "refused": refused,
            "configurations": self.forged.iter().map(one).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for ForgeView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arch = self.kernel.selection.arch.map_or(String::new(), |a| format!(" for {a}"));
        writeln!(
            f,
            "{} ({}{arch}), {}: {} of {} valid configurations tried, {} built",
            self.kernel.name(),
            self.kernel.target(),
            self.compiler,
            self.forged.len(),
            grouped(self.kernel.space.len()),
            self.built(),
        )?;
        let spilling = self.resources().filter(|(_, r)| r.spilled_bytes > 0).count();
        if spilling > 0 {
            writeln!(f, "{spilling} spill registers; [gates] spills = \"refuse\" would refuse them")?;
        }
        if let Some((one, low)) = self.resources().min_by(|a, b| a.1.occupancy.total_cmp(&b.1.occupancy)) {
            writeln!(f, "lowest occupancy: {} with {}", in_words(low), one.config)?;
        }
        for (gate, count) in self.refused {
            writeln!(f, "refused by {}: {count}", gate.name())?;
        }
        let mut shown: Vec<Gate> = Vec::new();
        for one in self.forged {
            if let Outcome::Refused(found) = &one.outcome
                && !shown.contains(&found.gate)
                && shown.len() < SHOWN
            {
                shown.push(found.gate);
                write!(f, "\n{}\n{}", one.config, refusal(found, self.verbose))?;
            }
        }
        Ok(())
    }
}
