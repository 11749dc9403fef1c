//! Folders for compilers that run in a candidate's own process, as Triton and torch.compile do. Each source file has one, so
//! that no other file's code, be it a baseline or a candidate, ever runs what this one has put there. They lie in the build
//! cache and go with its oldest entries.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Fault;

use crate::cache::{Cache, touch};

/// Where they lie in a cache.
const SHELF: &str = "compilers";

impl Cache {
    /// The folder of a source file, made where there is none. The path is absolute.
    pub fn compilers(&self, source: &Utf8Path) -> Result<Utf8PathBuf, Fault> {
        let fault = |e: std::io::Error| Fault::new(format!("writing to the build cache {}", self.root()), e);
        let source = source.canonicalize_utf8().or_else(|_| camino::absolute_utf8(source)).map_err(fault)?;
        let key = blake3::hash(source.as_str().as_bytes()).to_hex();
        let folder = camino::absolute_utf8(self.root()).map_err(fault)?.join(SHELF).join(&key[..40]);
        fs_err::create_dir_all(&folder).map_err(fault)?;
        touch(&folder);
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_folder_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let cache = Cache::at(folder.join("cache"));
        for name in ["a.py", "b.py"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let of = |name: &str| cache.compilers(&folder.join(name)).unwrap();
        assert!(of("a.py").is_dir() && of("a.py").is_absolute());
        assert_ne!(of("a.py"), of("b.py"));
        assert_eq!(of("a.py"), of("./a.py"));
        // They are entries like others: counted with all that is in them, and cleared.
        std::fs::create_dir_all(of("a.py").join("triton/deep")).unwrap();
        std::fs::write(of("a.py").join("triton/deep/kernel.cubin"), [0; 1000]).unwrap();
        let state = cache.state().unwrap();
        assert_eq!((state.entries, state.bytes), (2, 1000));
        // What is left when it is emptied are folders without contents.
        cache.clear().unwrap();
        assert_eq!(cache.state().unwrap().bytes, 0);
    }
}
