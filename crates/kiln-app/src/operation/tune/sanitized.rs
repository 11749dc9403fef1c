//! Why configurations were refused while they ran. In: the trials of a study that is over. Out: for the first refusal of each gate
//! what tools that watch memory say of it, also added to that refusal's evidence. It takes half a minute at most, is begun when
//! nothing is timed any more, and no fault in it is the study's.

use std::time::{Duration, Instant};

use kiln_core::{Config, Fault, Gate, Refusal, Workload};
use kiln_diagnose::{Diagnosis, Finding, Verdict};
use kiln_spec::TargetKind;
use kiln_store::{Store, Trial};
use kiln_study::{Bench, SanitizedRefusal, every_workload, tool_workloads};

use crate::event::What;
use crate::failure::Failure;
use crate::operation::sanitize::{Bounds, Ground, PHASE, Plain, Tools, examine};
use crate::teller::Teller;

/// How long all of it may take.
const ALL: Duration = Duration::from_secs(30);
/// How long one run may.
const EACH: Duration = Duration::from_secs(10);
/// What a line of evidence begins with that a tool found.
const MARK: &str = "sanitizer: ";

/// Gates whose refusals may come from an access that a tool sees.
const GATES: [Gate; 9] = [
    Gate::LaunchFailed,
    Gate::RuntimeFailed,
    Gate::Timeout,
    Gate::UnwrittenOutput,
    Gate::OutOfBounds,
    Gate::InputModified,
    Gate::Nonfinite,
    Gate::Numerics,
    Gate::Nondeterministic,
];

/// Looks for the cause of the first refusal of each kind.
pub(super) fn sanitized(
    bench: &Bench<'_>,
    store: &Store,
    study: &str,
    left: Option<Duration>,
    teller: &Teller<'_>,
) -> Vec<SanitizedRefusal> {
    let until = Instant::now() + left.unwrap_or(ALL).min(ALL);
    match store
        .trials(study)
        .map_err(Failure::from)
        .and_then(|trials| all(bench, (store, study), &trials, until, teller))
    {
        Ok(found) => found,
        Err(failure) => {
            let why: Vec<String> = failure.reports().into_iter().map(|report| report.message).collect();
            teller.note(format!("refusals were not sanitized: {}", why.join("; ")));
            Vec::new()
        }
    }
}

fn all(
    bench: &Bench<'_>,
    (store, study): (&Store, &str),
    trials: &[Trial],
    until: Instant,
    teller: &Teller<'_>,
) -> Result<Vec<SanitizedRefusal>, Failure> {
    let (selection, mut chosen) = (&bench.kernel.selection, first_of_each(trials));
    chosen.retain(|(_, refusal)| applies(refusal, selection.target.kind, selection.target.on_gpu));
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let tools = Tools::of(selection, &[])?;
    let planned = chosen.len();
    teller.tell(What::Phase { phase: PHASE.into(), planned });
    let (mut found, mut late) = (Vec::new(), Vec::new());
    for (done, (trial, refusal)) in chosen.into_iter().enumerate() {
        if Instant::now() >= until {
            late.push(refusal.gate.name());
            continue;
        }
        bench.go_on()?;
        let Some(config) = bench.kernel.read_config(&trial.config) else { continue };
        let Some(diagnosis) = one(bench, &tools, trial, refusal, &config, until)? else { continue };
        explain(store, study, trial, refusal, &diagnosis)?;
        let (phase, number) = (trial.phase.clone(), trial.number);
        found.push(SanitizedRefusal { gate: refusal.gate, phase, number, config, diagnosis });
        teller.tell(What::Step { phase: PHASE.into(), done: done + 1, planned });
    }
    teller.tell(What::PhaseEnd);
    if !late.is_empty() {
        teller.note(format!("time was up before refusals by {} were sanitized", late.join(", ")));
    }
    Ok(found)
}

/// The first refusal of each gate, in the order of the gates.
fn first_of_each(trials: &[Trial]) -> Vec<(&Trial, &Refusal)> {
    let refused = |gate: &Gate| {
        trials.iter().find_map(|trial| {
            let refusal = trial.refusal.as_ref().filter(|refusal| refusal.gate == *gate)?;
            // A duel may be lost by the other side.
            let own = trial.details.read().ok().and_then(|details| details.subject).is_none_or(|place| place == 0);
            (own && !trial.config.is_empty()).then_some((trial, refusal))
        })
    };
    GATES.iter().filter_map(refused).collect()
}

/// Whether a tool can add to what is known. On a processor a library that could not be loaded never ran, no tool sees why a loop
/// does not end, no access reaches from one argument into another, and Python has nothing to sanitize.
fn applies(refusal: &Refusal, target: TargetKind, on_gpu: bool) -> bool {
    let known = refusal.evidence.contains(MARK);
    let unseen = matches!(refusal.gate, Gate::LaunchFailed | Gate::Timeout | Gate::InputModified);
    !known && (on_gpu || (target != TargetKind::Python && !unseen))
}

/// On small workloads, and where those show nothing on the one that it was refused on.
fn one(
    bench: &Bench<'_>,
    tools: &Tools,
    trial: &Trial,
    refusal: &Refusal,
    config: &Config,
    until: Instant,
) -> Result<Option<Diagnosis>, Failure> {
    let small = tool_workloads(bench.kernel, config);
    let named = |w: &&Workload| Some(&*w.name) == trial.workload.as_deref();
    let own = every_workload(bench.kernel, config).into_iter().find(named).map(Some);
    let own = own.filter(|own| !small.contains(own));
    let bounds = Bounds { each: EACH, until: Some(until) };
    let mut last = None;
    for workloads in [small, Vec::from_iter(own)].into_iter().filter(|workloads| !workloads.is_empty()) {
        let grounds: Vec<Ground<'_>> = workloads.into_iter().map(Ground::Workload).collect();
        let examined = examine(bench, config, Plain::Refused(refusal), &grounds, tools, &bounds, &|_| ())?;
        if examined.runs.is_empty() {
            continue;
        }
        let found = examined.diagnosis.verdict == Verdict::BugsFound;
        last = Some(examined.diagnosis);
        if found {
            break;
        }
    }
    Ok(last)
}

/// Adds what was found to the refusal's evidence.
fn explain(store: &Store, study: &str, trial: &Trial, refusal: &Refusal, diagnosis: &Diagnosis) -> Result<(), Fault> {
    if diagnosis.verdict != Verdict::BugsFound {
        return Ok(());
    }
    let mut refusal = refusal.clone();
    for finding in &diagnosis.findings {
        let end = if refusal.evidence.is_empty() { "" } else { "\n" };
        refusal.evidence.push_str(&format!("{end}{MARK}{}", in_a_line(finding)));
    }
    store.explain(study, &trial.phase, trial.number, &refusal)
}

/// `oob_heap_write at softmax.c:156: A 4-byte write right after the end of `y` (140 bytes). Check the loop's bound.`
fn in_a_line(finding: &Finding) -> String {
    let place = match (&finding.file, finding.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        _ => String::new(),
    };
    format!("{}{place}: {} {}", finding.cause, finding.explanation, finding.fix)
}
