//! nvcc: CUDA to a cubin, or to a shared library of host launchers. In: a request with its architecture. Out: the product,
//! and for a cubin the symbol of each entry. A template is instantiated by generated lines behind the source.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Outcome};

use crate::artifact::{LOG, Symbols};
use crate::requests::entry::{addressed, is_template, mangled_variable, matched, named, resolved};
use crate::requests::request::{Request, address};
use crate::toolchains::compile::{ended, typed, words, written_shim};
use crate::toolchains::process::Watch;
use crate::toolchains::toolkit::Toolkit;
use crate::words::message::ENTRIES_FILE;
use crate::words::usage::usage;

/// An nvcc that was found and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nvcc {
    program: Utf8PathBuf,
    toolkit: Toolkit,
    version: String,
}

/// Variables that nvcc obeys without being told.
const VARIABLES: [&str; 3] = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"];

impl Nvcc {
    /// That of the first toolkit that has one.
    pub fn find() -> Result<Nvcc, Fault> {
        let found = Toolkit::all().into_iter().find_map(|toolkit| Some((toolkit.nvcc.clone()?, toolkit)));
        let (program, toolkit) = found.ok_or_else(|| {
            Fault::new("looking for nvcc", "there is no CUDA toolkit with one").hint(
                "install the CUDA toolkit, or set CUDA_HOME to it; or `pip install nvidia-cuda-nvcc nvidia-nvvm \
                 nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl` and set KILN_PYTHON to that interpreter",
            )
        })?;
        let asked = |why: String| {
            Fault::new(format!("asking {program} for its version"), why).hint("reinstall the CUDA toolkit")
        };
        let output = Command::new(&program).arg("--version").output().map_err(|e| asked(e.to_string()))?;
        let words = String::from_utf8_lossy(&output.stdout);
        // Cuda compilation tools, release 13.0, V13.0.88
        let version = words
            .split_whitespace()
            .rev()
            .find_map(|word| word.strip_prefix('V').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())));
        let version = version.ok_or_else(|| asked(format!("{}: {}", output.status, words.trim())))?.to_string();
        Ok(Nvcc { program, toolkit, version })
    }

    /// Such as `13.0.88`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The toolkit it belongs to.
    pub fn toolkit(&self) -> &Toolkit {
        &self.toolkit
    }

    pub(crate) fn identity(&self) -> Vec<String> {
        let set = |name: &&str| Some(format!("{name}={}", std::env::var(name).ok()?));
        std::iter::once("nvcc".into()).chain(VARIABLES.iter().filter_map(set)).collect()
    }

    pub(crate) fn compile(
        &self,
        request: &Request,
        folder: &Utf8Path,
        watch: &Watch<'_>,
    ) -> Result<Outcome<Symbols>, Fault> {
        if request.host { self.library(request, folder, watch) } else { self.cubin(request, folder, watch) }
    }

    fn library(&self, request: &Request, folder: &Utf8Path, watch: &Watch<'_>) -> Result<Outcome<Symbols>, Fault> {
        let mut command = self.command(request, folder)?;
        command.args(["-shared", "-Xcompiler", "-fPIC"]).args(&request.sources);
        command.args(written_shim(request, folder)?);
        // nvcc itself knows only where an installed toolkit keeps them.
        command.args(self.toolkit.libraries().map(|path| format!("-L{path}")));
        command.arg("-o").arg(folder.join(request.product()));
        let log = folder.join(LOG);
        let typed = typed(&command, folder);
        let status = watch.run(command, &log)?;
        Ok(ended(status, &log, watch, &typed)?.map_or(Outcome::Passed(Vec::new()), Outcome::Refused))
    }

    fn cubin(&self, request: &Request, folder: &Utf8Path, watch: &Watch<'_>) -> Result<Outcome<Symbols>, Fault> {
        let source = &request.unit(folder)?;
        let mut command = self.command(request, folder)?;
        let templates: Vec<&String> = request.entries.iter().filter(|entry| is_template(entry)).collect();
        let compiled = match templates.is_empty() {
            true => source.to_owned(),
            false => write(folder, ENTRIES_FILE, addressed(source, &templates)?)?,
        };
        command.arg("-cubin").arg("-o").arg(folder.join(request.product())).arg(compiled);
        let log = folder.join(LOG);
        let typed = typed(&command, folder);
        let status = watch.run(command, &log)?;
        if let Some(refusal) = ended(status, &log, watch, &typed)? {
            return Ok(Outcome::Refused(refusal));
        }
        let kernels: Vec<String> = usage(&words(&log)?).into_iter().map(|kernel| kernel.symbol).collect();
        let found = match matched(&request.entries, &kernels) {
            Some(symbols) => Outcome::Passed(symbols),
            None => self.ask_names(request, folder, watch)?,
        };
        // Whether a variable is there is found out when it is set.
        let variables = request.variables.iter().map(|name| (address(name), mangled_variable(name)));
        Ok(found.map(|kernels| kernels.into_iter().chain(variables).collect()))
    }

    /// Lets the compiler say which symbol each entry has, where the symbols alone do not tell: overloads, several instances
    /// of one template. It costs a second, short compilation, whose product is thrown away.
    fn ask_names(&self, request: &Request, folder: &Utf8Path, watch: &Watch<'_>) -> Result<Outcome<Symbols>, Fault> {
        let source = write(folder, ENTRIES_FILE, named(&request.unit(folder)?, &request.entries)?)?;
        let assembly = folder.join("names.ptx");
        let log = folder.join("names.log");
        let mut command = self.command(request, folder)?;
        command.arg("-ptx").arg("-o").arg(&assembly).arg(source);
        let typed = typed(&command, folder);
        let status = watch.run(command, &log)?;
        if let Some(refusal) = ended(status, &log, watch, &typed)? {
            return Ok(Outcome::Refused(refusal));
        }
        let symbols = resolved(&request.entries, &words(&assembly)?);
        let symbols = symbols.ok_or_else(|| Fault::new("naming the entries", "nvcc left one of them out"))?;
        for file in [assembly, log] {
            let _ = fs_err::remove_file(file);
        }
        Ok(Outcome::Passed(symbols))
    }

    /// The command up to what is to come out.
    fn command(&self, request: &Request, folder: &Utf8Path) -> Result<Command, Fault> {
        let mut command = Command::new(&self.program);
        // What a compiler that is killed leaves behind goes with the folder.
        command.env("TMPDIR", folder);
        command.arg(format!("-arch={}", request.architecture()?)).args(["-Xptxas", "-v"]);
        command.arg(format!("-std={}", request.std.as_deref().unwrap_or("c++17")));
        command.args(request.includes.iter().map(|folder| format!("-I{folder}")));
        command.args(request.defines()).args(&request.flags);
        Ok(command)
    }
}

fn write(folder: &Utf8Path, name: &str, text: String) -> Result<Utf8PathBuf, Fault> {
    let path = folder.join(name);
    fs_err::write(&path, text).map_err(|e| Fault::new("writing generated lines", e))?;
    Ok(path)
}
