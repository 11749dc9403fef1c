//! What to build: one source set with one configuration.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Config, Fault, Value};

/// The expression under which [`Artifact::symbols`](crate::Artifact) has the symbol of a variable.
pub fn address(variable: &str) -> String {
    format!("&{variable}")
}

/// The file in which several sources are joined.
const UNIT: &str = "sources.cu";

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
    /// For a cubin: variables that are set from outside, such as `d_filter` or `filter::weights`.
    pub variables: Vec<String>,
    /// For CUDA: a library of host launchers, not a cubin.
    pub host: bool,
    /// For a compiler of somebody else's: what it is asked, in its own words; empty for all others.
    pub order: String,
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

    /// Everything whose symbol is wanted, as expressions: kernels, and the addresses of variables.
    pub(crate) fn wanted(&self) -> Vec<String> {
        self.entries.iter().cloned().chain(self.variables.iter().map(|name| address(name))).collect()
    }

    /// The name of what comes out.
    pub(crate) fn product(&self) -> &'static str {
        match self.arch {
            _ if !self.order.is_empty() => "kernels.json",
            Some(_) if !self.host => "kernel.cubin",
            _ => "library.so",
        }
    }

    /// The architecture, which CUDA cannot do without.
    pub(crate) fn architecture(&self) -> Result<&str, Fault> {
        self.arch
            .as_deref()
            .ok_or_else(|| Fault::new("building", "no architecture was named").hint("say --arch sm_90a"))
    }

    /// The file that a cubin is made from: the source, or a generated one in `folder` that includes several in their order.
    pub(crate) fn unit(&self, folder: &Utf8Path) -> Result<Utf8PathBuf, Fault> {
        match self.sources.as_slice() {
            [] => Err(Fault::new("building", "a cubin is made from sources, and there are none")
                .hint("name one under [target.cuda]: source = \"kernel.cu\"")),
            [source] => Ok(source.clone()),
            sources => {
                let mut text = String::new();
                for source in sources {
                    let path = source.canonicalize_utf8().map_err(|e| Fault::new(format!("reading {source}"), e))?;
                    text += &format!("#include \"{path}\"\n");
                }
                let unit = folder.join(UNIT);
                fs_err::write(&unit, text).map_err(|e| Fault::new("joining the sources", e))?;
                Ok(unit)
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
