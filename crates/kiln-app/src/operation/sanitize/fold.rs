//! From what tools wrote to one diagnosis. In: the runs on each workload, and whether the answers were right. Out: findings, each
//! once with the workloads it was seen on, and the weakest verdict of all workloads.

use kiln_core::{Gate, Outcome, Refusal};
use kiln_diagnose::sanitizer::{self, Check, Program, SanitizerLog};
use kiln_diagnose::{Cause, Diagnosis, Facts, Finding, Sources, Tool, Verdict, asan};
use kiln_study::Probed;
use serde_json::Value;

/// The rule of refusals in which the driver would not launch a kernel.
const DRIVER: &str = "driver";

/// What is known of one workload.
pub(super) struct Seen {
    /// Why the candidate is refused without a tool, if it is.
    pub(super) plain: Option<Refusal>,
    /// What came of each run, and the tool's log where it has one of its own.
    pub(super) runs: Vec<(Probed, String)>,
}

impl Seen {
    fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        let under = self.runs.iter().filter_map(|(probed, _)| match &probed.outcome {
            Outcome::Refused(refusal) => Some(refusal),
            Outcome::Passed(()) => None,
        });
        self.plain.iter().chain(under)
    }

    /// What kiln knows of the program beside what it wrote itself.
    fn judged(&self, program: &mut Program) {
        program.check = Some(if self.refusals().next().is_some() { Check::Failed } else { Check::Passed });
        program.varies = self.refusals().any(|refusal| refusal.gate == Gate::Nondeterministic);
        program.timed_out = self.runs.iter().any(|(probed, _)| probed.timed_out());
        // What a kernel prints is its own business.
        program.results.clear();
        program.errors.clear();
    }
}

/// What the runs on one workload come to.
pub(super) fn diagnosed(seen: &Seen, on_processor: bool, sources: &Sources) -> Diagnosis {
    let mut diagnosis = if on_processor {
        let words: Vec<&str> = seen.runs.iter().map(|(probed, _)| probed.words.as_str()).collect();
        let mut log = asan::read(&words.join("\n"));
        seen.judged(&mut log.program);
        asan::diagnose(&log, sources)
    } else {
        let mut log = SanitizerLog::default();
        for (probed, written) in &seen.runs {
            log.join(sanitizer::read(written));
            log.program.join(Program::read(&probed.words));
        }
        seen.judged(&mut log.program);
        sanitizer::diagnose(&log, sources)
    };
    if let Some(refusal) = seen.refusals().find(|refusal| refusal.gate == Gate::LaunchFailed && refusal.rule == DRIVER)
        && diagnosis.verdict != Verdict::BugsFound
    {
        diagnosis.findings = vec![not_launched(refusal)];
        diagnosis.verdict = Verdict::BugsFound;
    }
    // What the judge says is worth more than that something is wrong.
    for finding in diagnosis.findings.iter_mut().filter(|finding| finding.cause == Cause::Inconclusive) {
        let mut said: Vec<String> =
            seen.refusals().map(|refusal| format!("{}: {}", refusal.gate, refusal.measured)).collect();
        said.dedup();
        finding.facts.set("results", said);
    }
    diagnosis
}

/// The driver's refusal in the terms of a diagnosis.
fn not_launched(refusal: &Refusal) -> Finding {
    let (cause, fix) = match refusal.measured.contains("shared memory") {
        true => (Cause::LaunchFailureSmem, "Use smaller tiles or fewer stages, or correct `shared` of the launch."),
        false => {
            (Cause::LaunchFailureConfig, "Check grid, block and registers against the device: `kiln gate` shows them.")
        }
    };
    let mut facts = Facts::default();
    facts.set("message", refusal.measured.as_str());
    let explanation = format!("The driver does not launch the kernel: {}.", refusal.measured.trim_end_matches('.'));
    let (kernel, file, line) = (None, None, None);
    Finding { cause, tool: Tool::Program, kernel, file, line, count: 1, facts, explanation, fix: fix.into() }
}

/// All workloads together.
pub(super) fn merged(found: Vec<(String, Diagnosis)>) -> Diagnosis {
    let verdicts: Vec<Verdict> = found.iter().map(|(_, diagnosis)| diagnosis.verdict).collect();
    let order = [Verdict::BugsFound, Verdict::Inconclusive, Verdict::NotRun, Verdict::Clean];
    let verdict = order.into_iter().find(|verdict| verdicts.contains(verdict)).unwrap_or(Verdict::NotRun);
    let (mut findings, mut notes): (Vec<Finding>, Vec<String>) = (Vec::new(), Vec::new());
    for (workload, diagnosis) in found {
        for mut finding in diagnosis.findings {
            match findings.iter_mut().find(|known| is_same(known, &finding)) {
                Some(known) => {
                    known.count += finding.count;
                    let mut all = known.facts.get("workloads").and_then(Value::as_array).cloned().unwrap_or_default();
                    all.push(workload.as_str().into());
                    known.facts.set("workloads", all);
                }
                None => {
                    finding.facts.set("workloads", vec![workload.as_str()]);
                    findings.push(finding);
                }
            }
        }
        let new: Vec<String> = diagnosis.notes.into_iter().filter(|note| !notes.contains(note)).collect();
        notes.extend(new);
    }
    // Where one workload shows the cause, that another is merely wrong says nothing more.
    if verdict == Verdict::BugsFound {
        findings.retain(|finding| finding.cause != Cause::Inconclusive);
    }
    Diagnosis { findings, verdict, notes }
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    let key =
        |finding: &Finding| (finding.cause, finding.tool, finding.line, finding.file.clone(), finding.kernel.clone());
    key(a) == key(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(gate: Gate, rule: &str, measured: &str) -> Refusal {
        let (rule, limit, evidence) = (rule.into(), String::new(), String::new());
        Refusal { gate, rule, measured: measured.into(), limit, evidence, hint: None }
    }

    fn probed(outcome: Outcome<()>, words: &str) -> Probed {
        Probed { outcome, words: words.into(), left_out: 0, ended: true, seconds: 0.0 }
    }

    fn of(plain: Option<Refusal>, outcome: Outcome<()>, words: &str) -> Diagnosis {
        diagnosed(&Seen { plain, runs: vec![(probed(outcome, words), String::new())] }, true, &Sources::none())
    }

    #[test]
    fn clean_tools_do_not_make_a_wrong_result_correct() {
        assert_eq!(of(None, Outcome::Passed(()), "").verdict, Verdict::Clean);
        let wrong = || refusal(Gate::Numerics, "", "y is off by 3");
        for found in [of(Some(wrong()), Outcome::Passed(()), ""), of(None, Outcome::Refused(wrong()), "")] {
            assert_eq!(found.verdict, Verdict::Inconclusive);
            assert_eq!(found.findings[0].facts.get("results").unwrap()[0], "numerics: y is off by 3");
        }
        let varies = of(Some(refusal(Gate::Nondeterministic, "", "2 runs differ")), Outcome::Passed(()), "");
        assert_eq!(varies.findings[0].facts.get("results_vary"), Some(&Value::Bool(true)));
    }

    #[test]
    fn what_the_driver_does_not_launch_has_a_cause() {
        let seen = |words: &str| of(None, Outcome::Refused(refusal(Gate::LaunchFailed, DRIVER, words)), "");
        assert_eq!(seen("cuLaunchKernelEx: too many resources").findings[0].cause, Cause::LaunchFailureConfig);
        assert_eq!(seen("`k` wants 9 bytes of dynamic shared memory").findings[0].cause, Cause::LaunchFailureSmem);
    }

    #[test]
    fn a_finding_of_two_workloads_is_one() {
        let report = "k.c:3:5: runtime error: signed integer overflow: 1 + 2\n";
        let one = of(None, Outcome::Passed(()), report);
        let wrong = of(Some(refusal(Gate::Numerics, "", "off")), Outcome::Passed(()), "");
        let clean = of(None, Outcome::Passed(()), "");
        let all = merged(vec![
            ("a".into(), one.clone()),
            ("b".into(), one),
            ("c".into(), wrong.clone()),
            ("d".into(), clean.clone()),
        ]);
        assert_eq!((all.verdict, all.findings.len(), all.findings[0].count), (Verdict::BugsFound, 1, 2));
        assert_eq!(all.findings[0].facts.get("workloads"), Some(&serde_json::json!(["a", "b"])));
        let all = merged(vec![("c".into(), wrong), ("d".into(), clean.clone())]);
        assert_eq!((all.verdict, all.findings.len()), (Verdict::Inconclusive, 1));
        assert_eq!(merged(vec![("d".into(), clean)]).verdict, Verdict::Clean);
        assert_eq!(merged(vec![]).verdict, Verdict::NotRun);
    }
}
