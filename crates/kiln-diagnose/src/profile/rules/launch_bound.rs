//! Launching takes longer than computing.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, below, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::LaunchBound, needs: &[&[m::DURATION]], conditions, gain, explain, fixes };

/// A launch costs the host and the device about this much; a kernel that is shorter spends more on starting than on work.
const LAUNCH_MICROS: f64 = 5.0;

/// Kernels below this length, in nanoseconds, are short beside their launch.
pub(super) const SHORT_NS: f64 = 5000.0;

/// How many launches a sequence has where the page does not show it.
const SEQUENCE: f64 = 1000.0;

fn conditions(subject: &Subject) -> Vec<Condition> {
    vec![below(subject, m::DURATION, SHORT_NS)]
}

/// One kernel does the work of the sequence, at the speed of the busiest unit. Where the page does not have that, only what a graph saves is
/// promised.
fn gain(subject: &Subject) -> f64 {
    if !subject.has_units() {
        return of_graph(subject);
    }
    let work = subject.micros() * Load::of(subject).left();
    let period = LAUNCH_MICROS.max(subject.micros());
    (period / (work + LAUNCH_MICROS / SEQUENCE)).max(1.0)
}

fn explain(subject: &Subject) -> String {
    let micros = subject.micros();
    let busy = match subject.has_units() {
        true => format!(
            "Its {:.0} blocks keep the busiest unit at {:.1} %, so a",
            subject.value(m::GRID),
            100.0 * Load::of(subject).busiest()
        ),
        false => "A".into(),
    };
    format!(
        "A launch takes {micros:.1} us on the device, and starting it costs the host about {LAUNCH_MICROS:.0} us. \
         {busy} sequence of such launches spends its time on launching."
    )
}

/// Launches of a graph follow each other closely: the kernel's own time remains.
fn of_graph(subject: &Subject) -> f64 {
    (LAUNCH_MICROS / subject.micros().max(1.0)).max(1.0)
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    let graph = of_graph(subject);
    vec![
        fix(
            "do the work of many launches in one",
            "loop over the steps in the kernel (with cooperative groups' grid.sync() where steps depend on other blocks), or give every row, token or matrix a block of one launch",
            gain,
        ),
        fix(
            "replay the sequence as a CUDA graph",
            "cudaStreamBeginCapture, the launches, cudaStreamEndCapture, cudaGraphLaunch",
            graph,
        ),
    ]
}
