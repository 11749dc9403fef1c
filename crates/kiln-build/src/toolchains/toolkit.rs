//! CUDA toolkits on this machine: installed ones and those of Python's wheels. In: the environment. Out: each with its
//! nvcc and its NVRTC, in the order they are preferred.

use std::env;

use camino::{Utf8Path, Utf8PathBuf};

/// A folder with CUDA's compilers, or one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolkit {
    /// The folder that holds `bin`, `include` and the libraries.
    pub root: Utf8PathBuf,
    /// Its nvcc.
    pub nvcc: Option<Utf8PathBuf>,
    /// Its libnvrtc.
    pub nvrtc: Option<Utf8PathBuf>,
}

/// Where libraries lie below a root: installed toolkits have the first and the last, wheels the second.
const LIBRARIES: [&str; 3] = ["lib64", "lib", "targets/x86_64-linux/lib"];

impl Toolkit {
    /// The toolkit in a folder; none when there is neither compiler.
    pub fn at(root: &Utf8Path) -> Option<Toolkit> {
        let nvcc = Some(root.join("bin/nvcc")).filter(|path| path.is_file());
        let nvrtc = LIBRARIES.iter().find_map(|folder| library(&root.join(folder)));
        (nvcc.is_some() || nvrtc.is_some()).then(|| Toolkit { root: root.to_owned(), nvcc, nvrtc })
    }

    /// Every toolkit there is, the preferred one first: `$CUDA_HOME`, `$CUDA_PATH`, that of the nvcc on the path,
    /// `/usr/local/cuda`, the wheels of `$VIRTUAL_ENV`, of `.kiln/venv` and of the interpreter `$KILN_PYTHON`.
    pub fn all() -> Vec<Toolkit> {
        let mut found: Vec<Toolkit> = Vec::new();
        for toolkit in roots().iter().filter_map(|root| Toolkit::at(root)) {
            if !found.contains(&toolkit) {
                found.push(toolkit);
            }
        }
        found
    }

    /// Folders with its headers.
    pub(crate) fn includes(&self) -> Vec<Utf8PathBuf> {
        // From version 13 on the C++ libraries have a folder of their own.
        let folders = ["include", "include/cccl"].map(|folder| self.root.join(folder));
        folders.into_iter().filter(|folder| folder.is_dir()).collect()
    }

    /// Folders with its libraries.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = Utf8PathBuf> {
        LIBRARIES.iter().map(|folder| self.root.join(folder)).filter(|folder| folder.is_dir())
    }
}

fn roots() -> Vec<Utf8PathBuf> {
    let named = |name: &str| env::var(name).ok().filter(|value| !value.is_empty()).map(Utf8PathBuf::from);
    let mut roots: Vec<Utf8PathBuf> = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(named).collect();
    // What is on the path is often a link into the toolkit.
    let nvcc = on_path("nvcc").and_then(|path| path.canonicalize_utf8().ok());
    roots.extend(nvcc.and_then(|path| Some(path.parent()?.parent()?.to_owned())));
    roots.push("/usr/local/cuda".into());
    roots.extend(named("VIRTUAL_ENV").iter().flat_map(|prefix| wheels(prefix)));
    roots.extend(wheels(Utf8Path::new(".kiln/venv")));
    // Not resolved: a virtual environment's interpreter is a link out of it.
    let python =
        named("KILN_PYTHON").and_then(|python| if python.is_file() { Some(python) } else { on_path(python.as_str()) });
    roots.extend(python.as_deref().and_then(|path| path.parent()?.parent()).iter().flat_map(|prefix| wheels(prefix)));
    roots
}

fn on_path(program: &str) -> Option<Utf8PathBuf> {
    let folders = env::var_os("PATH")?;
    let files = env::split_paths(&folders).map(|folder| folder.join(program));
    files.filter_map(|path| Utf8PathBuf::from_path_buf(path).ok()).find(|path| path.is_file())
}

/// `nvidia/cu13` and its like among the packages of a Python installation, newest first.
fn wheels(prefix: &Utf8Path) -> Vec<Utf8PathBuf> {
    let pythons = entries(&prefix.join("lib")).into_iter().filter(|name| name.starts_with("python3"));
    let packages = pythons.flat_map(|name| {
        ["site-packages", "dist-packages"].map(|folder| prefix.join("lib").join(&name).join(folder).join("nvidia"))
    });
    let mut found: Vec<(u32, Utf8PathBuf)> = packages
        .flat_map(|folder| {
            let versions = entries(&folder).into_iter();
            let versions = versions.filter_map(|name| Some((name.strip_prefix("cu")?.parse::<u32>().ok()?, name)));
            versions.map(|(version, name)| (version, folder.join(name))).collect::<Vec<_>>()
        })
        .collect();
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    found.into_iter().map(|(_, root)| root).collect()
}

/// `libnvrtc.so.13` of a folder; with several the newest.
fn library(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let numbers = |name: &str| -> Option<Vec<u32>> {
        name.strip_prefix("libnvrtc.so.")?.split('.').map(|part| part.parse().ok()).collect()
    };
    let named = entries(folder).into_iter().filter_map(|name| Some((numbers(&name)?, name)));
    named.max().map(|(_, name)| folder.join(name))
}

/// The names in a folder; none when it cannot be read.
fn entries(folder: &Utf8Path) -> Vec<String> {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("its name is UTF-8");
        (folder, path)
    }

    fn touch(path: &Utf8Path) {
        fs_err::create_dir_all(path.parent().expect("it has a folder")).expect("making a folder");
        fs_err::write(path, "").expect("writing a file");
    }

    #[test]
    fn wheels_and_installed_toolkits_are_recognised() {
        let (_kept, root) = folder();
        assert_eq!(Toolkit::at(&root), None);
        let packages = root.join("lib/python3.12/site-packages/nvidia");
        for file in ["cu12/lib/libnvrtc.so.12", "cu13/lib/libnvrtc.so.13", "cu13/lib/libnvrtc.alt.so.13", "cublas/x"] {
            touch(&packages.join(file));
        }
        assert_eq!(wheels(&root), [packages.join("cu13"), packages.join("cu12")]);
        let found = Toolkit::at(&packages.join("cu13")).expect("a toolkit");
        assert_eq!((found.nvcc, found.nvrtc), (None, Some(packages.join("cu13/lib/libnvrtc.so.13"))));

        let installed = root.join("cuda");
        for file in
            ["bin/nvcc", "targets/x86_64-linux/lib/libnvrtc.so.9.2", "targets/x86_64-linux/lib/libnvrtc.so.10.1"]
        {
            touch(&installed.join(file));
        }
        let found = Toolkit::at(&installed).expect("a toolkit");
        assert_eq!(found.nvcc, Some(installed.join("bin/nvcc")));
        assert_eq!(found.nvrtc, Some(installed.join("targets/x86_64-linux/lib/libnvrtc.so.10.1")));
    }
}
