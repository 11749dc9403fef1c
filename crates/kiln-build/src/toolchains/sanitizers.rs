//! The address and undefined-behaviour sanitizers of a C compiler. In: the compiler. Out: the flags that build with them, and the
//! runtime library that must be loaded before anything else in the process that loads what was built. Refuses a compiler
//! whose runtime is not installed.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Fault;

use crate::toolchains::compiler::Compiler;

/// Builds with both, and goes on after a report; line numbers and whole stacks. Optimised a little: as much as leaves every
/// access where it is written.
const FLAGS: [&str; 6] = [
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fsanitize-recover=all",
    "-fno-optimize-sibling-calls",
];

/// Flags and runtime of a compiler's sanitizers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sanitizers {
    /// What a build is given beside everything else, last.
    pub flags: Vec<String>,
    /// The address sanitizer's shared library.
    pub runtime: Utf8PathBuf,
    /// Whether `log_path` is heeded by both. GCC's two shared runtimes take one another's for their own, and what the second finds
    /// then comes on standard error.
    pub apart: bool,
}

/// Makes GCC's runtime for undefined behaviour a part of what is built, which then uses its own.
const OWN_RUNTIME: [&str; 2] = ["-static-libubsan", "-Wl,-Bsymbolic"];

impl Compiler {
    /// Its sanitizers, if they are installed.
    pub fn sanitizers(&self) -> Result<Sanitizers, Fault> {
        let clang = self.version().contains("clang");
        let arch = std::env::consts::ARCH;
        // Clang finds GCC's library too, which does not fit its own code.
        let names = match clang {
            true => vec![format!("libclang_rt.asan-{arch}.so"), "libclang_rt.asan.so".to_string()],
            false => vec!["libasan.so".to_string()],
        };
        let found = names.iter().find_map(|name| self.library(name));
        let runtime = found.ok_or_else(|| {
            let why = format!("{} has no {}", self.version(), names.join(" or "));
            let hint = if clang { "install compiler-rt (libclang-rt-dev)" } else { "install libasan" };
            Fault::new("looking for the address sanitizer", why).hint(format!("{hint}, or set CC to another compiler"))
        })?;
        let mut flags: Vec<String> = FLAGS.map(String::from).to_vec();
        let apart = clang || self.archive("libubsan.a");
        if clang {
            // Its runtime is otherwise part of the program, which is kiln.
            flags.push("-shared-libasan".into());
        } else if apart {
            flags.extend(OWN_RUNTIME.map(String::from));
        }
        Ok(Sanitizers { flags, runtime, apart })
    }

    /// A library of the compiler's own, by name.
    fn library(&self, name: &str) -> Option<Utf8PathBuf> {
        self.file(name).and_then(|path| loadable(&path))
    }

    /// Whether it has a library to link statically.
    fn archive(&self, name: &str) -> bool {
        self.file(name).is_some_and(|path| path.is_file())
    }

    /// A file of the compiler's own, by name. A compiler that has none answers with the name itself.
    fn file(&self, name: &str) -> Option<Utf8PathBuf> {
        let output = self.start().arg(format!("-print-file-name={name}")).output().ok()?;
        let path = Utf8PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        path.is_absolute().then_some(path)
    }
}

/// The library itself, where a file may be a script for the linker that names it: `INPUT ( /usr/lib64/libasan.so.8 )`.
fn loadable(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = path.canonicalize_utf8().ok()?;
    let bytes = fs_err::read(&path).ok()?;
    if bytes.starts_with(b"\x7fELF") {
        return Some(path);
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','));
    words
        .find(|word| word.starts_with('/') && word.contains(".so"))
        .map(Utf8PathBuf::from)
        .filter(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_of_this_machines_compiler_is_a_library() {
        let compiler = Compiler::find().unwrap();
        match compiler.sanitizers() {
            Ok(found) => {
                assert!(fs_err::read(&found.runtime).unwrap().starts_with(b"\x7fELF"));
                let own = found.flags.iter().any(|flag| flag == OWN_RUNTIME[0]);
                assert_eq!(own, found.apart && !compiler.version().contains("clang"));
            }
            Err(fault) => assert!(fault.hint.is_some(), "{fault}"),
        }
    }

    #[test]
    fn a_script_for_the_linker_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let (real, script) = (folder.join("libasan.so.8"), folder.join("libasan.so"));
        fs_err::write(&real, b"\x7fELF...").unwrap();
        fs_err::write(&script, format!("/* GNU ld script */\nINPUT ( {real} )\n")).unwrap();
        assert_eq!(loadable(&script), Some(real.clone()));
        assert_eq!(loadable(&real), Some(real));
        assert_eq!(loadable(&folder.join("none")), None);
    }
}
