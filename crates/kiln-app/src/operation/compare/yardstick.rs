//! The side that times are counted in. In: two runs. Out: a baseline that both measured on every workload, with the same code as far
//! as that is known; of several, the one that keeps in step with the kernel. A machine that slows down does not slow all
//! code alike: beside a busy neighbour a scalar loop may lose 60 % and a vectorised one 10 %.

use kiln_core::{MeasuredSide, MeasuredWorkload};
use kiln_formats::RunFile;
use kiln_stats::median;

use super::Pair;
use super::comparable::environment;

/// The yardstick of two runs; none where they have no baseline in common.
pub(super) fn yardstick(base: &RunFile, candidate: &RunFile, side: &str, pairs: &[Pair<'_>]) -> Option<String> {
    let packages = |run: &RunFile| environment(run).python;
    let names = pairs.first()?.0.sides.iter().map(|other| other.name.as_str()).filter(|name| *name != side);
    let fits = |(one, other): &Pair<'_>, name: &str| {
        let (Some(unit), Some(other_unit)) = (one.side(name), other.side(name)) else { return false };
        let rounds = |found: Option<&MeasuredSide>| found.map_or(0, |found| found.rounds.len());
        let whole = unit.rounds.len() == rounds(one.side(side)) && other_unit.rounds.len() == rounds(other.side(side));
        // Without machine code it is a Python function, and as good as its file and its packages. Older runs do not say the file.
        let file = |one: &MeasuredSide, other: &MeasuredSide| {
            one.source.as_ref().zip(other.source.as_ref()).is_none_or(|(one, other)| one == other)
        };
        let same = match (&unit.code, &other_unit.code) {
            (Some(one), Some(other)) => one == other,
            (None, None) => packages(base) == packages(candidate) && file(unit, other_unit),
            _ => false,
        };
        whole && same && unit.rounds.iter().chain(&other_unit.rounds).all(|round| !round.is_empty())
    };
    let fitting = names.into_iter().filter(|name| pairs.iter().all(|pair| fits(pair, name)));
    let measured = |name: &str| -> f64 {
        pairs.iter().map(|(one, other)| out_of_step(one, side, name) + out_of_step(other, side, name)).sum()
    };
    fitting.map(|name| (name, measured(name))).min_by(|one, other| one.1.total_cmp(&other.1)).map(|(n, _)| n.into())
}

/// How much the ratio of two sides varies from round to round of one run: the variance of its logarithm. It says nothing about
/// the difference between two runs, so choosing by it does not favour a verdict.
fn out_of_step(workload: &MeasuredWorkload, side: &str, unit: &str) -> f64 {
    let medians = |name: &str| {
        let rounds = workload.side(name).map(|side| side.rounds.as_slice()).unwrap_or_default();
        rounds.iter().filter_map(|round| median(round).ok()).collect::<Vec<f64>>()
    };
    let ratios: Vec<f64> = medians(side).iter().zip(medians(unit)).map(|(own, unit)| (own / unit).ln()).collect();
    let count = ratios.len().max(1) as f64;
    let mean = ratios.iter().sum::<f64>() / count;
    ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose neighbour comes and goes: the scalar baseline suffers, the vectorised one as little as the kernel.
    fn run() -> RunFile {
        let side = |name: &str, loss: f64| MeasuredSide {
            name: name.into(),
            code: Some(name.into()),
            rounds: (0..10).map(|round| vec![1.0 + loss * f64::from(round % 3); 5]).collect(),
            ..MeasuredSide::default()
        };
        let sides = vec![side("candidate", 0.1), side("scalar", 0.6), side("vectorised", 0.09)];
        let mut run = RunFile::by("kiln");
        run.workloads = vec![MeasuredWorkload { name: "w".into(), sides, ..MeasuredWorkload::default() }];
        run
    }

    #[test]
    fn the_baseline_in_step_with_the_kernel_is_chosen() {
        let (one, mut other) = (run(), run());
        let pairs = |one: &RunFile, other: &RunFile| {
            yardstick(one, other, "candidate", &[(&one.workloads[0], &other.workloads[0])])
        };
        assert_eq!(pairs(&one, &other).as_deref(), Some("vectorised"));
        // Another version of it is another baseline.
        other.workloads[0].sides[2].code = Some("newer".into());
        assert_eq!(pairs(&one, &other).as_deref(), Some("scalar"));
        // So is another version of a Python function's file.
        let python = |run: &mut RunFile, source: &str| {
            run.workloads[0].sides[1].code = None;
            run.workloads[0].sides[1].source = Some(source.into());
        };
        let mut python_one = one.clone();
        python(&mut python_one, "a");
        python(&mut other, "a");
        assert_eq!(pairs(&python_one, &other).as_deref(), Some("scalar"));
        python(&mut other, "b");
        assert_eq!(pairs(&python_one, &other), None);
        other.workloads[0].sides.truncate(1);
        assert_eq!(pairs(&one, &other), None);
    }
}
