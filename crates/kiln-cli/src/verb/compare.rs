//! `kiln compare`: two runs against each other.

use kiln_app::{CompareRequest, Ending, Ends, Failure, Project, Report, Thresholds, compare, write_whole};
use kiln_show::{CompareView, quoted};

use crate::args::{CompareArgs, CompareFormat, ThresholdsArgs};
use crate::output;

pub(crate) fn run(project: &Project, args: &CompareArgs) -> Result<Ending, Failure> {
    let request = CompareRequest {
        base: args.base.clone(),
        candidate: args.candidate.clone(),
        side: args.side.clone(),
        plain: args.plain,
        anyway: args.anyway,
        thresholds: thresholds(&args.thresholds)?,
    };
    if let Some(out) = &args.printing.out {
        let same = |name: &String| {
            std::fs::canonicalize(name).is_ok_and(|name| std::fs::canonicalize(out).is_ok_and(|out| out == name))
        };
        if same(&args.base) || same(&args.candidate) {
            let report = Report::error(format!("--out {out} is one of the runs: it would be lost"));
            return Err(report.hint("write to another file").into());
        }
    }
    let compared = compare(project, &request)?;
    let command = format!("kiln compare {} {}", quoted(&args.base), quoted(&args.candidate));
    let view = CompareView { compared: &compared, command: &command };
    let text = match args.printing.format() {
        CompareFormat::Text => view.to_string(),
        CompareFormat::Markdown => view.markdown(),
        CompareFormat::Json => format!("{}\n", view.json()),
        CompareFormat::Junit => view.junit(),
        CompareFormat::Sarif => view.sarif(),
        CompareFormat::Bencher => view.bencher(),
        CompareFormat::BenchmarkAction => view.benchmark_action(),
    };
    match &args.printing.out {
        Some(file) => write_whole(file, text.as_bytes())?,
        None => output::data(&text)?,
    }
    Ok(compared.ending())
}

/// What a verdict demands.
pub(super) fn thresholds(args: &ThresholdsArgs) -> Result<Thresholds, Failure> {
    Ok(Thresholds {
        dead_zone: fraction("--regression", args.regression)?,
        improvement: fraction("--improvement", args.improvement)?,
        ..Thresholds::mission()
    })
}

/// A percentage as a fraction.
pub(super) fn fraction(flag: &str, percent: f64) -> Result<f64, Failure> {
    if percent.is_finite() && (0.0..=1000.0).contains(&percent) {
        return Ok(percent / 100.0);
    }
    Err(Report::error(format!("{flag} is {percent}")).label("expected a number of per cent from 0 to 1000").into())
}
