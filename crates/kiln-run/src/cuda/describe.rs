//! What the device is and how it feels. In: a context. Out: [`Gpu`] as the driver says; what it does not tell is empty.

use std::ffi::{CStr, c_char};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute, CUuuid};

use super::context::{Context, attribute};
use super::driver::{Trouble, check};
use crate::cards::nvml::{Sensor, driver_version};
use crate::protocol::{Gpu, GpuState};

/// Asking how a device feels takes milliseconds: what it said is good for this long.
const FRESH: Duration = Duration::from_millis(50);

/// The device, as its driver says.
pub(super) fn describe(context: &Context, state: GpuState) -> Result<Gpu, Trouble> {
    use CUdevice_attribute as A;
    let device = context.device;
    let number = |which| attribute(device, which);
    let (mut free, mut total) = (0, 0);
    // SAFETY: fills in two numbers.
    check("cuMemGetInfo", unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
    let major = number(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = number(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(Gpu {
        name: name(device)?,
        uuid: uuid(device)?,
        capability: (major, minor),
        sms: number(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        memory: total as u64,
        memory_free: free as u64,
        l2: context.l2 as u64,
        smem_per_block: u64::from(context.shared),
        smem_per_sm: number(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?.into(),
        registers_per_sm: number(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        threads_per_sm: number(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        driver: driver_version().unwrap_or_default(),
        cuda: cuda()?,
        state,
    })
}

fn name(device: CUdevice) -> Result<String, Trouble> {
    let mut text: [c_char; 256] = [0; 256];
    // SAFETY: the array is as long as it is said to be; the driver ends the name with a null byte within it.
    check("cuDeviceGetName", unsafe { sys::cuDeviceGetName(text.as_mut_ptr(), text.len() as i32, device) })?;
    text[255] = 0;
    // SAFETY: a null byte ends it at the latest there.
    Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}

/// The UUID as `nvidia-smi` writes it.
pub(super) fn uuid(device: CUdevice) -> Result<String, Trouble> {
    let mut uuid = CUuuid { bytes: [0; 16] };
    // SAFETY: fills in sixteen bytes.
    check("cuDeviceGetUuid", unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, device) })?;
    Ok(written(uuid.bytes.map(|byte| byte as u8)))
}

fn written(bytes: [u8; 16]) -> String {
    let mut text = String::from("GPU");
    for (i, byte) in bytes.iter().enumerate() {
        let dash = if matches!(i, 0 | 4 | 6 | 8 | 10) { "-" } else { "" };
        text.push_str(&format!("{dash}{byte:02x}"));
    }
    text
}

/// The newest CUDA the driver runs.
fn cuda() -> Result<String, Trouble> {
    let mut version = 0;
    // SAFETY: fills in one number.
    check("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&mut version) })?;
    Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
}

/// How the device feels, asked now and then.
pub(super) struct Health {
    sensor: Option<Sensor>,
    last: Option<(Instant, GpuState)>,
}

impl Health {
    pub(super) fn of(device: CUdevice) -> Result<Health, Trouble> {
        Ok(Health { sensor: Sensor::of(&uuid(device)?), last: None })
    }

    pub(super) fn state(&mut self) -> GpuState {
        if let Some((_, state)) = self.last.as_ref().filter(|(when, _)| when.elapsed() < FRESH) {
            return state.clone();
        }
        let state = self.sensor.as_ref().map(Sensor::state).unwrap_or_default();
        self.last = Some((Instant::now(), state.clone()));
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_reads_as_nvidia_smi_writes_it() {
        let bytes = [0x1a, 0x2b, 0x3c, 0x4d, 0x5e, 0x6f, 0x70, 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8, 0x09];
        assert_eq!(written(bytes), "GPU-1a2b3c4d-5e6f-7081-92a3-b4c5d6e7f809");
    }
}
