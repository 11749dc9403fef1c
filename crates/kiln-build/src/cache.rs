//! Built libraries and cubins by the hash of what they were built from. An entry is a folder that appears whole, by one rename: a
//! build that is killed, or loses a race to another, leaves nothing half done. The oldest entries go when the cache
//! outgrows its bound.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Outcome};

use crate::artifact::Artifact;
use crate::requests::key::key;
use crate::requests::request::Request;
use crate::toolchains::compile::{BuildLimits, compile};
use crate::toolchains::process::Watch;
use crate::toolchains::toolchain::Toolchain;

/// Bytes a cache may hold unless told otherwise.
const BOUND: u64 = 2 << 30;

/// Locked by whoever uses the cache.
const LOCK: &str = "lock";

/// A folder of built libraries.
#[derive(Debug, Clone)]
pub struct Cache {
    root: Utf8PathBuf,
    bound: u64,
    /// Held from the first build on, as long as any copy of this cache is there.
    held: Arc<OnceLock<Option<File>>>,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheState {
    /// Libraries.
    pub entries: u64,
    /// Bytes in all.
    pub bytes: u64,
}

/// Whether an entry still is what would be built: some compilers keep part of what they make elsewhere.
fn stands(toolchain: &Toolchain, artifact: &Artifact) -> bool {
    let Toolchain::Foreign(foreign) = toolchain else { return true };
    fs_err::read(&artifact.library).is_ok_and(|product| foreign.compiler().stands_by(&product))
}

impl Cache {
    /// A cache in this folder, which is made when something is built.
    pub fn at(root: impl Into<Utf8PathBuf>) -> Cache {
        Cache { root: root.into(), bound: BOUND, held: Arc::default() }
    }

    /// The same cache with another bound in bytes.
    pub fn bounded(mut self, bound: u64) -> Cache {
        self.bound = bound;
        self
    }

    /// Where it lies.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The artifact of a request: from the cache when it is there, else built and put there. Refusals are not kept: the
    /// compiler is asked again, so that a flaky machine is never blamed on a configuration for ever.
    pub fn build(
        &self,
        toolchain: impl Into<Toolchain>,
        request: &Request,
        limits: BuildLimits,
        on_silence: &dyn Fn(Duration),
    ) -> Result<Outcome<Artifact>, Fault> {
        self.build_until(toolchain, request, limits, on_silence, &AtomicBool::new(false))
    }

    /// The same, given up with a fault as soon as `stopped` is set; the compiler is then ended.
    pub fn build_until(
        &self,
        toolchain: impl Into<Toolchain>,
        request: &Request,
        limits: BuildLimits,
        on_silence: &dyn Fn(Duration),
        stopped: &AtomicBool,
    ) -> Result<Outcome<Artifact>, Fault> {
        let toolchain = toolchain.into();
        let key = key(&toolchain, request)?;
        let entry = self.entry(&key);
        let product = request.product();
        self.hold();
        if entry.join(product).is_file() {
            // One that cannot be read, or that is not what was put there, is built again.
            match Artifact::read(&entry, product, &key, None) {
                Ok(artifact) if stands(&toolchain, &artifact) => {
                    touch(&entry);
                    return Ok(Outcome::Passed(artifact));
                }
                _ => self.discard(&entry, &key),
            }
        }
        let fault = |e: io::Error| Fault::new(format!("writing to the build cache {}", self.root), e);
        let work = self.root.join("tmp").join(format!("{key}.{}.{}", std::process::id(), unique()));
        fs_err::create_dir_all(&work).map_err(fault)?;
        let watch = Watch { limits, on_silence, stopped, started: Instant::now() };
        let built = match compile(&toolchain, request, &work, &watch) {
            Ok(Outcome::Passed(symbols)) => Artifact::write_symbols(&work, &symbols)
                .and_then(|()| Artifact::seal(&work, product))
                .and_then(|()| self.publish(&work, &entry, product))
                .map_err(fault)
                .and_then(|()| Artifact::read(&entry, product, &key, Some(watch.started.elapsed())))
                .map(Outcome::Passed),
            Ok(Outcome::Refused(refusal)) => Ok(Outcome::Refused(refusal)),
            Err(e) => Err(e),
        };
        let _ = fs_err::remove_dir_all(&work);
        built
    }

    /// Marks the cache as in use by this process. Where that cannot be done it works all the same.
    fn hold(&self) {
        self.held.get_or_init(|| {
            let lock = self.lock().ok()?;
            // Whoever clears the cache is done in a moment.
            lock.lock_shared().ok().map(|()| lock)
        });
    }

    fn lock(&self) -> io::Result<File> {
        std::fs::create_dir_all(&self.root)?;
        File::options().create(true).append(true).open(self.root.join(LOCK))
    }

    /// Moves a damaged entry out of the way, by one rename: who has it open keeps it.
    fn discard(&self, entry: &Utf8Path, key: &str) {
        let away = self.root.join("tmp").join(format!("{key}.damaged.{}.{}", std::process::id(), unique()));
        let moved = fs_err::create_dir_all(self.root.join("tmp")).and_then(|()| fs_err::rename(entry, &away));
        if moved.is_ok() {
            let _ = fs_err::remove_dir_all(&away);
        }
    }

    fn entry(&self, key: &str) -> Utf8PathBuf {
        self.root.join(&key[..2]).join(key)
    }

    /// One rename; losing it to another builder of the same entry is no failure.
    fn publish(&self, work: &Utf8Path, entry: &Utf8Path, product: &str) -> io::Result<()> {
        if let Some(parent) = entry.parent() {
            fs_err::create_dir_all(parent)?;
        }
        match fs_err::rename(work, entry) {
            Err(_) if entry.join(product).is_file() => Ok(()),
            other => other,
        }
    }

    /// Every entry with its size and when it was last used.
    fn entries(&self) -> io::Result<Vec<(SystemTime, u64, Utf8PathBuf)>> {
        let mut entries = Vec::new();
        if !self.root.is_dir() {
            return Ok(entries);
        }
        for shelf in self.root.read_dir_utf8()? {
            let shelf = shelf?;
            if !shelf.file_type()?.is_dir() || shelf.file_name() == "tmp" {
                continue;
            }
            for entry in shelf.path().read_dir_utf8()? {
                let entry = entry?;
                // Nothing of ours: a cache shares its folder with whatever a user puts there.
                if !entry.file_type()?.is_dir() {
                    continue;
                }
                let bytes = bytes_below(entry.path());
                let used = entry.metadata()?.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push((used, bytes, entry.into_path()));
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// How much it holds.
    pub fn state(&self) -> Result<CacheState, Fault> {
        self.is_folder()?;
        let entries = self.entries().map_err(|e| Fault::new(format!("reading the build cache {}", self.root), e))?;
        Ok(CacheState { entries: entries.len() as u64, bytes: entries.iter().map(|(_, bytes, _)| bytes).sum() })
    }

    /// Refuses something else in its place.
    fn is_folder(&self) -> Result<(), Fault> {
        let fault = || Fault::new(format!("reading the build cache {}", self.root), "it is not a folder");
        match self.root.exists() && !self.root.is_dir() {
            true => Err(fault().hint(format!("move {} away: kiln makes a folder of that name", self.root))),
            false => Ok(()),
        }
    }

    /// Removes the entries used longest ago until the bound is kept, and what killed builds left behind.
    pub fn trim(&self) -> Result<CacheState, Fault> {
        self.shrink_to(self.bound)
    }

    /// Removes everything. Refuses while another process builds or runs something from it.
    pub fn clear(&self) -> Result<CacheState, Fault> {
        self.is_folder()?;
        if !self.root.is_dir() {
            return Ok(CacheState::default());
        }
        let what = format!("clearing the build cache {}", self.root);
        let lock = self.lock().map_err(|e| Fault::new(what.as_str(), e))?;
        match lock.try_lock() {
            Ok(()) => self.shrink_to(0),
            Err(TryLockError::WouldBlock) => Err(Fault::new(what, "another kiln is using it")
                .hint("wait for it, or stop it with Ctrl-C; `kiln history` shows studies that are running")),
            // A file system without locks.
            Err(TryLockError::Error(_)) => self.shrink_to(0),
        }
    }

    /// Removes folders of builds that were killed. A build that still runs is younger than this.
    fn sweep(&self) {
        const ABANDONED: Duration = Duration::from_secs(3600);
        let Ok(left) = self.root.join("tmp").read_dir_utf8() else { return };
        for folder in left.flatten() {
            let age = folder.metadata().and_then(|m| m.modified()).map(|m| m.elapsed().unwrap_or_default());
            if age.is_ok_and(|age| age > ABANDONED) {
                let _ = fs_err::remove_dir_all(folder.path());
            }
        }
    }

    /// What was removed.
    fn shrink_to(&self, bound: u64) -> Result<CacheState, Fault> {
        let fault = |e: io::Error| Fault::new(format!("clearing the build cache {}", self.root), e);
        self.sweep();
        let entries = self.entries().map_err(fault)?;
        let mut held: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        let mut removed = CacheState::default();
        for (_, bytes, path) in entries {
            if held <= bound {
                break;
            }
            fs_err::remove_dir_all(&path).map_err(fault)?;
            held -= bytes;
            removed.entries += 1;
            removed.bytes += bytes;
        }
        Ok(removed)
    }
}

/// The bytes of all files in a folder and in those below it. Links are not followed.
fn bytes_below(folder: &Utf8Path) -> u64 {
    let (mut bytes, mut folders) = (0, vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(about) if about.is_dir() => folders.push(entry.into_path()),
                Ok(about) => bytes += about.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// Marks an entry as used now; not being able to only makes it go earlier.
pub(crate) fn touch(entry: &Utf8Path) {
    let _ = std::fs::File::open(entry).and_then(|folder| folder.set_modified(SystemTime::now()));
}

/// A number no other build in this process has.
pub(crate) fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
