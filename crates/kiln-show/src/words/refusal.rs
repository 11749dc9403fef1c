//! A refusal in words.

use kiln_core::{Gate, Refusal};

use crate::words::visible::visible;

/// Gate, what was measured, what was allowed, evidence, hint; a line each, indented. With `verbose` the command, too.
pub fn refusal(refusal: &Refusal, verbose: bool) -> String {
    let rule = if refusal.rule.is_empty() { String::new() } else { format!(" ({})", refusal.rule) };
    let mut text = format!("  {}{rule}: {}\n", refusal.gate, meaning(refusal));
    let mut line = |name: &str, words: &str| {
        for (i, part) in visible(words).lines().enumerate() {
            let name = if i == 0 { name } else { "" };
            text.push_str(&format!("    {name:<9} {part}\n"));
        }
    };
    line("measured", &refusal.measured);
    line(allowed(refusal), &refusal.limit);
    line("evidence", refusal.words());
    line("command", refusal.command().filter(|_| verbose).unwrap_or_default());
    line("hint", refusal.hint.as_deref().unwrap_or_default());
    text
}

/// What was measured and what was allowed, in one line. Of a wrong number the limit is the expected one.
pub(crate) fn measured(refusal: &Refusal) -> String {
    match refusal.limit.is_empty() {
        true => refusal.measured.clone(),
        false if allowed(refusal) == EXPECTED => format!("{} (expected {})", refusal.measured, refusal.limit),
        false => format!("{} ({}: {})", refusal.measured, allowed(refusal), refusal.limit),
    }
}

const EXPECTED: &str = "expected";

/// What the limit is: of a wrong number the right one with its tolerance, of an error over all elements and of anything else a bound.
fn allowed(refusal: &Refusal) -> &'static str {
    let overall = refusal.measured.contains("error over that of the answer");
    if refusal.gate == Gate::Numerics && !overall { EXPECTED } else { "limit" }
}

/// What happened, as exactly as the refusal says.
pub(crate) fn meaning(refusal: &Refusal) -> &'static str {
    match refusal.gate {
        Gate::LaunchFailed if refusal.rule == "missing_symbol" => "its library cannot be loaded",
        Gate::LaunchFailed if refusal.rule == "driver" => "the driver refused the launch",
        Gate::LaunchFailed => "the function failed with an error",
        gate => gate.meaning(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_stands_beside_the_right_one() {
        let mut wrong = crate::sample::wrong("seed", 0, "A=1").refusal.unwrap();
        assert_eq!(measured(&wrong), "error 0.5 at [0, 3] (expected 0.001)");
        assert!(super::refusal(&wrong, false).contains("    measured  error 0.5 at [0, 3]\n    expected  0.001\n"));
        wrong.measured = "the length of y's error over that of the answer is 2.00e-2".into();
        assert!(measured(&wrong).ends_with(" is 2.00e-2 (limit: 0.001)"));
        wrong.measured = "error 0.5 at [0, 3]".into();
        wrong.limit.clear();
        assert_eq!(measured(&wrong), "error 0.5 at [0, 3]");
    }

    #[test]
    fn a_function_that_fails_is_no_driver_that_refuses() {
        let shown = |rule: &str, measured: &str| {
            let (rule, limit) = (rule.into(), "done".into());
            let measured = measured.into();
            let (gate, evidence, hint) = (Gate::LaunchFailed, String::new(), None);
            super::refusal(&Refusal { gate, rule, measured, limit, evidence, hint }, false)
        };
        assert!(
            shown("", "f.py:4: ValueError: not today").contains("launch_failed: the function failed with an error")
        );
        assert!(shown("missing_symbol", "library.so: undefined symbol: f").contains(": its library cannot be loaded"));
        assert!(
            shown("driver", "cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE").contains("the driver refused the launch\n")
        );
    }
}
