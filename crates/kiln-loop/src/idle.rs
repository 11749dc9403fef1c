//! Workers with a device between two subjects. In: a worker that did its work. Out: the same worker, with what it keeps on
//! the device, for the next subject of its kind.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use kiln_run::Worker;

/// A worker and the images it was sent.
#[derive(Debug)]
pub(crate) struct Rested {
    pub(crate) worker: Worker,
    pub(crate) images: HashSet<u64>,
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
        Some(waiting.swap_remove(at).1)
    }

    /// Lets one wait.
    pub(crate) fn put(&self, kind: String, rested: Rested) {
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting.push((kind, rested));
        }
    }
}
