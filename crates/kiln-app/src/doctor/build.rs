//! A build as for any candidate, of a function of one line, in a cache that is thrown away.

use std::time::Duration;

use crate::doctor::Finding;
use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::{BuildLimits, Cache, Compiler, Request, SHIM_SYMBOL};
use kiln_core::{Fault, Outcome};
use tempfile::TempDir;

use crate::project::Project;

const ID: &str = "build";
const WHY: &str = "a compiler without its headers, linker or -march=native refuses every candidate";
/// Longer than this for one line, and no study would end.
const PATIENCE: Duration = Duration::from_secs(10);
/// What the function answers.
pub(crate) const ANSWER: i64 = 42;

/// A built library, as long as this lives.
pub(crate) struct Built {
    pub(crate) library: Utf8PathBuf,
    _folder: TempDir,
}

/// Builds it; the library is for a worker to load.
pub(crate) fn look(project: &Project) -> (Finding, Option<Built>) {
    let compiler = match Compiler::find() {
        Ok(compiler) => compiler,
        Err(_) => return (Finding::fail(ID, WHY, "not tried: there is no compiler", "see compiler"), None),
    };
    match build(project, &compiler) {
        Ok(Outcome::Passed((built, took))) => {
            let what = format!("a shared library with -O3 -march=native, in {:.0} ms", took.as_secs_f64() * 1e3);
            (Finding::ok(ID, WHY, what), Some(built))
        }
        Ok(Outcome::Refused(refusal)) => {
            let what = format!("{}\n{}", refusal.measured, refusal.evidence);
            (Finding::fail(ID, WHY, what.trim_end(), "repair or reinstall the compiler, or set CC to another"), None)
        }
        Err(fault) => {
            let fix = fault.hint.unwrap_or("see disk".into());
            (Finding::fail(ID, WHY, format!("{}: {}", fault.what, fault.why), fix), None)
        }
    }
}

fn build(project: &Project, compiler: &Compiler) -> Result<Outcome<(Built, Duration)>, Fault> {
    let folder = folder(project).map_err(|e| Fault::new("making a folder to build in", e))?;
    let path = Utf8Path::from_path(folder.path())
        .ok_or_else(|| Fault::new("making a folder to build in", "its name is not UTF-8"))?;
    let request = Request {
        shim: format!("#include <stdint.h>\nvoid {SHIM_SYMBOL}(void **a) {{ *(int64_t *)a[0] = {ANSWER}; }}\n"),
        ..Request::default()
    };
    let limits = BuildLimits { timeout: PATIENCE, silence: PATIENCE };
    let outcome = Cache::at(path).build(compiler, &request, limits, &|_| {})?;
    Ok(outcome
        .map(|artifact| (Built { library: artifact.library, _folder: folder }, artifact.built_in.unwrap_or_default())))
}

/// Beside the real cache where there is one, since libraries of some folders may not be run; swept with what builds leave. Whoever
/// only looks leaves that folder alone, where code may run both there and in the system's.
fn folder(project: &Project) -> std::io::Result<TempDir> {
    if project.is_unrecorded() && runs_code(project.folder().as_std_path()) && runs_code(&std::env::temp_dir()) {
        return tempfile::tempdir();
    }
    let beside = project.cache().root().join("tmp");
    if project.folder().is_dir() && fs_err::create_dir_all(&beside).is_ok() {
        // A library without a slash in its path would be looked for elsewhere.
        if let Ok(folder) = beside.canonicalize_utf8().and_then(tempfile::tempdir_in) {
            return Ok(folder);
        }
    }
    tempfile::tempdir()
}

/// Whether the file system admits code.
fn runs_code(folder: &std::path::Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(folder).is_ok_and(|found| !found.f_flag.contains(StatVfsMountFlags::NOEXEC))
}
