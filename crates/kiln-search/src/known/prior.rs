//! What another study measured: another GPU, another shape, an older version of the same kernel. In: named values with what
//! became of each configuration. Out: material for [`crate::Knowledge`]. Refuses nothing: names and values that the space at
//! hand does not have are dealt with where the prior is used.

use kiln_core::Config;

use crate::known::observation::Observation;

/// Configurations of another study and what they cost there. Costs are compared among themselves, never with ours.
#[derive(Debug, Clone, Default)]
pub struct Prior {
    /// Where it comes from, for messages.
    pub label: String,
    /// Named values with their outcomes, in any order.
    pub trials: Vec<(Config, Observation)>,
}

impl Prior {
    /// The same with fast and slow exchanged, to see what a misleading prior does: costs become their reciprocals, failures
    /// stay.
    pub fn inverted(&self) -> Prior {
        let turn = |(config, observation): &(Config, Observation)| {
            let turned = observation.cost().map_or(Observation::Failed, |cost| Observation::Time(1.0 / cost));
            (config.clone(), turned)
        };
        Prior { label: format!("{}, inverted", self.label), trials: self.trials.iter().map(turn).collect() }
    }
}
