//! One configuration's way up the static gates.

use std::fmt;

use kiln_app::Gated;
use kiln_core::Config;
use kiln_space::{Judgement, Rule};
use kiln_spec::Selection;
use serde_json::{Value, json};

use crate::results::space::headline;
use crate::words::table::{Align, lines};

/// Everything `kiln gate` says.
pub struct GateView<'a> {
    selection: &'a Selection<'a>,
    config: &'a Config,
    /// The names of values that were not given but taken from the default.
    defaulted: &'a [String],
    /// The workload they were tuned for, where they come from the table of tuned configurations.
    tuned: Option<&'a str>,
    judgements: Vec<(&'a Rule, Judgement)>,
}

impl<'a> GateView<'a> {
    /// What became of a configuration.
    pub fn of(gated: &'a Gated<'a>) -> GateView<'a> {
        GateView {
            selection: &gated.selection,
            config: &gated.config,
            defaulted: &gated.defaulted,
            tuned: gated.tuned(),
            judgements: gated.judgements(),
        }
    }

    /// True when every rule holds.
    pub fn passed(&self) -> bool {
        self.judgements.iter().all(|(_, j)| matches!(j, Judgement::Holds(_)))
    }

    /// One object.
    pub fn json(&self) -> Value {
        let rules: Vec<Value> = self
            .judgements
            .iter()
            .map(|(rule, judgement)| {
                let (verdict, numbers) = words(judgement);
                let mut object = json!({
                    "name": &*rule.name,
                    "gate": rule.gate,
                    "expression": rule.expression.text(),
                    "verdict": verdict,
                    "numbers": numbers,
                });
                if let (Some(map), Judgement::Refuses(refusal)) = (object.as_object_mut(), judgement) {
                    map.insert("refusal".into(), json!(refusal));
                }
                object
            })
            .collect();
        json!({
            "name": self.selection.spec.name,
            "target": self.selection.target.kind.name(),
            "arch": self.selection.arch.map(|a| a.name()),
            "workload": self.selection.workload_name(),
            "config": self.config,
            "defaulted": self.defaulted,
            "tuned": self.tuned,
            "passed": self.passed(),
            "rules": rules,
        })
    }
}

fn words(judgement: &Judgement) -> (&'static str, &str) {
    match judgement {
        Judgement::Holds(numbers) => ("holds", numbers),
        Judgement::Refuses(refusal) => ("refuses", &refusal.measured),
        Judgement::Fails(why) => ("fails", why),
    }
}

impl fmt::Display for GateView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", headline(self.selection))?;
        writeln!(f, "  {}", self.config)?;
        if !self.defaulted.is_empty() {
            let source = match self.tuned {
                None => "the default".to_string(),
                Some("") => "what was tuned".into(),
                Some(workload) => format!("what was tuned for {workload}"),
            };
            writeln!(f, "  taken from {source}: {}", self.defaulted.join(", "))?;
        }
        let rows: Vec<Vec<String>> = self
            .judgements
            .iter()
            .map(|(rule, judgement)| {
                let (verdict, numbers) = words(judgement);
                vec![verdict.into(), rule.name.to_string(), numbers.into(), rule.expression.text().into()]
            })
            .collect();
        write!(f, "\n{}", lines(&rows, &[Align::Left; 4]))?;
        for (rule, judgement) in &self.judgements {
            if let Judgement::Refuses(refusal) = judgement {
                writeln!(f, "\n{} refuses at gate {}: {}", rule.name, rule.gate, refusal.limit)?;
                match refusal.evidence.is_empty() {
                    true => writeln!(f, "  that is {}", refusal.measured)?,
                    false => writeln!(f, "  that is {} with {}", refusal.measured, refusal.evidence)?,
                }
                if let Some(hint) = &refusal.hint {
                    writeln!(f, "  hint: {hint}")?;
                }
            }
        }
        let refusing = self.judgements.iter().filter(|(_, j)| !matches!(j, Judgement::Holds(_))).count();
        match (refusing, self.judgements.len()) {
            (0, 0) => writeln!(f, "\nthe kernel file states no rules: every configuration is valid"),
            (0, 1) => writeln!(f, "\npasses 1 rule"),
            (0, all) => writeln!(f, "\npasses all {all} rules"),
            (_, 1) => writeln!(f, "\nrefused by 1 rule"),
            (refusing, all) => writeln!(f, "\nrefused by {refusing} of {all} rules"),
        }
    }
}
