//! What was compiled ahead, as the build cache keeps it: what each kernel takes, where Triton keeps it, and the files it was
//! made from, which are more than the key knows.

use std::path::Path;

use camino::Utf8Path;
use kiln_build::{Artifact, Usage, usage};
use kiln_run::{AheadKernel, Compiled};
use serde::{Deserialize, Serialize};

/// What was compiled ahead for a configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ahead {
    /// The build's key.
    pub key: String,
    /// The architecture's name.
    pub arch: String,
    /// The kernels, each specialisation by itself.
    pub kernels: Vec<AheadUse>,
    /// Why nothing could be compiled ahead, where nothing was.
    pub unable: Option<String>,
}

/// One kernel's demands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AheadUse {
    /// Its name.
    pub name: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that a launch asks for.
    pub shared: u32,
    /// What the assembler counted; none where Triton does not pass that on.
    pub usage: Option<Usage>,
}

/// The file in the cache.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Product {
    arch: String,
    kernels: Vec<AheadKernel>,
    /// Files and the hashes of their contents.
    files: Vec<(String, String)>,
    unable: Option<String>,
}

impl Product {
    pub(super) fn of(arch: &str, compiled: Compiled) -> Product {
        let Compiled { kernels, files, unable, .. } = compiled;
        let files = files.into_iter().filter_map(|file| Some((file.clone(), hash(&file)?))).collect();
        Product { arch: arch.into(), kernels, files, unable }
    }

    /// What could not be compiled, and why.
    pub(super) fn unable(arch: &str, why: String) -> Product {
        Product { arch: arch.into(), unable: Some(why), ..Product::default() }
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Product> {
        serde_json::from_slice(bytes).ok()
    }

    /// Whether Triton still has the kernels, and the files are as they were. What could not be compiled is tried again.
    pub(super) fn stands(&self) -> bool {
        let kept = |kernel: &AheadKernel| kernel.kept.is_empty() || Path::new(&kernel.kept).is_dir();
        let same = |(file, known): &(String, String)| hash(file).as_ref() == Some(known);
        self.unable.is_none() && self.kernels.iter().all(kept) && self.files.iter().all(same)
    }

    /// Everything the assembler said.
    pub(super) fn log(&self) -> String {
        self.kernels.iter().map(|kernel| kernel.log.as_str()).collect()
    }
}

fn hash(file: &str) -> Option<String> {
    kiln_build::fingerprint(&[Utf8Path::new(file).to_owned()], &[]).ok()
}

impl Ahead {
    /// What an artifact holds; none where it cannot be read.
    pub(crate) fn of(artifact: &Artifact) -> Option<Ahead> {
        let Product { arch, kernels, unable, .. } = Product::read(&fs_err::read(&artifact.library).ok()?)?;
        let kernels = kernels.into_iter().map(|AheadKernel { name, threads, shared, log, .. }| {
            let usage = usage(&log).into_iter().find(|usage| usage.symbol == name);
            AheadUse { name, threads, shared, usage }
        });
        Some(Ahead { key: artifact.key.clone(), arch, kernels: kernels.collect(), unable })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_stands_while_triton_has_the_kernels_and_files_are_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(path("k.py"), "one").unwrap();
        std::fs::create_dir(path("KEPT")).unwrap();
        let kernel = AheadKernel { name: "k".into(), kept: path("KEPT"), ..AheadKernel::default() };
        let compiled = || Compiled { kernels: vec![kernel.clone()], files: vec![path("k.py")], ..Compiled::default() };
        let product = Product::of("sm_90a", compiled());
        let read = Product::read(&serde_json::to_vec(&product).unwrap()).unwrap();
        assert!(read.stands());
        std::fs::write(path("k.py"), "two").unwrap();
        assert!(!read.stands());
        let product = Product::of("sm_90a", compiled());
        assert!(product.stands());
        std::fs::remove_dir(path("KEPT")).unwrap();
        assert!(!product.stands());
        assert!(!Product::unable("sm_90a", "it reads elements".into()).stands());
    }
}
