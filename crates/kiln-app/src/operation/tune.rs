//! The whole loop, from the default configuration to a confirmed winner. In: a request; a study to go on with or to replay.
//! Out: how it ended, the summary and the files written. What is recorded is recorded as it happens: interrupted and failed
//! studies can go on.

mod begin;
mod best;
mod limits;
mod price;
mod request;
mod sanitized;
mod settings;
mod variants;

use std::time::{Duration, Instant};

use camino::Utf8Path;
use kiln_core::{Config, Fault};
use kiln_store::{State, Store, Study};
use kiln_study::{
    Bench, Budget, Kernel, Ran, Record, Settings, Summary, Surroundings, Trouble, TuneVerdict, adopt, check_best,
    peaks, table,
};

use crate::attempt::{About, Trying};
use crate::ending::Ends;
use crate::event::{Count, What};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, lock, others, split, surroundings};
use crate::operation::fuzz::validate_winner;
use crate::operation::studies::fit;
use crate::project::Project;
use crate::record::{Whose, prior, resume};
use crate::teller::{Listener, Teller};
pub(crate) use begin::{environment_of, git_commit, spec_hash, text_hash};
use begin::{new_study, owner};
use kiln_session::SessionPhase;
pub use request::{TuneRequest, Tuned};
pub use variants::variants;

/// Runs a study, goes on with one or replays one.
pub fn tune(project: &Project, request: &TuneRequest, listener: Listener<'_>) -> Result<Tuned, Failure> {
    let teller = Teller::new(listener);
    // A path that leads nowhere makes no store.
    let file = match KernelFile::read(&request.selecting.path) {
        Ok(file) => file,
        Err(failure) => return teller.end(Err(failure)),
    };
    let trying = Trying::new(project, "tune", SessionPhase::Tune, About::of(&file, &request.selecting.path));
    let result = run(project, &file, request, &teller);
    match request.replay {
        // What was measured once is no new attempt.
        Some(_) => teller.end(result),
        None => trying.told(&teller, result),
    }
}

fn run(project: &Project, file: &KernelFile, request: &TuneRequest, teller: &Teller<'_>) -> Result<Tuned, Failure> {
    teller.warn(&file.warnings);
    let store = project.store()?;
    let live = request.replay.is_none();
    let (selecting, beside) = split(&request.selecting);
    let opened = match live {
        true => Opened::new(project, file, &selecting, teller)?,
        false => Opened::unexamined(file, &selecting)?,
    };
    let kernel = &opened.kernel;
    let whose = Whose::at(kernel.name(), &request.selecting.path);
    let begun = match (&request.replay, &request.resume) {
        (Some(name), _) => Some(whose.meant(&store, name)?),
        (None, Some(name)) => Some(resume::study(&store, name, kernel, &whose)?),
        (None, None) => None,
    };
    let settings = match &begun {
        Some(study) => resume::settings(study, kernel, &spec_hash(kernel), &request.selecting)?,
        None => {
            request.measuring.remarks(teller);
            settings::settings(project, request, &opened, &store, &whose, 1 + beside.len())?
        }
    };
    fit(&store, request.name.as_deref(), &request.tags, begun.as_ref().map(|study| study.id.as_str()))?;
    let priors = prior::read(project, &settings.priors, teller)?;
    let folder = request.out.clone().unwrap_or_else(|| whose.best(project));
    if request.adopt {
        table(kernel)?;
    }
    if live {
        // Not after an hour of work.
        fs_err::create_dir_all(&folder).map_err(|e| Fault::new(format!("making {folder} for the winner"), e))?;
    }
    if live || request.out.is_some() {
        check_best(&folder)?;
    }
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let card = opened.card.as_ref().filter(|_| live);
    let others = others(&beside, card)?;
    let _held = lock(card.into_iter().chain(&others), project, teller)?;
    // Waiting for others is nobody's time; right answers and baselines are the study's.
    let started = Instant::now();
    let around = Surroundings { many: true, ..surroundings(project, &said, live, card)? };
    let mut bench = Bench::new(kernel, &settings, around)?;
    bench.priors = priors;
    for card in &others {
        bench.add_device(Some(card.uuid.clone()))?;
    }
    let spent = begun.as_ref().map_or(0.0, |s| s.seconds);
    let study = match begun {
        Some(study) => study,
        None => begin(request, &mut bench, &store)?,
    };
    if bench.peaks.is_none() && live {
        bench.peaks = peaks(&bench).ok();
    }
    if live {
        request.name.iter().try_for_each(|name| store.rename(&study.id, Some(name)))?;
        request.tags.iter().try_for_each(|tag| store.tag(&study.id, tag))?;
    }
    let record = if live {
        store.reopen(&study.id, &owner(&bench))?;
        // Recorded first, looked for others then: of two that begin at once, one at least sees the other.
        resume::others(project, &store, teller)?;
        Record::in_store(&store, &study.id, settings.cache)?
    } else {
        Record::replay(&store, &study.id, settings.cache)?
    };
    teller.belongs_to(&study.id);
    teller.tell(begins(kernel, &settings, record.len()));
    let budget = Budget::since(started, settings::minutes(request));
    if let Some(left) = budget.left(Instant::now()).filter(|left| *left < budget.elapsed(Instant::now())) {
        teller.note(format!(
            "right answers and baselines took {:.1} s of the time, {:.1} s are left",
            budget.elapsed(Instant::now()).as_secs_f64(),
            left.as_secs_f64()
        ));
    }
    let of = limits::For { project, path: &request.selecting.path, study: &study.id };
    // Of the first workload that is far too slow, where each is tuned apart: no other has one profile for all.
    let mut slowest = None;
    let mut slow = |bench: &mut Bench<'_>, config: &Config| {
        if request.profile {
            let found = limits::slow(of, bench, config, teller);
            slowest = slowest.take().or(found);
        }
    };
    let price = price::price(project, &store, request).filter(|_| live);
    price.iter().for_each(|price| price::expect(&store, kernel.name(), *price, teller));
    let ended = kiln_study::tune(&mut bench, &record, &budget, &study.id, spent, &mut slow);
    let seconds = spent + budget.elapsed(Instant::now()).as_secs_f64();
    match ended {
        Ok(mut summary) => {
            summary.sanitized = match (&study.summary, live) {
                (_, true) if request.sanitize && !project.is_stopped() => {
                    sanitized::sanitized(&bench, &store, &study.id, budget.left(Instant::now()), teller)
                }
                // A replay says what was found then.
                (Some(then), false) => then.read().map(|then| then.sanitized.clone()).unwrap_or_default(),
                _ => Vec::new(),
            };
            summary.limit = match (&study.summary, live) {
                (_, true) if request.profile && !project.is_stopped() => {
                    let apart = slowest.filter(|_| summary.verdict == TuneVerdict::Stopped && summary.config.is_none());
                    let found =
                        apart.or_else(|| limits::limit(of, &mut bench, &summary, budget.left(Instant::now()), teller));
                    if found.is_none() && project.is_stopped() {
                        teller.note("interrupted while looking for what limits it: the study is whole without that");
                    }
                    found
                }
                (Some(then), false) => then.read().ok().and_then(|then| then.limit.clone()),
                _ => None,
            };
            let then = study.summary.as_ref().filter(|_| !live).and_then(|then| then.read().ok());
            // A study gone on with costs what all its runs took.
            (summary.price, summary.cost) = match (price, then) {
                (Some(price), _) => (Some(price), Some(price * seconds / 3600.0)),
                (None, then) => (then.and_then(|then| then.price), then.and_then(|then| then.cost)),
            };
            let winner = summary.config.clone().filter(|_| live);
            let left =
                settings::minutes(request).map(|minutes| 60.0 * minutes - budget.elapsed(Instant::now()).as_secs_f64());
            let study = Done { study: &study, seconds, live };
            let ended = end(request, &mut bench, &store, study, summary, &folder, teller)?;
            // Recorded and written by now: what is found here is told, and changes nothing.
            if let (Some(config), Some(Ok(left))) = (winner, left.map(Duration::try_from_secs_f64)) {
                let of = (request.selecting.path.as_str(), &config);
                match validate_winner(project, &bench, of, left, teller) {
                    Err(failure) if !project.is_stopped() => {
                        teller.note(format!("the winner was not validated: {failure}"))
                    }
                    _ => {}
                }
            }
            Ok(ended)
        }
        Err(trouble) => broken_off(project, &store, Done { study: &study, seconds, live }, trouble),
    }
}

/// Records a new study.
fn begin(request: &TuneRequest, bench: &mut Bench<'_>, store: &Store) -> Result<Study, Failure> {
    bench.peaks = peaks(bench).ok();
    let study = new_study(request.selecting.path.as_str(), bench.kernel, bench.settings, bench);
    store.begin(&study)?;
    store.note(&study.id, study.started_ms, resume::SOURCES, &bench.kernel.fingerprint()?)?;
    Ok(study)
}

fn begins(kernel: &Kernel<'_>, settings: &Settings, recorded: usize) -> What {
    What::Study {
        kernel: kernel.name().into(),
        target: kernel.target().into(),
        configurations: Count(kernel.space.len()),
        workloads: kernel.selection.workloads.iter().map(|w| w.name.to_string()).collect(),
        seed: settings.seed,
        recorded,
    }
}

/// A study whose loop is over.
struct Done<'a> {
    study: &'a Study,
    /// How long it has run, all its runs together.
    seconds: f64,
    /// False for a replay, which records nothing.
    live: bool,
}

/// Records the end and writes the winner's files. A replay writes them where it was given a folder.
fn end(
    request: &TuneRequest,
    bench: &mut Bench<'_>,
    store: &Store,
    Done { study, seconds, live }: Done<'_>,
    summary: Summary,
    folder: &Utf8Path,
    teller: &Teller<'_>,
) -> Result<Tuned, Failure> {
    let (mut files, mut unwritten) = (Vec::new(), None);
    if live {
        let verdict = summary.verdict.name();
        store.finish(&study.id, State::Finished, Some(verdict), Some(&summary), now(), seconds)?;
    }
    if live || request.out.is_some() {
        // A file that cannot be written is no reason to lose the result: it is told first.
        match best::written(request, bench, store, study, &summary, folder, teller) {
            Ok(written) => files.extend(written),
            Err(failure) => unwritten = Some(failure),
        }
    }
    if live {
        if request.adopt {
            let date = day(study.started_ms);
            let ran = Ran {
                date: &date,
                device: bench.hardware(),
                capability: bench.gpu.as_ref().map(|gpu| gpu.capability),
                triton: bench.python.as_ref().ok().and_then(|python| python.triton.as_deref()),
            };
            match adopt(bench.kernel, &summary, &ran) {
                Ok(written) => files.extend(written),
                Err(trouble) => unwritten = unwritten.or(Some(trouble.into())),
            }
        }
        // A cache that is too large is no reason to lose the result.
        if let Err(fault) = bench.trim_cache() {
            teller.note(fault.to_string());
        }
    }
    // Tuned apart, every workload tries on its own.
    let kernel = bench.kernel;
    let apart = if kernel.selection.spec.objective.per_workload { kernel.selection.workloads.len() } else { 1 };
    let exhausted = summary.trials as u128 >= kernel.space.len().saturating_mul(apart as u128);
    let (summary, short_id) = (Box::new(summary), study.short_id().into());
    let asked = match (&request.resume, &request.replay) {
        (None, None) => request.clone(),
        _ => request.as_begun(bench.settings, kernel.on_gpu()),
    };
    Ok(Tuned::Ended { summary, files, unwritten, short_id, exhausted, asked: Box::new(asked) })
}

/// Records that a study was broken off, by whoever stopped it or by a fault.
fn broken_off(
    project: &Project,
    store: &Store,
    Done { study, seconds, live }: Done<'_>,
    trouble: Trouble,
) -> Result<Tuned, Failure> {
    let interrupted = project.is_stopped();
    let failure = Failure::from(trouble);
    if live {
        if let (false, Some(why)) = (interrupted, failure.reason()) {
            // Whoever looks later did not see it printed. Where it cannot be kept, it is printed at least.
            let _ = store.note(&study.id, now(), "fault", &why);
        }
        let state = if interrupted { State::Interrupted } else { State::Failed };
        store.finish(&study.id, state, None, None, now(), seconds)?;
    }
    let short_id = study.short_id().to_string();
    if interrupted {
        return Ok(Tuned::Interrupted { study: study.id.clone(), short_id });
    }
    // A full disk or a lost tool can be put right; what was done need not be done again.
    let saved = live && store.trials(&study.id).is_ok_and(|trials| !trials.is_empty());
    Ok(Tuned::Failed { failure, saved: saved.then_some(short_id) })
}

/// The day of a moment, in UTC.
fn day(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map(|at| at.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}

/// Milliseconds since 1970.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
