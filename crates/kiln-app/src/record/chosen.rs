//! One configuration of a kernel, chosen by its values or as a study's winner. In: a kernel file, a selection, what was typed, a
//! study. Out: the kernel opened for what the study was about, and the whole configuration. Refuses a study of another
//! kernel, and one without a winner.

use kiln_core::Config;
use kiln_store::Study;

use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, complete};
use crate::project::Project;
use crate::record::Whose;
use crate::record::winner::{of_study, winner};
use crate::teller::Teller;

/// A kernel with one of its configurations.
pub(crate) struct Chosen<'a> {
    pub(crate) opened: Opened<'a>,
    pub(crate) config: Config,
    /// What was selected: by the study where flags say nothing.
    pub(crate) selecting: Selecting,
}

impl<'a> Chosen<'a> {
    /// By values as they are typed, or by a study.
    pub(crate) fn new(
        project: &Project,
        file: &'a KernelFile,
        selecting: &Selecting,
        (typed, study): (&str, Option<&str>),
        teller: &Teller<'_>,
    ) -> Result<Chosen<'a>, Failure> {
        let study = study.map(|name| meant(project, file, selecting, name)).transpose()?;
        let selecting = study.as_ref().map_or_else(|| selecting.clone(), |study| of_study(selecting, study));
        let opened = Opened::new(project, file, &selecting, teller)?;
        let typed = match &study {
            Some(study) => winner(study, selecting.workload.as_deref())?,
            None => typed.to_string(),
        };
        let (config, _) = complete(&opened.kernel.selection, &opened.kernel.problem, &typed)?;
        Ok(Chosen { opened, config, selecting })
    }

    /// Another configuration of it: values where there is a `=`, else a study's winner.
    pub(crate) fn another(&self, project: &Project, file: &KernelFile, words: &str) -> Result<Config, Failure> {
        let typed = match words.contains('=') {
            true => words.to_string(),
            false => winner(&meant(project, file, &self.selecting, words)?, self.selecting.workload.as_deref())?,
        };
        Ok(complete(&self.opened.kernel.selection, &self.opened.kernel.problem, &typed)?.0)
    }
}

/// The study that a name means for this kernel.
fn meant(project: &Project, file: &KernelFile, selecting: &Selecting, name: &str) -> Result<Study, Failure> {
    Whose::at(&file.spec.name, &selecting.path).meant(&project.recorded_for(name)?, name)
}
