//! The compile worker: one compilation with NVRTC in a process of its own, so that a compiler that crashes or hangs costs
//! that process. In: an order, a JSON file. Out: the cubin and the symbols of the entries in the files it names; the
//! compiler's words on stderr. Refuses what the compiler refuses; a library that cannot be loaded is an error.

mod library;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::processes::lifeline::tie;
use library::Nvrtc;

/// What is to be done.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Order {
    Compile(Compilation),
    /// Only to load the library, and to write which version it is.
    Version {
        library: PathBuf,
        version: PathBuf,
    },
}

#[derive(Debug, Deserialize)]
struct Compilation {
    /// libnvrtc, by path or by a name the system's loader knows.
    library: PathBuf,
    source: PathBuf,
    /// What the compiler calls the source in its messages.
    name: String,
    options: Vec<String>,
    /// Kernels by name or as instances of templates.
    entries: Vec<String>,
    /// Where the cubin goes.
    output: PathBuf,
    /// Where the symbols go: a JSON object from entry to symbol.
    names: PathBuf,
}

/// Compiles what an order file asks for; false when the compiler refused the source.
pub fn serve_nvrtc(order: &Path) -> io::Result<bool> {
    tie();
    match serde_json::from_slice(&std::fs::read(order)?)? {
        Order::Compile(order) => compile(&order),
        Order::Version { library, version } => {
            let (major, minor) = Nvrtc::open(&library)?.version()?;
            std::fs::write(version, format!("{major}.{minor}"))?;
            Ok(true)
        }
    }
}

fn compile(order: &Compilation) -> io::Result<bool> {
    let nvrtc = Nvrtc::open(&order.library)?;
    let source = std::fs::read(&order.source)?;
    let program = nvrtc.program(&source, &order.name)?;
    for entry in &order.entries {
        program.name(entry)?;
    }
    let compiled = program.compile(&order.options);
    // The log comes out whatever happened: it says why.
    let mut words = io::stderr().lock();
    words.write_all(&program.log()?)?;
    words.flush()?;
    if !compiled? {
        return Ok(false);
    }
    std::fs::write(&order.output, program.cubin()?)?;
    let mut names = BTreeMap::new();
    for entry in &order.entries {
        names.insert(entry, program.lowered(entry)?);
    }
    std::fs::write(&order.names, serde_json::to_vec(&names)?)?;
    Ok(true)
}
