//! `kiln history`: past studies and benchmarks, newest first, or one study in another tool's form.

use kiln_app::{Ending, Failure, HistoryRequest, Project, Utf8Path, export_t4, history, unreadable, write_whole};
use kiln_show::{HistoryView, Past, RunView};

use crate::args::HistoryArgs;
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &HistoryArgs) -> Result<Ending, Failure> {
    if let (Some(_), Some(study)) = (args.export, &args.kernel) {
        return written(project, study.as_str(), args.workload.as_deref(), args.output.as_deref());
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
        kernel: found.kernel.as_deref(),
        tag: args.tag.as_deref(),
        others: &found.others,
        more: found.more,
    };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    output::warnings(Vec::from_iter(unreadable(found.damaged)).as_slice());
    Ok(Ending::Done)
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
