//! Baselines alone, before there is a candidate: what `kiln bench --baselines` measures. In: a bench, baselines. Out: for each
//! workload what each of them takes, how near the machine's limit that is, and the times a candidate has to beat.

use kiln_core::{Fault, MeasuredWorkload, Outcome};
use kiln_stats::{Interval, Summary};
use serde::Serialize;

use crate::bench::Bench;
use crate::drawing::derive;
use crate::duels::duel::{Fought, SETS};
use crate::questions::stage::Trouble;
use crate::rivals::field::{Group, Rival, Unmeasured, groups};
use crate::rivals::versus::{from_outside, measured, rounds, summary};

/// One workload.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// The workload.
    pub workload: String,
    /// Seconds below which nobody can be, by the file's cost and what this machine can do; none when the file states none.
    pub floor: Option<f64>,
    /// The baselines that could be measured, in order.
    pub baselines: Vec<Stands>,
    /// Those that could not.
    pub unmeasured: Vec<Unmeasured>,
    /// Every sample, to be kept and compared later.
    #[serde(skip)]
    pub measured: MeasuredWorkload,
}

/// One baseline on one workload. Times are seconds of one call.
#[derive(Debug, Clone, Serialize)]
pub struct Stands {
    /// Its name.
    pub name: String,
    /// Its times.
    pub times: Summary,
    /// The interval of its median.
    pub median_ci95: Interval,
    /// A call seen from the process that asked for it.
    pub end_to_end: Option<f64>,
    /// Bytes of memory its worker took at most.
    pub peak_memory: Option<u64>,
    /// Bytes of the GPU's memory in use while it was called.
    pub gpu_memory: Option<u64>,
    /// The share of what this machine can do at best.
    pub roofline: Option<f64>,
    /// Names of the kernels its samples ran on a GPU; empty where they are not known.
    pub kernels: Vec<String>,
    /// What a candidate may take to be half as fast, as fast, and as much faster as the file aims at.
    pub to_beat: ToBeat,
}

/// Times in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ToBeat {
    /// For 0.5x: above it a study stops and says so.
    pub half: f64,
    /// For 1.0x.
    pub even: f64,
    /// For the speedup that is aimed at.
    pub target: f64,
}

/// Measures baselines on the tuned workloads, and on holdouts when `all`.
pub fn standing(bench: &Bench<'_>, baselines: &[Rival], target: f64, all: bool) -> Result<Vec<Standing>, Trouble> {
    let mut workloads: Vec<_> = bench.stages.iter().map(|s| s.workload).collect();
    workloads.extend(if all { bench.kept_back() } else { Vec::new() });
    let stages = bench.stages(&workloads, "bench", &SETS)?;
    let floor = |stage: &crate::questions::stage::Stage<'_>| bench.peaks.as_ref()?.share(stage.flops, stage.bytes, 1.0);
    let empty = |stage: &crate::questions::stage::Stage<'_>| Standing {
        workload: stage.name().into(),
        floor: floor(stage),
        baselines: Vec::new(),
        unmeasured: Vec::new(),
        measured: MeasuredWorkload::default(),
    };
    let mut standings: Vec<Standing> = stages.iter().map(empty).collect();
    let (groups, mut unmeasured) = groups(bench, stages, baselines)?;
    for mut group in groups {
        while !group.able.is_empty() {
            let subjects: Vec<_> = group.able.iter().map(|number| baselines[*number].entry()).collect();
            match rounds(bench, &group.stages, &subjects, bench.settings.pairs, |_| 0)? {
                Ok(found) => {
                    stand(bench, baselines, target, &mut group, found, &mut standings)?;
                    break;
                }
                Err(lost) => group.leave_out(lost.subject, lost, baselines, &mut unmeasured),
            }
        }
    }
    standings.iter_mut().zip(unmeasured).for_each(|(standing, unmeasured)| standing.unmeasured = unmeasured);
    Ok(standings)
}

/// Takes what a group's rounds say into its workloads' figures.
fn stand(
    bench: &Bench<'_>,
    baselines: &[Rival],
    target: f64,
    group: &mut Group<'_>,
    found: Fought,
    standings: &mut [Standing],
) -> Result<(), Fault> {
    let Group { places, stages, able } = group;
    let found_on = found.rounds.iter().zip(&found.kernels).zip(found.states);
    for ((place, stage), ((rounds, kernels), states)) in places.iter().zip(stages).zip(found_on) {
        let sides = able.iter().map(|rival| (&*baselines[*rival].name, &baselines[*rival].subject));
        standings[*place].measured = measured(stage, sides, rounds, states);
        for (number, rival) in able.iter().map(|rival| &baselines[*rival]).enumerate() {
            let seed = derive(bench.settings.seed, &["bootstrap", stage.name()], number as u64);
            let fault = |e: kiln_stats::StatsError| Fault::new(format!("summarising {}", rival.name), e);
            let (times, median) = summary(rounds, number, seed).map_err(fault)?;
            let outside = match from_outside(bench, stage, &rival.subject)? {
                Outcome::Passed(outside) => Some(outside),
                Outcome::Refused(_) => None,
            };
            let (seconds, peaks) = (times.median, bench.peaks.as_ref());
            standings[*place].baselines.push(Stands {
                name: rival.name.clone(),
                times,
                median_ci95: median.interval,
                end_to_end: outside.as_ref().map(|outside| outside.end_to_end),
                peak_memory: outside.as_ref().and_then(|outside| outside.peak_memory),
                gpu_memory: outside.and_then(|outside| outside.gpu_memory),
                roofline: peaks.and_then(|peaks| peaks.share(stage.flops, stage.bytes, seconds)),
                kernels: kernels.get(number).cloned().unwrap_or_default(),
                to_beat: ToBeat { half: 2.0 * seconds, even: seconds, target: seconds / target },
            });
        }
    }
    Ok(())
}
