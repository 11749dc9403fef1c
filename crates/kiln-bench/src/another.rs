//! Other devices of a study. In: a GPU like the bench's own. Out: workers and workloads there, so that a candidate is tried
//! on each at the same time. What is compared closely (finals, confirmation, ablation) stays on the first, since no two
//! devices are quite alike. Refuses a GPU of another model.

use kiln_core::Fault;
use kiln_judge::Level;
use kiln_run::Gpu;

use crate::bench::Bench;
use crate::ladder::Station;
use crate::questions::check::questions;
use crate::questions::stage::{Stage, Trouble};
use crate::workers::seating::Seating;

/// A device beside the first.
pub(crate) struct Another<'a> {
    pub(crate) seating: Seating,
    stages: Vec<Stage<'a>>,
    pub(crate) gpu: Option<Gpu>,
}

impl<'a> Another<'a> {
    /// The workloads set up there.
    pub(crate) fn stages(&mut self) -> std::slice::IterMut<'_, Stage<'a>> {
        self.stages.iter_mut()
    }

    /// Where a configuration is tried on the workloads of these names.
    pub(crate) fn place(&mut self, names: &[String]) -> Station<'_, 'a> {
        let stages = self.stages.iter_mut().filter(|stage| names.iter().any(|name| name == stage.name()));
        Station { seating: &self.seating, stages: stages.collect(), gpu: self.gpu.as_ref() }
    }
}

impl Bench<'_> {
    /// Takes another device into the study: the GPU of this UUID, or for targets that need none once more the processor.
    pub fn add_device(&mut self, uuid: Option<String>) -> Result<(), Trouble> {
        let seating = self.seating.elsewhere(uuid);
        let gpu = if self.kernel.on_gpu() { Some(seating.describe()?) } else { None };
        if let (Some(first), Some(other)) = (&self.gpu, &gpu)
            && (first.name != other.name || first.memory != other.memory)
        {
            let why = format!("{} ({}) is not a {} as the first is", other.name, other.uuid, first.name);
            let fault = Fault::new("taking several GPUs into one study", why);
            return Err(fault
                .hint("times of different models do not compare: tune them in studies of their own")
                .into());
        }
        let questions = questions(&Level::Quick.plan());
        let workloads: Vec<_> = self.stages.iter().map(|stage| stage.workload).collect();
        let stages = self.stages(&workloads, "quick", &questions)?;
        self.others.push(Another { seating, stages, gpu });
        Ok(())
    }

    /// Devices that try candidates at the same time.
    pub fn devices(&self) -> usize {
        1 + self.others.len()
    }
}
