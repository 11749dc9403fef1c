//! Commands to type next. In: what was asked for. Out: a command line that asks for the same thing again, or for the next step
//! of it: with the same target, variant, workload and threads, and words quoted as a shell needs it.

use kiln_app::{Measuring, Selecting, TuneRequest};
pub use kiln_core::quoted;
use kiln_store::Study;

/// Threads unless asked for others.
const THREADS: usize = 1;

/// A command line in the making.
#[derive(Debug, Clone)]
pub struct Command {
    words: Vec<String>,
}

impl Command {
    /// Samples unless asked for others.
    pub const SAMPLES: usize = 100;

    /// `kiln VERB PATH` with what was selected; `kiln` may hold `--store`.
    pub fn of(kiln: &str, verb: &str, selecting: &Selecting) -> Command {
        let Selecting { path, target, arch, workload, variant, implementation, device } = selecting;
        let start = Command { words: vec![kiln.into(), verb.into(), quoted(path.as_str())] };
        start
            .maybe("--target", target.as_deref())
            .maybe("--arch", arch.as_deref())
            .maybe("--workload", workload.as_deref())
            .maybe("--variant", variant.as_deref())
            .maybe("--implementation", implementation.as_deref())
            .maybe("--device", device.as_deref())
    }

    /// `kiln show STUDY`.
    pub fn show(kiln: &str, study: &str) -> Command {
        Command { words: vec![kiln.into(), "show".into(), quoted(study)] }
    }

    /// With a flag that takes no value.
    pub fn flag(mut self, name: &str, is_set: bool) -> Command {
        self.words.extend(is_set.then(|| name.into()));
        self
    }

    /// With a flag and its value.
    pub fn value(self, name: &str, value: impl ToString) -> Command {
        self.maybe(name, Some(&value.to_string()))
    }

    /// With a flag, where it has a value.
    pub fn maybe(mut self, name: &str, value: Option<&str>) -> Command {
        self.words.extend(value.map(|value| format!("{name} {}", quoted(value))));
        self
    }

    /// With how times are taken, where that is not the default. The seed is left out: the next run is to draw anew.
    pub fn measured(self, measuring: &Measuring) -> Command {
        let Measuring { samples, cold, warm, threads, pin, seed: _ } = *measuring;
        let with = if samples == Command::SAMPLES { self } else { self.value("--samples", samples) };
        let with = if threads == THREADS { with } else { with.value("--threads", threads) };
        with.flag("--cold", cold).flag("--warm", warm).flag("--no-pin", !pin)
    }

    /// The same study once more, as it was asked for: `change` says what is to be different.
    pub fn tune(kiln: &str, request: &TuneRequest, change: impl FnOnce(&mut TuneRequest)) -> Command {
        let mut request = request.clone();
        change(&mut request);
        let mut command = Command::of(kiln, "tune", &request.selecting);
        if let Some(study) = &request.resume {
            // It keeps its own settings.
            command = command.value("--resume", study);
        } else {
            command = command.measured(&request.measuring);
            let number = |number: Option<usize>| number.map(|n| n.to_string());
            command = command
                .maybe("--trials", number(request.trials).as_deref())
                .maybe("--baseline", request.baseline.as_deref())
                .maybe("--target-speedup", request.target_speedup.map(|x| x.to_string()).as_deref())
                .maybe("--strategy", Some(request.strategy.as_str()).filter(|name| *name != "auto"));
            for prior in &request.prior {
                command = command.value("--prior", prior);
            }
            command = command
                .flag("--no-prior", request.no_prior)
                .flag("--no-stop", !request.stop_rule)
                .flag("--no-ablation", !request.ablation);
        }
        let amount = |amount: Option<f64>| amount.map(|x| x.to_string());
        command
            .maybe("--minutes", amount(request.minutes).as_deref())
            .maybe("--cost", amount(request.cost).as_deref())
            .maybe("--price", amount(request.price).as_deref())
            .flag("--no-sanitize", !request.sanitize)
            .flag("--no-profile", !request.profile)
            .maybe("--out", request.out.as_ref().map(|folder| folder.as_str()))
            .flag("--adopt", request.adopt)
    }

    /// The command that goes on with a recorded study.
    pub fn resume(kiln: &str, study: &Study) -> Command {
        Command::at(kiln, "tune", study).value("--resume", study.short_id())
    }

    /// `kiln VERB PATH` with what a recorded study was about.
    pub fn at(kiln: &str, verb: &str, study: &Study) -> Command {
        let selecting = Selecting {
            path: study.path.as_str().into(),
            target: Some(study.target.clone()),
            workload: study.workload(),
            implementation: study.implementation(),
            variant: Some(study.variant.clone()).filter(|variant| !variant.is_empty()),
            ..Selecting::default()
        };
        Command::of(kiln, verb, &selecting)
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> TuneRequest {
        let selecting = Selecting { path: "my kernels/soft max".into(), ..Selecting::default() };
        let measuring = Measuring { samples: 100, cold: false, warm: false, threads: 1, pin: true, seed: Some(7) };
        TuneRequest {
            selecting,
            measuring,
            baseline: None,
            trials: None,
            minutes: None,
            cost: None,
            price: None,
            target_speedup: None,
            strategy: "auto".into(),
            prior: vec![],
            no_prior: false,
            stop_rule: true,
            ablation: true,
            sanitize: true,
            profile: true,
            resume: None,
            replay: None,
            out: None,
            adopt: false,
            name: None,
            tags: vec![],
        }
    }

    #[test]
    fn what_was_asked_for_is_asked_for_again() {
        let plain = Command::tune("kiln", &request(), |_| {});
        assert_eq!(plain.to_string(), "kiln tune 'my kernels/soft max'");
        let mut asked = request();
        asked.selecting.variant = Some("T=bf16".into());
        asked.selecting.workload = Some("it's".into());
        asked.selecting.target = Some("cpu".into());
        asked.measuring.threads = 2;
        asked.measuring.samples = 25;
        asked.baseline = Some("numpy".into());
        asked.adopt = true;
        let again = Command::tune("kiln --store 'a b.db'", &asked, |request| request.trials = Some(240));
        assert_eq!(
            again.to_string(),
            r"kiln --store 'a b.db' tune 'my kernels/soft max' --target cpu --workload 'it'\''s' --variant T=bf16 --samples 25 --threads 2 --trials 240 --baseline numpy --adopt"
        );
        let on = Command::tune("kiln", &asked, |request| request.resume = Some("abcd0123".into()));
        assert_eq!(
            on.to_string(),
            r"kiln tune 'my kernels/soft max' --target cpu --workload 'it'\''s' --variant T=bf16 --resume abcd0123 --adopt"
        );
    }

    #[test]
    fn odd_words_are_quoted() {
        assert_eq!(quoted("kernels/soft_max-2"), "kernels/soft_max-2");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
