//! What to build: one source set with one configuration.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Config, Fault, Value};

/// Everything that decides what comes out of the compiler.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Source files.
    pub sources: Vec<Utf8PathBuf>,
    /// Include folders.
    pub includes: Vec<Utf8PathBuf>,
    /// The language standard.
    pub std: Option<String>,
    /// Further flags, as they are.
    pub flags: Vec<String>,
    /// The configuration, passed as defines.
    pub config: Config,
    /// Generated C that is compiled along with the sources; empty for none.
    pub shim: String,
    /// For CUDA: the exact architecture, such as `sm_90a`.
    pub arch: Option<String>,
    /// For a cubin: the kernels wanted, by name or as instances of templates such as `matmul<float, 4>`.
    pub entries: Vec<String>,
    /// For CUDA: a library of host launchers, not a cubin.
    pub host: bool,
}

impl Request {
    /// The configuration as the compiler sees it: numbers as they are, booleans as 1 and 0, a string `xor` of `SWIZZLE`
    /// as the bare word and as a flag of its own, `SWIZZLE_xor`, since the preprocessor cannot compare words.
    pub fn defines(&self) -> Vec<String> {
        let mut defines = Vec::with_capacity(self.config.len());
        for (name, value) in self.config.iter() {
            match value {
                Value::Bool(v) => defines.push(format!("-D{name}={}", u8::from(*v))),
                Value::Str(v) => {
                    defines.push(format!("-D{name}={v}"));
                    defines.push(format!("-D{name}_{v}=1"));
                }
                number => defines.push(format!("-D{name}={number}")),
            }
        }
        defines
    }

    /// The name of what comes out.
    pub(crate) fn product(&self) -> &'static str {
        if self.arch.is_some() && !self.host { "kernel.cubin" } else { "library.so" }
    }

    /// The architecture, which CUDA cannot do without.
    pub(crate) fn architecture(&self) -> Result<&str, Fault> {
        self.arch
            .as_deref()
            .ok_or_else(|| Fault::new("building", "no architecture was named").hint("say --arch sm_90a"))
    }

    /// The source of a cubin, which is made from one file.
    pub(crate) fn only_source(&self) -> Result<&Utf8Path, Fault> {
        match self.sources.as_slice() {
            [source] => Ok(source),
            sources => {
                Err(Fault::new("building", format!("a cubin is made from one source, here are {}", sources.len()))
                    .hint("name one and let it include the others"))
            }
        }
    }

    /// All flags in the order they are given, for a C compiler.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["-O3", "-march=native", "-fPIC", "-shared", "-fno-diagnostics-color"].map(String::from).to_vec();
        arguments.extend(self.std.iter().map(|std| format!("-std={std}")));
        arguments.extend(self.includes.iter().map(|folder| format!("-I{folder}")));
        arguments.extend(self.defines());
        // The author's flags come last, so that they win.
        arguments.extend(self.flags.iter().cloned());
        arguments
    }
}
