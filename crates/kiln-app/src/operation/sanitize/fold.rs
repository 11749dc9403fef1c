//! From what tools wrote to one diagnosis. In: the runs on each workload, and whether the answers were right. Out: findings, each
//! once with the workloads it was seen on, and the weakest verdict of all workloads.

use kiln_core::{Gate, Outcome, Refusal};
use kiln_diagnose::sanitizer::{self, Check, Ended, Program, SanitizerLog};
use kiln_diagnose::{Cause, Diagnosis, Facts, Finding, Reason, Sources, Tool, Verdict, asan, inconclusive};
use kiln_study::Probed;
use serde_json::Value;

/// What every log of compute-sanitizer begins with.
const HEADER: &str = "========= COMPUTE-SANITIZER\n";
/// The rule of refusals in which the driver would not launch a kernel.
const DRIVER: &str = "driver";
/// The rule of refusals in which a library could not be loaded.
const MISSING_SYMBOL: &str = "missing_symbol";

/// What is known of one workload.
pub(super) struct Seen {
    /// Why the candidate is refused without a tool, if it is.
    pub(super) plain: Option<Refusal>,
    /// What came of each run.
    pub(super) runs: Vec<ToolRun>,
}

/// One run of a tool.
pub(super) struct ToolRun {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// What came of it.
    pub(super) probed: Probed,
    /// The tool's log, where it has one of its own.
    pub(super) log: String,
}

impl Seen {
    fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        let under = self.runs.iter().filter_map(|run| match &run.probed.outcome {
            // A tool that is too slow says nothing about the program.
            Outcome::Refused(refusal) if !run.probed.timed_out() || self.hangs() => Some(refusal),
            _ => None,
        });
        self.plain.iter().chain(under)
    }

    /// Whether the program does not end, also without a tool.
    fn hangs(&self) -> bool {
        self.plain.as_ref().is_some_and(|refusal| refusal.gate == Gate::Timeout)
    }

    /// Tools that did not come to their end with a program that does.
    fn slow(&self) -> Vec<&'static str> {
        let slow = self.runs.iter().filter(|run| run.probed.timed_out() && !self.hangs());
        slow.map(|run| run.tool).collect()
    }

    /// What kiln knows of the program beside what it wrote itself.
    fn judged(&self, program: &mut Program) {
        program.check = Some(if self.refusals().next().is_some() { Check::Failed } else { Check::Passed });
        program.varies = self.refusals().any(|refusal| refusal.gate == Gate::Nondeterministic);
        program.timed_out = self.hangs();
        program.ended = self.refusals().find_map(ended);
        // What a kernel prints is its own business.
        program.results.clear();
        program.errors.clear();
    }
}

/// How a refused program ended, where that is not merely a wrong result.
fn ended(refusal: &Refusal) -> Option<Ended> {
    let words = || refusal.measured.clone();
    Some(match refusal.gate {
        Gate::LaunchFailed if refusal.rule == MISSING_SYMBOL => Ended::NotLoaded(words()),
        Gate::LaunchFailed if refusal.rule == DRIVER => return None,
        Gate::RuntimeFailed if refusal.measured.contains("SIGABRT") => Ended::Aborted(words()),
        Gate::RuntimeFailed if refusal.measured.starts_with("killed by signal") => Ended::Killed(words()),
        Gate::HostOom => Ended::Killed(words()),
        Gate::LaunchFailed | Gate::RuntimeFailed | Gate::WorkerProtocol => Ended::Failed(words()),
        _ => return None,
    })
}

/// What the runs on one workload come to.
pub(super) fn diagnosed(seen: &Seen, on_processor: bool, sources: &Sources) -> Diagnosis {
    let mut diagnosis = if on_processor {
        let all = |of: fn(&ToolRun) -> &str| seen.runs.iter().map(of).collect::<Vec<_>>().join("\n");
        let mut log = asan::read_apart(&all(|run| &run.log), &all(|run| &run.probed.words));
        // A call that was answered was made, whatever the kernel prints.
        if seen.runs.iter().any(|run| matches!(run.probed.outcome, Outcome::Passed(()))) {
            log.not_run = None;
        }
        seen.judged(&mut log.program);
        asan::diagnose(&log, sources)
    } else {
        let mut log = SanitizerLog::default();
        for run in seen.runs.iter().filter(|run| !run.probed.timed_out() || seen.hangs()) {
            let mut said = Program::read(&run.probed.words);
            // An assertion that fails ends the kernel: with an answer, the words are the kernel's own.
            if matches!(run.probed.outcome, Outcome::Passed(())) {
                said.assertions.clear();
            }
            // One that was ended with its program may have written nothing yet.
            log.join(sanitizer::read(if run.log.is_empty() { HEADER } else { &run.log }));
            log.program.join(said);
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
    let slow = seen.slow();
    if !slow.is_empty() {
        diagnosis.notes.push(format!("{} did not end in time: use a larger --limit", slow.join(", ")));
        if matches!(diagnosis.verdict, Verdict::Clean | Verdict::NotRun) {
            diagnosis.verdict = Verdict::Inconclusive;
            diagnosis.findings.push(inconclusive(Reason::ToolTimedOut, &slow.join(", "), !on_processor));
        }
    }
    // What the judge says is worth more than that something is wrong.
    for finding in diagnosis.findings.iter_mut().filter(|finding| finding.cause == Cause::Inconclusive) {
        if seen.refusals().next().is_none() {
            continue;
        }
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
    key(a) == key(b) && a.facts.text("reason") == b.facts.text("reason")
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

    fn of(plain: Option<Refusal>, outcome: Outcome<()>, log: &str) -> Diagnosis {
        let run = ToolRun { tool: "asan+ubsan", probed: probed(outcome, ""), log: log.into() };
        diagnosed(&Seen { plain, runs: vec![run] }, true, &Sources::none())
    }

    fn reason(found: &Diagnosis) -> Option<&str> {
        found.findings[0].facts.text("reason")
    }

    /// What a kernel prints is no report, and no reason to doubt that it ran.
    #[test]
    fn only_the_sanitizers_own_file_is_read() {
        let fake = "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at pc 0x2\n    #0 0x1 in f k.c:3\n\n\
            k.c:3:5: runtime error: division by zero\nkiln: error while loading shared libraries: libfake.so\n";
        let run = ToolRun { tool: "asan+ubsan", probed: probed(Outcome::Passed(()), fake), log: String::new() };
        let found = diagnosed(&Seen { plain: None, runs: vec![run] }, true, &Sources::none());
        assert_eq!((found.verdict, found.findings.len()), (Verdict::Clean, 0), "{found:?}");
        let fake = "k.cu:5: void f(int): block: [2,0,0], thread: [188,0,0] Assertion `i < n` failed.\n";
        let clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
        let run = ToolRun { tool: "memcheck", probed: probed(Outcome::Passed(()), fake), log: clean.into() };
        let found = diagnosed(&Seen { plain: None, runs: vec![run] }, false, &Sources::none());
        assert_eq!((found.verdict, found.findings.len()), (Verdict::Clean, 0), "{found:?}");
    }

    #[test]
    fn why_nothing_is_known_depends_on_how_the_program_ended() {
        for (gate, rule, measured, expected) in [
            (Gate::Timeout, "", "no answer after 60 s", "hang"),
            (Gate::RuntimeFailed, "", "killed by signal 6 (SIGABRT, abort)", "aborted"),
            (Gate::RuntimeFailed, "", "killed by signal 9 (SIGKILL)", "killed"),
            (Gate::HostOom, "", "9 GiB resident", "killed"),
            (Gate::RuntimeFailed, "", "exited with code 7 before it answered", "nonzero_exit"),
            (Gate::LaunchFailed, MISSING_SYMBOL, "undefined symbol: f", "not_loaded"),
            (Gate::Numerics, "", "y is off by 3", "result_wrong"),
            (Gate::Nondeterministic, "", "2 runs differ", "result_varies"),
        ] {
            for plain in [true, false] {
                let why = refusal(gate, rule, measured);
                let found = match plain {
                    true => of(Some(why), Outcome::Passed(()), ""),
                    false if gate == Gate::Timeout => continue,
                    false => of(None, Outcome::Refused(why), ""),
                };
                assert_eq!((found.verdict, reason(&found)), (Verdict::Inconclusive, Some(expected)), "{found:?}");
                let finding = &found.findings[0];
                assert!(!finding.explanation.is_empty() && !finding.fix.is_empty(), "{finding:?}");
            }
        }
    }

    #[test]
    fn a_slow_tool_is_not_a_program_that_hangs() {
        let late = || Outcome::Refused(refusal(Gate::Timeout, "", "no answer after 60 s"));
        let run = |tool, outcome, log: &str| ToolRun { tool, probed: probed(outcome, ""), log: log.into() };
        let clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
        let of = |plain, runs| diagnosed(&Seen { plain, runs }, false, &Sources::none());
        let both = || vec![run("memcheck", Outcome::Passed(()), clean), run("racecheck", late(), HEADER)];
        let found = of(None, both());
        assert_eq!((found.verdict, reason(&found)), (Verdict::Inconclusive, Some("tool_timed_out")), "{found:?}");
        assert_eq!(found.notes, ["racecheck did not end in time: use a larger --limit"]);
        // One that does not end without a tool either does hang.
        let found = of(Some(refusal(Gate::Timeout, "", "no answer")), vec![run("memcheck", late(), "")]);
        assert_eq!(found.findings[0].cause, Cause::Hang, "{found:?}");
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
        let report = "k.c:3:5: runtime error: division by zero\n";
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
