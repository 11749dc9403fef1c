//! One GPU as the management library describes it. In: a handle. Out: a [`Card`], and one more for every slice it is cut
//! into. What the library does not tell of a GPU is none, or zero where the field says so; a GPU without name, UUID or
//! compute capability is an error, since nothing could be run on it.

use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;

use super::{said, sensor};
use crate::protocol::GpuState;

/// How the UUID of a slice begins.
const SLICE: &str = "MIG-";
/// Set in the mode of a GPU that is cut into slices.
const MIG_ENABLED: u32 = 1;

/// A GPU, or a slice of one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Card {
    /// Its number as `nvidia-smi` counts; a slice has that of the GPU it is cut from.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its UUID, `GPU-...`; of a slice, `MIG-...`.
    pub uuid: String,
    /// Compute capability.
    pub capability: (u32, u32),
    /// Bytes of memory; 0 where it has none of its own.
    pub memory: u64,
    /// Bytes of memory that are free.
    pub memory_free: u64,
    /// How it feels; a slice feels as the whole GPU does.
    pub state: GpuState,
    /// Processes that compute on it, with the bytes they hold; 0 where that is not told.
    pub processes: Vec<(u32, u64)>,
    /// Whether it is cut into slices.
    pub mig: bool,
    /// Whether memory errors are corrected; none where it cannot.
    pub ecc: Option<bool>,
    /// Memory errors since the driver was loaded that could not be corrected.
    pub ecc_errors: Option<u64>,
    /// Whether the driver stays loaded while nobody uses the GPU.
    pub persistence: Option<bool>,
    /// The highest clock of the multiprocessors in MHz.
    pub sm_mhz_max: Option<u32>,
    /// The driver's version, `580.159.04`.
    pub driver: String,
    /// The newest CUDA the driver runs: `(13, 0)`.
    pub cuda: (u32, u32),
}

impl Card {
    /// Whether it is a slice of a GPU, and not a whole one.
    pub fn is_slice(&self) -> bool {
        self.uuid.starts_with(SLICE)
    }
}

/// The GPU of a handle, then its slices. `blank` has what is the driver's, and the same for all.
pub(super) fn read(index: u32, device: &Device<'static>, blank: &Card) -> Result<Vec<Card>, String> {
    let refused = |call: &str, error: &NvmlError| said(&format!("GPU {index}: {call}"), error);
    let capability = device.cuda_compute_capability().map_err(|e| refused("nvmlDeviceGetCudaComputeCapability", &e))?;
    let part = |number: i32| u32::try_from(number).unwrap_or_default();
    let (memory, memory_free) = memory(device);
    // A GPU that knows no slices answers that it does not support the question.
    let mig = device.mig_mode().is_ok_and(|mode| mode.current == MIG_ENABLED);
    let whole = Card {
        index,
        name: device.name().map_err(|e| refused("nvmlDeviceGetName", &e))?,
        uuid: device.uuid().map_err(|e| refused("nvmlDeviceGetUUID", &e))?,
        capability: (part(capability.major), part(capability.minor)),
        memory,
        memory_free,
        state: sensor::read(device),
        processes: processes(device),
        mig,
        ecc: device.is_ecc_enabled().ok().map(|mode| mode.currently_enabled),
        ecc_errors: device.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile).ok(),
        persistence: device.is_in_persistent_mode().ok(),
        sm_mhz_max: device.max_clock_info(Clock::SM).ok(),
        ..blank.clone()
    };
    let places = if mig { device.mig_device_count().unwrap_or(0) } else { 0 };
    let mut cards = vec![whole];
    for place in 0..places {
        // Most places are empty: a count of what fits, not of what is there.
        let Ok(device) = device.mig_device_by_index(place) else { continue };
        let uuid = device.uuid().map_err(|e| refused(&format!("slice {place}: nvmlDeviceGetUUID"), &e))?;
        let slice = slice(&cards[0], &device, uuid);
        cards.push(slice);
    }
    Ok(cards)
}

/// A slice has memory and processes of its own, and all else from the GPU it is cut from.
fn slice(whole: &Card, device: &Device<'static>, uuid: String) -> Card {
    let (memory, memory_free) = memory(device);
    let name = device.name().unwrap_or_else(|_| whole.name.clone());
    Card { name, uuid, memory, memory_free, processes: processes(device), mig: false, ..whole.clone() }
}

fn memory(device: &Device<'static>) -> (u64, u64) {
    device.memory_info().map_or((0, 0), |info| (info.total, info.free))
}

fn processes(device: &Device<'static>) -> Vec<(u32, u64)> {
    let held = |memory: &UsedGpuMemory| match memory {
        UsedGpuMemory::Used(bytes) => *bytes,
        UsedGpuMemory::Unavailable => 0,
    };
    let found = device.running_compute_processes().unwrap_or_default();
    found.iter().map(|process| (process.pid, held(&process.used_gpu_memory))).collect()
}
