//! `kiln gate`: one configuration up the ladder.

use kiln_app::{Ending, Ends, Failure, GateRequest, Gated, KernelFile, Project, Way, gate, gate_everywhere, lesson};
use kiln_show::{BuiltView, EverywhereView, GateView, LadderView, lesson_line, taught};
use serde_json::Value;

use crate::args::{GateArgs, Until};
use crate::hearing::Hearing;
use crate::output;

/// The architecture that stands for all of them.
const EVERY: &str = "all";

pub(crate) fn run(project: &Project, args: &GateArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::remarks(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = GateRequest {
        selecting: (&args.selecting).into(),
        config: args.config.clone(),
        only_rules: args.r#static,
        until_build: args.until == Some(Until::Build),
    };
    if args.selecting.arch.as_deref() == Some(EVERY) {
        let found = gate_everywhere(project, &file, &request, &hear)?;
        let view = EverywhereView { rows: &found.rows };
        if !args.json {
            output::warnings(found.rows.first().map_or(&[], |row| row.warnings));
        }
        hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
        return Ok(found.ending());
    }
    let gated = gate(project, &file, &request, &hear)?;
    let view = GateView::of(&gated);
    let lesson = lesson(project, &gated, Some(args.selecting.path.as_str()));
    if args.json {
        output::data(&format!("{}\n", taught(object(view.json(), &gated), lesson.as_ref())))?;
        return Ok(gated.ending());
    }
    output::warnings(gated.warnings);
    hearing.data(&view.to_string())?;
    let verbose = output::verbose();
    match &gated.way {
        Way::Static(_) => {}
        Way::Built(forged, _) => hearing.data(&BuiltView { forged, verbose }.to_string())?,
        Way::Climbed(evaluation) => hearing.data(&LadderView { evaluation, verbose }.to_string())?,
    }
    lesson.iter().try_for_each(|lesson| hearing.data(&lesson_line(lesson)))?;
    gated.way.note().into_iter().for_each(output::note);
    Ok(gated.ending())
}

/// The static rules with what came after them.
fn object(mut object: Value, gated: &Gated<'_>) -> Value {
    object["passed"] = gated.passed().into();
    match &gated.way {
        Way::Static(_) => {}
        Way::Built(forged, _) => object["build"] = BuiltView { forged, verbose: true }.json(),
        Way::Climbed(evaluation) => object["ladder"] = LadderView { evaluation, verbose: true }.json(),
    }
    object
}
