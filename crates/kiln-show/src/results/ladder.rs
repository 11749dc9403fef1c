//! One configuration's way up the gates that run it: build, launch, check, measure.

use std::fmt;

use kiln_study::{Ended, Evaluation};
use serde_json::{Value, json};

use crate::results::forge::in_words;
use crate::words::number::duration;
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};

/// What `kiln gate` says after the static gates.
pub struct LadderView<'a> {
    /// How it went.
    pub evaluation: &'a Evaluation,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl LadderView<'_> {
    /// True when nothing refused it.
    pub fn passed(&self) -> bool {
        self.evaluation.refusal().is_none()
    }

    /// One object.
    pub fn json(&self) -> Value {
        let (refusal, workload, measured) = match &self.evaluation.outcome {
            Ended::Refused(refusal, workload) => (Some(refusal), workload.as_deref(), Vec::new()),
            Ended::Measured { workloads, .. } => {
                let median =
                    |w: &kiln_study::Measured| json!({ "workload": w.workload, "median_ms": w.median() * 1e3 });
                (None, None, workloads.iter().map(median).collect())
            }
        };
        json!({
            "passed": self.passed(),
            "artifact": self.evaluation.artifact,
            "resources": self.evaluation.resources,
            "build_s": self.evaluation.build_s,
            "check_s": self.evaluation.check_s,
            "refusal": refusal,
            "workload": workload,
            "measured": measured,
        })
    }
}

impl fmt::Display for LadderView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = self.evaluation;
        match &way.outcome {
            Ended::Refused(found, workload) => {
                let on = workload.as_deref().filter(|w| !w.is_empty()).map_or(String::new(), |w| format!(" on {w}"));
                write!(f, "\nrefused{on}\n{}", refusal(found, self.verbose))
            }
            Ended::Measured { workloads, .. } => {
                let mut rows = vec![
                    vec!["passes".to_string(), "build".into(), duration(way.build_s)],
                    vec!["passes".into(), "run and check".into(), duration(way.check_s)],
                ];
                rows.extend(way.resources.iter().map(|r| vec![String::new(), r.kernel.clone(), in_words(r)]));
                for w in workloads {
                    let samples = format!("{} median of {} samples", duration(w.median()), w.samples.len());
                    rows.push(vec!["passes".into(), w.workload.clone(), samples]);
                }
                write!(f, "\n{}", lines(&rows, &[Align::Left, Align::Left, Align::Left]))?;
                let warnings = way.resources.iter().filter_map(|r| r.warning.as_ref());
                warnings.into_iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))?;
                writeln!(f, "\npasses every gate")
            }
        }
    }
}
