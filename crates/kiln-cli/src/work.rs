//! What every verb that runs a kernel needs: the kernel, the cache, a way to be stopped.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::Cache;
use kiln_core::{Fault, Report, nearest};
use kiln_run::{Card, DeviceLock};
use kiln_show::Health;
use kiln_spec::{Choice, Selection, Target, TargetKind};
use kiln_study::{CacheState, Kernel, Listener, Surroundings, Trouble};

use crate::args::{Measuring, Selecting};
use crate::doctor;
use crate::exit::Failure;
use crate::load::Loaded;
use crate::output;

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

/// What the flags select, on a target that can be run here, and the GPU it runs on, if it does: the target asked for,
/// else the file's first that can be.
pub(crate) fn runnable<'a>(
    loaded: &'a Loaded,
    selecting: &Selecting,
) -> Result<(Selection<'a>, Option<Card>), Failure> {
    let card = card(selecting);
    let targets = &loaded.spec.targets;
    let asked = selecting.target.as_deref();
    let wanted = asked.and_then(|name| targets.iter().find(|t| t.kind.name() == name));
    let here = || targets.iter().find(|t| (!t.on_gpu || card.is_ok()) && has_code(t));
    let (card, target) = match (wanted, &card) {
        (Some(target), _) if !has_code(target) => return Err(no_code(targets, target)),
        (Some(target), Err(why)) if target.on_gpu => return Err(no_gpu(targets, target, why)),
        (Some(target), _) => (card.ok().filter(|_| target.on_gpu), Some(target.kind.name())),
        // A name the file does not have: the selection says so.
        (None, _) if asked.is_some() => (None, asked),
        (None, _) => match (here(), targets.first(), &card) {
            (Some(target), _, _) => (card.ok().filter(|_| target.on_gpu), Some(target.kind.name())),
            (None, Some(target), _) if !has_code(target) => return Err(no_code(targets, target)),
            (None, Some(target), Err(why)) => return Err(no_gpu(targets, target, why)),
            _ => (None, None),
        },
    };
    let own = card.as_ref().and_then(|card| kiln_device::Arch::of_capability(card.capability.0, card.capability.1));
    let arch = selecting.arch.as_deref().or(own.as_ref().map(kiln_device::Arch::name));
    let arch = arch.filter(|_| selecting.arch.is_some() || target == Some(TargetKind::Cuda.name()));
    let selection = loaded.spec.select(Choice {
        target,
        arch,
        workload: selecting.workload.as_deref(),
        variant: selecting.variant.as_deref(),
    })?;
    if let (Some(card), Some(arch)) = (&card, selection.arch)
        && arch.compute_capability() != card.capability
    {
        let report = Report::error(format!("code for {arch} does not run on {}", card.name));
        return Err(report.hint("leave --arch away, or stop at the compiler with --until build").into());
    }
    Ok((selection, card))
}

/// The GPU meant by the flags and the environment, or why there is none.
fn card(selecting: &Selecting) -> Result<Card, Report> {
    doctor::quick(selecting.device.as_deref()).map(|ready| ready.card)
}

/// The same selection with the architecture of the GPU that is here, where none is asked for and a cuda target is meant.
pub(crate) fn for_this_gpu(loaded: &Loaded, selecting: &Selecting) -> Selecting {
    let mut selecting = selecting.clone();
    let wanted = |t: &&Target| selecting.target.as_ref().is_none_or(|name| t.kind.name() == name);
    let cuda = loaded.spec.targets.iter().find(wanted).is_some_and(|t| t.kind == TargetKind::Cuda);
    if cuda && selecting.arch.is_none() {
        let capability = card(&selecting).ok().map(|card| card.capability);
        let arch = capability.and_then(|(major, minor)| kiln_device::Arch::of_capability(major, minor));
        selecting.arch = arch.map(|arch| arch.name().to_string());
    }
    selecting
}

/// False for a target that is no more than a space. A kernel in Python may name its file in the entry.
fn has_code(target: &Target) -> bool {
    !target.sources.is_empty() || target.kind == TargetKind::Python
}

fn no_code(targets: &[Target], target: &Target) -> Failure {
    let report = Report::error(format!("target {} has no source: there is nothing to run", target.kind.name()));
    report.hint(format!("`kiln space` and `kiln gate` need none{}", without_gpu(targets))).into()
}

fn no_gpu(targets: &[Target], target: &Target, why: &Report) -> Failure {
    let why = if why.label.is_empty() { &why.message } else { &why.label };
    let until = if target.kind == TargetKind::Cuda { "; --until build compiles without one" } else { "" };
    Report::error(format!("target {} needs a GPU: {why}", target.kind.name()))
        .hint(format!("`kiln doctor` tells more{until}{}", without_gpu(targets)))
        .into()
}

/// The file's target that runs on any machine, for a hint.
fn without_gpu(targets: &[Target]) -> String {
    let other = targets.iter().find(|t| !t.on_gpu && has_code(t));
    other.map_or(String::new(), |t| format!("; --target {} runs on the processor", t.kind.name()))
}

/// Keeps the GPUs for this process until it is dropped, so that no other kiln measures there meanwhile.
pub(crate) fn lock<'c>(cards: impl IntoIterator<Item = &'c Card>) -> Result<Vec<DeviceLock>, Failure> {
    let mut cards: Vec<&Card> = cards.into_iter().collect();
    // All kilns take them in the same order, or two might wait for each other.
    cards.sort_by(|a, b| a.uuid.cmp(&b.uuid));
    let mut held = Vec::with_capacity(cards.len());
    for card in cards {
        let waiting = || eprintln!("note: another kiln measures on {}; waiting for it", card.name);
        held.push(DeviceLock::take(&card.uuid, stopped(), waiting)?);
    }
    Ok(held)
}

/// The first device named, and those beside it.
pub(crate) fn devices(selecting: &Selecting) -> (Selecting, Vec<String>) {
    let Some(list) = selecting.device.as_deref().filter(|list| list.contains(',')) else {
        return (selecting.clone(), Vec::new());
    };
    let mut names = list.split(',').map(|name| name.trim().to_string());
    let device = names.next();
    (Selecting { device, ..selecting.clone() }, names.collect())
}

/// The GPUs of these names beside the first. Refuses one that is named twice.
pub(crate) fn others(names: &[String], first: Option<&Card>) -> Result<Vec<Card>, Failure> {
    let Some(first) = first else { return Ok(Vec::new()) };
    let mut others: Vec<Card> = Vec::new();
    for name in names {
        let card = doctor::quick(Some(name))?.card;
        if others.iter().chain([first]).any(|other| other.uuid == card.uuid) {
            let report = Report::error(format!("--device names {} ({}) twice", card.name, card.uuid));
            return Err(report.label(format!("the second time as `{name}`")).into());
        }
        others.push(card);
    }
    Ok(others)
}

/// Whether caches are warm or cold: as asked, else cold on a GPU, where kernels are compared by their memory traffic too.
pub(crate) fn cache_state(measuring: &Measuring, card: Option<&Card>) -> CacheState {
    let cold = measuring.cold || (card.is_some() && !measuring.warm);
    if cold { CacheState::Cold } else { CacheState::Warm }
}

/// Refuses to start on an environment that cannot work, with what to do about it, and warns of one that disturbs.
pub(crate) fn preflight(selection: &Selection<'_>, selecting: &Selecting) -> Result<(), Failure> {
    if selection.target.on_gpu {
        output::warnings(&doctor::quick(selecting.device.as_deref())?.warnings);
    }
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
    let folder = if path.is_dir() {
        path
    } else {
        path.parent().filter(|p| !p.as_str().is_empty()).unwrap_or(Utf8Path::new("."))
    };
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
pub(crate) fn surroundings<'a>(
    listener: Listener<'a>,
    live: bool,
    card: Option<&Card>,
) -> Result<Surroundings<'a>, Failure> {
    let gpu = card.map(|card| card.uuid.clone());
    Ok(Surroundings { program: program()?, cache: cache(), listener, stopped: stopped(), gpu, live })
}

/// The kiln binary, which is also its own worker.
pub(crate) fn program() -> Result<Utf8PathBuf, Failure> {
    let program = Utf8PathBuf::from_path_buf(std::env::current_exe()?);
    Ok(program.map_err(|path| Fault::new("finding the kiln binary", format!("{} is not UTF-8", path.display())))?)
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
