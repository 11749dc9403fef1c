//! Whatever compiles: the system's C compiler, nvcc, NVRTC, or a compiler of somebody else's.

use crate::toolchains::compiler::Compiler;
use crate::toolchains::foreign::Foreign;
use crate::toolchains::nvcc::Nvcc;
use crate::toolchains::nvrtc::Nvrtc;

/// A compiler that was found and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Toolchain {
    /// C to a shared library.
    C(Compiler),
    /// CUDA to a cubin, or to a shared library of host launchers.
    Nvcc(Nvcc),
    /// CUDA to a cubin, without a host compiler.
    Nvrtc(Nvrtc),
    /// What kiln-build does not know.
    Foreign(Foreign),
}

impl Toolchain {
    /// What it says of itself.
    pub fn version(&self) -> &str {
        match self {
            Toolchain::C(compiler) => compiler.version(),
            Toolchain::Nvcc(nvcc) => nvcc.version(),
            Toolchain::Nvrtc(nvrtc) => nvrtc.version(),
            Toolchain::Foreign(foreign) => foreign.compiler().version(),
        }
    }

    /// Its name and its version.
    pub fn title(&self) -> String {
        match self {
            // A C compiler's version begins with its name.
            Toolchain::C(compiler) => compiler.version().to_string(),
            Toolchain::Nvcc(nvcc) => format!("nvcc {}", nvcc.version()),
            Toolchain::Nvrtc(nvrtc) => format!("NVRTC {}", nvrtc.version()),
            Toolchain::Foreign(foreign) => foreign.compiler().title(),
        }
    }

    /// Everything about it that decides what comes out.
    pub(crate) fn identity(&self) -> Vec<String> {
        let mut words = match self {
            Toolchain::C(compiler) => compiler.words().to_vec(),
            Toolchain::Nvcc(nvcc) => nvcc.identity(),
            Toolchain::Nvrtc(nvrtc) => nvrtc.identity(),
            Toolchain::Foreign(foreign) => foreign.compiler().identity(),
        };
        words.push(self.version().to_string());
        words
    }
}

impl From<Compiler> for Toolchain {
    fn from(compiler: Compiler) -> Self {
        Toolchain::C(compiler)
    }
}

impl From<&Compiler> for Toolchain {
    fn from(compiler: &Compiler) -> Self {
        Toolchain::C(compiler.clone())
    }
}

impl From<&Toolchain> for Toolchain {
    fn from(toolchain: &Toolchain) -> Self {
        toolchain.clone()
    }
}

impl From<Nvcc> for Toolchain {
    fn from(nvcc: Nvcc) -> Self {
        Toolchain::Nvcc(nvcc)
    }
}

impl From<Nvrtc> for Toolchain {
    fn from(nvrtc: Nvrtc) -> Self {
        Toolchain::Nvrtc(nvrtc)
    }
}

impl From<Foreign> for Toolchain {
    fn from(foreign: Foreign) -> Self {
        Toolchain::Foreign(foreign)
    }
}
