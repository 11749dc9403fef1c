//! Where records are read. In: what to read. Out: what was read, from a thread that may wait. Studies are kept once read, as long as nothing was recorded of
//! them since, so that a filter over 100,000 trials does not read them again, and so are the last pages drawn of them. Refuses nothing; two read at a time, the
//! others wait. What two ask for at once is read and drawn once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kiln_app::{Failure, Fault, LookDepth, Project, StudyLook, look, study_stamp};
use tokio::sync::Semaphore;

use super::views::Page;

/// How many read at a time: each may need much memory.
const READERS: usize = 2;
/// Trials of studies that are kept, all together; the study read last is kept whatever it has.
const KEPT_TRIALS: usize = 150_000;
/// Studies that are kept.
const KEPT: usize = 16;
/// Pages that are kept; one of many trials has about a megabyte.
const KEPT_PAGES: usize = 8;

/// A study as it was read.
struct Kept {
    id: String,
    stamp: String,
    look: Arc<StudyLook>,
}

/// A page as it was drawn.
struct Drawn {
    id: String,
    /// Of what; it stands for its study's stamp, and keeps no trials.
    look: Weak<StudyLook>,
    asked: String,
    page: Arc<Page>,
}

impl Drawn {
    fn is_of(&self, look: &Arc<StudyLook>) -> bool {
        std::ptr::eq(self.look.as_ptr(), Arc::as_ptr(look))
    }
}

/// Held by whoever reads or draws something, while others that want the same wait for it.
type Turn = Arc<Mutex<()>>;

/// The desk.
#[derive(Clone)]
pub(super) struct Desk {
    project: Project,
    /// How kiln is called so that it finds the same store.
    kiln: Arc<str>,
    free: Arc<Semaphore>,
    kept: Arc<Mutex<VecDeque<Kept>>>,
    drawn: Arc<Mutex<VecDeque<Drawn>>>,
    /// By what is read or drawn.
    turns: Arc<Mutex<HashMap<String, Turn>>>,
}

impl Desk {
    pub(super) fn new(project: &Project, kiln: &str) -> Desk {
        Desk {
            project: project.clone(),
            kiln: kiln.into(),
            free: Arc::new(Semaphore::new(READERS)),
            kept: Arc::default(),
            drawn: Arc::default(),
            turns: Arc::default(),
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
        let turn = self.turn(&id);
        let _mine = turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(look) = self.known(&id, &stamp) {
            return Ok(look);
        }
        let found = Arc::new(look(&self.project, &id, LookDepth::Whole)?);
        self.keep(Kept { id, stamp, look: Arc::clone(&found) });
        Ok(found)
    }

    /// The turn to read or draw something.
    pub(super) fn turn(&self, what: &str) -> Turn {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(what.into()).or_default())
    }

    /// The page that was drawn of a study as it stands, for the same question.
    pub(super) fn drawn(&self, look: &Arc<StudyLook>, asked: &str) -> Option<Arc<Page>> {
        let drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let own = drawn.iter().find(|own| own.is_of(look) && own.asked == asked)?;
        Some(Arc::clone(&own.page))
    }

    /// Keeps a page; the oldest goes, and with it those of a study that was read again since.
    pub(super) fn keep_drawn(&self, look: &Arc<StudyLook>, asked: String, page: &Arc<Page>) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let id = look.story.now.study.id.clone();
        drawn.retain(|own| own.id != id || own.is_of(look));
        drawn.push_front(Drawn { id, look: Arc::downgrade(look), asked, page: Arc::clone(page) });
        drawn.truncate(KEPT_PAGES);
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

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_app::Stop;

    #[test]
    fn who_wants_the_same_waits_for_one_turn() {
        let desk = Desk::new(&Project::here(None, Stop::never()), "kiln");
        let (one, other) = (desk.turn("a"), desk.turn("b"));
        assert!(Arc::ptr_eq(&one, &desk.turn("a")) && !Arc::ptr_eq(&one, &other));
        drop(one);
        assert_eq!(desk.turn("b").lock().map(|_| desk.turns.lock().unwrap().len()).ok(), Some(1), "a was given back");
    }
}
