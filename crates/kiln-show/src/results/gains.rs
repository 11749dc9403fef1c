//! What promises were worth, in words: by cause, on kernels that the model has not seen, and how well fixes are ordered.

use std::fmt;

use kiln_app::GainCalibration;
use serde_json::{Value, json};

use super::diagnosed_profile::times;
use crate::words::number::duration;
use crate::words::table::{Align, lines};
use crate::words::visible::visible;

/// Everything `kiln lessons --calibration` says.
pub struct GainCalibrationView<'a> {
    /// What was found.
    pub calibration: &'a GainCalibration,
    /// List every outcome beside what was expected of it without its kernel.
    pub leave_out: bool,
}

impl GainCalibrationView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!(self.calibration)
    }
}

fn share(part: Option<f64>) -> String {
    part.map_or("-".into(), |part| format!("{:.0} %", 100.0 * part))
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).to_vec()
}

impl fmt::Display for GainCalibrationView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        let own = self.calibration;
        let left_out = &own.left_out;
        writeln!(
            f,
            "{} outcomes of {} kernels: {} come with kiln, {} are this project's, {} promised nothing and are left out\n",
            own.outcomes, left_out.kernels, own.shipped, own.own, own.unused
        )?;
        let mut rows = vec![row([
            "cause",
            "outcomes",
            "promised",
            "measured",
            "expected of that promise",
            "80 % interval",
            "held",
        ])];
        for cause in &own.causes {
            let held = left_out.causes.iter().find(|held| held.cause == cause.cause);
            let interval = format!("{} to {}", times(cause.expected.low), times(cause.expected.high));
            rows.push(vec![
                cause.cause.clone(),
                cause.outcomes.to_string(),
                times(cause.promised),
                times(cause.measured),
                times(cause.expected.speedup),
                interval,
                held.map_or("-".into(), |held| format!("{} of {}", held.within, held.outcomes)),
            ]);
        }
        f.write_str(&lines(&rows, &[Left, Right, Right, Right, Right, Right, Right]))?;
        writeln!(f, "\nheld: measured within the interval that a model without the kernel gave")?;
        if self.leave_out {
            outcomes(f, own)?;
        }
        writeln!(f, "80 % intervals cover {} of outcomes on kernels that were left out", share(left_out.coverage))?;
        if let (Some(model), Some(promise)) = (left_out.model_error, left_out.promise_error) {
            writeln!(f, "typical error: factor {model:.2} of what was expected, {promise:.2} of what was promised")?;
        }
        let mut rows = vec![row([
            "order of fixes",
            "pairs",
            "better one first",
            "given up",
            "same kernel and workload",
            "given up",
        ])];
        for order in &left_out.orders {
            rows.push(vec![
                order.order.name().into(),
                order.pairs.to_string(),
                share(order.right),
                order.given_up.map_or("-".into(), |factor| format!("{factor:.3}x")),
                format!("{} of {} pairs", share(order.same_work_right), order.same_work),
                order.same_work_given_up.map_or("-".into(), |factor| format!("{factor:.3}x")),
            ]);
        }
        write!(f, "\n{}", lines(&rows, &[Left, Right, Right, Right, Right, Right]))?;
        if !own.phases.is_empty() {
            phases(f, own)?;
        }
        if !self.leave_out {
            writeln!(
                f,
                "\n`kiln lessons --calibration --leave-out` lists every outcome; docs/decision-model.md explains"
            )?;
        }
        Ok(())
    }
}

fn outcomes(f: &mut fmt::Formatter<'_>, own: &GainCalibration) -> fmt::Result {
    use Align::{Left, Right};
    let mut rows = vec![row(["kernel", "workload", "cause", "promised", "expected", "80 % interval", "measured", ""])];
    for held in &own.left_out.held {
        rows.push(vec![
            visible(&held.kernel).into_owned(),
            visible(&held.workload).into_owned(),
            held.cause.clone(),
            times(held.promised),
            times(held.expected.speedup),
            format!("{} to {}", times(held.expected.low), times(held.expected.high)),
            times(held.measured),
            if held.within { "" } else { "outside" }.into(),
        ]);
    }
    writeln!(f, "\n{}", lines(&rows, &[Left, Left, Left, Right, Right, Right, Right, Left]))
}

fn phases(f: &mut fmt::Formatter<'_>, own: &GainCalibration) -> fmt::Result {
    use Align::{Left, Right};
    let mut rows = vec![row(["kernel", "phase", "takes about", "80 % interval", "times"])];
    for phase in &own.phases {
        let expected = &phase.expected;
        rows.push(vec![
            visible(&phase.kernel).into_owned(),
            phase.phase.clone(),
            duration(expected.seconds),
            format!("{} to {}", duration(expected.low), duration(expected.high)),
            expected.times.to_string(),
        ]);
    }
    write!(f, "\n{}", lines(&rows, &[Left, Left, Right, Right, Right]))
}
