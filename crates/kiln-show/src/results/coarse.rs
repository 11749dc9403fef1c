//! A diagnosis without counters, in words: the cause with its figures, the fixes, the other causes, the roofs and the hot loop.

use std::fmt;

use kiln_app::{CoarseDiagnosis, HotLoop};

use super::diagnosed_profile::{at_the_roof, figure, times};
use crate::picture::bar;
use crate::words::number::duration;

/// What a coarse diagnosis says.
pub(super) struct CoarseView<'a> {
    pub(super) diagnosis: &'a CoarseDiagnosis,
}

impl fmt::Display for CoarseView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CoarseDiagnosis { cause, confidence, expected_speedup, roofline, kernel, time_us, .. } = self.diagnosis;
        let time = time_us.map_or("not measured".to_owned(), |micros| duration(micros / 1e6));
        match cause {
            None => writeln!(f, "no cause can be named in {kernel} ({time}) without counters")?,
            Some(cause) => {
                let worth = match cause.at_roofline() {
                    true => at_the_roof(*expected_speedup),
                    false => format!("at most {} without it", times(*expected_speedup)),
                };
                let explanation = &self.diagnosis.explanation;
                writeln!(f, "{cause} in {kernel} ({time}): {worth} (confidence {confidence})\n  {explanation}")?;
            }
        }
        for own in &self.diagnosis.evidence {
            writeln!(f, "  {} = {} (threshold {})", own.metric, figure(own.value), figure(own.threshold))?;
        }
        for (number, fix) in self.diagnosis.fixes.iter().enumerate() {
            writeln!(f, "  fix {}: {}\n    {}", number + 1, fix.what, fix.how)?;
        }
        for other in self.diagnosis.ranked.iter().skip(1) {
            writeln!(f, "also {}: at most {}", other.cause, times(other.expected_speedup))?;
        }
        match roofline.bound.name() {
            "unknown" => writeln!(f, "roofline: not known how far it is from what the machine can do")?,
            bound => writeln!(f, "roofline: bound by {bound}")?,
        }
        for (name, share) in [("memory", roofline.memory_fraction), ("arithmetic", roofline.compute_fraction)] {
            let Some(share) = share else { continue };
            writeln!(f, "  {name:20} {} {:3.0} % of peak", bar(share), 100.0 * share)?;
        }
        self.diagnosis.hot_loop.iter().try_for_each(|hot| hot_loop(f, hot))
    }
}

/// `hot loop: naive at 0x1280, 12 instructions, 97 % of the time; 256-bit vectors, 2 of 12 on the stack`.
fn hot_loop(f: &mut fmt::Formatter<'_>, hot: &HotLoop) -> fmt::Result {
    let HotLoop { function, address, instructions, share, mix, .. } = hot;
    let time = share.map_or(String::new(), |share| format!(", {:.0} % of the time", 100.0 * share));
    let width = match (mix.vector_bits, mix.scalar) {
        (0, 0) => "no floating-point arithmetic".to_string(),
        (0, _) => "no vectors".to_string(),
        (bits, _) => format!("{bits}-bit vectors"),
    };
    let stack = if mix.stack > 0 { format!(", {} on the stack", mix.stack) } else { String::new() };
    writeln!(f, "hot loop: {function} at {address:#x}, {instructions} instructions{time}; {width}{stack}")
}
