//! The steps of a kernel, in order. A further one is a function here and a row in [`STEPS`].

use kiln_core::Outcome;
use kiln_spec::TargetKind;
use kiln_study::{Machine, toolchain};

use super::choice;
use super::correctness::{fuzzed, sanitized};
use super::course::{Course, Stepped};
use super::{against_base, against_ratchet};
use crate::failure::Failure;
use crate::kernel::Opened;
use crate::operation::{check, forge};
use crate::project::program;

/// One step.
type Step = fn(&mut Course<'_>) -> Result<Stepped, Failure>;

/// All of them.
pub(super) const STEPS: &[(&str, Step)] = &[
    ("doctor", doctor),
    ("build", build),
    ("check", checked),
    ("fuzz", fuzzed),
    ("sanitize", sanitized),
    ("bench", measured),
];

/// The cheap part of the doctor, what the file asks of the environment, and which configurations are meant.
fn doctor(course: &mut Course<'_>) -> Result<Stepped, Failure> {
    let opened = Opened::new(course.project, course.file, &course.selecting, course.teller)?;
    let kernel = &opened.kernel;
    let device = opened.card.as_ref().map_or_else(|| Machine::look().processor, |card| card.name.clone());
    // What is opened again later must be the same.
    course.selecting.target = Some(kernel.target().into());
    course.cases = choice::cases(course, &opened)?;
    (course.kernel.target, course.kernel.device) = (Some(kernel.target().into()), Some(device.clone()));
    course.kernel.variant = Some(kernel.variant());
    Ok(Stepped::Passed(device))
}

/// Every configuration compiles.
fn build(course: &mut Course<'_>) -> Result<Stepped, Failure> {
    let mut built = Vec::new();
    for case in &course.cases {
        let opened = Opened::unexamined(course.file, &case.selecting)?;
        if opened.kernel.selection.target.kind == TargetKind::Python {
            return Ok(Stepped::Passed("Python: nothing to build".into()));
        }
        if let Some((refusal, workload)) = opened.kernel.broken(&case.config) {
            return Ok(Stepped::Refused(refusal, format!("{} on {workload}", case.config)));
        }
        let toolchain = toolchain(&opened.kernel, &program()?)?;
        let forged = forge::one(course.project, &opened.kernel, toolchain, &case.config)?;
        match forged.outcome {
            Outcome::Passed(_) => built.push(case.config.to_string()),
            Outcome::Refused(refusal) => return Ok(Stepped::Refused(refusal, case.config.to_string())),
        }
    }
    built.dedup();
    Ok(Stepped::Passed(built.join("; ")))
}

/// Every configuration is right on fresh inputs.
fn checked(course: &mut Course<'_>) -> Result<Stepped, Failure> {
    let mut questions = 0;
    for case in &course.cases {
        let request = check::CheckRequest {
            selecting: case.selecting.clone(),
            config: case.typed.clone(),
            ..check::CheckRequest::default()
        };
        let checked = check::run(course.project, course.file, &request, course.teller)?;
        questions += checked.reports.len();
        if let Some((refusal, workload)) = checked.refused {
            let on = if workload.is_empty() { String::new() } else { format!(" on {workload}") };
            return Ok(Stepped::Refused(refusal.clone(), format!("{}{on}: {}", refusal.gate, refusal.measured)));
        }
    }
    Ok(Stepped::Passed(format!("{} answered correctly", kiln_core::counted(questions as u128, "question"))))
}

/// Every workload is as fast as what it is compared with.
fn measured(course: &mut Course<'_>) -> Result<Stepped, Failure> {
    match course.base.clone() {
        Some(base) => against_base::measured(course, &base),
        None => against_ratchet::measured(course),
    }
}
