//! `kiln compare`: two runs against each other.

use kiln_app::{CompareRequest, Ending, Ends, Failure, Project, Report, Thresholds, compare, writable, write_whole};
use kiln_show::{CompareView, quoted};

use crate::args::{CompareArgs, CompareFormat, IMPROVEMENT, REGRESSION, ThresholdsArgs};
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
    args.printing.out.as_deref().map_or(Ok(()), |file| writable("the result", file))?;
    let compared = compare(project, &request)?;
    let mut words = vec!["kiln compare".into(), quoted(&args.base).to_string(), quoted(&args.candidate).to_string()];
    words.extend(args.side.iter().map(|side| format!("--side {}", quoted(side))));
    words.extend(
        [("--plain", args.plain), ("--anyway", args.anyway)].iter().filter(|(_, on)| *on).map(|(f, _)| f.to_string()),
    );
    words.extend(typed_thresholds(&args.thresholds));
    let command = words.join(" ");
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
    match args.printing.out.as_ref().map(|file| write_whole(file, text.as_bytes())) {
        Some(Ok(())) => {}
        Some(Err(fault)) => {
            output::data(&text)?;
            output::complain(&format!("error: {fault}"));
            return Ok(output::unwritten(compared.ending()));
        }
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

/// The thresholds as they would be typed; nothing where they are the usual ones.
pub(super) fn typed_thresholds(args: &ThresholdsArgs) -> Vec<String> {
    let all = [("--regression", args.regression, REGRESSION), ("--improvement", args.improvement, IMPROVEMENT)];
    all.iter().filter(|(_, value, usual)| value != usual).map(|(flag, value, _)| format!("{flag} {value}")).collect()
}

/// A percentage as a fraction.
pub(super) fn fraction(flag: &str, percent: f64) -> Result<f64, Failure> {
    if percent.is_finite() && (0.0..=1000.0).contains(&percent) {
        return Ok(percent / 100.0);
    }
    Err(Report::error(format!("{flag} is {percent}")).label("expected a number of per cent from 0 to 1000").into())
}
