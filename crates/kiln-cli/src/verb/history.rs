//! `kiln history`: past studies and benchmarks, newest first; changes of level in them; the last good commit; or one study in
//! another tool's form.

use kiln_app::{
    ChangesRequest, Ending, Failure, HistoryFilter, HistoryRequest, Project, Report, Utf8Path, changes, export_t4,
    history, last_good, series_changes, write_whole,
};
use kiln_show::{ChangesView, FileChangesView, HistoryView, LastGoodView, Past, RunView};

use crate::args::HistoryArgs;
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &HistoryArgs) -> Result<Ending, Failure> {
    meant(args)?;
    if let (Some(_), Some(study)) = (args.export, &args.kernel) {
        return written(project, study.as_str(), args.workload.as_deref(), args.output.as_deref());
    }
    if let Some(file) = &args.series {
        let found = series_changes(file, args.which.min_change())?;
        let view = FileChangesView(&found);
        return printed(args.json, &view.json(), &view);
    }
    if let Some(judged) = &args.last_good {
        let here = Utf8Path::new(".");
        let found = last_good(project, args.kernel.as_deref().unwrap_or(here), judged)?;
        let view = LastGoodView(&found);
        return printed(args.json, &view.json(), &view);
    }
    if args.changes || args.csv {
        let found = changes(project, &which(args))?;
        let view = ChangesView { found: &found, place: project.store_place() };
        if args.json || args.csv {
            found.emptied.iter().for_each(|why| output::note(why));
        }
        if args.csv {
            output::data(&view.csv())?;
            return Ok(Ending::Done);
        }
        return printed(args.json, &view.json(), &view);
    }
    let (kernel, tag, only) = (args.kernel.clone(), args.tag.clone(), only(args));
    let found =
        history(project, &HistoryRequest { kernel, tag, only, limit: args.limit, ..HistoryRequest::default() })?;
    // Everything is known before anything is printed: what is wrong is said alone.
    let listed = !args.json && args.kernel.is_some() && args.tag.is_none() && !found.runs.is_empty();
    let changed = if listed { Some(changes(project, &which(args))?) } else { None };
    let studies: Vec<Past> = found.studies.iter().map(Past::of).collect();
    let runs: Vec<RunView<'_>> = found.runs.iter().map(RunView::of).collect();
    let view = HistoryView {
        studies: &studies,
        runs: &runs,
        validations: &found.validations,
        place: project.store_place(),
        kiln: &place::kiln(project),
        retired: found.retired.as_ref(),
        kernel: found.kernel.as_deref(),
        typed: args.kernel.as_ref().map(|typed| typed.as_str()),
        tag: args.tag.as_deref(),
        others: &found.others,
        namesakes: &found.namesakes,
        emptied: found.emptied.as_deref(),
        more: found.more,
    };
    if args.json {
        found.emptied.iter().for_each(|why| output::note(why));
    }
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    // When the kernel became faster or slower, behind the list.
    if let Some(found) = &changed {
        let words = ChangesView { found, place: project.store_place() }.summary();
        if !words.is_empty() {
            output::data(&format!("\nchanges of level\n{words}"))?;
        }
    }
    Ok(Ending::Done)
}

/// Refuses flags that say nothing about what was asked for: they would be passed over in silence.
fn meant(args: &HistoryArgs) -> Result<(), Failure> {
    let which = &args.which;
    let filters = [
        ("--target", which.target.is_some()),
        ("--variant", which.variant.is_some()),
        ("--device", which.device.is_some()),
        ("--config", which.config.is_some()),
        ("--since", which.since.is_some()),
    ];
    let series = [("--any-config", which.any_config), ("--by-time", which.by_time)];
    let (workload, least) = ([("--workload", args.workload.is_some())], [("--min-change", which.min_change.is_some())]);
    let (of, out_of_place) = if args.export.is_some() {
        ("--export", [&filters[..], &series, &least].concat())
    } else if args.series.is_some() {
        ("--series", [&filters[..], &series, &workload].concat())
    } else if args.last_good.is_some() {
        ("--last-good", [&filters[..], &series, &workload, &least].concat())
    } else if args.kernel.is_none() {
        ("a list of all kernels", [&series[..], &least].concat())
    } else {
        return Ok(());
    };
    match out_of_place.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => {
            let report = Report::error(format!("{flag} says nothing about {of}"));
            Err(report.hint(format!("omit it, or name a kernel: kiln history KERNEL {flag} ...")).into())
        }
    }
}

/// Which records are meant.
fn only(args: &HistoryArgs) -> HistoryFilter {
    let which = &args.which;
    HistoryFilter {
        workload: args.workload.clone(),
        target: which.target.clone(),
        variant: which.variant.clone(),
        device: which.device.clone(),
        config: which.config.clone(),
        since: which.since.clone(),
    }
}

fn printed(json: bool, object: &serde_json::Value, view: &impl std::fmt::Display) -> Result<Ending, Failure> {
    output::data(&if json { format!("{object}\n") } else { view.to_string() })?;
    Ok(Ending::Done)
}

/// Which runs are meant.
fn which(args: &HistoryArgs) -> ChangesRequest {
    ChangesRequest {
        kernel: args.kernel.clone().unwrap_or_default(),
        by_name: false,
        only: only(args),
        any_config: args.which.any_config,
        by_time: args.which.by_time,
        min_change: args.which.min_change(),
    }
}

/// One study as T4, in a file or on standard output.
fn written(project: &Project, study: &str, workload: Option<&str>, file: Option<&Utf8Path>) -> Result<Ending, Failure> {
    let (text, results) = export_t4(project, study, workload)?;
    match file {
        None => output::data(&text)?,
        Some(file) => {
            write_whole(file, text.as_bytes())?;
            output::note(&format!("wrote {results} results to {file}"));
        }
    }
    Ok(Ending::Done)
}
