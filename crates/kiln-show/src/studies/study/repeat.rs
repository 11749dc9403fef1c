//! The command that repeats a study: its seed, and every setting that is not the default.

use kiln_store::Study;
use kiln_study::{CacheState, Settings, settings_of};

use crate::words::command::quoted;

/// As it would be typed, behind `kiln`, which may hold `--store`. What the record does not say (a budget of time) is left out.
pub fn repeat(kiln: &str, study: &Study) -> String {
    let mut words = vec![format!("{kiln} tune"), quoted(&study.path), format!("--target {}", study.target)];
    words.extend(study.arch.as_ref().map(|arch| format!("--arch {arch}")));
    if !study.variant.is_empty() {
        words.push(format!("--variant {}", quoted(&study.variant)));
    }
    words.push(format!("--seed {}", study.seed));
    // The settings of another kiln may not be readable; the seed is what matters most.
    if let Ok(settings) = settings_of(study) {
        words.extend(flags(&settings, study.arch.is_some()));
    }
    words.join(" ")
}

fn flags(set: &Settings, on_gpu: bool) -> Vec<String> {
    let usual = Settings::default();
    let mut flags = Vec::new();
    let mut add = |differs: bool, flag: String| flags.extend(differs.then_some(flag));
    let trials = set.seed_trials + set.search_trials;
    let samples = set.pairs * set.pair_samples;
    add(trials != usual.seed_trials + usual.search_trials, format!("--trials {trials}"));
    add(samples != usual.pairs * usual.pair_samples, format!("--samples {samples}"));
    add(set.strategy != usual.strategy, format!("--strategy {}", set.strategy));
    // Naming them matters: by now there may be others.
    add(set.priors.is_empty(), "--no-prior".into());
    set.priors.iter().for_each(|prior| add(true, format!("--prior {}", quoted(prior))));
    // Usual is warm on a processor and cold on a GPU.
    match set.cache {
        CacheState::Cold => add(!on_gpu, "--cold".into()),
        CacheState::Warm => add(on_gpu, "--warm".into()),
    }
    add(set.threads != usual.threads, format!("--threads {}", set.threads));
    add(!set.pin, "--no-pin".into());
    add(set.build_timeout != usual.build_timeout, format!("--build-limit {}", set.build_timeout));
    add(!set.stop_rule, "--no-stop".into());
    add(!set.ablation, "--no-ablation".into());
    if let Some(name) = &set.workload {
        add(true, format!("--workload {}", quoted(name)));
    }
    if let Some(name) = &set.baseline {
        add(true, format!("--baseline {}", quoted(name)));
    }
    if let Some(aim) = set.target_speedup {
        add(true, format!("--target-speedup {aim}"));
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_typed() {
        assert_eq!(flags(&Settings::default(), false), ["--no-prior"]);
        assert_eq!(flags(&Settings::default(), true), ["--no-prior", "--warm"]);
        let cold = Settings { cache: CacheState::Cold, ..Settings::default() };
        assert_eq!(flags(&cold, true), ["--no-prior"]);
        assert_eq!(flags(&cold, false), ["--no-prior", "--cold"]);
        let set = Settings {
            seed_trials: 5,
            search_trials: 0,
            pairs: 4,
            build_timeout: 2.5,
            ablation: false,
            baseline: Some("my own".into()),
            ..Settings::default()
        };
        assert_eq!(
            flags(&set, false).join(" "),
            "--trials 5 --samples 20 --no-prior --build-limit 2.5 --no-ablation --baseline 'my own'"
        );
    }
}
