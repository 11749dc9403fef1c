//! What the GPUs of this machine are and how they feel, asked of the management library without making a CUDA context.
//! In: nothing. Out: a [`Card`] for every GPU in the order of the PCI bus, each followed by its slices. Refuses, in words
//! for a user, where there is no driver, where it does not answer, and where it has no GPU.

mod card;
mod sensor;

use std::sync::OnceLock;

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

pub use card::Card;
pub use sensor::Sensor;

/// Every GPU of this machine; why not, where there is no driver or no GPU.
pub fn cards() -> Result<Vec<Card>, String> {
    let nvml = library()?;
    let count = nvml.device_count().map_err(|e| said("nvmlDeviceGetCount", &e))?;
    if count == 0 {
        return Err("the NVIDIA driver is there, and has no GPU".into());
    }
    let driver = nvml.sys_driver_version().map_err(|e| said("nvmlSystemGetDriverVersion", &e))?;
    let cuda = nvml.sys_cuda_driver_version().map_err(|e| said("nvmlSystemGetCudaDriverVersion", &e))?;
    let cuda = u32::try_from(cuda).map(|v| (v / 1000, v % 1000 / 10)).unwrap_or_default();
    let blank = Card { driver, cuda, ..Card::default() };
    let mut cards = Vec::new();
    for index in 0..count {
        let device = nvml.device_by_index(index).map_err(|e| said(&format!("GPU {index}: nvmlDeviceGetHandle"), &e))?;
        cards.extend(card::read(index, &device, &blank)?);
    }
    Ok(cards)
}

/// The driver's version, `580.159.04`; none where there is no driver.
pub(crate) fn driver_version() -> Option<String> {
    library().ok()?.sys_driver_version().ok()
}

/// The management library, loaded once for as long as this process lives.
fn library() -> Result<&'static Nvml, String> {
    static LIBRARY: OnceLock<Result<Nvml, String>> = OnceLock::new();
    LIBRARY.get_or_init(|| Nvml::init().map_err(|e| why_not(&e))).as_ref().map_err(String::clone)
}

/// Why the library could not be had.
fn why_not(error: &NvmlError) -> String {
    match error {
        NvmlError::LibloadingError(why) if !missing(&why.to_string()) => {
            format!("libnvidia-ml.so.1 cannot be loaded: {why}")
        }
        NvmlError::LibloadingError(_) | NvmlError::LibraryNotFound => {
            "no NVIDIA driver here: libnvidia-ml.so.1 was not found".into()
        }
        NvmlError::DriverNotLoaded => said("the NVIDIA driver is installed and not loaded: nvmlInit", error),
        NvmlError::LibRmVersionMismatch => {
            said("the NVIDIA driver was changed under a running kernel: nvmlInit", error)
        }
        other => said("the NVIDIA driver does not answer: nvmlInit", other),
    }
}

/// Whether the loader means that there is no such file, and not that the file is no good.
fn missing(why: &str) -> bool {
    why.contains("No such file") || why.contains("libnvidia-ml.so.1: cannot open shared object file")
}

fn said(call: &str, error: &NvmlError) -> String {
    format!("{call}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cards_or_says_why_not() {
        match cards() {
            Ok(cards) => {
                assert!(!cards.is_empty());
                for card in &cards {
                    assert!(card.uuid.starts_with("GPU-") || card.is_slice(), "{card:?}");
                    assert!(!card.name.is_empty() && card.capability.0 > 0 && card.cuda.0 > 0, "{card:?}");
                    assert_eq!(Some(&card.driver), driver_version().as_ref());
                    let sensor = Sensor::of(&card.uuid).unwrap();
                    assert!(sensor.state().temperature.is_some_and(|t| t < 150), "{:?}", sensor.state());
                }
            }
            Err(why) => {
                assert!(!why.is_empty());
                // Only where there is a driver without a GPU could this be told.
                assert!(why.contains("has no GPU") || driver_version().is_none(), "{why}");
                assert!(Sensor::of("GPU-0").is_none());
            }
        }
    }

    #[test]
    fn a_missing_library_is_told_from_a_broken_one() {
        assert!(missing("libnvidia-ml.so.1: cannot open shared object file: No such file or directory"));
        assert!(!missing("/usr/lib/libnvidia-ml.so.1: file too short"));
        assert_eq!(why_not(&NvmlError::LibraryNotFound), "no NVIDIA driver here: libnvidia-ml.so.1 was not found");
        assert!(why_not(&NvmlError::DriverNotLoaded).starts_with("the NVIDIA driver is installed and not loaded"));
    }
}
