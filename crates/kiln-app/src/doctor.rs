//! Is the environment sane? In: this machine and folder. Out: findings, each with why it matters and the fix;
//! where asked, what can safely be done is done first. The cheap parts, [`preflight`] and for a GPU [`quick`], are for every
//! long command to run before it starts.

mod build;
mod cache;
mod compiler;
mod compilers;
mod confinement;
mod disk;
mod finding;
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
mod venv;
mod worker;

use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_run::{Card, cards, find_python};

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, environment};
use crate::lessons::lesson;
use crate::project::Project;
pub use finding::{Finding, Health};
use kiln_session::SessionPhase;
pub(crate) use program::{ask as ask_program, find as find_program};
pub(crate) use python::without_environment;
pub(crate) use quick::quick;

/// What was found, and what was put right first.
pub struct Examined {
    /// Every part of the environment.
    pub findings: Vec<Finding>,
    /// What was put right, in words.
    pub fixed: Vec<String>,
}

impl Ends for Examined {
    fn ending(&self) -> Ending {
        let unfit = self.findings.iter().any(|f| f.state == Health::Fail);
        if unfit { Ending::Unfit } else { Ending::Done }
    }
}

/// Examines this machine and folder, and with a path whether it has what the kernel there asks for; with `fix`, what can
/// safely be done is done first.
pub fn doctor(project: &Project, fix: bool, path: Option<&Utf8Path>) -> Result<Examined, Failure> {
    let file = path.map(KernelFile::read).transpose()?;
    let about = file.as_ref().zip(path).map_or_else(About::default, |(file, path)| About::of(file, path));
    let trying = Trying::new(project, "doctor", SessionPhase::Environment, about);
    trying.quietly(examined(project, fix, path, file.as_ref()))
}

fn examined(
    project: &Project,
    fix: bool,
    path: Option<&Utf8Path>,
    file: Option<&KernelFile>,
) -> Result<Examined, Failure> {
    let selecting =
        Selecting { path: path.map_or_else(Utf8PathBuf::new, Utf8Path::to_path_buf), ..Selecting::default() };
    let opened = file.map(|file| Opened::unexamined(file, &selecting)).transpose()?;
    let fix::Fixed { done: fixed, failed } = if fix { fix::fix(project) } else { fix::Fixed::default() };
    let mut findings = examine(project);
    findings.extend(failed);
    findings.extend(opened.map_or_else(Vec::new, |opened| environment::required(&opened.kernel, opened.card.as_ref())));
    teach(project, path, &mut findings);
    Ok(Examined { findings, fixed })
}

/// Puts the lesson that fits beside each finding that is not well; the same lesson once.
fn teach(project: &Project, path: Option<&Utf8Path>, findings: &mut [Finding]) {
    let mut shown: Vec<String> = Vec::new();
    for finding in findings {
        let lesson = lesson(project, finding, path.map(Utf8Path::as_str));
        finding.lesson = lesson.filter(|lesson| !shown.contains(&lesson.id));
        shown.extend(finding.lesson.iter().map(|lesson| lesson.id.clone()));
    }
}

/// What a long command needs to know before it starts: room for its records and buffers, and a compiler. Nothing is built
/// and nothing is changed.
pub(crate) fn preflight(project: &Project) -> Vec<Finding> {
    vec![compiler::look(), disk::look(project), shared_memory::look(), memory::look()]
}

/// Everything.
fn examine(project: &Project) -> Vec<Finding> {
    let cards = cards();
    let seen = cards.as_deref().unwrap_or_default();
    thread::scope(|scope| {
        // Interpreters and foreign tools take their time to start, and nothing else waits for them.
        let python = scope.spawn(|| interpreter(seen));
        let tools = scope.spawn(|| (compilers::Compilers::find(), tools::look(!seen.is_empty())));
        let mut findings = preflight(project);
        let (build, built) = build::look(project);
        findings.push(build);
        findings.push(worker::look(built.as_ref()));
        findings.push(confinement::look());
        findings.extend(python.join().unwrap_or_default());
        findings.extend([
            load::look(),
            processors::look(),
            frequency::look(),
            store::look(project),
            cache::look(project),
        ]);
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
