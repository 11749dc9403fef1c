//! A workload: one named set of problem dimensions a kernel is run on.

use std::sync::Arc;

use serde::Serialize;

use crate::Value;

/// What a workload is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// Timed while tuning.
    Tune,
    /// Run for correctness only.
    Check,
    /// Kept back to see whether the winner generalises.
    Holdout,
}

impl Use {
    /// Every use with the word the kernel file has for it.
    pub const ALL: [(&'static str, Use); 3] = [("tune", Use::Tune), ("check", Use::Check), ("holdout", Use::Holdout)];
}

/// Dimensions under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// The name users select it by.
    pub name: Arc<str>,
    /// Dimension names and values, in file order.
    pub dims: Vec<(Arc<str>, Value)>,
    /// What it is for.
    pub use_for: Use,
    /// The targets it is for, by name; all of them when empty.
    pub targets: Vec<&'static str>,
    /// Its weight in a geometric mean over workloads.
    pub weight: f64,
}

impl Workload {
    /// Whether it is meant for a target.
    pub fn is_for(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.contains(&target)
    }

    /// Its dimensions as one line, such as `S=4096 D=128`.
    pub fn shape(&self) -> String {
        let dims: Vec<String> = self.dims.iter().map(|(name, value)| format!("{name}={value}")).collect();
        dims.join(" ")
    }

    /// The value of one dimension.
    pub fn dim(&self, name: &str) -> Option<&Value> {
        self.dims.iter().find(|(n, _)| &**n == name).map(|(_, v)| v)
    }
}
