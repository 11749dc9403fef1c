//! `kiln doctor`: is the environment sane?

use kiln_app::{Ending, Ends, Failure, Project, doctor};
use kiln_show::DoctorView;

use crate::args::DoctorArgs;
use crate::output;

pub(crate) fn run(project: &Project, args: &DoctorArgs) -> Result<Ending, Failure> {
    let examined = doctor(project, args.fix, args.path.as_deref())?;
    let view = DoctorView { findings: &examined.findings, fixed: &examined.fixed };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(examined.ending())
}
