//! `kiln show`: a study's story or a benchmark, from its record.

use kiln_app::{Ending, Failure, Important, LEAST_TIMED, Project, Report, Shown, importance, show};
use kiln_show::{ImportanceView, Past, RunView, StudyView, repeat};
use serde_json::json;

use crate::args::ShowArgs;
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &ShowArgs) -> Result<Ending, Failure> {
    if args.importance {
        return mattered(project, args);
    }
    let story = match show(project, &args.study)? {
        Shown::Study(story) => story,
        Shown::Run(run) if args.csv => {
            let report = Report::error(format!("--csv with benchmark {}", run.short_id()));
            return Err(report
                .label("expected a study: a benchmark has no trials")
                .hint("--json has its figures")
                .into());
        }
        Shown::Run(run) => {
            let view = RunView::of(&run);
            output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
            return Ok(Ending::Done);
        }
    };
    let kiln = place::kiln(project);
    let (past, repeat) = (Past::of(&story.now), repeat(&kiln, &story.now.study));
    let view = StudyView { past: &past, trials: &story.now.trials, notes: &story.notes, repeat: &repeat, kiln: &kiln };
    output::data(&match args {
        ShowArgs { json: true, .. } => format!("{}\n", view.json()),
        ShowArgs { csv: true, .. } => view.csv(),
        ShowArgs { refusals: true, .. } => view.refusals(output::verbose()),
        ShowArgs { trials: true, .. } => view.every_trial(),
        _ => view.to_string(),
    })?;
    Ok(Ending::Done)
}

/// Which tunables mattered.
fn mattered(project: &Project, args: &ShowArgs) -> Result<Ending, Failure> {
    let (study, found) = importance(project, &args.study)?;
    output::data(&if args.json {
        let objects: Vec<_> = found.iter().map(|of| view(of).json()).collect();
        format!("{}\n", json!({ "study": study, "importance": objects }))
    } else {
        found.iter().map(|of| view(of).to_string()).collect()
    })?;
    Ok(Ending::Done)
}

fn view(of: &Important) -> ImportanceView<'_> {
    let Important { workload, timed, importance } = of;
    ImportanceView { workload, timed: *timed, importance: importance.as_ref(), least: LEAST_TIMED }
}
