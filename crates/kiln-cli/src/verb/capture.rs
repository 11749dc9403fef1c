//! `kiln capture`: workloads from a real program.

use kiln_app::{CaptureRequest, Ending, Failure, Project, capture};

use crate::args::CaptureArgs;

pub(crate) fn run(project: &Project, args: &CaptureArgs) -> Result<Ending, Failure> {
    let request = CaptureRequest { options: args.options(), program: args.program.clone() };
    match capture(project, &request)? {
        0 => Ok(Ending::Done),
        // The program's own code, which is none of kiln's endings.
        code => std::process::exit(i32::from(code)),
    }
}
