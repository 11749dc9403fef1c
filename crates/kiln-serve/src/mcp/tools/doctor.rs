//! `doctor`: is the environment sane?

use kiln_app::{Ends, Failure, doctor};
use kiln_show::DoctorView;

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::evidence::of_doctor;
use crate::mcp::tool::{Call, Effect, Tool, never};

pub(in crate::mcp) static DOCTOR: Tool = Tool {
    name: "doctor",
    title: "Examine this machine",
    about: "Examines compilers, Python, disk, memory, load and GPUs, and says for each finding why it matters and how to fix it. Changes nothing. Call it \
            before blaming a kernel: an `unfit` machine makes every other result doubtful. A healthy machine says nothing about a kernel.",
    arguments: &[&[may("path", Kind::File, "a kernel whose [environment] is examined too")]],
    answers: &["kiln doctor"],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run,
};

fn run(call: &Call<'_>) -> Result<Answer, Failure> {
    // What is repaired is for a person to decide.
    let repair = false;
    // Looking at the machine is no attempt at anything.
    let project = call.project.clone().unrecorded();
    let examined = doctor(&project, repair, call.given.path("path").as_deref())?;
    let result = DoctorView { findings: &examined.findings, fixed: &examined.fixed }.json();
    let evidence = of_doctor(&result);
    Ok(Answer::judged(examined.ending(), result, evidence))
}
