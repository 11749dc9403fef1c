//! Workers with a device between two subjects. In: a worker that did its work. Out: the same worker, with what it keeps on
//! the device, for the next subject of its kind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use kiln_run::{Arena, Worker};

use crate::workers::keeper::KEEPERS;

/// The name of workers that launch kernels themselves.
pub(crate) const KERNELS: &str = "cuda";
/// Workers with foreign code that wait, at most: each has a context on the device and, mostly, all of PyTorch.
const MOST_FOREIGN: usize = 6;

/// Bytes of scalars, by their offsets.
pub(crate) type Scalars = Vec<(usize, Vec<u8>)>;

/// A worker, the images it was sent, each with its scalars, and the memory it has mapped.
#[derive(Debug)]
pub(crate) struct Rested {
    pub(crate) worker: Worker,
    pub(crate) images: HashMap<u64, Scalars>,
    arenas: Vec<(u64, Weak<()>)>,
}

impl Rested {
    pub(crate) fn new(worker: Worker) -> Rested {
        Rested { worker, images: HashMap::new(), arenas: Vec::new() }
    }

    /// Notes that it will map this memory; which it need not keep mapped any longer.
    pub(crate) fn maps(&mut self, arena: &Arena) -> Vec<u64> {
        let gone = self.arenas.extract_if(.., |(_, life)| life.strong_count() == 0);
        let gone = gone.map(|(number, _)| number).collect();
        if !self.arenas.iter().any(|(number, _)| *number == arena.number()) {
            self.arenas.push((arena.number(), arena.life()));
        }
        gone
    }
}

/// Those that wait, with their kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Idle {
    waiting: Arc<Mutex<Vec<(String, Rested)>>>,
}

impl Idle {
    /// One of this kind, if one waits.
    pub(crate) fn get(&self, kind: &str) -> Option<Rested> {
        let mut waiting = self.waiting.lock().ok()?;
        let at = waiting.iter().position(|(k, _)| k == kind)?;
        Some(waiting.remove(at).1)
    }

    /// Lets one wait.
    pub(crate) fn put(&self, kind: String, rested: Rested) {
        let Ok(mut waiting) = self.waiting.lock() else { return };
        waiting.push((kind, rested));
        let foreign = |(kind, _): &(String, Rested)| kind != KERNELS && kind != KEEPERS;
        if waiting.iter().filter(|one| foreign(one)).count() > MOST_FOREIGN
            && let Some(oldest) = waiting.iter().position(foreign)
        {
            waiting.remove(oldest);
        }
    }
}
