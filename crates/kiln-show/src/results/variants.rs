//! What every variant of a kernel came to, tuned one after another: a row for each.

use std::fmt;

use kiln_app::Ending;
use kiln_study::Summary;
use serde_json::{Value, json};

use crate::words::table::{Align, lines};

/// One variant.
pub struct VariantRow {
    /// Dtypes of type variables.
    pub variant: String,
    /// How its study ended.
    pub ending: Ending,
    /// What it came to; none where it was broken off.
    pub summary: Option<Box<Summary>>,
    /// Why, where it was.
    pub reason: Option<String>,
}

/// All of them.
pub struct VariantsView<'a> {
    /// In the order of the file.
    pub rows: &'a [VariantRow],
}

impl VariantsView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let row = |row: &VariantRow| json!({ "variant": row.variant, "ending": row.ending, "reason": row.reason, "summary": row.summary });
        json!({ "variants": self.rows.iter().map(row).collect::<Vec<_>>() })
    }
}

impl fmt::Display for VariantsView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = ["variant", "verdict", "speedup", "95 % interval", "configuration"];
        let mut rows = vec![titles.map(String::from).to_vec()];
        for row in self.rows {
            let none = || "-".to_string();
            let Some(summary) = &row.summary else {
                let why = row.reason.clone().unwrap_or_else(|| "interrupted".into());
                rows.push(vec![row.variant.clone(), none(), none(), none(), why]);
                continue;
            };
            let apart = summary.workloads.iter().any(|w| w.config.is_some());
            let config = match &summary.config {
                Some(config) => config.to_string(),
                None if apart => "one for each workload".into(),
                None => none(),
            };
            rows.push(vec![
                row.variant.clone(),
                summary.verdict.name().into(),
                summary.speedup.map_or_else(none, |speedup| format!("{speedup:.2}x")),
                summary.speedup_ci95.map_or_else(none, |ci| format!("[{:.2}, {:.2}]", ci.low, ci.high)),
                config,
            ]);
        }
        use Align::{Left, Right};
        write!(f, "\nall variants\n{}", lines(&rows, &[Left, Left, Right, Left, Left]))
    }
}
