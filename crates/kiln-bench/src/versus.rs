//! One configuration against baselines, in figures: what `kiln bench` measures. In: a bench, a subject, baselines. Out: for
//! each workload the subject's own figures and one comparison for each baseline, all measured in the same rounds.

use std::time::Instant;

use kiln_core::{Fault, Outcome};
use kiln_stats::{
    Block, Bootstrap, Comparison, Estimate, Summary, Thresholds, compare_blocks, more_samples, series_median, speedup,
};
use serde::Serialize;

use crate::apparatus::Apparatus;
use crate::baseline::Baseline;
use crate::bench::Bench;
use crate::drawing::derive;
use crate::duel::{Duel, Lost, Rounds, SETS, Turns, believed, duel, limits};
use crate::event::Event;
use crate::scrutiny::Scrutiny;
use crate::stage::{Stage, Trouble};
use crate::subject::Subject;

/// Calls timed from outside.
const OUTSIDE: usize = 15;

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
    /// Baselines in order.
    pub baselines: Vec<Against>,
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
    /// The comparison.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Measures a subject against baselines on the tuned workloads, and on holdouts when `all`.
pub fn versus(
    bench: &Bench<'_>,
    subject: &Subject,
    baselines: &[Baseline],
    thresholds: &Thresholds,
    all: bool,
) -> Result<Result<Vec<Versus>, Lost>, Trouble> {
    let mut workloads: Vec<_> = bench.stages.iter().map(|s| s.workload).collect();
    let kept_back = if all { bench.kept_back() } else { Vec::new() };
    workloads.extend(kept_back.into_iter().filter(|w| bench.fits(subject.config(), *w)));
    let mut stages = bench.stages(&workloads, "bench", &SETS)?;
    let mut subjects = vec![("candidate".to_string(), subject.clone())];
    subjects.extend(baselines.iter().map(|b| (format!("baseline:{}", b.name), b.subject.clone())));
    let (rounds, samples) = (bench.settings.pairs, bench.settings.pair_samples);
    (bench.listener)(&Event::Phase { phase: "bench", planned: rounds });
    let plan = Duel { subjects: &subjects, rounds, samples, purpose: "bench", deadline: None };
    let step = |done| (bench.listener)(&Event::Step { phase: "bench", done, planned: rounds });
    let more = |found: &Rounds| further(bench, found);
    let found = match duel(bench, &stages, plan, step, more)? {
        Ok(found) => found,
        Err(lost) => return Ok(Err(lost)),
    };
    let mut figures = Vec::with_capacity(stages.len());
    let found_on = found.rounds.iter().zip(found.scrutiny).zip(found.kernels);
    for (stage, ((rounds, scrutiny), kernels)) in stages.iter_mut().zip(found_on) {
        let kernels_of = |place: usize| kernels.get(place).cloned().unwrap_or_default();
        let words = format!("summarising {}", stage.name());
        let fault = |e: kiln_stats::StatsError| Fault::new(&words, e);
        let seed = derive(bench.settings.seed, &["bootstrap", stage.name()], 0);
        let own: Vec<f64> = rounds.iter().flat_map(|r| r[0].samples.iter().copied()).collect();
        let times = Summary::of(&own).map_err(fault)?;
        let bootstrap = Bootstrap { seed, ..Bootstrap::default() };
        let median: Estimate = series_median(&own, &bootstrap).map_err(fault)?;
        let mut against = Vec::with_capacity(baselines.len());
        for (place, baseline) in baselines.iter().enumerate() {
            let blocks = blocks(rounds, place + 1);
            let limits = limits(thresholds, bench.kernel.on_gpu(), &blocks);
            let comparison = believed(compare_blocks(&blocks, &limits, seed).map_err(fault)?, scrutiny.hidden);
            let roofline =
                bench.peaks.as_ref().and_then(|p| p.share(stage.flops, stage.bytes, comparison.baseline.median));
            let kernels = kernels_of(place + 1);
            against.push(Against { name: baseline.name.clone(), roofline, kernels, comparison });
        }
        let Outside { end_to_end, peak_memory, gpu_memory } = match from_outside(bench, stage, subject)? {
            Outcome::Passed(found) => found,
            Outcome::Refused(refusal) => {
                return Ok(Err(Lost { subject: 0, refusal, workload: stage.name().into() }));
            }
        };
        figures.push(Versus {
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
            scrutiny,
        });
    }
    Ok(Ok(figures))
}

/// Rounds still needed until every speedup is known as well as the settings ask for.
fn further(bench: &Bench<'_>, found: &Rounds) -> usize {
    let settings = bench.settings;
    let done = found.first().map_or(0, Vec::len);
    let bootstrap = Bootstrap { resamples: 1_000, ..Bootstrap::default() };
    let mut wanted = 0;
    for rounds in found {
        for place in 1..rounds.first().map_or(0, Vec::len) {
            let Ok(speedup) = speedup(&blocks(rounds, place), &bootstrap) else { continue };
            let width = speedup.ratio.interval.relative_half_width();
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
struct Outside {
    end_to_end: f64,
    peak_memory: Option<u64>,
    gpu_memory: Option<u64>,
}

/// Calls timed with the parent's clock, question and answer included, and the worker's memory.
fn from_outside(bench: &Bench<'_>, stage: &mut Stage<'_>, subject: &Subject) -> Result<Outcome<Outside>, Fault> {
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
