//! `kiln next`: the one thing to do now, from what is recorded.

use kiln_app::{Ending, Failure, NextRequest, Project, next};
use kiln_show::NextView;

use crate::args::NextArgs;
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &NextArgs) -> Result<Ending, Failure> {
    let step = next(project, &NextRequest { kernel: args.kernel.clone(), ..NextRequest::default() })?;
    let kiln = place::kiln(project);
    let view = NextView { step: &step, kiln: &kiln };
    output::data(&match args {
        NextArgs { tree: true, json: true, .. } => format!("{}\n", view.tree_json()),
        NextArgs { checklist: true, json: true, .. } => format!("{}\n", view.checklist_json()),
        NextArgs { json: true, .. } => format!("{}\n", view.json()),
        NextArgs { tree: true, .. } => view.tree(),
        NextArgs { checklist: true, .. } => view.checklist(),
        _ => view.to_string(),
    })?;
    Ok(Ending::Done)
}
