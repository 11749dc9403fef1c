//! One build. In: a toolchain, a request and an empty folder. Out: the product in that folder with the compiler's words
//! beside it in `log`, and the symbols of the entries; or a refusal with the compiler's words. What no source can help (no
//! host compiler, a full disk, an architecture the toolkit does not know) is a fault.

use std::process::{Command, ExitStatus};
use std::time::Duration;

use camino::Utf8Path;
use kiln_core::{Fault, Gate, Outcome, Refusal, quoted};

use crate::artifact::{LOG, Symbols};
use crate::requests::request::Request;
use crate::toolchains::compiler::Compiler;
use crate::toolchains::process::Watch;
use crate::toolchains::toolchain::Toolchain;
use crate::words::message::complaint;

/// How patient a build is.
#[derive(Debug, Clone, Copy)]
pub struct BuildLimits {
    /// A build that takes longer is killed and refused.
    pub timeout: Duration,
    /// After this long without an end, `on_silence` is told.
    pub silence: Duration,
}

impl Default for BuildLimits {
    fn default() -> Self {
        BuildLimits { timeout: Duration::from_secs(300), silence: Duration::from_secs(60) }
    }
}

/// What a kernel file's mistake in naming kernels is answered with.
const ENTRIES: &str = "an entry is the name of a __global__ function, or an instance of one such as `matmul<float, 4>`; a constant is that of a __constant__ variable";

pub(crate) fn compile(
    toolchain: &Toolchain,
    request: &Request,
    folder: &Utf8Path,
    watch: &Watch<'_>,
) -> Result<Outcome<Symbols>, Fault> {
    match toolchain {
        Toolchain::C(compiler) => c_library(compiler, request, folder, watch),
        Toolchain::Nvcc(nvcc) => nvcc.compile(request, folder, watch),
        Toolchain::Nvrtc(nvrtc) => nvrtc.compile(request, folder, watch),
        Toolchain::Foreign(foreign) => foreign.compile(request, folder, watch),
    }
}

fn c_library(
    compiler: &Compiler,
    request: &Request,
    folder: &Utf8Path,
    watch: &Watch<'_>,
) -> Result<Outcome<Symbols>, Fault> {
    let mut command = compiler.start();
    command.args(request.arguments()).arg("-o").arg(folder.join(request.product())).args(&request.sources);
    command.args(written_shim(request, folder)?).arg("-lm");
    let log = folder.join(LOG);
    let typed = typed(&command, folder);
    let status = watch.run(command, &log)?;
    Ok(ended(status, &log, watch, &typed)?.map_or(Outcome::Passed(Vec::new()), Outcome::Refused))
}

/// The generated caller as a file, where there is one.
pub(crate) fn written_shim(request: &Request, folder: &Utf8Path) -> Result<Option<camino::Utf8PathBuf>, Fault> {
    if request.shim.is_empty() {
        return Ok(None);
    }
    let shim = folder.join(SHIM);
    fs_err::write(&shim, &request.shim).map_err(|e| Fault::new("writing the generated caller", e))?;
    Ok(Some(shim))
}

/// A command that can be typed anywhere. What it would write in the build's own folder, which does not last, it writes where it
/// is typed; the generated caller, which lies there, is left out: the sources compile without it.
pub(crate) fn typed(command: &Command, folder: &Utf8Path) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| word.to_string_lossy()).filter(|word| *word != folder.join(SHIM).as_str());
    let words: Vec<String> = words.map(|word| quoted(&word)).collect();
    words.join(" ").replace(&format!("{folder}/"), "")
}

/// The generated caller.
const SHIM: &str = "shim.c";

/// What a compiler's end means: none when it did what it was asked, else the refusal, which holds the command.
pub(crate) fn ended(
    status: Option<ExitStatus>,
    log: &Utf8Path,
    watch: &Watch<'_>,
    typed: &str,
) -> Result<Option<Refusal>, Fault> {
    let Some(status) = status else { return Ok(Some(too_long(watch.limits.timeout).by_command(typed))) };
    if status.success() {
        return Ok(None);
    }
    refused(log, Some(status), typed).map(Some)
}

/// The refusal a compiler's words stand for; `status` is how it ended, where that says something.
pub(crate) fn refused(log: &Utf8Path, status: Option<ExitStatus>, typed: &str) -> Result<Refusal, Fault> {
    let words = words(log)?;
    if let Some(fault) = blameless(&words) {
        return Err(fault);
    }
    let complaint = complaint(&words);
    // A compiler that was killed or crashed has no error line of its own.
    let measured = match status.filter(|_| !complaint.marked) {
        Some(status) => format!("{}, {status}", complaint.headline),
        None => complaint.headline,
    };
    let refusal = Refusal {
        gate: Gate::BuildFailed,
        rule: String::new(),
        measured,
        limit: "a compilation without errors".into(),
        evidence: complaint.message,
        hint: if complaint.of_entries { Some(ENTRIES.into()) } else { host_code(typed, &words) },
    };
    Ok(refusal.by_command(typed))
}

/// What to do where NVRTC meets what is for the host: a header of the C++ library, all of CUB.
fn host_code(typed: &str, words: &str) -> Option<String> {
    let meets = words.contains("not allowed in JIT mode") || words.contains("cannot open source file");
    (typed.starts_with("nvrtc ") && meets)
        .then(|| "NVRTC takes device code only: write compile = { compiler = \"nvcc\" } under [target.cuda]".into())
}

/// What a compiler wrote, whatever bytes it holds.
pub(crate) fn words(log: &Utf8Path) -> Result<String, Fault> {
    let bytes = fs_err::read(log).map_err(|e| Fault::new("reading the compiler's words", e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Failures that no source can be blamed for.
fn blameless(words: &str) -> Option<Fault> {
    let line = |part: &str| words.lines().find(|l| l.contains(part)).map(str::trim);
    if let Some(line) = line("No space left on device") {
        return Some(Fault::new("building", line).hint("free some disk space, `kiln cache --clear` helps"));
    }
    if let Some(line) = line("Failed to preprocess host compiler").or_else(|| line("Cannot find compiler")) {
        return Some(Fault::new("starting the host compiler for nvcc", line).hint("install gcc, or set NVCC_CCBIN"));
    }
    let unknown = line("Unsupported gpu architecture").or_else(|| line("invalid value for --gpu-architecture"));
    unknown.map(|line| Fault::new("compiling for the architecture", line).hint("use a CUDA toolkit that knows it"))
}

pub(crate) fn too_long(timeout: Duration) -> Refusal {
    Refusal {
        gate: Gate::BuildTimeout,
        rule: String::new(),
        measured: format!("still compiling after {} s", timeout.as_secs()),
        limit: format!("{} s", timeout.as_secs()),
        evidence: String::new(),
        hint: Some("unrolled loops over large tiles compile slowly: lower the unroll factor".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_typed_where_nothing_of_the_build_is_left() {
        let folder = Utf8Path::new("/tmp/build");
        let mut command = Command::new("cc");
        command.args(["-O3", "-o", "/tmp/build/kernel.so", "/home/me/my kernel.c", "/tmp/build/shim.c", "-lm"]);
        assert_eq!(typed(&command, folder), "cc -O3 -o kernel.so '/home/me/my kernel.c' -lm");
    }
}
