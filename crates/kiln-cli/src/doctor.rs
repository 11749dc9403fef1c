//! `kiln doctor`: is the environment sane? In: this machine and folder. Out: findings, each with why it matters and the fix;
//! with `--fix`, what can safely be done is done first. The cheap parts, [`preflight`] and for a GPU [`quick`], are for every
//! long command to run before it starts.

mod build;
mod cache;
mod compiler;
mod compilers;
mod confinement;
mod disk;
mod fix;
mod frequency;
mod gpu;
mod load;
mod memory;
mod processors;
mod program;
mod python;
mod quick;
mod shared_memory;
mod space;
mod spot;
mod store;
mod tools;
mod torch;
mod worker;

use std::thread;

use kiln_run::{Card, cards, find_python};
use kiln_show::{DoctorView, Finding, Health};

use crate::args::DoctorArgs;
use crate::exit::{Failure, Success};
use crate::output;
pub(crate) use quick::quick;

pub(crate) fn run(args: &DoctorArgs) -> Result<Success, Failure> {
    let fix::Fixed { done, failed } = if args.fix { fix::fix() } else { fix::Fixed::default() };
    let mut findings = examine();
    findings.extend(failed);
    let view = DoctorView { findings: &findings, fixed: &done };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    let unfit = findings.iter().any(|f| f.state == Health::Fail);
    Ok(if unfit { Success::Unfit } else { Success::Done })
}

/// What a long command needs to know before it starts: room for its records and buffers, and a compiler. Nothing is built
/// and nothing is changed.
pub(crate) fn preflight() -> Vec<Finding> {
    vec![compiler::look(), disk::look(), shared_memory::look(), memory::look()]
}

/// Everything.
fn examine() -> Vec<Finding> {
    let cards = cards();
    let seen = cards.as_deref().unwrap_or_default();
    thread::scope(|scope| {
        // Interpreters and foreign tools take their time to start, and nothing else waits for them.
        let python = scope.spawn(|| interpreter(seen));
        let tools = scope.spawn(|| (compilers::Compilers::find(), tools::look(!seen.is_empty())));
        let mut findings = preflight();
        let (build, built) = build::look();
        findings.push(build);
        findings.push(worker::look(built.as_ref()));
        findings.push(confinement::look());
        findings.extend(python.join().unwrap_or_default());
        findings.extend([load::look(), processors::look(), frequency::look(), store::look(), cache::look()]);
        if let Ok((compilers, tools)) = tools.join() {
            findings.extend(gpu::look(&cards, &compilers));
            findings.extend(compilers.look(seen));
            findings.extend(tools);
        }
        findings.extend(spot::look());
        findings
    })
}

/// Python and what of it belongs to GPUs.
fn interpreter(cards: &[Card]) -> Vec<Finding> {
    let found = find_python();
    let mut findings = vec![python::look(&found)];
    findings.extend(torch::look(found.as_ref().ok(), cards));
    findings
}
