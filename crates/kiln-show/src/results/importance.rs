//! What mattered in a study, in words: tunables by the share of the variation they explain, pairs that act together, values
//! worth adding to the kernel file.

use std::fmt;

use kiln_search::Importance;
use serde_json::{Value, json};

use crate::words::number::counted;
use crate::words::table::{Align, lines};

/// One campaign of a study: all its workloads, or one of those tuned apart.
pub struct ImportanceView<'a> {
    /// The workload; empty when all were tuned together.
    pub workload: &'a str,
    /// Configurations with a time.
    pub timed: usize,
    /// What mattered; none where too little was measured.
    pub importance: Option<&'a Importance>,
    /// How many it would take.
    pub least: usize,
}

impl ImportanceView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let tunables = self.importance.map_or(vec![], |found| {
            found.tunables.iter().map(|t| json!({ "name": &*t.name, "share": t.share, "best": t.best })).collect()
        });
        let pairs = self.importance.map_or(vec![], |found| {
            found.pairs.iter().map(|p| json!({ "names": [&*p.names.0, &*p.names.1], "share": p.share })).collect()
        });
        let edges = self.importance.map_or(vec![], |found| {
            found.edges.iter().map(|e| json!({ "name": &*e.name, "at": e.at, "try": e.try_next })).collect()
        });
        json!({ "workload": self.workload, "timed": self.timed, "tunables": tunables, "pairs": pairs, "edges": edges })
    }
}

impl fmt::Display for ImportanceView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        if !self.workload.is_empty() {
            writeln!(f, "\n{}", self.workload)?;
        }
        let Some(found) = self.importance else {
            return writeln!(
                f,
                "  {} with a time; {} are needed to say what mattered",
                counted(self.timed as u128, "configuration"),
                self.least
            );
        };
        let share = |share: f64| format!("{:.0} %", 100.0 * share);
        let mut rows = vec![["tunable", "explains", "best"].map(String::from).to_vec()];
        rows.extend(found.tunables.iter().map(|t| vec![t.name.to_string(), share(t.share), t.best.to_string()]));
        f.write_str(&lines(&rows, &[Left, Right, Left]))?;
        if !found.pairs.is_empty() {
            writeln!(f, "together, beyond what each does alone:")?;
            let row = |p: &kiln_search::Interaction| vec![format!("{} x {}", p.names.0, p.names.1), share(p.share)];
            f.write_str(&lines(&found.pairs.iter().map(row).collect::<Vec<_>>(), &[Left, Right]))?;
        }
        for edge in &found.edges {
            let (name, at, next) = (&edge.name, &edge.at, &edge.try_next);
            writeln!(f, "{name} = {at} is the end of its list: {next} is worth adding")?;
        }
        Ok(())
    }
}
