//! The machine of a figure: what must be the same for times to be comparable. In: a bench. Out: device, driver and compiler by name;
//! what differs from a ratchet's entry, in words.

use kiln_core::{MeasuredSide, MeasuredWorkload};
use kiln_formats::RatchetEntry;
use kiln_spec::TargetKind;
use kiln_study::Bench;

/// Digits of a hash that is shown to people.
const SHOWN: usize = 16;

/// A machine, as far as times depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MachineIs {
    pub(super) device: String,
    pub(super) driver: Option<String>,
    pub(super) compiler: Option<String>,
    /// Python and its packages, which baselines without machine code are as good as.
    packages: Option<String>,
}

impl MachineIs {
    pub(super) fn of(bench: &Bench<'_>) -> MachineIs {
        let packages = bench.python.as_ref().ok().map(|python| {
            let named = [("numpy", &python.numpy), ("torch", &python.torch), ("triton", &python.triton)];
            let versions = named.iter().filter_map(|(name, version)| Some(format!("{name} {}", version.as_ref()?)));
            let versions: Vec<String> = std::iter::once(format!("python {}", python.version)).chain(versions).collect();
            versions.join(", ")
        });
        let compiler = match bench.kernel.selection.target.kind {
            TargetKind::Cuda => bench.cuda.as_ref().ok().map(|toolchain| toolchain.version().to_string()),
            TargetKind::Cpu => bench.compiler.as_ref().ok().map(|compiler| compiler.version().to_string()),
            TargetKind::Python => packages.clone(),
        };
        let driver = bench.gpu.as_ref().map(|gpu| gpu.driver.clone());
        MachineIs { device: bench.hardware().into(), driver, compiler, packages }
    }

    /// In what this is another machine than that of an entry; none where it is the same.
    pub(super) fn differs(&self, entry: &RatchetEntry) -> Option<String> {
        let text = |words: &Option<String>| words.clone().unwrap_or_else(|| "none".into());
        let parts = [
            ("device", self.device.clone(), entry.device.clone()),
            ("driver", text(&self.driver), text(&entry.driver)),
            ("compiler", text(&self.compiler), text(&entry.compiler)),
        ];
        let differ = parts.iter().filter(|(_, ours, theirs)| ours != theirs);
        let differ: Vec<String> =
            differ.map(|(what, ours, theirs)| format!("{what} {theirs} there, {ours} here")).collect();
        (!differ.is_empty()).then(|| differ.join("; "))
    }

    /// What tells a side of a measurement from others of its name.
    pub(super) fn version(&self, measured: &MeasuredWorkload, side: &str) -> Option<String> {
        let MeasuredSide { code, source, .. } = measured.side(side)?;
        match (code, source) {
            (Some(code), _) => Some(short(code)),
            (None, Some(source)) => {
                let packages = self.packages.iter().map(|packages| format!("{packages}, "));
                Some(format!("{}source {}", packages.collect::<String>(), short(source)))
            }
            (None, None) => self.packages.clone(),
        }
    }
}

/// A hash of words, short enough for people.
pub(super) fn hashed(identity: &str) -> String {
    short(&blake3::hash(identity.as_bytes()).to_hex())
}

fn short(hash: &str) -> String {
    hash.get(..SHOWN).unwrap_or(hash).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_compiler_is_another_machine() {
        let here = MachineIs {
            device: "H200".into(),
            driver: Some("580".into()),
            compiler: Some("NVRTC 13.0".into()),
            packages: None,
        };
        let there = RatchetEntry {
            device: "H200".into(),
            driver: Some("580".into()),
            compiler: Some("NVRTC 13.0".into()),
            ..RatchetEntry::default()
        };
        assert_eq!(here.differs(&there), None);
        let other = RatchetEntry { compiler: Some("NVRTC 12.9".into()), driver: None, ..there };
        let words = here.differs(&other).unwrap_or_default();
        assert_eq!(words, "driver none there, 580 here; compiler NVRTC 12.9 there, NVRTC 13.0 here");
    }
}
