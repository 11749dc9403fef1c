//! How a GPU feels, read again and again while it is measured. In: a GPU's UUID, or a slice's. Out: clocks, temperature,
//! power and why clocks are held down; what the GPU does not tell is none.

use nvml_wrapper::Device;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};

use super::library;
use crate::protocol::GpuState;

/// What holds clocks down against the user's will, under the protocol's names. An idle GPU and one whose clocks were set
/// run as they should.
const THROTTLING: [(ThrottleReasons, &str); 5] = [
    (ThrottleReasons::HW_SLOWDOWN, "hw_slowdown"),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, "hw_thermal_slowdown"),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "hw_power_brake_slowdown"),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, "sw_thermal_slowdown"),
    (ThrottleReasons::SW_POWER_CAP, "sw_power_cap"),
];

/// A GPU that can be asked how it feels.
#[derive(Debug)]
pub struct Sensor {
    device: Device<'static>,
}

impl Sensor {
    /// The sensor of a GPU; of a slice, that of the whole GPU, since slices have none. None where there is no such GPU.
    pub fn of(uuid: &str) -> Option<Sensor> {
        let device = library().ok()?.device_by_uuid(uuid).ok()?;
        let slice = device.mig_is_mig_device_handle().unwrap_or(false);
        let device = if slice { device.mig_parent_device().ok()? } else { device };
        Some(Sensor { device })
    }

    /// How it feels now.
    pub fn state(&self) -> GpuState {
        read(&self.device)
    }
}

pub(super) fn read(device: &Device<'static>) -> GpuState {
    GpuState {
        sm_mhz: device.clock_info(Clock::SM).ok(),
        memory_mhz: device.clock_info(Clock::Memory).ok(),
        temperature: device.temperature(TemperatureSensor::Gpu).ok(),
        power: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
        memory_used: device.memory_info().ok().map(|memory| memory.used),
        throttled: device.current_throttle_reasons().map(throttled).unwrap_or_default(),
    }
}

fn throttled(reasons: ThrottleReasons) -> Vec<String> {
    THROTTLING.iter().filter(|(bit, _)| reasons.contains(*bit)).map(|(_, name)| (*name).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idling_and_set_clocks_are_no_throttling() {
        let calm = ThrottleReasons::GPU_IDLE | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING;
        assert!(throttled(calm | ThrottleReasons::SYNC_BOOST | ThrottleReasons::DISPLAY_CLOCK_SETTING).is_empty());
        let hot = calm | ThrottleReasons::HW_SLOWDOWN | ThrottleReasons::HW_THERMAL_SLOWDOWN;
        assert_eq!(throttled(hot), ["hw_slowdown", "hw_thermal_slowdown"]);
        assert_eq!(throttled(ThrottleReasons::SW_POWER_CAP), ["sw_power_cap"]);
    }
}
