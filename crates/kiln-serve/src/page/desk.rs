//! Where records are read. In: what to read. Out: what was read, from a thread that may wait. Studies are kept once read, as long as nothing was recorded of
//! them since, so that a filter over 100,000 trials does not read them again. Refuses nothing; two read at a time, the others wait.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use kiln_app::{Failure, Fault, LookDepth, Project, StudyLook, look, study_stamp};
use tokio::sync::Semaphore;

/// How many read at a time: each may need much memory.
const READERS: usize = 2;
/// Trials of studies that are kept, all together; the study read last is kept whatever it has.
const KEPT_TRIALS: usize = 150_000;
/// Studies that are kept.
const KEPT: usize = 16;

/// A study as it was read.
struct Kept {
    id: String,
    stamp: String,
    look: Arc<StudyLook>,
}

/// The desk.
#[derive(Clone)]
pub(super) struct Desk {
    project: Project,
    /// How kiln is called so that it finds the same store.
    kiln: Arc<str>,
    free: Arc<Semaphore>,
    kept: Arc<Mutex<VecDeque<Kept>>>,
}

impl Desk {
    pub(super) fn new(project: &Project, kiln: &str) -> Desk {
        Desk {
            project: project.clone(),
            kiln: kiln.into(),
            free: Arc::new(Semaphore::new(READERS)),
            kept: Arc::default(),
        }
    }

    /// Does something that waits for the store.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        body: impl FnOnce(&Desk) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let broken = |why: &str| Failure::from(Fault::new("reading the store", why));
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(|_| broken("the server is stopping"))?;
        let desk = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            body(&desk)
        });
        done.await.unwrap_or_else(|_| Err(broken("an earlier step broke off in a panic")))
    }

    /// How kiln is called.
    pub(super) fn kiln(&self) -> &str {
        &self.kiln
    }

    /// The project.
    pub(super) fn project(&self) -> &Project {
        &self.project
    }

    /// A study with all its trials, read again only where it has changed.
    pub(super) fn study(&self, name: &str) -> Result<Arc<StudyLook>, Failure> {
        // Before it is read: what is recorded meanwhile is read once more.
        let (id, stamp) = study_stamp(&self.project, name)?;
        if let Some(look) = self.known(&id, &stamp) {
            return Ok(look);
        }
        let found = Arc::new(look(&self.project, &id, LookDepth::Whole)?);
        self.keep(Kept { id, stamp, look: Arc::clone(&found) });
        Ok(found)
    }

    fn known(&self, id: &str, stamp: &str) -> Option<Arc<StudyLook>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|own| own.id == id)?;
        let own = kept.remove(place)?;
        if own.stamp != stamp {
            return None;
        }
        let look = Arc::clone(&own.look);
        kept.push_front(own);
        Some(look)
    }

    /// Keeps a study; those that were not asked for longest go.
    fn keep(&self, own: Kept) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.id != own.id);
        kept.push_front(own);
        let trials = |own: &Kept| own.look.story.now.trials.len();
        while kept.len() > KEPT || (kept.len() > 1 && kept.iter().map(trials).sum::<usize>() > KEPT_TRIALS) {
            kept.pop_back();
        }
    }
}
