//! Processes that compile, kept for the next compilation. Copies share them; they end with the last copy. A process is taken by
//! one compilation at a time and given back when it did well; after some hundred compilations, or when it holds much
//! memory, a new one takes its place.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Fault;

use crate::toolchains::nvrtc::builder::Builder;
use crate::toolchains::nvrtc::place::Place;

/// Compilations by one process. Neither memory nor time grew over 1,500 of them; starting anew then costs less than a thousandth.
const MOST: u64 = 500;
/// Sets another number: 1 is a process for each compilation.
const MOST_VARIABLE: &str = "KILN_NVRTC_COMPILATIONS";

/// A kiln to start, and processes of it that have nothing to do.
#[derive(Debug, Clone)]
pub(super) struct Builders {
    program: Utf8PathBuf,
    most: u64,
    idle: Arc<Idle>,
}

/// Alike when they start the same, whatever they have started.
impl PartialEq for Builders {
    fn eq(&self, other: &Builders) -> bool {
        self.program == other.program && self.most == other.most
    }
}

impl Eq for Builders {}

#[derive(Debug, Default)]
struct Idle(Mutex<Vec<Builder>>);

impl Builders {
    pub(super) fn of(program: &Utf8Path) -> Builders {
        let most = std::env::var(MOST_VARIABLE).ok().and_then(|number| number.parse().ok());
        Builders::with(program, most.unwrap_or(MOST))
    }

    /// Processes of so many compilations each.
    pub(super) fn with(program: &Utf8Path, most: u64) -> Builders {
        Builders { program: program.to_owned(), most: most.max(1), idle: Arc::default() }
    }

    /// One that has nothing to do and runs where this thread does, else a new one.
    pub(super) fn take(&self, words: Stdio) -> Result<Builder, Fault> {
        let place = Place::of_thread();
        let other = {
            let Ok(mut idle) = self.idle.0.lock() else { return self.start(words) };
            match idle.iter().rposition(|builder| *builder.place() == place) {
                Some(found) => return Ok(idle.swap_remove(found)),
                // One that runs elsewhere makes room: there are never more than compilations at a time.
                None => idle.pop(),
            }
        };
        drop(other);
        self.start(words)
    }

    pub(super) fn start(&self, words: Stdio) -> Result<Builder, Fault> {
        let failed = |e| Fault::new(format!("running the compiler {}", self.program), e);
        Builder::start(&self.program, words).map_err(failed)
    }

    /// Keeps one that did well, if it is fit to go on.
    pub(super) fn give_back(&self, builder: Builder) {
        if builder.is_fit(self.most)
            && let Ok(mut idle) = self.idle.0.lock()
        {
            idle.push(builder);
        }
    }
}

/// All are killed before the first is waited for.
impl Drop for Idle {
    fn drop(&mut self) {
        if let Ok(idle) = self.0.get_mut() {
            idle.iter_mut().for_each(Builder::dismiss);
        }
    }
}
