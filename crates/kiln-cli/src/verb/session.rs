//! `kiln session`: a stretch of work with a goal, a budget and prices; and `kiln retire`.

use kiln_app::{
    DecideRequest, Ending, Failure, Fault, Project, RetireRequest, SessionReport, Utf8Path, decide, end_session,
    past_session, past_sessions, retire, retired_kernel, session_status, start_session, writable, write_whole,
};
use kiln_show::{BegunSessionView, DecisionView, SessionView, SessionsView};
use serde_json::Value;

use super::asking;
use crate::args::{ReportArgs, RetireArgs, SessionArgs, SessionVerb};
use crate::output;

pub(crate) fn run(project: &Project, args: &SessionArgs) -> Result<Ending, Failure> {
    let tell = |object: Value, text: String| output::data(&if args.json { format!("{object}\n") } else { text });
    match &args.verb {
        SessionVerb::Start(own) => {
            let begun = start_session(project, &asking::request(project, own, args.json)?)?;
            let retired = begun.kernel.as_deref().map(|name| retired_kernel(project, name, own.path.as_deref()));
            if let Some(made) = retired.transpose()?.flatten() {
                let path = own.path.as_ref().map_or("KERNEL", |path| path.as_str());
                output::note(&format!("{} is retired ({}): kiln retire {path} --undo", made.kernel, made.because));
            }
            let view = BegunSessionView(&begun);
            tell(view.json(), view.to_string())?;
        }
        SessionVerb::Status => {
            let report = session_status(project)?;
            let view = SessionView { report: &report, over: false };
            tell(view.json(), view.to_string())?;
        }
        SessionVerb::End { assistant_cost, printing } => {
            ready(printing.out.as_deref())?;
            let report = end_session(project, *assistant_cost)?;
            return printed(&report, printing, args.json);
        }
        SessionVerb::Report { id, printing } => {
            ready(printing.out.as_deref())?;
            return printed(&past_session(project, id)?, printing, args.json);
        }
        SessionVerb::List { limit } => {
            let mut rows = past_sessions(project)?;
            let older = rows.len().saturating_sub(*limit as usize);
            rows.drain(..older);
            let view = SessionsView { rows: &rows, older };
            tell(view.json(), view.to_string())?;
        }
        SessionVerb::Decide { options, choose, because } => {
            let (options, choose, because) = (options.clone(), choose.clone(), because.clone());
            let made = decide(project, &DecideRequest { options, choose, because })?;
            let view = DecisionView(&made);
            tell(view.json(), view.to_string())?;
        }
    }
    Ok(Ending::Done)
}

/// Refuses a folder that cannot be written before the session is over.
fn ready(out: Option<&Utf8Path>) -> Result<(), Failure> {
    let Some(folder) = out else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|error| Fault::new(format!("making {folder} for the report"), error))?;
    writable("the report", &folder.join("report.md"))
}

fn printed(report: &SessionReport, args: &ReportArgs, json: bool) -> Result<Ending, Failure> {
    let view = SessionView { report, over: true };
    if let Some(folder) = &args.out {
        write_whole(&folder.join("report.md"), view.markdown().as_bytes())?;
        write_whole(&folder.join("report.json"), format!("{}\n", view.json()).as_bytes())?;
        write_whole(&folder.join("sessions.svg"), view.svg().as_bytes())?;
        output::note(&format!("wrote report.md, report.json and sessions.svg to {folder}"));
    }
    output::data(&match (json, args.markdown) {
        (true, _) => format!("{}\n", view.json()),
        (false, true) => view.markdown(),
        (false, false) => view.to_string(),
    })?;
    Ok(Ending::Done)
}

/// `kiln retire`: a kernel that is no longer worked on.
pub(crate) fn retired(project: &Project, args: &RetireArgs) -> Result<Ending, Failure> {
    let request = RetireRequest { kernel: args.kernel.clone(), because: args.because.clone() };
    let made = retire(project, &request)?;
    let view = DecisionView(&made);
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(Ending::Done)
}
