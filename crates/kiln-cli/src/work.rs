//! What every verb that runs a kernel needs: the kernel, the cache, a way to be stopped.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::Cache;
use kiln_core::{Fault, Report, nearest};
use kiln_loop::{Kernel, Listener, Surroundings, Trouble};
use kiln_show::Health;
use kiln_spec::{Choice, Selection, TargetKind};

use crate::args::{Measuring, Selecting};
use crate::doctor;
use crate::exit::Failure;
use crate::load::Loaded;

/// Where kiln keeps things, under the folder it is run in.
pub(crate) const FOLDER: &str = ".kiln";

/// The build cache.
pub(crate) fn cache() -> Cache {
    Cache::at(format!("{FOLDER}/cache"))
}

/// The store's place.
pub(crate) fn store() -> String {
    format!("{FOLDER}/kiln.db")
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        match trouble {
            Trouble::File(report) => report.into(),
            Trouble::Fault(fault) => fault.into(),
        }
    }
}

/// What the flags select, on a target that can be run here: the one asked for, else the file's first that can be.
pub(crate) fn runnable<'a>(loaded: &'a Loaded, selecting: &Selecting) -> Result<Selection<'a>, Failure> {
    let mut target = selecting.target.as_deref();
    if target.is_none() {
        let kinds = loaded.spec.targets.iter().map(|t| t.kind);
        let here = kinds.into_iter().find(|kind| *kind != TargetKind::Cuda);
        target = Some(here.map(TargetKind::name).ok_or_else(|| {
            Report::error("none of the kernel's targets can be run here")
                .label("the file has only cuda, and this kiln runs cpu and python so far")
        })?);
    }
    Ok(loaded.spec.select(Choice {
        target,
        arch: selecting.arch.as_deref(),
        workload: selecting.workload.as_deref(),
        variant: selecting.variant.as_deref(),
    })?)
}

/// Refuses to start on an environment that cannot work, with what to do about it.
pub(crate) fn preflight(selection: &Selection<'_>) -> Result<(), Failure> {
    let needs_compiler = selection.target.kind == TargetKind::Cpu;
    let broken = doctor::preflight().into_iter().filter(|f| f.state == Health::Fail);
    match broken.into_iter().find(|f| needs_compiler || f.id != "compiler") {
        Some(finding) => {
            let fault = Fault::new(format!("before starting: {}", finding.id), finding.what);
            Err(fault.hint(finding.fix.unwrap_or_else(|| "`kiln doctor` tells more".into())).into())
        }
        None => Ok(()),
    }
}

/// The kernel of a selection; sources lie beside the file.
pub(crate) fn kernel<'a>(selection: Selection<'a>, path: &Utf8Path) -> Result<Kernel<'a>, Failure> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Utf8Path::new(".")) };
    let folder = folder.canonicalize_utf8()?;
    Ok(Kernel::new(selection, &folder)?)
}

/// Threads a kernel may use.
pub(crate) fn threads(measuring: &Measuring) -> Result<usize, Failure> {
    match measuring.threads {
        0 => Err(Report::error("--threads 0").label("expected at least 1").into()),
        threads => Ok(threads),
    }
}

/// Refuses the name of a baseline that the file does not have.
pub(crate) fn baseline(kernel: &Kernel<'_>, name: Option<&str>) -> Result<(), Failure> {
    let known = || kernel.selection.target.baselines.iter().map(|b| b.name.as_str());
    let Some(name) = name.filter(|name| !known().any(|k| k == *name)) else { return Ok(()) };
    let near = nearest(name, known()).map(|near| format!("did you mean {near}?"));
    let names: Vec<&str> = known().collect();
    let expected =
        if names.is_empty() { "the file has none".into() } else { format!("expected one of {}", names.join(", ")) };
    Err(Report::error(format!("--baseline: there is no baseline `{name}`")).label(expected).maybe_hint(near).into())
}

/// What a bench needs from around it.
pub(crate) fn surroundings(listener: Listener<'_>, live: bool) -> Result<Surroundings<'_>, Failure> {
    let program = std::env::current_exe()?;
    let program = Utf8PathBuf::from_path_buf(program)
        .map_err(|path| Fault::new("finding the kiln binary", format!("{} is not UTF-8", path.display())))?;
    Ok(Surroundings { program, cache: cache(), listener, stopped: stopped(), live })
}

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// Set at the first Ctrl-C; the second ends the process at once, and its workers with it.
pub(crate) fn stopped() -> &'static AtomicBool {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        let _ = ctrlc::set_handler(move || {
            if STOPPED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(crate::exit::INTERRUPTED));
            }
            eprintln!("\nstopping after this step; what is done is saved (Ctrl-C again to end at once)");
        });
    });
    &STOPPED
}
