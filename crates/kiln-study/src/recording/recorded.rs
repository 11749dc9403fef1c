//! Settings and checks between the bench and the record. In: what the bench works with. Out: what is recorded of it, and back.
//! Refuses settings that this kiln does not understand: a study cannot go on under half of them. Every field is named, so that a
//! new one cannot be forgotten.

use kiln_bench::{CacheState, Checked, Scrutiny, Settings};
use kiln_core::Fault;
use kiln_store::{CallChecks, CheckedCalls, Options, Study};

/// Settings as they are recorded.
pub fn options(settings: &Settings) -> Options {
    let Settings {
        seed,
        strategy,
        priors,
        seed_trials,
        search_trials,
        search_samples,
        pairs,
        most_pairs,
        width,
        pair_samples,
        workload,
        implementation,
        baseline,
        stop_rule,
        cache,
        threads,
        pin,
        ahead,
        patience,
        memory,
        build_timeout,
        finalists,
        ablation,
        target_speedup,
    } = settings.clone();
    Options {
        seed: Some(seed),
        strategy: Some(strategy),
        priors: Some(priors),
        seed_trials: Some(seed_trials),
        search_trials: Some(search_trials),
        search_samples: Some(search_samples),
        pairs: Some(pairs),
        most_pairs: Some(most_pairs),
        width: Some(width),
        pair_samples: Some(pair_samples),
        workload,
        implementation,
        baseline,
        stop_rule: Some(stop_rule),
        cache: Some(cache.name().into()),
        threads: Some(threads),
        pin: Some(pin),
        ahead: Some(ahead),
        patience: Some(patience),
        memory,
        build_timeout: Some(build_timeout),
        finalists: Some(finalists),
        ablation: Some(ablation),
        target_speedup,
    }
}

/// The settings a study was begun with. What it does not say had the usual value.
pub fn settings_of(study: &Study) -> Result<Settings, Fault> {
    let fault = |why: &str| Fault::new(format!("reading the settings of study {}", study.id), why);
    let usual = Settings::default();
    let set = study.options.read().map_err(fault)?.clone();
    let cache = match set.cache {
        None => usual.cache,
        Some(name) => [CacheState::Warm, CacheState::Cold]
            .into_iter()
            .find(|state| state.name() == name)
            .ok_or_else(|| fault(&format!("there is no cache state `{name}`")))?,
    };
    Ok(Settings {
        seed: set.seed.unwrap_or(usual.seed),
        strategy: set.strategy.unwrap_or(usual.strategy),
        priors: set.priors.unwrap_or(usual.priors),
        seed_trials: set.seed_trials.unwrap_or(usual.seed_trials),
        search_trials: set.search_trials.unwrap_or(usual.search_trials),
        search_samples: set.search_samples.unwrap_or(usual.search_samples),
        pairs: set.pairs.unwrap_or(usual.pairs),
        most_pairs: set.most_pairs.unwrap_or(usual.most_pairs),
        width: set.width.unwrap_or(usual.width),
        pair_samples: set.pair_samples.unwrap_or(usual.pair_samples),
        workload: set.workload,
        implementation: set.implementation,
        baseline: set.baseline,
        stop_rule: set.stop_rule.unwrap_or(usual.stop_rule),
        cache,
        threads: set.threads.unwrap_or(usual.threads),
        pin: set.pin.unwrap_or(usual.pin),
        ahead: set.ahead.unwrap_or(usual.ahead),
        patience: set.patience.unwrap_or(usual.patience),
        memory: set.memory,
        build_timeout: set.build_timeout.unwrap_or(usual.build_timeout),
        finalists: set.finalists.unwrap_or(usual.finalists),
        ablation: set.ablation.unwrap_or(usual.ablation),
        target_speedup: set.target_speedup,
    })
}

/// Checks as they are recorded.
pub(crate) fn call_checks(found: &Scrutiny) -> CallChecks {
    let Scrutiny { checked, notes, hidden } = found.clone();
    CallChecks { checked: checked_calls(&checked), notes, hidden }
}

/// The number of checked calls as it is recorded.
pub fn checked_calls(found: &Checked) -> CheckedCalls {
    let Checked { timed, compared, reference, detects } = *found;
    CheckedCalls { timed, compared, reference, detects }
}

/// Recorded checks, for the verdict that rests on them.
pub(crate) fn scrutiny(found: &CallChecks) -> Scrutiny {
    let CallChecks { checked, notes, hidden } = found.clone();
    let CheckedCalls { timed, compared, reference, detects } = checked;
    Scrutiny { checked: Checked { timed, compared, reference, detects }, notes, hidden }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record is what it was when settings were written as they are: old stores and scripts rely on it.
    #[test]
    fn settings_are_recorded_as_they_always_were() {
        let odd = Settings {
            seed: u64::MAX,
            workload: Some("w".into()),
            cache: CacheState::Cold,
            memory: Some(1 << 40),
            ..Settings::default()
        };
        for settings in [Settings::default(), odd] {
            let text = serde_json::to_string(&options(&settings)).unwrap();
            assert_eq!(text, serde_json::to_string(&settings).unwrap());
        }
    }
}
