//! Evidence under the names of the tree. In: typed evidence. Out: facts; what is not known has none.

use super::{Evidence, FixTried, KernelAt, LastResult, LastSearch, Look, OpenRefusal, ProfileNow};
use kiln_core::quoted;

use crate::next::fact::{Datum, Facts};
use crate::next::thresholds::Thresholds;

/// Choices that end a session, as `kiln session decide` offers them: behind the baseline, and ahead of it.
const ENDINGS: [&str; 2] = ["use the baseline", "stop here"];

impl Evidence {
    /// The facts under their names.
    pub fn facts(&self, thresholds: &Thresholds) -> Facts {
        let mut all = Gathering(Facts::new());
        all.kernel(self.kernel.as_ref());
        all.look("retired", &self.retired);
        match &self.session {
            Look::Unknown => {}
            Look::Nothing => {
                ["goal", "stop_rule"].into_iter().for_each(|name| all.is(name, Some(false)));
            }
            Look::Found(session) => {
                all.look("goal", &Look::of(session.goal.clone()));
                all.look("stop_rule", &Look::of(session.stop_rule.clone()));
                all.is("settled", session.settled);
                all.words("best", session.best.as_ref().map(|(_, words)| words));
            }
        }
        all.look("decided", &self.decided);
        if let Look::Found((fault, fix)) = &self.environment_fault {
            all.words("environment_fault", Some(fault));
            all.words("environment_fix", fix.as_ref());
        } else if self.environment_fault == Look::Nothing {
            all.is("environment_fault", Some(false));
        }
        all.is("examined", self.examined);
        all.is("recorded", Some(self.recorded));
        all.look("last_fault", &Look::of(self.fault.as_ref().map(|fault| fault.words.clone())));
        all.words("fault_command", self.fault.as_ref().map(|fault| &fault.verb));
        all.refusal(self.refusal.as_ref(), self.recorded);
        all.is("correct", self.correct);
        all.is("baseline_measured", self.baseline_measured);
        all.is("edited", self.edited);
        all.is("unchecked", self.unchecked);
        all.look("several_changed", &self.several_changed);
        all.look("blind_changes", &self.blind_changes);
        // To use the baseline is no end for a kernel that beats it.
        let best = match &self.session {
            Look::Found(session) => session.best.as_ref().map(|(speedup, _)| *speedup),
            _ => None,
        };
        let reached = best.or(self.result.as_ref().map(|result| result.speedup));
        let wins = reached.is_some_and(|speedup| speedup >= 1.0);
        let ending = if wins { ENDINGS[1] } else { ENDINGS[0] };
        all.words("ending", Some(&ending.to_string()));
        if let Some(result) = &self.result {
            all.result(result, self.kernel.as_ref());
            all.is("profiled", Some(self.profile.is_some()));
            all.profile(result.speedup, self.profile.as_ref());
            let slow = thresholds.value("profile_below").is_some_and(|limit| result.speedup < limit);
            all.is("blind", self.edited.map(|edited| edited && slow && self.profile.is_none()));
        }
        all.fix(self.fix.as_ref(), thresholds);
        all.search(&self.search);
        all.is("validated", self.validated);
        all.look("uncommitted", &self.git.uncommitted);
        // Git says nothing of a folder outside of every repository.
        let kernel = self.kernel.as_ref().filter(|_| self.git.uncommitted != Look::Unknown);
        all.words("repository", kernel.map(|own| &own.folder));
        all.look("unpushed", &self.git.unpushed);
        all.words("last_good", self.git.last_good.as_ref());
        all.is("broken_here", self.git.broken_here);
        all.look("logged", &self.logged);
        all.is("gpu_stopped", self.gpu.0);
        all.words("gpu_state", self.gpu.1.as_ref());
        all.put("bench_seconds", self.bench_seconds.map(Datum::Seconds));
        all.0
    }
}

/// Facts in the making.
struct Gathering(Facts);

impl Gathering {
    fn put(&mut self, name: &'static str, datum: Option<Datum>) {
        if let Some(datum) = datum {
            self.0.insert(name, datum);
        }
    }

    fn is(&mut self, name: &'static str, so: Option<bool>) {
        self.put(name, so.map(Datum::Is));
    }

    fn words(&mut self, name: &'static str, words: Option<&String>) {
        self.put(name, words.map(|words| Datum::Words(words.clone())));
    }

    fn look(&mut self, name: &'static str, look: &Look<String>) {
        match look {
            Look::Unknown => {}
            Look::Nothing => self.is(name, Some(false)),
            Look::Found(words) => self.words(name, Some(words)),
        }
    }

    fn kernel(&mut self, kernel: Option<&KernelAt>) {
        let Some(own) = kernel else { return self.is("kernel", Some(false)) };
        self.words("kernel", Some(&own.name));
        self.words("path", Some(&own.path));
        self.words("folder", Some(&own.folder));
        let flag = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!(" {name} {}", quoted(value))).unwrap_or_default()
        };
        let at = format!("{}{}{}", quoted(&own.path), flag("--target", &own.target), flag("--variant", &own.variant));
        let baselines = own.has_baseline != Some(false);
        self.put("baselines", baselines.then(|| Datum::Typed(at.clone())));
        self.put("at", Some(Datum::Typed(at)));
        self.is("has_baseline", own.has_baseline);
        self.is("has_reference", own.has_reference);
        self.words("smallest_workload", own.smallest_workload.as_ref());
        self.is("guarded", own.guarded);
    }

    fn refusal(&mut self, refusal: Option<&OpenRefusal>, recorded: bool) {
        let Some(own) = refusal else { return self.is("refusal_kind", recorded.then_some(false)) };
        self.put("refusal_kind", Some(Datum::Words(own.kind.name().into())));
        self.words("refusal_gate", Some(&own.gate));
        self.words("refusal", Some(&own.words));
        self.words("refused_config", own.config.as_ref());
        self.put("refusals_alike", own.alike.map(Datum::Count));
        self.words("fault_cause", own.cause.as_ref());
        self.words("failing_case", own.case.as_ref());
        let stage = if own.kind.is_of_the_build() { "build" } else { "check" };
        self.put("refusal_stage", Some(Datum::Words(stage.into())));
    }

    fn result(&mut self, own: &LastResult, kernel: Option<&KernelAt>) {
        self.put("speedup", Some(Datum::Times(own.speedup)));
        let interval = own.interval.map(|[low, high]| format!("[{low:.2}, {high:.2}]"));
        self.words("speedup_interval", interval.as_ref());
        self.put("workload", own.workload.clone().map(Datum::Words));
        self.words("baseline", Some(&own.baseline));
        self.words("study", own.study.as_ref());
        self.words("measured_by", own.study.as_ref().filter(|_| own.of_study));
        let chosen = match (&own.study, &own.config) {
            (Some(study), _) => Some(format!("--study {}", quoted(study))),
            (None, Some(config)) if !config.is_empty() => Some(format!("--config {}", quoted(config))),
            _ => None,
        };
        self.put("chosen", chosen.map(Datum::Typed));
        // A ratchet guards what was measured, and knows no studies.
        let config = own.config.as_ref().filter(|config| !config.is_empty());
        self.put("guard", config.map(|config| Datum::Typed(format!("--config {}", quoted(config)))));
        self.is("noisy", Some(own.noisy));
        self.is("too_short", Some(own.too_short));
        self.look("other_workload", &own.other_workload);
        let name = kernel.map_or("kernel", |kernel| kernel.name.as_str());
        let on = own.workload.as_ref().map(|workload| format!(" on {workload}")).unwrap_or_default();
        let times = Datum::Times(own.speedup).shown().unwrap_or_default();
        self.put("message", Some(Datum::Words(format!("{name}: {times} of {}{on}", own.baseline))));
    }

    fn profile(&mut self, speedup: f64, profile: Option<&ProfileNow>) {
        let Some(own) = profile else { return };
        self.words("limit", own.limit.as_ref());
        let Some((cause, promise)) = &own.cause else {
            self.put("reachable", Some(Datum::Times(speedup)));
            // Without a cause there is nothing that its removal would give.
            self.is("promise", Some(false));
            return self.is("cause", Some(false));
        };
        self.words("cause", Some(cause));
        self.put("promise", Some(Datum::Times(*promise)));
        self.put("reachable", Some(Datum::Times(speedup * promise)));
        self.words("fix", own.fix.as_ref());
    }

    fn fix(&mut self, fix: Option<&FixTried>, thresholds: &Thresholds) {
        let Some(own) = fix else { return self.is("fix_gain", Some(false)) };
        let promise = own.cause.as_ref().map(|(_, promise)| *promise);
        self.words("fixed_cause", own.cause.as_ref().map(|(cause, _)| cause));
        self.put("fix_promise", promise.map(Datum::Times));
        self.put("fix_gain", Some(Datum::Times(own.gain)));
        self.words("fix_workload", Some(&own.workload).filter(|name| !name.is_empty()));
        let kept = promise.filter(|promise| *promise > 1.0).map(|promise| (own.gain - 1.0) / (promise - 1.0));
        self.put("fix_kept", kept.map(Datum::Share));
        let limit = |name: &str| thresholds.value(name).unwrap_or(f64::INFINITY);
        let enough = own.gain >= limit("no_gain") && kept.is_none_or(|kept| kept >= limit("fix_share"));
        self.is("fix_enough", Some(enough));
        self.put("before", Some(Datum::Seconds(own.before_s)));
        let back = Some(&own.before).filter(|config| !config.is_empty());
        self.put("back_to", back.map(|config| Datum::Typed(format!("--config {}", quoted(config)))));
        self.put("revert", own.revert.clone().map(Datum::Typed));
        let kept = own.stashes.then(|| "`git stash` keeps the edits that were not committed".to_string());
        self.words("stashed", kept.as_ref());
        self.words("other_cause", own.other.as_ref().map(|(cause, _)| cause));
        self.put("other_promise", own.other.as_ref().map(|(_, promise)| Datum::Times(*promise)));
    }

    fn search(&mut self, own: &LastSearch) {
        self.look("running_study", &Look::of(own.running.clone()));
        self.look("unfinished_study", &Look::of(own.unfinished.clone()));
        self.is("tuned", Some(own.tuned));
        // With the study's own figures: a later benchmark confirms nothing.
        let confirmation = own.confirmation.clone().filter(|_| own.confirmed).map(Datum::Words);
        self.put("confirmed", Some(confirmation.unwrap_or(Datum::Is(own.confirmed))));
        self.put("target", own.target.map(Datum::Times));
        self.put("tune_seconds", own.seconds.map(Datum::Seconds));
    }
}
