//! Is it right on cases nobody thought of? Shapes, inputs, variants and configurations are drawn, asked about with the questions
//! and gates of a check, and a failing case is made as small as it gets. In: a kernel file, what to ask about and for how long.
//! Out: what passed, what was excluded, the smallest failing case. Failing cases are kept and asked about first next time.

mod asking;
mod lane;
mod memory;
mod request;
mod shrinking;
mod supply;
mod validation;
mod winner;

use std::time::{Duration, Instant};

use kiln_core::{Config, Fault, Report};
use kiln_judge::{FuzzCase, Room, Shape};
use kiln_study::{Bench, Settings, environment};
use serde_json::Value;

use crate::attempt::{About, Trying};
use crate::ending::Ends;
use crate::event::What;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, complete, surroundings};
use crate::project::Project;
use crate::record::chosen::Chosen;
use crate::seed::seed;
use crate::teller::{Listener, Teller};
use asking::{Asked, Clock, ask_all};
use kiln_session::SessionPhase;
use lane::{Lane, configurations, has_workloads};
use memory::Memory;
pub use request::{FuzzFailure, FuzzRequest, Fuzzed, KeptNow, KeptResult, VALIDATED};
use shrinking::smallest;
use supply::Supply;
pub(crate) use winner::validate_winner;

/// A budget beyond this is none: two years.
const MOST_MINUTES: f64 = 1e6;

/// Fuzzes a kernel.
pub fn fuzz(
    project: &Project,
    file: &KernelFile,
    request: &FuzzRequest,
    listener: Listener<'_>,
) -> Result<Fuzzed, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "fuzz", SessionPhase::Check, About::of(file, &request.selecting.path));
    let result = run(project, file, request, &teller).and_then(|fuzzed| {
        nothing_asked(request, &fuzzed)?;
        Ok(fuzzed)
    });
    trying.told(&teller, result)
}

/// The variants of a kernel with the configuration that is asked about.
struct Ready<'a> {
    opened: Vec<Opened<'a>>,
    configs: Vec<Config>,
}

impl Ready<'_> {
    fn new<'a>(
        project: &Project,
        file: &'a KernelFile,
        request: &FuzzRequest,
        teller: &Teller<'_>,
    ) -> Result<Ready<'a>, Failure> {
        let which = (request.config.as_str(), request.study.as_deref());
        let first = Chosen::new(project, file, &request.selecting, which, teller)?;
        has_workloads(&first.opened.kernel)?;
        first.opened.baseline(request.baseline.as_deref())?;
        let target = first.opened.kernel.selection.target;
        let free = first.selecting.variant.is_none();
        let variants = if free { target.dtype_combinations() } else { Vec::new() };
        let typed = first.config.to_string();
        let mut ready = Ready { opened: vec![first.opened], configs: vec![first.config] };
        // The first variant is the one that stands for none.
        for variant in variants.into_iter().skip(1) {
            let selecting = Selecting { variant: Some(variant), ..first.selecting.clone() };
            let opened = Opened::unexamined(file, &selecting)?;
            let typed = if request.config.is_empty() { "" } else { typed.as_str() };
            let (config, _) = complete(&opened.kernel.selection, &opened.kernel.problem, typed)?;
            ready.opened.push(opened);
            ready.configs.push(config);
        }
        Ok(ready)
    }
}

/// The same, also where no case could be asked about.
pub(crate) fn run(
    project: &Project,
    file: &KernelFile,
    request: &FuzzRequest,
    teller: &Teller<'_>,
) -> Result<Fuzzed, Failure> {
    request.checked()?;
    let clock =
        Clock { began: Instant::now(), most: Duration::from_secs_f64(60.0 * request.minutes.min(MOST_MINUTES)) };
    teller.warn(&file.warnings);
    let ready = Ready::new(project, file, request, teller)?;
    let first = &ready.opened[0].kernel;
    // A slip is told before anything is built.
    let read = |case: &String| {
        let room = Room::of(&first.selection);
        let usual = room.bases.first().cloned().unwrap_or_default();
        FuzzCase::parse(case, (&usual, &room.scalars), Config::default())
    };
    let given = request.case.as_ref().map(read).transpose()?;
    let mut memory = Memory::read(project, first)?;
    let seed = seed(request.seed)?;
    let mut fuzzed = Fuzzed {
        kernel: first.name().into(),
        target: first.target().into(),
        baseline: request.baseline.clone(),
        suite: request.suite.clone(),
        given,
        seed,
        variants: ready.opened.iter().map(|opened| opened.kernel.variant()).collect(),
        configs: 0,
        refused: Vec::new(),
        passed: 0,
        shapes: 0,
        draws_excluded: 0,
        only_workloads: false,
        excluded: Vec::new(),
        not_run: 0,
        not_run_first: None,
        kept: Vec::new(),
        failure: None,
        unusable: None,
        file: memory.file.clone(),
        not_kept: None,
        validated: Vec::new(),
        runs: request.runs,
        seconds: 0.0,
        interrupted: false,
        ran_on: Value::Null,
    };
    let broken = ready.opened.iter().zip(&ready.configs).find_map(|(opened, config)| {
        let (refusal, _) = opened.kernel.broken(config).filter(|_| request.baseline.is_none())?;
        Some((config.clone(), refusal))
    });
    if broken.is_some() {
        return Ok(Fuzzed { unusable: broken, ..fuzzed });
    }
    if request.validates() {
        // What the check refuses is not validated, whatever drawn cases say: each of them is a fresh process.
        let refused = validation::refused(project, file, request, &ready.opened, &ready.configs, teller)?;
        if refused.is_some() {
            return Ok(Fuzzed { unusable: refused, ..fuzzed });
        }
    }
    let jobs = match first.on_gpu() {
        true => 1,
        false => request.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
    };
    let settings = Settings { seed, pin: jobs == 1, ..Settings::default() };
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let _held = ready.opened[0].lock(project, teller)?;
    let mut benches = Vec::new();
    for opened in &ready.opened {
        let around = surroundings(project, &said, true, opened.card.as_ref())?;
        benches.push(Bench::new(&opened.kernel, &settings, around)?);
    }
    fuzzed.ran_on = environment(&benches[0]);
    let most = if request.is_about_one() { 1 } else { request.configs };
    let wanted = ready.opened.iter().zip(&ready.configs);
    let wanted: Vec<Vec<Config>> =
        wanted.map(|(opened, config)| configurations(&opened.kernel, config, most, seed)).collect();
    if request.baseline.is_none() {
        build(&mut benches, &wanted, teller)?;
    }
    let mut lanes: Vec<Lane<'_, '_>> = Vec::new();
    for (bench, wanted) in benches.iter().zip(&wanted) {
        let (lane, mut refused) = Lane::new(bench, wanted, request.baseline.as_deref())?;
        // Without the configuration that is meant there is nothing to ask about.
        if let Some(at) = refused.iter().position(|(config, _)| *config == wanted[0] || request.baseline.is_some()) {
            return Ok(Fuzzed { unusable: Some(refused.swap_remove(at)), ..fuzzed });
        }
        fuzzed.configs += lane.configs.len();
        fuzzed.refused.extend(refused);
        lanes.push(lane);
    }
    let jobs = lanes.iter().map(Lane::at_once).min().unwrap_or(1).min(jobs).max(1);
    let ended = cases(request, &lanes, &mut memory, (seed, jobs, clock), &mut fuzzed, teller);
    fuzzed.seconds = clock.began.elapsed().as_secs_f64();
    match ended {
        Ok(()) => {}
        Err(Failure::Fault(_)) if project.is_stopped() => fuzzed.interrupted = true,
        Err(failure) => return Err(failure),
    }
    if !fuzzed.has_failed() && !fuzzed.interrupted {
        validation::record(project, request, &lanes, &mut fuzzed, teller)?;
    }
    Ok(fuzzed)
}

/// Builds everything at once, into the cache.
fn build(benches: &mut [Bench<'_>], wanted: &[Vec<Config>], teller: &Teller<'_>) -> Result<(), Failure> {
    let planned = wanted.iter().map(Vec::len).sum();
    teller.tell(What::Phase { phase: "build".into(), planned });
    let mut done = 0;
    for (bench, configs) in benches.iter_mut().zip(wanted) {
        let asked: Vec<_> = configs.iter().map(|config| bench.build(config)).collect::<Result<_, _>>()?;
        for one in asked {
            bench.built(one)?;
            done += 1;
            teller.tell(What::Step { phase: "build".into(), done, planned });
        }
        bench.quiet();
    }
    teller.tell(What::PhaseEnd);
    Ok(())
}

/// Kept cases, then those that were asked for, and the smallest of what fails.
fn cases(
    request: &FuzzRequest,
    lanes: &[Lane<'_, '_>],
    memory: &mut Memory,
    (seed, jobs, clock): (u64, usize, Clock),
    fuzzed: &mut Fuzzed,
    teller: &Teller<'_>,
) -> Result<(), Failure> {
    let baseline = request.baseline.as_deref();
    let supply = match (&request.case, &request.suite, request.runs) {
        (Some(case), ..) => Supply::typed(lanes, case, memory.times(case))?,
        (None, Some(name), _) => Supply::suite(lanes, name, seed)?,
        (None, None, Some(runs)) => Supply::drawn(lanes, runs, seed),
        (None, None, None) => Supply::drawn(lanes, request.cases.div_ceil(lanes.len()), seed),
    };
    if request.case.is_none() {
        let (kept, fault) = memory.ask(lanes, baseline, request.is_about_one());
        fuzzed.kept = kept;
        keep(memory.update(&fuzzed.kept, None), fuzzed, teller);
        fault.map_or(Ok(()), Err)?;
        if fuzzed.has_failed() {
            return Ok(());
        }
    }
    let mut supply = supply;
    let (asked, fault) = ask_all(lanes, &mut supply, jobs, clock, teller);
    let Asked { passed, shapes, draws_excluded, excluded, unanswered, failed, not_run, not_run_first } = asked;
    fuzzed.passed = passed.iter().sum();
    (fuzzed.shapes, fuzzed.draws_excluded) = (shapes.len(), draws_excluded);
    let is_own = |shape: &Shape| lanes.iter().any(|lane| lane.room.bases.contains(shape));
    fuzzed.only_workloads = matches!(supply, Supply::Drawn { .. })
        && !shapes.is_empty()
        && shapes.iter().all(is_own)
        && !lanes.iter().any(Lane::can_move);
    (fuzzed.excluded, fuzzed.not_run, fuzzed.not_run_first) = (excluded, not_run, not_run_first);
    fuzzed.excluded.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let Some((place, case, refusal)) = failed else {
        // Of one case that was typed, why it could not be answered is the whole result.
        let unanswered = unanswered.filter(|_| request.case.is_some() && fuzzed.passed == 0);
        return fault.or(unanswered).map_or(Ok(()), |fault| Err(fault.into()));
    };
    if request.case.is_some() {
        let variant = lanes[place].bench.kernel.variant();
        let (smallest, tried, complete, steady) = (case.clone(), 0, true, Some(true));
        fuzzed.failure = Some(FuzzFailure { variant, found: case, smallest, refusal, tried, complete, steady });
        return fault.map_or(Ok(()), |fault| Err(fault.into()));
    }
    let (failure, fault) = smallest(&lanes[place], case, refusal, !request.is_about_one(), clock.left(), teller);
    let kept = memory.update(&[], Some((&failure, &lanes[place], baseline)));
    fuzzed.failure = Some(failure);
    keep(kept, fuzzed, teller);
    fault.map_or(Ok(()), |fault| Err(fault.into()))
}

/// A failing case that cannot be written down is still found: that is a warning.
fn keep(kept: Result<(), Failure>, fuzzed: &mut Fuzzed, teller: &Teller<'_>) {
    let Err(failure) = kept else { return };
    let why = failure.reason().unwrap_or_default();
    let report = Report::warning(format!("{} could not be written: {why}", fuzzed.file));
    let report = report.label("expected a writable file: failing cases are kept there, and run first next time");
    let folder = fuzzed.file.parent().map_or(fuzzed.file.as_str(), |folder| folder.as_str());
    teller.warn(&[
        report.hint(format!("make {folder} a folder that can be written; until then, keep the replay command"))
    ]);
    fuzzed.not_kept = Some(why);
}

/// Refuses to call it good where nothing was asked.
fn nothing_asked(request: &FuzzRequest, fuzzed: &Fuzzed) -> Result<(), Failure> {
    if fuzzed.passed > 0 || fuzzed.has_failed() || fuzzed.interrupted {
        return Ok(());
    }
    let (why, hint) = match (fuzzed.excluded.first(), fuzzed.not_run) {
        (_, left) if left > 0 => ("the time budget ended before the first one", "give it more --minutes"),
        (Some((why, _)), _) if request.case.is_some() => {
            let report = Report::error(format!("--case: {why}")).label("expected a case that can be checked");
            return Err(report.hint("change its dimensions or its inputs").into());
        }
        (Some((why, _)), _) => (why.as_str(), "state in [fuzz] which shapes the kernel is made for"),
        (None, _) => ("there are none", "choose another suite, or add [[workloads]]"),
    };
    Err(Fault::new("fuzzing", format!("no case was checked: {why}")).hint(hint).into())
}
