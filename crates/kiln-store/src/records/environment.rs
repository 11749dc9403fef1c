//! What a study or a benchmark ran on. In: the account of the kiln that measured. Out: what kilns read in it later; the rest
//! (peaks, a GPU's limits) is kept and printed. A field that is not there or is not understood is none. It is only read: writing it would lose that rest.

use serde::Deserialize;

use crate::records::kept::if_understood;

/// Machine, tools and the kernel's folder.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The host's name.
    #[serde(deserialize_with = "if_understood")]
    pub host: Option<String>,
    /// The processor's name.
    #[serde(deserialize_with = "if_understood")]
    pub processor: Option<String>,
    /// Processors kiln might run on.
    #[serde(deserialize_with = "if_understood")]
    pub cpus: Option<Vec<usize>>,
    /// Those that were measured on; empty for any.
    #[serde(deserialize_with = "if_understood")]
    pub measuring_on: Option<Vec<usize>>,
    /// Bytes of memory not in use.
    #[serde(deserialize_with = "if_understood")]
    pub memory_available: Option<u64>,
    /// The system's load.
    #[serde(deserialize_with = "if_understood")]
    pub load: Option<f64>,
    /// The processor's clock.
    #[serde(deserialize_with = "if_understood")]
    pub megahertz: Option<f64>,
    /// The governor of that clock.
    #[serde(deserialize_with = "if_understood")]
    pub governor: Option<String>,
    /// The version of the system's kernel.
    #[serde(deserialize_with = "if_understood")]
    pub system: Option<String>,
    /// The GPU, for targets that work on one.
    #[serde(deserialize_with = "if_understood")]
    pub gpu: Option<NamedGpu>,
    /// The C compiler.
    #[serde(deserialize_with = "if_understood")]
    pub compiler: Option<String>,
    /// Python and its packages.
    #[serde(deserialize_with = "if_understood")]
    pub python: Option<Packages>,
    /// The folder that kernels of one name are distinguished by.
    #[serde(deserialize_with = "if_understood")]
    pub folder: Option<String>,
}

/// A GPU by its name.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct NamedGpu {
    /// Its name.
    #[serde(deserialize_with = "if_understood")]
    pub name: Option<String>,
}

/// Versions of Python and its packages.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Packages {
    /// Python's.
    #[serde(deserialize_with = "if_understood")]
    pub version: Option<String>,
    /// NumPy's.
    #[serde(deserialize_with = "if_understood")]
    pub numpy: Option<String>,
    /// PyTorch's.
    #[serde(deserialize_with = "if_understood")]
    pub torch: Option<String>,
}

impl Environment {
    /// The GPU, else the processor.
    pub fn device(&self) -> Option<&str> {
        self.gpu.as_ref().and_then(|gpu| gpu.name.as_deref()).or(self.processor.as_deref())
    }
}
