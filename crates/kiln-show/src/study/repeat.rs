//! The command that repeats a study: its seed, and every setting that is not the default.

use kiln_store::Study;
use kiln_study::{CacheState, Settings};

/// As it would be typed. What the record does not say (a budget of time) is left out.
pub fn repeat(study: &Study) -> String {
    let mut words = vec!["kiln tune".to_string(), quoted(&study.path), format!("--target {}", study.target)];
    words.extend(study.arch.as_ref().map(|arch| format!("--arch {arch}")));
    if !study.variant.is_empty() {
        words.push(format!("--variant {}", quoted(&study.variant)));
    }
    words.push(format!("--seed {}", study.seed));
    // The settings of another kiln may not be readable; the seed is what matters most.
    if let Ok(settings) = serde_json::from_value::<Settings>(study.options.clone()) {
        words.extend(flags(&settings));
    }
    words.join(" ")
}

fn flags(set: &Settings) -> Vec<String> {
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
    set.priors.iter().for_each(|prior| add(true, format!("--prior {prior}")));
    add(set.cache == CacheState::Cold, "--cold".into());
    add(set.threads != usual.threads, format!("--threads {}", set.threads));
    add(!set.pin, "--no-pin".into());
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

/// A word as a shell takes it whole.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_typed() {
        assert_eq!(flags(&Settings::default()), ["--no-prior"]);
        let set = Settings {
            seed_trials: 5,
            search_trials: 0,
            pairs: 4,
            ablation: false,
            baseline: Some("my own".into()),
            ..Settings::default()
        };
        assert_eq!(flags(&set).join(" "), "--trials 5 --samples 20 --no-prior --no-ablation --baseline 'my own'");
    }

    #[test]
    fn odd_words_are_quoted() {
        assert_eq!(quoted("kernels/soft_max-2"), "kernels/soft_max-2");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
