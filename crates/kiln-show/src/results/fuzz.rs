//! Fuzzing in words: what passed, what was excluded, and the smallest failing case with the command that repeats it.

mod json;
#[cfg(test)]
mod tests;

pub(crate) use json::validation;

use std::fmt;

use kiln_app::{FuzzFailure, Fuzzed, KeptNow, KeptResult, Selecting, VALIDATED};
use kiln_store::Validation;
use serde_json::Value;

use crate::words::command::Command;
use crate::words::number::{counted, stretch};
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};

/// Everything `kiln fuzz` says.
pub struct FuzzView<'a> {
    /// What was found.
    pub fuzzed: &'a Fuzzed,
    /// What was selected.
    pub selecting: &'a Selecting,
    /// How kiln is called so that it finds the same store.
    pub kiln: &'a str,
    /// Whether one case was typed: it is not shrunk, and not kept.
    pub typed: bool,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl FuzzView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json::object(self)
    }

    /// The command that asks about one case again.
    fn replay(&self, variant: &str, config: &str, case: &str) -> String {
        let selecting = Selecting {
            target: Some(self.fuzzed.target.clone()),
            variant: Some(variant.to_string()).filter(|variant| !variant.is_empty()),
            ..self.selecting.clone()
        };
        Command::of(self.kiln, "fuzz", &selecting)
            .maybe("--baseline", self.fuzzed.baseline.as_deref())
            .maybe("--config", Some(config).filter(|config| !config.is_empty()))
            .value("--case", case)
            .to_string()
    }

    fn replay_failure(&self, failure: &FuzzFailure) -> String {
        let case = &failure.smallest;
        self.replay(&failure.variant, &case.config.to_string(), &case.to_string())
    }

    fn replay_kept(&self, kept: &KeptResult) -> String {
        self.replay(&kept.case.variant, &kept.case.config, &kept.case.case)
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fuzzed { kernel, target, baseline, suite, seed, variants, configs, .. } = self.fuzzed;
        let of = baseline.as_ref().map_or(String::new(), |name| format!(", baseline {name}"));
        let suite = suite.as_ref().map_or(String::new(), |name| format!(", suite {name}"));
        writeln!(f, "{kernel}, target {target}{of}, fuzz{suite}, seed {seed}")?;
        let mut about: Vec<String> = variants.iter().filter(|variant| !variant.is_empty()).cloned().collect();
        if baseline.is_none() && *configs > 0 {
            about.push(counted(*configs as u128, "configuration"));
        }
        if about.is_empty() { writeln!(f) } else { writeln!(f, "  {}\n", about.join(", ")) }
    }

    /// How many cases passed, in how long, and of how many shapes.
    fn write_passed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fuzzed { passed, shapes, seconds, interrupted, .. } = self.fuzzed;
        let passed = format!("{} passed", counted(*passed as u128, "case"));
        match interrupted {
            true => write!(f, "interrupted after {passed}")?,
            false => write!(f, "correct: {passed} in {}", stretch(*seconds))?,
        }
        if *shapes > 0 { writeln!(f, ", {}", counted(*shapes as u128, "distinct shape")) } else { writeln!(f) }
    }

    /// Cases that failed before.
    fn write_kept(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fixed = self.fuzzed.kept.iter().filter(|kept| kept.now == KeptNow::Fixed);
        for kept in fixed {
            writeln!(f, "fixed: {} passes now ({} before)", kept.case.case, kept.case.gate)?;
        }
        let passing = self.fuzzed.kept.iter().filter(|kept| kept.now == KeptNow::Passes).count();
        if passing > 0 {
            let verb = if passing == 1 { "passes" } else { "pass" };
            writeln!(f, "{} of earlier runs still {verb}", counted(passing as u128, "case"))?;
        }
        for kept in &self.fuzzed.kept {
            match &kept.now {
                KeptNow::Skipped(why) => writeln!(f, "skipped: {}: {why}", kept.case.case)?,
                KeptNow::Fails(found) => {
                    writeln!(f, "refused on {}, a case of an earlier run", kept.case.case)?;
                    f.write_str(&of_config(&kept.case.variant, &kept.case.config))?;
                    f.write_str(&refusal(found, self.verbose))?;
                    writeln!(f, "  replay: {}\n", self.replay_kept(kept))?;
                }
                KeptNow::Fixed | KeptNow::Passes => {}
            }
        }
        if self.fuzzed.kept.iter().any(|kept| matches!(kept.now, KeptNow::Fails(_))) {
            writeln!(f, "no new cases were drawn: those in {} come first", self.fuzzed.file)?;
        }
        Ok(())
    }

    fn write_failure(&self, f: &mut fmt::Formatter<'_>, failure: &FuzzFailure) -> fmt::Result {
        let FuzzFailure { found, smallest, tried, complete, steady, .. } = failure;
        writeln!(f, "refused on {smallest}")?;
        f.write_str(&of_config(&failure.variant, &smallest.config.to_string()))?;
        f.write_str(&refusal(&failure.refusal, self.verbose))?;
        if !self.typed {
            let found_after = match self.fuzzed.passed {
                0 => "found on the first case".to_string(),
                passed => format!("found after {} passed", counted(passed as u128, "case")),
            };
            let config = if found.config == smallest.config { String::new() } else { format!(", {}", found.config) };
            let found = if smallest == found { String::new() } else { format!(": {found}{config}") };
            writeln!(f, "  {found_after}{found}")?;
            let why = if self.fuzzed.interrupted { "interrupted" } else { "the time budget ended" };
            let so_far =
                if *complete { String::new() } else { format!("; {why} before all were, so it may get smaller") };
            writeln!(f, "  shrunk: {} tried{so_far}", counted(*tried as u128, "smaller case"))?;
        }
        if *steady == Some(false) {
            writeln!(
                f,
                "  it does not fail every time: look for a race, or for memory that is read before it is written"
            )?;
        }
        writeln!(f, "  replay: {}", self.replay_failure(failure))?;
        if !self.typed {
            match &self.fuzzed.not_kept {
                None => writeln!(f, "  kept in {}; it runs first next time", self.fuzzed.file)?,
                Some(why) => writeln!(f, "  not kept: {why}")?,
            }
            writeln!(f, "  hint: if the kernel is not made for this shape, state in [fuzz] which it is made for")?;
        }
        Ok(())
    }

    fn write_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fuzzed { excluded, draws_excluded, not_run, not_run_first, refused, .. } = self.fuzzed;
        let mut rows: Vec<Vec<String>> = Vec::new();
        if *draws_excluded > 0 {
            let what = if *draws_excluded == 1 { "drawn shape" } else { "drawn shapes" };
            let words = format!("{what} that constraints exclude; the nearest they admit was taken");
            rows.push(vec!["moved".into(), draws_excluded.to_string(), words]);
        }
        for (why, count) in excluded {
            rows.push(vec!["excluded".into(), count.to_string(), why.clone()]);
        }
        let gates: Vec<&str> = refused.iter().map(|(_, refusal)| refusal.gate.name()).collect();
        let mut names = gates.clone();
        names.sort_unstable();
        names.dedup();
        for gate in names {
            let count = gates.iter().filter(|other| **other == gate).count();
            let what = if count == 1 { "configuration" } else { "configurations" };
            rows.push(vec!["refused".into(), count.to_string(), format!("{what} that never ran ({gate})")]);
        }
        if *not_run > 0 {
            let first = not_run_first.as_ref().map_or(String::new(), |case| format!(", from {case} on"));
            rows.push(vec!["not run".into(), not_run.to_string(), format!("no time left{first}")]);
        }
        f.write_str(&lines(&rows, &[Align::Left, Align::Right, Align::Left]))
    }
}

/// `validated: 100 good runs of BLOCK=64 on 83 shapes`.
pub(crate) fn validated(made: &Validation) -> String {
    let shapes = made.shapes.map_or(String::new(), |shapes| format!(" on {}", counted(shapes.into(), "shape")));
    format!("validated: {} good runs of {}{shapes}", made.runs, made.config)
}

/// Variant and configuration, where there are any.
fn of_config(variant: &str, config: &str) -> String {
    let words: Vec<&str> = [variant, config].into_iter().filter(|words| !words.is_empty()).collect();
    if words.is_empty() { String::new() } else { format!("  {}\n", words.join(" ")) }
}

impl fmt::Display for FuzzView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fuzzed = self.fuzzed;
        self.write_head(f)?;
        if let Some((config, found)) = &fuzzed.unusable {
            return write!(
                f,
                "refused before it ran\n{}{}",
                of_config("", &config.to_string()),
                refusal(found, self.verbose)
            );
        }
        self.write_kept(f)?;
        match &fuzzed.failure {
            Some(failure) => self.write_failure(f, failure)?,
            None if fuzzed.has_failed() => {}
            None => self.write_passed(f)?,
        }
        self.write_counts(f)?;
        if fuzzed.only_workloads {
            writeln!(
                f,
                "note: only the workloads' own shapes were checked: no other was found that constraints admit"
            )?;
            writeln!(f, "  hint: state in [fuzz] what dimensions may be: dims = {{ S = {{ values = [32, 64] }} }}")?;
        }
        for made in &fuzzed.validated {
            writeln!(f, "{}", validated(made))?;
        }
        match fuzzed.runs {
            Some(runs) if fuzzed.validated.is_empty() && !fuzzed.has_failed() && runs < VALIDATED => {
                writeln!(f, "not validated: that takes {VALIDATED} good runs")
            }
            Some(runs) if fuzzed.validated.is_empty() && !fuzzed.has_failed() => {
                writeln!(f, "not validated: fewer than {runs} good runs; give it more --minutes")
            }
            _ => Ok(()),
        }
    }
}
