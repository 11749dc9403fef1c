//! What lists and other studies read in a study's record. In: a record of whichever kiln. Out: what can be read in it, though
//! this kiln may not understand the whole: what is not there is none.

use kiln_core::Config;
use serde::Deserialize;

use crate::Study;
use crate::records::kept::if_understood;

/// What is read of settings.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    #[serde(deserialize_with = "if_understood")]
    workload: Option<String>,
    #[serde(deserialize_with = "if_understood")]
    implementation: Option<String>,
}

/// What is read of a summary.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Outline {
    #[serde(deserialize_with = "if_understood")]
    trials: Option<usize>,
    #[serde(deserialize_with = "if_understood")]
    ablated: Option<usize>,
    #[serde(deserialize_with = "if_understood")]
    speedup: Option<f64>,
    #[serde(deserialize_with = "if_understood")]
    speedup_ci95: Option<[f64; 2]>,
    #[serde(deserialize_with = "if_understood")]
    config: Option<Config>,
    #[serde(deserialize_with = "if_understood")]
    workloads: Option<Vec<Winner>>,
}

/// What is read of a workload in it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Winner {
    #[serde(deserialize_with = "if_understood")]
    name: Option<String>,
    #[serde(deserialize_with = "if_understood")]
    config: Option<Config>,
}

impl Study {
    /// The workload that was asked for; none when all were.
    pub fn workload(&self) -> Option<String> {
        self.options.part::<Asked>()?.workload
    }

    /// The implementation that was asked for; none when all that run were.
    pub fn implementation(&self) -> Option<String> {
        self.options.part::<Asked>()?.implementation
    }

    /// What it ran on: the GPU, else the processor.
    pub fn device(&self) -> Option<&str> {
        self.environment.read().ok()?.device()
    }

    /// Configurations tried, once it has ended.
    pub fn tried(&self) -> Option<usize> {
        self.outline()?.trials
    }

    /// How many of them only the ablation tried; none where nobody counted them.
    pub fn ablated(&self) -> Option<usize> {
        self.outline()?.ablated
    }

    /// The speedup and its interval, where one was confirmed.
    pub fn speedup(&self) -> Option<(f64, [f64; 2])> {
        let outline = self.outline()?;
        outline.speedup.zip(outline.speedup_ci95)
    }

    /// The winner of all workloads together.
    pub fn winner(&self) -> Option<Config> {
        self.outline()?.config
    }

    /// The winners of workloads that have their own.
    pub fn winners(&self) -> Vec<(String, Config)> {
        let rows = self.outline().and_then(|outline| outline.workloads).unwrap_or_default();
        rows.into_iter().filter_map(|row| row.name.zip(row.config)).collect()
    }

    /// The workloads it measured, by name: those it tuned, and holdouts it was confirmed on. None before it has ended.
    pub fn measured(&self) -> Vec<String> {
        let rows = self.outline().and_then(|outline| outline.workloads).unwrap_or_default();
        rows.into_iter().filter_map(|row| row.name).collect()
    }

    fn outline(&self) -> Option<Outline> {
        self.summary.as_ref()?.part()
    }
}
