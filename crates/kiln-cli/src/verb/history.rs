//! `kiln history`: past studies and benchmarks, newest first; changes of level in them; the last good commit; or one study in
//! another tool's form.

use kiln_app::{
    ChangesRequest, Ending, Failure, HistoryRequest, Project, Utf8Path, changes, export_t4, history, last_good,
    series_changes, unreadable, write_whole,
};
use kiln_show::{ChangesView, FileChangesView, HistoryView, LastGoodView, Past, RunView};

use crate::args::HistoryArgs;
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &HistoryArgs) -> Result<Ending, Failure> {
    if let (Some(_), Some(study)) = (args.export, &args.kernel) {
        return written(project, study.as_str(), args.workload.as_deref(), args.output.as_deref());
    }
    if let Some(file) = &args.series {
        let found = series_changes(file, args.which.min_change)?;
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
        if args.csv {
            output::data(&view.csv())?;
            return Ok(Ending::Done);
        }
        return printed(args.json, &view.json(), &view);
    }
    let found =
        history(project, &HistoryRequest { kernel: args.kernel.clone(), tag: args.tag.clone(), limit: args.limit })?;
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
        tag: args.tag.as_deref(),
        others: &found.others,
        more: found.more,
    };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    output::warnings(Vec::from_iter(unreadable(found.damaged)).as_slice());
    if !args.json && args.kernel.is_some() && args.tag.is_none() && !found.runs.is_empty() {
        changed(project, args)?;
    }
    Ok(Ending::Done)
}

/// When the kernel became faster or slower, behind the list.
fn changed(project: &Project, args: &HistoryArgs) -> Result<(), Failure> {
    let found = changes(project, &which(args))?;
    let words = ChangesView { found: &found, place: project.store_place() }.summary();
    if !words.is_empty() {
        output::data(&format!("\nchanges of level\n{words}"))?;
    }
    Ok(())
}

fn printed(json: bool, object: &serde_json::Value, view: &impl std::fmt::Display) -> Result<Ending, Failure> {
    output::data(&if json { format!("{object}\n") } else { view.to_string() })?;
    Ok(Ending::Done)
}

/// Which runs are meant.
fn which(args: &HistoryArgs) -> ChangesRequest {
    let which = &args.which;
    ChangesRequest {
        kernel: args.kernel.clone().unwrap_or_default(),
        workload: args.workload.clone(),
        target: which.target.clone(),
        variant: which.variant.clone(),
        device: which.device.clone(),
        config: which.config.clone(),
        any_config: which.any_config,
        since: which.since.clone(),
        by_time: which.by_time,
        min_change: which.min_change,
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
