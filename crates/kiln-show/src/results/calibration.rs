//! Promises against outcomes, in words: one line for each fix, and how good the promises of each cause are.

use std::fmt;

use kiln_app::{AppliedFix, Calibration, FixKind, PromiseVerdict};
use serde_json::{Value, json};

use crate::words::table::{Align, lines};
use crate::words::visible::visible;

/// Everything `kiln diagnose --calibration` says.
pub struct CalibrationView<'a> {
    /// What was found.
    pub calibration: &'a Calibration,
}

impl CalibrationView<'_> {
    /// The same for machines.
    pub fn json(&self) -> Value {
        json!(self.calibration)
    }
}

/// How a promise came out, and what follows.
fn outcome(fix: &AppliedFix) -> &'static str {
    match (fix.verdict, fix.gone) {
        (PromiseVerdict::Kept, _) => "kept",
        (PromiseVerdict::More, _) => "more than promised",
        (PromiseVerdict::Less, _) => "less than promised",
        (PromiseVerdict::TryAnother, true) => "under a fifth: another cause took its place",
        (PromiseVerdict::TryAnother, false) => "under a fifth, and the cause is still there: try another fix",
    }
}

/// `shared_bank_conflict promised 4.07x, the change gave 3.02x (951 us to 315 us): kept; the cause is gone`.
pub(crate) fn fix_line(fix: &AppliedFix) -> String {
    let gone = match (fix.gone, fix.verdict) {
        (true, _) => "; the cause is gone",
        // The outcome says so already.
        (false, PromiseVerdict::TryAnother) => "",
        (false, _) => "; the cause is still there",
    };
    let AppliedFix { cause, predicted, measured, before_us, after_us, .. } = fix;
    format!(
        "{cause} promised {predicted:.2}x, the change gave {measured:.2}x ({before_us:.0} us to {after_us:.0} us): {}{gone}",
        outcome(fix)
    )
}

impl fmt::Display for CalibrationView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        let Calibration { profiles, fixes, kept, causes } = self.calibration;
        if fixes.is_empty() {
            writeln!(f, "no fix was profiled; profiles in the store: {profiles}")?;
            return writeln!(f, "next: kiln profile PATH, change what it names, kiln profile PATH again");
        }
        let head = ["kernel", "workload", "changed", "cause", "promised", "measured", "cause gone", "outcome"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(fixes.iter().map(|fix| {
            let changed = match fix.changed {
                FixKind::Source => "source",
                FixKind::Configuration => "configuration",
            };
            vec![
                visible(&fix.kernel).into_owned(),
                visible(&fix.workload).into_owned(),
                changed.into(),
                format!("{}{}", fix.cause, if fix.coarse { " (coarse)" } else { "" }),
                format!("{:.2}x", fix.predicted),
                format!("{:.2}x", fix.measured),
                if fix.gone { "yes" } else { "no" }.into(),
                outcome(fix).into(),
            ]
        }));
        f.write_str(&lines(&rows, &[Left, Left, Left, Left, Right, Right, Left, Left]))?;
        writeln!(f, "\n{kept} of {} promises kept within a factor of two", fixes.len())?;
        let mut rows = vec![["cause", "fixes", "kept", "measured over promised"].map(String::from).to_vec()];
        rows.extend(causes.iter().map(|own| {
            vec![own.cause.clone(), own.fixes.to_string(), own.kept.to_string(), format!("{:.2}", own.ratio)]
        }));
        f.write_str(&lines(&rows, &[Left, Right, Right, Right]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_app::CalibratedCause;

    fn fix(measured: f64, verdict: PromiseVerdict, gone: bool) -> AppliedFix {
        AppliedFix {
            at_ms: 0,
            kernel: "matmul".into(),
            target: "cuda".into(),
            workload: "square".into(),
            device: "H200".into(),
            changed: FixKind::Source,
            cause: "shared_bank_conflict".into(),
            predicted: 4.0,
            measured,
            before_us: 900.0,
            after_us: 900.0 / measured,
            gone,
            now: None,
            coarse: false,
            verdict,
        }
    }

    #[test]
    fn fixes_are_told_with_their_outcome() {
        let fixes = vec![fix(3.0, PromiseVerdict::Kept, true), fix(1.0, PromiseVerdict::TryAnother, false)];
        assert_eq!(
            fix_line(&fixes[0]),
            "shared_bank_conflict promised 4.00x, the change gave 3.00x (900 us to 300 us): kept; the cause is gone"
        );
        assert!(fix_line(&fixes[1]).ends_with("under a fifth, and the cause is still there: try another fix"));
        let causes = vec![CalibratedCause { cause: "shared_bank_conflict".into(), fixes: 2, kept: 1, ratio: 0.43 }];
        let text = CalibrationView { calibration: &Calibration { profiles: 3, fixes, kept: 1, causes } }.to_string();
        insta::assert_snapshot!(text, @r"
          kernel  workload  changed  cause                 promised  measured  cause gone  outcome
          matmul  square    source   shared_bank_conflict     4.00x     3.00x  yes         kept
          matmul  square    source   shared_bank_conflict     4.00x     1.00x  no          under a fifth, and the cause is still there: try another fix

        1 of 2 promises kept within a factor of two
          cause                 fixes  kept  measured over promised
          shared_bank_conflict      2     1                    0.43
        ");
        let none = Calibration { profiles: 1, fixes: Vec::new(), kept: 0, causes: Vec::new() };
        assert!(CalibrationView { calibration: &none }.to_string().contains("profiles in the store: 1\n"));
    }
}
