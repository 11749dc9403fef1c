//! One configuration on every architecture: a row for each, with the gates and rules that refuse it there.

use std::fmt;

use kiln_app::{Gated, Way};
use kiln_core::{Outcome, Refusal};
use kiln_space::Judgement;
use serde_json::{Value, json};

use crate::results::forge::{BuiltView, in_words};
use crate::results::gate::GateView;
use crate::words::table::{Align, lines};

/// Everything `kiln gate --arch all` says.
pub struct EverywhereView<'a> {
    /// One for each architecture.
    pub rows: &'a [Gated<'a>],
}

/// Something that refuses it on one architecture.
struct Found {
    gate: &'static str,
    rule: String,
    numbers: String,
}

impl EverywhereView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(object).collect();
        let passed = self.rows.iter().all(Gated::passed);
        let first = self.rows.first().map(|row| &row.selection);
        json!({
            "name": first.map(|selection| &selection.spec.name),
            "target": first.map(|selection| selection.target.kind.name()),
            "workload": first.and_then(|selection| selection.workload_name()),
            "passed": passed,
            "architectures": rows,
        })
    }
}

/// One architecture: what `kiln gate` says of it.
fn object(gated: &Gated<'_>) -> Value {
    let view = GateView::of(gated);
    let whole = view.json();
    let mut object = json!({
        "arch": whole["arch"],
        "passed": gated.passed(),
        "gates": gates(&found(gated)),
        "config": whole["config"],
        "rules": whole["rules"],
    });
    if let Way::Built(forged, _) = &gated.way {
        object["build"] = BuiltView { forged, verbose: true }.json();
    }
    object
}

/// Everything that refuses it there, as far as it came.
fn found(gated: &Gated<'_>) -> Vec<Found> {
    let refused = |refusal: &Refusal| {
        // A compiler's message may have many lines.
        let numbers = refusal.measured.lines().next().unwrap_or_default().into();
        Found { gate: refusal.gate.name(), rule: refusal.rule.clone(), numbers }
    };
    let judgements = gated.judgements().into_iter();
    let mut found: Vec<Found> = judgements
        .filter_map(|(rule, judgement)| match judgement {
            Judgement::Holds(_) => None,
            Judgement::Refuses(refusal) => Some(refused(&refusal)),
            Judgement::Fails(why) => Some(Found { gate: rule.gate.name(), rule: rule.name.to_string(), numbers: why }),
        })
        .collect();
    if let Way::Built(forged, _) = &gated.way
        && let Outcome::Refused(refusal) = &forged.outcome
    {
        found.push(refused(refusal));
    }
    found
}

/// Their gates, each once.
fn gates(found: &[Found]) -> Vec<&'static str> {
    let mut gates: Vec<&'static str> = found.iter().map(|found| found.gate).collect();
    gates.dedup();
    gates
}

/// What each kernel takes there, where it was built.
fn taken(gated: &Gated<'_>) -> String {
    match &gated.way {
        Way::Built(forged, _) => match &forged.outcome {
            Outcome::Passed(resources) => resources.iter().map(in_words).collect::<Vec<_>>().join("; "),
            Outcome::Refused(_) => String::new(),
        },
        Way::Static(_) | Way::Climbed(_) => String::new(),
    }
}

impl fmt::Display for EverywhereView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.rows.first() else { return Ok(()) };
        let (name, target) = (&first.selection.spec.name, first.selection.target.kind.name());
        // What was tuned for one architecture is the default there alone.
        let alike = self.rows.iter().all(|row| row.config == first.config);
        writeln!(f, "{name}, target {target}, every architecture")?;
        if alike {
            writeln!(f, "  {}", first.config)?;
        }
        let mut rows = vec![["architecture", "", "gate", "rule", "numbers"].map(String::from).to_vec()];
        for gated in self.rows {
            let arch = gated.selection.arch.map_or(String::new(), |arch| arch.name().into());
            let found = found(gated);
            let rules: Vec<&str> = found.iter().map(|found| found.rule.as_str()).collect();
            let (verdict, numbers) = match found.first() {
                Some(first) => ("refuses", first.numbers.clone()),
                None => ("passes", taken(gated)),
            };
            let (gate, rule) = (gates(&found).join(", "), rules.join(", "));
            let config = if alike { String::new() } else { gated.config.to_string() };
            rows.push(vec![arch, verdict.into(), gate, rule, numbers, config]);
        }
        write!(f, "\n{}", lines(&rows, &[Align::Left; 6]))?;
        let passing = self.rows.iter().filter(|row| row.passed()).count();
        writeln!(f, "\n{passing} of {} architectures pass", self.rows.len())
    }
}
