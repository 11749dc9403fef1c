//! The CUDA compilers, nvcc and NVRTC: are they there, does what they make run on this driver, and do they know the GPU's
//! architecture? In: what was found of them, and the GPUs, if any. Out: a finding for each. That there is none is a
//! warning only where there is a GPU to compile for.

use crate::doctor::{Finding, Health};
use camino::Utf8PathBuf;
use kiln_build::{Nvcc, Nvrtc};
use kiln_core::Fault;
use kiln_device::Arch;
use kiln_run::Card;

const WHY_NVCC: &str = "host launchers and whatever NVRTC cannot compile are compiled with it";
const WHY_NVRTC: &str = "kernels of the cuda target are compiled with it, without a host compiler";

/// A CUDA version, major and minor.
type Version = (u32, u32);

/// The CUDA compilers of this machine: their versions, or why they cannot be had.
pub(crate) struct Compilers {
    nvcc: Result<String, Fault>,
    nvrtc: Result<String, Fault>,
}

impl Compilers {
    /// Looks for both; compiles nothing.
    pub(crate) fn find() -> Compilers {
        let nvcc = Nvcc::find().map(|nvcc| nvcc.version().to_string());
        let program = std::env::current_exe().ok().and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
        let program = program.ok_or_else(|| Fault::new("looking for NVRTC", "kiln's own path is not UTF-8"));
        let nvrtc = program.and_then(|program| Nvrtc::find(&program)).map(|nvrtc| nvrtc.version().to_string());
        Compilers { nvcc, nvrtc }
    }

    /// One that works, with its version.
    pub(crate) fn any(&self) -> Option<String> {
        let nvcc = self.nvcc.as_ref().ok().map(|version| format!("nvcc {version}"));
        nvcc.or_else(|| self.nvrtc.as_ref().ok().map(|version| format!("NVRTC {version}")))
    }

    /// A finding for each.
    pub(crate) fn look(&self, cards: &[Card]) -> [Finding; 2] {
        // One of them is enough for most kernels.
        let missed = !cards.is_empty() && self.any().is_none();
        [judge(("nvcc", WHY_NVCC), &self.nvcc, cards, missed), judge(("nvrtc", WHY_NVRTC), &self.nvrtc, cards, missed)]
    }

    #[cfg(test)]
    pub(crate) fn none() -> Compilers {
        let fault = || Err(Fault::new("looking for nvcc", "there is none").hint("install it"));
        Compilers { nvcc: fault(), nvrtc: fault() }
    }

    #[cfg(test)]
    pub(crate) fn of(nvcc: &str, nvrtc: &str) -> Compilers {
        Compilers { nvcc: Ok(nvcc.into()), nvrtc: Ok(nvrtc.into()) }
    }
}

fn judge(
    (id, why): (&'static str, &'static str),
    found: &Result<String, Fault>,
    cards: &[Card],
    missed: bool,
) -> Finding {
    let text = match found {
        Ok(version) => version,
        Err(fault) => {
            let fix = fault.hint.clone().unwrap_or_else(|| "install the CUDA toolkit, or set CUDA_HOME".into());
            let state = if missed { Health::Warn } else { Health::Ok };
            return Finding { state, ..Finding::warn(id, why, format!("not found: {}", fault.why), fix) };
        }
    };
    let (Some(version), Some(card)) = (version(text), cards.first()) else { return Finding::ok(id, why, text) };
    let (major, minor) = card.cuda;
    if version.0 > major {
        let what =
            format!("{text}, and the driver runs programs up to CUDA {major}.{minor}: what it makes cannot be loaded");
        return Finding::warn(id, why, what, format!("update the driver, or use a toolkit of CUDA {major}"));
    }
    let archs = cards.iter().filter_map(|card| Arch::of_capability(card.capability.0, card.capability.1));
    if let Some(arch) = archs.into_iter().find(|arch| version < since(*arch)) {
        let (major, minor) = since(arch);
        let what = format!("{text}, which does not know {arch}, the architecture of a GPU here");
        return Finding::warn(id, why, what, format!("use a toolkit of CUDA {major}.{minor} or later"));
    }
    if version > card.cuda {
        // Within one major version every driver loads every cubin; only PTX needs a driver as new as the compiler.
        let what =
            format!("{text}, newer than the driver's CUDA {major}.{minor}: cubins still run, and kiln builds those");
        return Finding::ok(id, why, what);
    }
    Finding::ok(id, why, text)
}

/// Major and minor of `13.0.88`.
fn version(text: &str) -> Option<Version> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// The CUDA version whose compilers first knew an architecture.
fn since(arch: Arch) -> Version {
    match (arch.compute_capability(), arch.feature_suffix()) {
        ((7, _), _) => (10, 0),
        ((8, 0), _) => (11, 0),
        ((8, 6), _) => (11, 1),
        ((8, 7), _) => (11, 4),
        ((8, _), _) | ((9, 0), None) => (11, 8),
        ((9, _), _) => (12, 0),
        ((10, 3), _) => (12, 9),
        _ => (12, 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::gpu::h200;

    fn nvcc(text: &str, capability: (u32, u32), cuda: Version) -> Finding {
        let [nvcc, _] = Compilers::of(text, "13.0").look(&[Card { capability, cuda, ..h200(0, "GPU-1") }]);
        nvcc
    }

    #[test]
    fn a_toolkit_must_not_be_newer_than_the_driver_by_a_major_version() {
        assert_eq!(nvcc("13.0.88", (9, 0), (13, 0)).what, "13.0.88");
        assert_eq!(nvcc("12.4.131", (9, 0), (13, 0)).state, Health::Ok);
        let minor = nvcc("13.1.2", (9, 0), (13, 0));
        assert!(minor.state == Health::Ok && minor.what.contains("newer than the driver's CUDA 13.0"));
        let major = nvcc("13.0.88", (9, 0), (12, 8));
        assert!(major.state == Health::Warn && major.fix.unwrap().contains("a toolkit of CUDA 12"));
    }

    #[test]
    fn a_toolkit_must_know_the_architecture() {
        let old = nvcc("12.4.131", (10, 0), (13, 0));
        assert!(old.what.contains("does not know sm_100a") && old.fix.unwrap().contains("CUDA 12.8"));
        assert_eq!(nvcc("12.8.0", (10, 0), (13, 0)).state, Health::Ok);
        assert_eq!(nvcc("11.8.0", (9, 0), (13, 0)).state, Health::Warn);
        assert_eq!(nvcc("11.8.0", (8, 9), (13, 0)).state, Health::Ok);
    }

    #[test]
    fn none_at_all_matters_where_there_is_a_gpu() {
        let states = |cards: &[Card], compilers: &Compilers| compilers.look(cards).map(|f| f.state);
        assert_eq!(states(&[], &Compilers::none()), [Health::Ok; 2]);
        assert_eq!(states(&[h200(0, "GPU-1")], &Compilers::none()), [Health::Warn; 2]);
        let one = Compilers { nvcc: Ok("13.0.88".into()), ..Compilers::none() };
        assert_eq!(states(&[h200(0, "GPU-1")], &one), [Health::Ok; 2]);
        assert_eq!(Compilers::none().look(&[])[0].fix.as_deref(), Some("install it"));
    }
}
