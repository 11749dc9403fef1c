//! `kiln doctor`: is the environment sane? In: this machine and folder. Out: findings, each with why it matters and the fix;
//! with `--fix`, what can safely be done is done first. The cheap part, [`preflight`], is for every long command to run
//! before it starts.

mod build;
mod cache;
mod compiler;
mod disk;
mod fix;
mod frequency;
mod gpu;
mod load;
mod memory;
mod processors;
mod python;
mod shared_memory;
mod space;
mod store;
mod worker;

use std::thread;

use kiln_show::{DoctorView, Finding, Health};

use crate::args::DoctorArgs;
use crate::exit::{Failure, Success};
use crate::output;

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
    thread::scope(|scope| {
        // An interpreter takes its time to start, and nothing else waits for it.
        let python = scope.spawn(python::look);
        let mut findings = preflight();
        let (build, built) = build::look();
        findings.push(build);
        findings.push(worker::look(built.as_ref()));
        findings.extend(python.join());
        findings.extend([
            load::look(),
            processors::look(),
            frequency::look(),
            store::look(),
            cache::look(),
            gpu::look(),
        ]);
        findings
    })
}
