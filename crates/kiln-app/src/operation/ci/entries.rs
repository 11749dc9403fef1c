//! Entries of the ratchet and the work's own. In: a measured workload, and what the ratchet says of it. Out: the entry that would be
//! written, and a verdict: by the ratio to the baseline that both have, else by times; none by another machine's.

use kiln_core::CANDIDATE;
use kiln_formats::{Ratchet, RatchetBaseline, RatchetEntry};
use kiln_stats::{Estimate, Interval};
use kiln_study::{Bench, Versus};

use super::CiRequest;
use super::choice::Case;
use super::machine::MachineIs;
use super::verdict::{CiVerdict, CiWorkload, by_intervals};
use crate::operation::tune::git_commit;

/// This machine's entry for a workload.
pub(super) fn known<'r>(
    ratchet: &'r Ratchet,
    bench: &Bench<'_>,
    machine: &MachineIs,
    workload: &str,
) -> Option<&'r RatchetEntry> {
    let (kernel, settings) = (bench.kernel, bench.settings);
    ratchet.entries.iter().filter(|e| e.is_of(kernel.name())).find(|e| {
        (e.target.as_str(), e.workload.as_str(), e.device.as_str()) == (kernel.target(), workload, &machine.device)
            && (e.variant == kernel.variant()
                && e.cache == settings.cache.name()
                && e.threads == settings.threads as u64)
    })
}

/// Whether two entries are of one workload, wherever.
pub(super) fn alike(one: &RatchetEntry, other: &RatchetEntry) -> bool {
    let of = |entry: &RatchetEntry| (entry.target.clone(), entry.variant.clone(), entry.workload.clone());
    let kernel = other.kernel.as_ref().is_none_or(|kernel| one.is_of(kernel));
    kernel && of(one) == of(other) && one.cache == other.cache && one.threads == other.threads
}

/// What was measured, as an entry.
pub(super) fn entry(
    bench: &Bench<'_>,
    machine: &MachineIs,
    case: &Case,
    figure: &Versus,
    code: Option<String>,
) -> RatchetEntry {
    let (kernel, settings) = (bench.kernel, bench.settings);
    let baseline = figure.baselines.first().map(|against| RatchetBaseline {
        name: against.name.clone(),
        version: machine.version(&figure.measured, &against.name),
        ratio: against.comparison.speedup,
        ratio_ci95: [against.comparison.speedup_ci95.low, against.comparison.speedup_ci95.high],
    });
    let samples = figure.measured.side(CANDIDATE).map_or(0, |side| side.rounds.iter().map(Vec::len).sum());
    RatchetEntry {
        kernel: Some(kernel.name().into()),
        target: kernel.target().into(),
        variant: kernel.variant(),
        workload: figure.workload.clone(),
        shape: figure.measured.shape.clone(),
        config: case.config.to_string(),
        cache: settings.cache.name().into(),
        threads: settings.threads as u64,
        median_ms: 1e3 * figure.times.median,
        ci95_ms: [1e3 * figure.median_ci95.low, 1e3 * figure.median_ci95.high],
        samples: samples as u64,
        baseline,
        device: machine.device.clone(),
        driver: machine.driver.clone(),
        compiler: machine.compiler.clone(),
        code,
        commit: git_commit(kernel),
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        kiln: env!("CARGO_PKG_VERSION").into(),
    }
}

/// The verdict on a workload, by this machine's entry `then`, or by what `others` have.
pub(super) fn judged<'r>(
    then: Option<&RatchetEntry>,
    mut others: impl Iterator<Item = &'r RatchetEntry>,
    now: &RatchetEntry,
    machine: &MachineIs,
    request: &CiRequest,
) -> CiWorkload {
    let seconds = |entry: &RatchetEntry| estimate(1e-3 * entry.median_ms, entry.ci95_ms.map(|ms| 1e-3 * ms));
    let told = |verdict: CiVerdict, why: String| CiWorkload {
        candidate: Some(seconds(now)),
        samples: now.samples as usize,
        measured: 1,
        ..CiWorkload::unmeasured(&now.workload, &now.config, verdict, why)
    };
    let Some((then, differs)) = then.map(|then| (then, machine.differs(then))).or_else(|| {
        let other = others.next()?;
        Some((other, machine.differs(other)))
    }) else {
        return told(CiVerdict::New, String::new());
    };
    if let (Some(was), Some(is)) = (&then.shape, &now.shape)
        && was != is
    {
        let why = format!("it was measured with {was}, and has {is} now: not compared; `kiln ci --update` takes it in");
        return told(CiVerdict::New, why);
    }
    let pair = then.baseline.as_ref().zip(now.baseline.as_ref()).filter(|(then, now)| then.name == now.name);
    if let Some(differs) = differs {
        // What another machine took says nothing here; how the kernel stands to its baseline says a little.
        let ratio = pair.map_or(String::new(), |(then, now)| {
            format!("; {:.2}x of {} there, {:.2}x here", then.ratio, then.name, now.ratio)
        });
        let new = then.device != now.device;
        let verdict = if new && request.update { CiVerdict::New } else { CiVerdict::OtherMachine };
        let hint = match new {
            true => "",
            false => "; to start anew on this machine, delete the entry and run `kiln ci --update`",
        };
        return CiWorkload {
            base: Some(seconds(then)),
            ..told(verdict, format!("{differs}{ratio}: not compared{hint}"))
        };
    }
    let same = pair.filter(|(then, now)| then.version == now.version);
    let (verdict, speedup) = match same {
        Some((then, now)) => by_intervals(
            estimate(then.ratio, then.ratio_ci95),
            estimate(now.ratio, now.ratio_ci95),
            &request.thresholds,
        ),
        None => by_intervals(speed(then), speed(now), &request.thresholds),
    };
    let why = match same {
        Some(_) => String::new(),
        None => "no baseline in common with the ratchet: a slower machine looks like a slower kernel".into(),
    };
    CiWorkload {
        base: Some(seconds(then)),
        speedup: Some(speedup),
        yardstick: same.map(|(baseline, _)| baseline.name.clone()),
        ..told(verdict, why)
    }
}

/// Calls in a millisecond.
fn speed(entry: &RatchetEntry) -> Estimate {
    let [low, high] = entry.ci95_ms;
    estimate(1.0 / entry.median_ms, [1.0 / high, 1.0 / low])
}

fn estimate(value: f64, [low, high]: [f64; 2]) -> Estimate {
    Estimate { value, interval: Interval { low, high } }
}
