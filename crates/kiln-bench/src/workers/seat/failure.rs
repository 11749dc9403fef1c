//! What a worker could not do. In: what it said. Out: a refusal by the gate that stands for it.

use kiln_core::{Gate, Refusal};
use kiln_run::{About, Failed};

/// A refusal's rule where a library cannot be loaded.
const MISSING: &str = "missing_symbol";
/// A refusal's rule where the driver would not load or launch a kernel.
const DRIVER: &str = "driver";

/// What it means for the candidate.
pub(super) fn failure(failed: Failed) -> Refusal {
    let (gate, rule) = match &failed.about {
        About::Running => (Gate::RuntimeFailed, ""),
        About::Symbol(_) => (Gate::LaunchFailed, MISSING),
        About::Launch => (Gate::LaunchFailed, DRIVER),
        About::Image | About::Other => (Gate::LaunchFailed, ""),
    };
    let hint = match &failed.about {
        About::Symbol(symbol) => Some(format!(
            "no source defines `{symbol}`; in C++ it is declared extern \"C\", and [kernel] entry names it"
        )),
        _ => None,
    };
    let (rule, limit, evidence) = (rule.into(), "a call that ends without an error".into(), String::new());
    Refusal { gate, rule, measured: failed.words, limit, evidence, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_into_trouble_is_not_what_could_not_be_launched() {
        let of = |about| {
            let refusal = failure(Failed { about, words: "it says cuLaunchKernel and undefined symbol: f".into() });
            (refusal.gate, refusal.rule, refusal.hint.is_some())
        };
        assert_eq!(of(About::Running), (Gate::RuntimeFailed, String::new(), false));
        assert_eq!(of(About::Launch), (Gate::LaunchFailed, DRIVER.into(), false));
        assert_eq!(of(About::Symbol("f".into())), (Gate::LaunchFailed, MISSING.into(), true));
        assert_eq!(of(About::Other), (Gate::LaunchFailed, String::new(), false));
    }
}
