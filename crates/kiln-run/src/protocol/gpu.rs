//! A GPU as workers describe it, and how it is doing.

use serde::{Deserialize, Serialize};

/// How a GPU feels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GpuState {
    /// Clock of the multiprocessors in MHz.
    pub sm_mhz: Option<u32>,
    /// Clock of the memory in MHz.
    pub memory_mhz: Option<u32>,
    /// Degrees Celsius.
    pub temperature: Option<u32>,
    /// Watts.
    pub power: Option<f64>,
    /// Bytes of its memory in use, by whomever.
    #[serde(default)]
    pub memory_used: Option<u64>,
    /// Why clocks are held down, by name: `hw_slowdown`, `hw_thermal_slowdown`, `hw_power_brake_slowdown`,
    /// `sw_thermal_slowdown`, `sw_power_cap`.
    #[serde(default)]
    pub throttled: Vec<String>,
}

impl GpuState {
    /// Whether it runs slower than asked to protect itself. A cap on power is the card's ordinary limit, and is not that.
    pub fn is_slowed(&self) -> bool {
        self.throttled.iter().any(|reason| reason != "sw_power_cap")
    }
}

/// What a GPU is, as its driver says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// Its UUID as `nvidia-smi` writes it.
    pub uuid: String,
    /// Compute capability.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub sms: u32,
    /// Bytes of memory, in all and free.
    pub memory: u64,
    /// Bytes free now.
    pub memory_free: u64,
    /// Bytes of the second-level cache.
    pub l2: u64,
    /// Bytes of shared memory a block may ask for.
    pub smem_per_block: u64,
    /// Bytes of shared memory of a multiprocessor.
    pub smem_per_sm: u64,
    /// Registers of a multiprocessor.
    pub registers_per_sm: u32,
    /// Threads of a multiprocessor.
    pub threads_per_sm: u32,
    /// The driver's version, `580.159.04`.
    pub driver: String,
    /// The newest CUDA the driver runs, `13.0`.
    pub cuda: String,
    /// How it feels.
    pub state: GpuState,
}
