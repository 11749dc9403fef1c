//! One kernel's way through the steps. In: a kernel file and what is asked. Out: how it ended; what was done on the way is told
//! to its [`CiKernel`]. The first step that does not pass ends it.

use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Refusal;
use kiln_diagnose::Finding;
use kiln_formats::{RATCHET, Ratchet, read_ratchet};

use super::base::Base;
use super::choice::Case;
use super::steps::STEPS;
use super::{Bases, CiAgainst, CiKernel, CiRequest, CiState, CiStep};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, folder, read_bounded};
use crate::project::Project;
use crate::teller::Teller;

/// No ratchet comes near this size.
const LARGEST: u64 = 4 << 20;

/// How a step ended that could be done, and what came of it in words.
pub(super) enum Stepped {
    Passed(String),
    Skipped(String),
    Refused(Refusal, String),
    Found(Vec<Finding>, String),
    Regressed(String),
}

/// A kernel on its way.
pub(super) struct Course<'c> {
    pub(super) project: &'c Project,
    pub(super) request: &'c CiRequest,
    pub(super) file: &'c KernelFile,
    pub(super) selecting: Selecting,
    pub(super) teller: &'c Teller<'c>,
    pub(super) bases: &'c mut Bases,
    /// The commit to compare with, where one is named.
    pub(super) base: Option<Base>,
    /// Where the ratchet is or would be.
    pub(super) ratchet_file: Utf8PathBuf,
    /// What it says; none where there is none.
    pub(super) ratchet: Option<Ratchet>,
    /// What is built, checked and measured; known after the first step.
    pub(super) cases: Vec<Case>,
    pub(super) kernel: &'c mut CiKernel,
}

impl<'c> Course<'c> {
    /// Refuses a damaged ratchet and a base that is not there before anything is done.
    pub(super) fn new(
        project: &'c Project,
        request: &'c CiRequest,
        file: &'c KernelFile,
        path: &Utf8Path,
        teller: &'c Teller<'c>,
        bases: &'c mut Bases,
        kernel: &'c mut CiKernel,
    ) -> Result<Course<'c>, Failure> {
        let selecting = Selecting { path: path.into(), ..request.selecting.clone() };
        let base = request.base.as_deref().map(|asked| Base::find(folder(path), asked)).transpose()?;
        let ratchet_file = request.ratchet.clone().unwrap_or_else(|| folder(path).join(RATCHET));
        let ratchet = ratchet(&ratchet_file)?;
        if ratchet.is_none() && request.ratchet.is_some() && !request.update {
            let report = kiln_core::Report::error(format!("there is no ratchet {ratchet_file}"));
            return Err(report.hint("add --update to write it").into());
        }
        if request.base.is_none() && (ratchet.is_some() || request.update) {
            kernel.against = CiAgainst::Ratchet { file: ratchet_file.to_string() };
        }
        if let Some(Base { asked, commit, notes, .. }) = &base {
            kernel.against = CiAgainst::Base { asked: asked.clone(), commit: commit.clone() };
            kernel.notes.extend(notes.iter().cloned());
        }
        let cases = Vec::new();
        Ok(Course { project, request, file, selecting, teller, bases, base, ratchet_file, ratchet, cases, kernel })
    }

    /// Takes every step.
    pub(super) fn run(mut self) -> Result<Ending, Failure> {
        for (name, step) in STEPS {
            let began = Instant::now();
            let stepped = step(&mut self);
            let seconds = began.elapsed().as_secs_f64();
            let (mut refusal, mut findings) = (None, Vec::new());
            let (state, ending, words) = match &stepped {
                Ok(Stepped::Passed(words)) => (CiState::Passed, Ending::Done, words.clone()),
                Ok(Stepped::Skipped(words)) => (CiState::Skipped, Ending::Done, words.clone()),
                Ok(Stepped::Refused(why, words)) => {
                    refusal = Some(why.clone());
                    (CiState::Refused, Ending::Refused, words.clone())
                }
                Ok(Stepped::Found(found, words)) => {
                    findings.clone_from(found);
                    (CiState::Refused, Ending::Refused, words.clone())
                }
                Ok(Stepped::Regressed(words)) => (CiState::Regressed, Ending::Regressed, words.clone()),
                Err(failure) => (CiState::Failed, failure.ending(), failure.reason().unwrap_or_default()),
            };
            let kernel = &self.kernel.kernel;
            self.teller.note(format!("{kernel}: {name} {}, {words} ({seconds:.1} s)", state.name()));
            self.kernel.steps.push(CiStep { step: name, state, seconds, words, refusal, findings });
            stepped?;
            if ending != Ending::Done {
                return Ok(ending);
            }
        }
        Ok(Ending::Done)
    }
}

/// What a ratchet file says; none where there is none.
pub(super) fn ratchet(file: &Utf8Path) -> Result<Option<Ratchet>, Failure> {
    if !file.exists() {
        return Ok(None);
    }
    let bytes = read_bounded(file, LARGEST)?;
    let text = String::from_utf8(bytes).map_err(|_| kiln_core::Report::error(format!("{file} is not UTF-8")))?;
    Ok(Some(read_ratchet(file.as_str(), &text)?))
}
