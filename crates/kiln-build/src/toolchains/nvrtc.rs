//! NVRTC: CUDA to a cubin without a host compiler, each in a process of its own (`kiln worker nvrtc`), so that whatever the
//! compiler does costs that process. In: a request with its architecture. Out: the cubin, and the symbol of each entry.

use std::collections::BTreeMap;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Outcome};
use serde_json::json;

use crate::artifact::{LOG, Symbols};
use crate::requests::request::Request;
use crate::toolchains::compile::{ended, quoted, words};
use crate::toolchains::process::Watch;
use crate::toolchains::toolkit::Toolkit;

/// An NVRTC that was found and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nvrtc {
    /// What is started to compile.
    program: Utf8PathBuf,
    /// A path, or a bare name that the system's loader finds.
    library: Utf8PathBuf,
    toolkit: Option<Toolkit>,
    version: String,
    /// Versions do not tell updates apart; sizes nearly always do.
    bytes: u64,
}

/// Names under which the system's loader may know it.
const LOADER: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
/// The exit code of a worker whose compiler refused the source, from kiln's closed list.
const REFUSED: i32 = 3;

impl Nvrtc {
    /// That of the first toolkit that has one, else one the system's loader finds. `program` is the kiln that will be
    /// started to compile.
    pub fn find(program: &Utf8Path) -> Result<Nvrtc, Fault> {
        let toolkit = Toolkit::all().into_iter().find_map(|toolkit| Some((toolkit.nvrtc.clone()?, toolkit)));
        if let Some((library, toolkit)) = toolkit {
            let version = version(program, &library)?;
            let bytes = fs_err::metadata(&library).map_or(0, |file| file.len());
            return Ok(Nvrtc { program: program.to_owned(), library, toolkit: Some(toolkit), version, bytes });
        }
        let found = LOADER.iter().find_map(|name| Some((name, version(program, Utf8Path::new(name)).ok()?)));
        let (name, version) = found.ok_or_else(|| {
            Fault::new("looking for NVRTC", "there is no CUDA toolkit with libnvrtc").hint(
                "install the CUDA toolkit, or set CUDA_HOME to it; or `pip install nvidia-cuda-nvrtc \
                 nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt` and set KILN_PYTHON to that interpreter",
            )
        })?;
        Ok(Nvrtc { program: program.to_owned(), library: name.into(), toolkit: None, version, bytes: 0 })
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
        let names = folder.join("names.json");
        let options = self.options(request)?;
        // NVRTC is a library: what it is asked, as the words of a command.
        let asked = options.iter().map(String::as_str).chain([source.as_str()]).map(quoted);
        let typed = format!("nvrtc {}", asked.collect::<Vec<_>>().join(" "));
        let order = json!({
            "library": self.library.as_str(),
            "source": source.as_str(),
            "name": source.as_str(),
            "options": options,
            "entries": request.wanted(),
            "output": folder.join(request.product()).as_str(),
            "names": names.as_str(),
        });
        let path = folder.join("order.json");
        fs_err::write(&path, order.to_string()).map_err(|e| Fault::new("ordering a compilation", e))?;
        let log = folder.join(LOG);
        let mut command = worker(&self.program, &path);
        // What a compiler that is killed leaves behind goes with the folder.
        command.env("TMPDIR", folder);
        let status = watch.run(command, &log)?;
        if let Some(code) = status.and_then(|s| s.code()).filter(|code| ![0, REFUSED].contains(code)) {
            let why = words(&log)?;
            let why = why.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            return Err(Fault::new(format!("compiling with NVRTC (exit code {code})"), why));
        }
        if let Some(refusal) = ended(status, &log, watch, &typed)? {
            return Ok(Outcome::Refused(refusal));
        }
        let symbols: BTreeMap<String, String> =
            serde_json::from_str(&words(&names)?).map_err(|e| Fault::new("reading the symbols of the entries", e))?;
        for file in [path, names] {
            let _ = fs_err::remove_file(file);
        }
        let pairs = request.wanted().into_iter().map(|entry| Some((entry.clone(), symbols.get(&entry)?.clone())));
        let pairs: Option<Symbols> = pairs.collect();
        pairs.map(Outcome::Passed).ok_or_else(|| Fault::new("naming the entries", "NVRTC left one of them out"))
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

/// Flags of nvcc as NVRTC knows them. It optimises always, has no host compiler, and takes a value only behind `=`.
fn translated(flags: &[String]) -> Vec<String> {
    const VALUED: [(&str, &str); 5] = [
        ("-Xptxas", "--ptxas-options"),
        ("--ptxas-options", "--ptxas-options"),
        ("-maxrregcount", "--maxrregcount"),
        ("--maxrregcount", "--maxrregcount"),
        ("-diag-suppress", "--diag-suppress"),
    ];
    const HOST: [&str; 4] = ["-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir"];
    const UNKNOWN: [&str; 6] = [
        "--expt-relaxed-constexpr",
        "-expt-relaxed-constexpr",
        "--expt-extended-lambda",
        "-expt-extended-lambda",
        "--extended-lambda",
        "-extended-lambda",
    ];
    let mut translated = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        let (name, value) = flag.split_once('=').map_or((flag.as_str(), None), |(name, value)| (name, Some(value)));
        if let Some((_, known)) = VALUED.iter().find(|(nvcc, _)| *nvcc == name) {
            let value = value.or_else(|| rest.next().map(String::as_str)).unwrap_or_default();
            translated.push(format!("{known}={value}"));
        } else if HOST.contains(&name) {
            if value.is_none() {
                rest.next();
            }
        } else if !UNKNOWN.contains(&name) && !is_level(name) {
            translated.push(flag.clone());
        }
    }
    translated
}

/// `-O3` and its like.
fn is_level(flag: &str) -> bool {
    flag.strip_prefix("-O").is_some_and(|level| level.len() <= 1 && level.chars().all(|c| c.is_ascii_digit()))
}

fn worker(program: &Utf8Path, order: &Utf8Path) -> Command {
    let mut command = Command::new(program);
    command.args(["worker", "nvrtc", order.as_str()]);
    command
}

/// Asks the library itself, which also shows that it can be loaded.
fn version(program: &Utf8Path, library: &Utf8Path) -> Result<String, Fault> {
    let fault = |why: String| {
        Fault::new(format!("asking {library} for its version"), why)
            .hint("reinstall the CUDA toolkit, or set CUDA_HOME to another")
    };
    let folder = temporary().map_err(|e| fault(e.to_string()))?;
    let (order, answer) = (folder.join("order.json"), folder.join("version"));
    let ask = || -> std::io::Result<String> {
        fs_err::write(&order, json!({ "library": library.as_str(), "version": answer.as_str() }).to_string())?;
        let output = worker(program, &order).output()?;
        if !output.status.success() {
            return Err(std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_string()));
        }
        fs_err::read_to_string(&answer)
    };
    let asked = ask();
    let _ = fs_err::remove_dir_all(&folder);
    asked.map_err(|e| fault(e.to_string()))
}

/// A folder of this process alone.
fn temporary() -> std::io::Result<Utf8PathBuf> {
    let root = Utf8PathBuf::from_path_buf(std::env::temp_dir()).map_err(|_| std::io::Error::other("not UTF-8"))?;
    let path = root.join(format!("kiln-nvrtc-{}-{}", std::process::id(), crate::cache::unique()));
    fs_err::create_dir(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_nvcc_are_translated() {
        let flags = "-O3 --use_fast_math -maxrregcount=64 -Xptxas -O1 -maxrregcount 32 -lineinfo -Xcompiler -Wall \
                     -Xcompiler=-g --expt-relaxed-constexpr -DOTHER=1 -O";
        let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
        assert_eq!(
            translated(&flags),
            [
                "--use_fast_math",
                "--maxrregcount=64",
                "--ptxas-options=-O1",
                "--maxrregcount=32",
                "-lineinfo",
                "-DOTHER=1"
            ]
        );
        assert_eq!(translated(&["-Xptxas".to_string()]), ["--ptxas-options="]);
    }
}
