//! What to build: one source set with one configuration.

use camino::Utf8PathBuf;
use kiln_core::{Config, Value};

/// Everything that decides what comes out of the compiler.
#[derive(Debug, Clone)]
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

    /// All flags in the order they are given.
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
