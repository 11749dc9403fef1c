//! NVRTC: CUDA to a cubin without a host compiler, in processes of their own that keep it loaded, so that whatever the compiler
//! does costs a process. In: a request with its architecture. Out: the cubin, and the symbol of each entry.
//!
//! A process that has compiled before may have been harmed by that. So only a new one is believed when it dies or gives up in
//! the middle: the compilation is then made again. What took too long is not.

mod builder;
mod builders;
mod flags;
mod place;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Outcome, quoted};
use serde_json::{Value, json};

use crate::artifact::{LOG, Symbols};
use crate::requests::request::Request;
use crate::toolchains::compile::{BuildLimits, ended, refused, words};
use crate::toolchains::process::Watch;
use crate::toolchains::toolkit::Toolkit;
use builder::{Builder, Heard};
use builders::Builders;
use flags::translated;

/// An NVRTC that was found and answers. Copies share the processes that compile; they end with the last copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nvrtc {
    /// What compiles.
    builders: Builders,
    /// A path, or a bare name that the system's loader finds.
    library: Utf8PathBuf,
    toolkit: Option<Toolkit>,
    version: String,
    /// Versions do not tell updates apart; sizes nearly always do.
    bytes: u64,
}

/// Names under which the system's loader may know it.
const LOADER: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

impl Nvrtc {
    /// That of the first toolkit that has one, else one the system's loader finds. `program` is the kiln that will be
    /// started to compile.
    pub fn find(program: &Utf8Path) -> Result<Nvrtc, Fault> {
        let builders = Builders::of(program);
        let toolkit = Toolkit::all().into_iter().find_map(|toolkit| Some((toolkit.nvrtc.clone()?, toolkit)));
        if let Some((library, toolkit)) = toolkit {
            let version = version(&builders, &library)?;
            let bytes = fs_err::metadata(&library).map_or(0, |file| file.len());
            return Ok(Nvrtc { builders, library, toolkit: Some(toolkit), version, bytes });
        }
        let found = LOADER.iter().find_map(|name| Some((name, version(&builders, Utf8Path::new(name)).ok()?)));
        let (name, version) = found.ok_or_else(|| {
            Fault::new("looking for NVRTC", "there is no CUDA toolkit with libnvrtc").hint(
                "install the CUDA toolkit, or set CUDA_HOME to it; or `pip install nvidia-cuda-nvrtc \
                 nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt` and set KILN_PYTHON to that interpreter",
            )
        })?;
        Ok(Nvrtc { builders, library: name.into(), toolkit: None, version, bytes: 0 })
    }

    /// Such as `13.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The library, by path or by the name the loader knows.
    pub fn library(&self) -> &Utf8Path {
        &self.library
    }

    /// The toolkit it belongs to; none when the loader found it.
    pub fn toolkit(&self) -> Option<&Toolkit> {
        self.toolkit.as_ref()
    }

    pub(crate) fn identity(&self) -> Vec<String> {
        vec!["nvrtc".into(), self.bytes.to_string()]
    }

    pub(crate) fn compile(
        &self,
        request: &Request,
        folder: &Utf8Path,
        watch: &Watch<'_>,
    ) -> Result<Outcome<Symbols>, Fault> {
        if request.host {
            return Err(Fault::new("building", "NVRTC compiles kernels only, not host launchers").hint("use nvcc"));
        }
        let source = request.unit(folder)?;
        let options = self.options(request)?;
        // NVRTC is a library: what it is asked, as the words of a command.
        let asked = options.iter().map(String::as_str).chain([source.as_str()]).map(quoted);
        let typed = format!("nvrtc {}", asked.collect::<Vec<_>>().join(" "));
        let log = folder.join(LOG);
        let compilation = json!({
            "library": self.library.as_str(),
            "source": source.as_str(),
            "name": source.as_str(),
            "options": options,
            "entries": request.wanted(),
            "output": folder.join(request.product()).as_str(),
            "log": log.as_str(),
            // What a compiler that is killed leaves behind goes with the folder.
            "temporary": folder.as_str(),
        });
        let symbols = match self.heard(request, &compilation, (folder, watch))? {
            Heard::Passed(symbols) => symbols,
            Heard::Refused { .. } => return Ok(Outcome::Refused(refused(&log, None, &typed)?)),
            Heard::Version(_) => return Err(Fault::new("compiling with NVRTC", "it was asked for something else")),
            Heard::Failed(why) => return Err(Fault::new("compiling with NVRTC", why)),
            Heard::TooLong => return out_of_hand(ended(None, &log, watch, &typed)?),
            Heard::Ended(status) => {
                if let Some(code) = status.code() {
                    let why = words(&log)?;
                    let why = why.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
                    return Err(Fault::new(format!("compiling with NVRTC (exit code {code})"), why));
                }
                return out_of_hand(ended(Some(status), &log, watch, &typed)?);
            }
        };
        let pairs = request.wanted().into_iter().map(|entry| Some((entry.clone(), symbols.get(&entry)?.clone())));
        let pairs: Option<Symbols> = pairs.collect();
        pairs.map(Outcome::Passed).ok_or_else(|| Fault::new("naming the entries", "NVRTC left one of them out"))
    }

    /// What came of a compilation, of a second one in a new process where the first says nothing about the source.
    fn heard(
        &self,
        request: &Request,
        compilation: &Value,
        (folder, watch): (&Utf8Path, &Watch<'_>),
    ) -> Result<Heard, Fault> {
        let failed = |e: std::io::Error| Fault::new("ordering a compilation", e);
        let log = || File::create(folder.join(LOG)).map(Stdio::from).map_err(failed);
        let mut builder = self.builders.take(log()?)?;
        let is_new = builder.is_new();
        let mut heard = builder.compile(compilation, watch)?;
        if !is_new && is_doubtful(&heard) {
            drop(builder);
            // Nothing of the first attempt is taken for the second's.
            fs_err::remove_dir_all(folder).and_then(|()| fs_err::create_dir(folder)).map_err(failed)?;
            request.unit(folder)?;
            builder = self.builders.start(log()?)?;
            // Time that the first one wasted is not taken from the second.
            heard = builder.compile(compilation, &Watch { started: Instant::now(), ..*watch })?;
        }
        if matches!(heard, Heard::Passed(_) | Heard::Refused { orderly: true }) {
            self.builders.give_back(builder);
        }
        Ok(heard)
    }

    fn options(&self, request: &Request) -> Result<Vec<String>, Fault> {
        let mut options =
            vec![format!("--gpu-architecture={}", request.architecture()?), "--ptxas-options=-v".to_string()];
        options.push(format!("-std={}", request.std.as_deref().unwrap_or("c++17")));
        // The compiler is given the text, and so does not know where it lies.
        let mut here: Vec<&str> = Vec::new();
        for source in &request.sources {
            let folder = source.parent().map(Utf8Path::as_str).filter(|folder| !folder.is_empty()).unwrap_or(".");
            if !here.contains(&folder) {
                here.push(folder);
            }
        }
        options.extend(here.iter().map(|folder| format!("-I{folder}")));
        options.extend(request.includes.iter().map(|folder| format!("-I{folder}")));
        options.extend(self.toolkit.iter().flat_map(Toolkit::includes).map(|folder| format!("-I{folder}")));
        options.extend(request.defines());
        options.extend(translated(&request.flags));
        Ok(options)
    }
}

/// Whether an earlier compilation in the same process may be to blame.
fn is_doubtful(heard: &Heard) -> bool {
    matches!(heard, Heard::Refused { orderly: false } | Heard::Failed(_) | Heard::Ended(_))
}

/// A compiler that did not come to its end by itself.
fn out_of_hand(refusal: Option<kiln_core::Refusal>) -> Result<Outcome<Symbols>, Fault> {
    refusal.map(Outcome::Refused).ok_or_else(|| Fault::new("compiling with NVRTC", "it ended without an answer"))
}

/// Asks the library itself, which also shows that it can be loaded. The process is kept: it has the library ready.
fn version(builders: &Builders, library: &Utf8Path) -> Result<String, Fault> {
    /// Loading takes a tenth of a second, from a slow disk some more.
    const PATIENCE: Duration = Duration::from_secs(60);
    let stopped = AtomicBool::new(false);
    let limits = BuildLimits { timeout: PATIENCE, silence: PATIENCE };
    let watch = Watch { limits, on_silence: &|_| {}, stopped: &stopped, started: Instant::now() };
    let mut builder: Builder = builders.start(Stdio::null())?;
    let why = match builder.version(library, &watch)? {
        Heard::Version(version) => {
            builders.give_back(builder);
            return Ok(version);
        }
        Heard::Failed(why) => why,
        Heard::TooLong => format!("no answer for {} s", PATIENCE.as_secs()),
        Heard::Ended(status) => status.to_string(),
        Heard::Passed(_) | Heard::Refused { .. } => "an answer to something else".into(),
    };
    Err(Fault::new(format!("asking {library} for its version"), why)
        .hint("reinstall the CUDA toolkit, or set CUDA_HOME to another"))
}
