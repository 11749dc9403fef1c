//! One configuration against others, in figures: what `kiln bench` measures. In: a bench, a subject, rivals (baselines, another
//! configuration). Out: for each workload the subject's own figures and one comparison for each rival, all measured in the
//! same rounds, and why the others could not be measured there.

use std::time::Instant;

use kiln_core::{CANDIDATE, DeviceState, Fault, MeasuredSide, MeasuredWorkload, Outcome, Workload};
use kiln_stats::{
    Block, Bootstrap, Comparison, Estimate, StatsError, Summary, Thresholds, compare_blocks, more_samples,
    series_median, speedup,
};
use serde::Serialize;

use crate::apparatus::Apparatus;
use crate::bench::Bench;
use crate::drawing::derive;
use crate::duels::duel::{Duel, Fought, Lost, Rounds, SETS, Turns, believed, duel, limits};
use crate::duels::scrutiny::Scrutiny;
use crate::event::Event;
use crate::questions::stage::{Stage, Trouble};
use crate::rivals::field::{Group, Rival, Unmeasured, groups};
use crate::workers::subject::Subject;

/// Calls timed from outside.
const OUTSIDE: usize = 15;
/// Rounds after which a benchmark may end early.
const EARLY: usize = 8;
/// How many times a baseline's memory a candidate may take before that is remarked on.
const MOST_MEMORY: f64 = 2.0;

/// One workload's figures.
#[derive(Debug, Clone, Serialize)]
pub struct Versus {
    /// The workload.
    pub workload: String,
    /// The subject's times, in seconds of one call.
    pub times: Summary,
    /// The interval of its median.
    pub median_ci95: kiln_stats::Interval,
    /// Seconds of one call seen from the process that asked for it.
    pub end_to_end: f64,
    /// Bytes of memory its worker took at most.
    pub peak_memory: Option<u64>,
    /// Bytes of the GPU's memory in use while it was called, questions that wait there included.
    pub gpu_memory: Option<u64>,
    /// Operations a second.
    pub flops_per_second: Option<f64>,
    /// Bytes a second, of those it must move.
    pub bytes_per_second: Option<f64>,
    /// The share of what this machine can do at best.
    pub roofline: Option<f64>,
    /// Names of the kernels its samples ran on a GPU; empty where they are not known.
    pub kernels: Vec<String>,
    /// Baselines in order, behind the configuration it is held against where there is one.
    pub baselines: Vec<Against>,
    /// Those that could not be measured here.
    pub unmeasured: Vec<Unmeasured>,
    /// Every sample, to be kept and compared later.
    #[serde(skip)]
    pub measured: MeasuredWorkload,
    /// What the comparisons rest on.
    #[serde(flatten)]
    pub scrutiny: Scrutiny,
}

/// A baseline's figures.
#[derive(Debug, Clone, Serialize)]
pub struct Against {
    /// Its name.
    pub name: String,
    /// The baseline's own share of what this machine can do at best.
    pub roofline: Option<f64>,
    /// Names of the kernels its samples ran on a GPU; empty where they are not known.
    pub kernels: Vec<String>,
    /// Bytes of memory its worker took at most.
    pub peak_memory: Option<u64>,
    /// Bytes of the GPU's memory in use while it was called.
    pub gpu_memory: Option<u64>,
    /// The comparison.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// What a benchmark found.
#[derive(Debug)]
pub struct Figures {
    /// Of every workload that was measured to its end.
    pub workloads: Vec<Versus>,
    /// Names of those that were not: it was interrupted.
    pub left: Vec<String>,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Holdout workloads too.
    pub all: bool,
    /// On a GPU, fewer rounds than the settings ask for where they tell twice as much as is asked for.
    pub early: bool,
}

/// Measures a subject against rivals on the tuned workloads. A rival that is refused somewhere is left out there. Interrupted, it
/// gives what was measured to its end, if anything was.
pub fn versus(
    bench: &Bench<'_>,
    subject: &Subject,
    rivals: &[Rival],
    thresholds: &Thresholds,
    Extent { all, early }: Extent,
) -> Result<Result<Figures, Lost>, Trouble> {
    let mut workloads: Vec<_> = bench.stages.iter().map(|s| s.workload).collect();
    let kept_back = if all { bench.kept_back() } else { Vec::new() };
    workloads.extend(kept_back.into_iter().filter(|w| bench.fits(subject.config(), *w)));
    let stages = bench.stages(&workloads, "bench", &SETS)?;
    let names: Vec<String> = stages.iter().map(|stage| stage.name().into()).collect();
    let (groups, mut unmeasured) = groups(bench, stages, rivals)?;
    let mut figures: Vec<Option<Versus>> = names.iter().map(|_| None).collect();
    for mut group in groups {
        let early = early && bench.kernel.on_gpu();
        let found = fight(bench, subject, rivals, &mut group, early, &mut unmeasured).and_then(|fought| match fought {
            Ok(found) => in_figures(bench, subject, rivals, thresholds, group, found),
            Err(lost) => Ok(Err(lost)),
        });
        match found {
            Ok(Ok(more)) => more.into_iter().for_each(|(place, figure)| figures[place] = Some(figure)),
            Ok(Err(lost)) => return Ok(Err(lost)),
            Err(_) if bench.go_on().is_err() && figures.iter().any(Option::is_some) => break,
            Err(fault) => return Err(fault.into()),
        }
    }
    let mut found = Figures { workloads: Vec::new(), left: Vec::new() };
    for ((figure, unmeasured), name) in figures.into_iter().zip(unmeasured).zip(names) {
        match figure {
            Some(figure) => found.workloads.push(Versus { unmeasured, ..figure }),
            None => found.left.push(name),
        }
    }
    Ok(Ok(found))
}

/// The rounds of one group of workloads, of those who do not lose; lost where the candidate does.
fn fight(
    bench: &Bench<'_>,
    subject: &Subject,
    rivals: &[Rival],
    group: &mut Group<'_>,
    early: bool,
    unmeasured: &mut [Vec<Unmeasured>],
) -> Result<Result<Fought, Lost>, Fault> {
    loop {
        match once(bench, subject, rivals, group, early)? {
            Err(lost) if lost.subject > 0 => group.leave_out(lost.subject - 1, lost, rivals, unmeasured),
            ended => return Ok(ended),
        }
    }
}

fn once(
    bench: &Bench<'_>,
    subject: &Subject,
    rivals: &[Rival],
    group: &Group<'_>,
    early: bool,
) -> Result<Result<Fought, Lost>, Fault> {
    let mut subjects = vec![("candidate".to_string(), subject.clone())];
    subjects.extend(group.able.iter().map(|rival| rivals[*rival].entry()));
    let least = if early { EARLY.min(bench.settings.pairs) } else { bench.settings.pairs };
    rounds(bench, &group.stages, &subjects, least, |found| further(bench, found))
}

/// So many rounds, and `more`.
pub(crate) fn rounds(
    bench: &Bench<'_>,
    stages: &[Stage<'_>],
    subjects: &[(String, Subject)],
    rounds: usize,
    more: impl Fn(&Rounds) -> usize,
) -> Result<Result<Fought, Lost>, Fault> {
    let (planned, samples) = (bench.settings.pairs, bench.settings.pair_samples);
    (bench.listener)(&Event::Phase { phase: "bench", planned });
    let plan = Duel { subjects, rounds, samples, purpose: "bench", deadline: None };
    let step = |done| (bench.listener)(&Event::Step { phase: "bench", done, planned });
    duel(bench, stages, plan, step, more)
}

/// What the rounds of a group say, by the places of its workloads.
fn in_figures(
    bench: &Bench<'_>,
    subject: &Subject,
    rivals: &[Rival],
    thresholds: &Thresholds,
    group: Group<'_>,
    found: Fought,
) -> Result<Result<Vec<(usize, Versus)>, Lost>, Fault> {
    let Group { places, mut stages, able } = group;
    let mut figures = Vec::with_capacity(stages.len());
    let found_on = found.rounds.iter().zip(found.scrutiny).zip(found.kernels.into_iter().zip(found.states));
    for ((stage, place), ((rounds, mut scrutiny), (kernels, states))) in stages.iter_mut().zip(places).zip(found_on) {
        let kernels_of = |place: usize| kernels.get(place).cloned().unwrap_or_default();
        let words = format!("summarising {}", stage.name());
        let fault = |e: kiln_stats::StatsError| Fault::new(&words, e);
        let seed = derive(bench.settings.seed, &["bootstrap", stage.name()], 0);
        let (times, median) = summary(rounds, 0, seed).map_err(fault)?;
        let Outside { end_to_end, peak_memory, gpu_memory } = match from_outside(bench, stage, subject)? {
            Outcome::Passed(found) => found,
            Outcome::Refused(refusal) => {
                return Ok(Err(Lost { subject: 0, refusal, workload: stage.name().into() }));
            }
        };
        let mut against = Vec::with_capacity(able.len());
        for (place, rival) in able.iter().map(|rival| &rivals[*rival]).enumerate() {
            let blocks = blocks(rounds, place + 1);
            let limits = limits(thresholds, bench.kernel.on_gpu(), &blocks);
            let comparison = believed(compare_blocks(&blocks, &limits, seed).map_err(fault)?, scrutiny.hidden);
            let roofline =
                bench.peaks.as_ref().and_then(|p| p.share(stage.flops, stage.bytes, comparison.baseline.median));
            let (kernels, name) = (kernels_of(place + 1), rival.name.clone());
            // Its memory is no reason to lose its times.
            let (theirs, on_gpu) = match from_outside(bench, stage, &rival.subject)? {
                Outcome::Passed(outside) => (outside.peak_memory, outside.gpu_memory),
                Outcome::Refused(_) => (None, None),
            };
            // Of a GPU's worker, the memory of the machine is kiln's own: questions and answers.
            let (of, own, other) = match bench.kernel.on_gpu() {
                true => (" of the GPU's", gpu_memory, on_gpu),
                false => ("", peak_memory, theirs),
            };
            scrutiny.notes.extend(own.zip(other).and_then(|(own, other)| more_memory(of, own, &name, other)));
            against.push(Against { name, roofline, kernels, peak_memory: theirs, gpu_memory: on_gpu, comparison });
        }
        let sides = [(CANDIDATE, subject)].into_iter();
        let sides = sides.chain(able.iter().map(|rival| (&*rivals[*rival].name, &rivals[*rival].subject)));
        let figure = Versus {
            measured: measured(stage, sides, rounds, states),
            workload: stage.name().into(),
            times,
            median_ci95: median.interval,
            end_to_end,
            peak_memory,
            gpu_memory,
            flops_per_second: stage.flops.map(|f| f / times.median),
            bytes_per_second: stage.bytes.map(|b| b / times.median),
            roofline: bench.peaks.as_ref().and_then(|p| p.share(stage.flops, stage.bytes, times.median)),
            kernels: kernels_of(0),
            baselines: against,
            unmeasured: Vec::new(),
            scrutiny,
        };
        figures.push((place, figure));
    }
    Ok(Ok(figures))
}

/// Samples as they are kept.
pub(crate) fn measured<'s>(
    stage: &Stage<'_>,
    sides: impl Iterator<Item = (&'s str, &'s Subject)>,
    rounds: &[Vec<Turns>],
    mut states: Vec<Vec<DeviceState>>,
) -> MeasuredWorkload {
    let side = |(place, (name, subject)): (usize, (&str, &Subject))| MeasuredSide {
        name: name.into(),
        code: subject.code(),
        source: subject.source(),
        rounds: rounds.iter().map(|turns| turns[place].samples.clone()).collect(),
        order: rounds.iter().map(|turns| turns[place].order.clone()).collect(),
        calls: rounds.iter().map(|turns| turns[place].calls).collect(),
        states: states.get_mut(place).map(std::mem::take).unwrap_or_default(),
    };
    MeasuredWorkload {
        name: stage.name().into(),
        shape: stage.workload.map(Workload::shape),
        sides: sides.enumerate().map(side).collect(),
    }
}

/// The samples of the one at `place`, summarised, and their median with its interval.
pub(crate) fn summary(rounds: &[Vec<Turns>], place: usize, seed: u64) -> Result<(Summary, Estimate), StatsError> {
    let own: Vec<f64> = rounds.iter().flat_map(|r| r[place].samples.iter().copied()).collect();
    Ok((Summary::of(&own)?, series_median(&own, &Bootstrap { seed, ..Bootstrap::default() })?))
}

/// The remark on a candidate that takes much more memory than somebody else.
fn more_memory(of: &str, own: u64, name: &str, other: u64) -> Option<String> {
    let (own_mib, other_mib) = (own >> 20, other >> 20);
    let words = format!("it takes {own_mib} MiB{of} memory, more than twice the {other_mib} MiB of {name}");
    (own as f64 > MOST_MEMORY * other as f64).then_some(words)
}

/// Rounds still needed until every speedup is known as well as the settings ask for; of fewer rounds than usual, twice as well:
/// what they say of their own scatter is less certain.
fn further(bench: &Bench<'_>, found: &Rounds) -> usize {
    let settings = bench.settings;
    let done = found.first().map_or(0, Vec::len);
    let bootstrap = Bootstrap { resamples: 1_000, ..Bootstrap::default() };
    let mut wanted = 0;
    for rounds in found {
        for place in 1..rounds.first().map_or(0, Vec::len) {
            let Ok(speedup) = speedup(&blocks(rounds, place), &bootstrap) else { continue };
            let width = speedup.ratio.interval.relative_half_width();
            if done < settings.pairs {
                if width > settings.width / 2.0 {
                    return settings.pairs - done;
                }
                continue;
            }
            wanted = wanted.max(more_samples(done, width, settings.width).unwrap_or(0));
        }
    }
    // In steps: what a few noisy rounds predict is itself uncertain.
    wanted.min(settings.pairs).min((settings.most_pairs).saturating_sub(done))
}

/// The subject against the one at `place`, round by round.
fn blocks(rounds: &[Vec<Turns>], place: usize) -> Vec<Block> {
    let block =
        |turns: &Vec<Turns>| Block { baseline: turns[place].samples.clone(), candidate: turns[0].samples.clone() };
    rounds.iter().map(block).collect()
}

/// A subject as seen by who asks for its calls.
pub(crate) struct Outside {
    pub(crate) end_to_end: f64,
    pub(crate) peak_memory: Option<u64>,
    pub(crate) gpu_memory: Option<u64>,
}

/// Calls timed with the parent's clock, question and answer included, and the worker's memory.
pub(crate) fn from_outside(
    bench: &Bench<'_>,
    stage: &mut Stage<'_>,
    subject: &Subject,
) -> Result<Outcome<Outside>, Fault> {
    let mut seat = passed!(bench.seating().take(subject)?);
    stage.fit(subject.config())?;
    passed!(stage.map(&mut seat, subject)?);
    passed!(stage.lay(0, &mut seat)?);
    passed!(seat.call()?);
    let mut times = Vec::with_capacity(OUTSIDE);
    for _ in 0..OUTSIDE {
        passed!(stage.lay(0, &mut seat)?);
        let started = Instant::now();
        passed!(seat.call()?);
        times.push(started.elapsed().as_secs_f64());
    }
    let median = kiln_stats::median(&times).map_err(|e| Fault::new("timing calls", e))?;
    let gpu_memory = passed!(seat.device_memory()?);
    Ok(Outcome::Passed(Outside { end_to_end: median, peak_memory: seat.peak_memory(), gpu_memory }))
}
