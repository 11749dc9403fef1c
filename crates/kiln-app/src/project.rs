//! Where kiln works: the folder `.kiln` under the current one, with the store and the build cache in it, and a way to be
//! stopped. In: the store's place, where it is elsewhere. Out: paths, and the store when an operation needs it. Nothing is
//! opened or made before that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::Cache;
use kiln_core::{Fault, Report};
use kiln_store::{Damaged, Store};

use crate::failure::Failure;
use crate::operation::Supposed;

/// Where kiln keeps things, under the folder it is run in.
const FOLDER: &str = ".kiln";

/// What git is told of that folder.
const IGNORED: &str =
    "# Written by kiln: records, builds and profiles are this machine's; lessons and settings may be shared.
*
!.gitignore
!config.toml
!lessons/
!lessons/**
";

/// How an operation is asked to stop: a flag that it looks at between steps.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    flag: &'static AtomicBool,
    heed: fn(),
}

impl Stop {
    /// A flag, and what is to happen when an operation begins to look at it: before that, whoever sets it would wait in
    /// vain.
    pub fn new(flag: &'static AtomicBool, heed: fn()) -> Stop {
        Stop { flag, heed }
    }

    /// A stop that never comes.
    pub fn never() -> Stop {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Stop { flag: &NEVER, heed: || {} }
    }

    /// Whether somebody asked to stop.
    pub fn is_asked(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// A folder that kiln is run in.
#[derive(Debug, Clone)]
pub struct Project {
    folder: Utf8PathBuf,
    store: String,
    stop: Stop,
    build_limit: Option<Duration>,
    supposed: Option<Arc<Supposed>>,
    /// Whether an attempt was recorded.
    attempted: Arc<AtomicBool>,
    /// Whether operations that only look leave no attempt.
    unrecorded: bool,
    /// What a user should know that no result carries.
    notices: Arc<Mutex<Notices>>,
    /// Records that could not be read, and whether somebody was told.
    damaged: Damaged,
    damage_told: Arc<AtomicBool>,
}

/// Warnings that wait to be told, each once.
#[derive(Debug, Default)]
struct Notices {
    waiting: Vec<Report>,
    known: BTreeSet<String>,
}

impl Project {
    /// Where studies are recorded unless chosen otherwise.
    pub const USUAL_STORE: &str = ".kiln/kiln.db";

    /// The project of the current folder. `store` is the file to record studies in; without one it is `.kiln/kiln.db`.
    pub fn here(store: Option<String>, stop: Stop) -> Project {
        let store = store.unwrap_or_else(|| Project::USUAL_STORE.into());
        Project {
            folder: FOLDER.into(),
            store,
            stop,
            build_limit: None,
            supposed: None,
            attempted: Arc::default(),
            unrecorded: false,
            notices: Arc::default(),
            damaged: Damaged::default(),
            damage_told: Arc::default(),
        }
    }

    #[cfg(test)]
    pub(crate) fn in_folder(self, folder: &Utf8Path) -> Project {
        Project { folder: folder.into(), ..self }
    }

    /// The same, where a build that takes longer than so many seconds is refused. Refuses what is no time.
    pub fn limited(mut self, seconds: Option<f64>) -> Result<Project, Failure> {
        self.build_limit = match seconds.map(Duration::try_from_secs_f64).transpose() {
            Ok(limit) if limit.is_none_or(|limit| !limit.is_zero()) => limit,
            _ => {
                let report = Report::error(format!("--build-limit {} is out of range", seconds.unwrap_or_default()));
                return Err(report.label("expected seconds above 0").into());
            }
        };
        Ok(self)
    }

    /// The same, where what is done next is to show whether somebody is right.
    pub fn supposing(self, supposed: Option<Supposed>) -> Project {
        Project { supposed: supposed.map(Arc::new), ..self }
    }

    /// The same, stopped by other means.
    pub fn stopped_by(self, stop: Stop) -> Project {
        Project { stop, ..self }
    }

    /// The same, where attempts leave no record: for whoever may look and not write.
    pub fn unrecorded(self) -> Project {
        Project { unrecorded: true, ..self }
    }

    /// Whether attempts leave no record.
    pub(crate) fn is_unrecorded(&self) -> bool {
        self.unrecorded
    }

    /// What is to be shown, and by which command.
    pub(crate) fn supposed(&self) -> Option<&Supposed> {
        self.supposed.as_deref()
    }

    /// Remembers that an attempt was recorded.
    pub(crate) fn recorded_one(&self) {
        self.attempted.store(true, Ordering::Relaxed);
    }

    /// Whether an attempt was recorded.
    pub(crate) fn has_recorded_one(&self) -> bool {
        self.attempted.load(Ordering::Relaxed)
    }

    /// Has a warning told beside whatever the result is; the same one once.
    pub(crate) fn notice(&self, report: Report) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if notices.known.insert(report.message.clone()) {
            notices.waiting.push(report);
        }
    }

    /// Warnings that were not told yet, that of damaged records among them; who takes them tells them.
    pub fn notices(&self) -> Vec<Report> {
        let mut waiting = std::mem::take(&mut self.notices.lock().unwrap_or_else(PoisonError::into_inner).waiting);
        waiting.extend(self.untold_damage());
        waiting
    }

    /// The folder that the project's own store lies in or would, whatever folder kiln runs in; none where it is kept elsewhere.
    pub(crate) fn root(&self) -> Option<Utf8PathBuf> {
        let place = Utf8Path::new(&self.store).parent().filter(|place| place.file_name() == Some(FOLDER))?;
        let above = place.parent().filter(|above| !above.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        above.canonicalize_utf8().ok()
    }

    /// How long a build may take; none for the usual limit.
    pub(crate) fn build_limit(&self) -> Option<Duration> {
        self.build_limit
    }

    /// The folder of everything that is not chosen to lie elsewhere.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// The store's place, as it was chosen.
    pub fn store_place(&self) -> &str {
        &self.store
    }

    /// Where the winner of a kernel goes unless told otherwise.
    pub(crate) fn best(&self, kernel: &str) -> Utf8PathBuf {
        self.folder.join("best").join(kernel)
    }

    /// The build cache.
    pub(crate) fn cache(&self) -> Cache {
        Cache::at(self.folder.join("cache"))
    }

    /// The store, made where there is none.
    pub(crate) fn store(&self) -> Result<Store, Fault> {
        let store = Store::open(&self.store)?.telling(&self.damaged);
        self.keep_out_of_commits();
        Ok(store)
    }

    /// The store, open for as long as the process lives: closing it would fold the journal into the file, which waits for the
    /// disk. For records of which many are made and each is small; whoever closes the store next folds them in.
    pub(crate) fn kept_store(&self) -> Result<Arc<Store>, Fault> {
        static KEPT: Mutex<BTreeMap<Utf8PathBuf, Arc<Store>>> = Mutex::new(BTreeMap::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let here = Utf8Path::new(".").canonicalize_utf8().unwrap_or_default().join(&self.store);
        // One that was removed is not the one that is there now.
        match kept.get(&here).filter(|_| kiln_store::exists(&self.store)) {
            Some(store) => Ok(Arc::clone(store)),
            None => {
                let store = Arc::new(self.store()?);
                kept.insert(here, Arc::clone(&store));
                Ok(store)
            }
        }
    }

    /// What kiln writes into its folder stays out of commits; what people write there may be shared. No reason to fail.
    fn keep_out_of_commits(&self) {
        let file = self.folder.join(".gitignore");
        if self.folder.is_dir() && !file.exists() {
            let _ = fs_err::write(file, IGNORED);
        }
    }

    /// The store; none when nothing was ever recorded there. Looking never makes one.
    pub(crate) fn recorded(&self) -> Result<Option<Store>, Fault> {
        if kiln_store::exists(&self.store) { self.store().map(Some) } else { Ok(None) }
    }

    /// The warning of records that could not be read so far; none where there are none, and once it was given.
    pub(crate) fn untold_damage(&self) -> Option<Report> {
        let records = self.damaged.ids().len();
        if records == 0 || self.damage_told.swap(true, Ordering::Relaxed) {
            return None;
        }
        let words = match records {
            1 => "1 record in the store cannot be read and is ignored".to_string(),
            some => format!("{some} records in the store cannot be read and are ignored"),
        };
        Some(Report::warning(words).hint("`kiln doctor` names them and says how to remove them"))
    }

    /// The store that a study is looked for in. Refuses where there is none.
    pub(crate) fn recorded_for(&self, study: &str) -> Result<Store, Failure> {
        let store = self.recorded()?;
        Ok(store.ok_or_else(|| {
            Fault::new(format!("looking for study `{study}`"), format!("there is no {} here", self.store))
                .hint("the first study makes it: `kiln tune`; or run kiln in the folder you tuned in")
        })?)
    }

    /// The flag that says to stop, from now on looked at.
    pub fn stopped(&self) -> &'static AtomicBool {
        (self.stop.heed)();
        self.stop.flag
    }

    /// Whether somebody asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }
}

/// The kiln binary, which is also its own worker.
pub(crate) fn program() -> Result<Utf8PathBuf, Failure> {
    let program = Utf8PathBuf::from_path_buf(std::env::current_exe()?);
    Ok(program.map_err(|path| Fault::new("finding the kiln binary", format!("{} is not UTF-8", path.display())))?)
}

/// The kiln binary as others start it: by its name where that leads here, else by its place.
pub fn program_name() -> Result<String, Failure> {
    let here = program()?;
    let name = here.file_name().unwrap_or_default().to_string();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|file| file.is_file());
    let leads_here = first.is_some_and(|file| file.canonicalize().is_ok_and(|file| file == *here.as_std_path()));
    Ok(if leads_here { name } else { here.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_lies_in_the_folder_unless_chosen() {
        let usual = Project::here(None, Stop::never());
        assert_eq!(usual.store_place(), ".kiln/kiln.db");
        let chosen = Project::here(Some("/elsewhere/team.db".into()), Stop::never());
        assert_eq!(chosen.store_place(), "/elsewhere/team.db");
        assert_eq!(chosen.best("k"), ".kiln/best/k");
        assert_eq!(chosen.cache().root(), ".kiln/cache");
    }

    #[test]
    fn what_kiln_writes_stays_out_of_commits_and_what_people_say_of_it_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(place.path().join(".kiln")).unwrap();
        let store = folder.join("kiln.db").into_string();
        let project = Project::here(Some(store), Stop::never()).in_folder(&folder);
        project.store().unwrap();
        let ignored = folder.join(".gitignore");
        assert!(fs_err::read_to_string(&ignored).unwrap().lines().any(|line| line == "*"));
        fs_err::write(&ignored, "cache\n").unwrap();
        project.store().unwrap();
        assert_eq!(fs_err::read_to_string(&ignored).unwrap(), "cache\n");
    }

    #[test]
    fn looking_for_a_study_makes_no_store() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("none.db");
        let project = Project::here(Some(place.to_string_lossy().into()), Stop::never());
        assert!(project.recorded().unwrap().is_none());
        let failure = project.recorded_for("last").err().unwrap();
        assert!(failure.to_string().contains("there is no "), "{failure}");
        assert!(!place.exists());
    }

    #[test]
    fn damage_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::here(Some(folder.path().join("x.db").to_string_lossy().into()), Stop::never());
        project.store().unwrap();
        assert!(project.notices().is_empty());
        for id in ["a", "b"] {
            project.clone().store().unwrap().leave_out(id);
        }
        let told = project.notices().pop().unwrap();
        assert!(
            told.message.starts_with("2 records") && told.hint.unwrap().contains("kiln doctor"),
            "{}",
            told.message
        );
        assert!(project.clone().notices().is_empty());
    }

    #[test]
    fn a_notice_is_told_once() {
        let project = Project::here(None, Stop::never());
        project.notice(Report::warning("one"));
        project.clone().notice(Report::warning("one"));
        assert_eq!(project.notices().len(), 1);
        project.notice(Report::warning("one"));
        assert!(project.notices().is_empty());
    }

    #[test]
    fn a_stop_is_heeded_once_an_operation_looks_at_it() {
        static FLAG: AtomicBool = AtomicBool::new(false);
        static HEEDED: AtomicBool = AtomicBool::new(false);
        let project = Project::here(None, Stop::new(&FLAG, || HEEDED.store(true, Ordering::Relaxed)));
        assert!(!project.is_stopped() && !HEEDED.load(Ordering::Relaxed));
        project.stopped().store(true, Ordering::Relaxed);
        assert!(project.is_stopped() && HEEDED.load(Ordering::Relaxed));
    }
}
