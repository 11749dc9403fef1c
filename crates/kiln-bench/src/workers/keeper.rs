//! Who keeps the memory that foreign code works with on a device: a process of kiln's own, which loads nothing of anybody's.
//! It has mirrors and images, draws what calls read, cools caches and fetches what calls wrote; the subject's own process is
//! lent the mirrors and nothing else. So numbers come from where the subject cannot look, and what is judged is what lay on
//! the device, not what its process says of it. In: questions about memory. Out: answers, or a refusal.

use std::time::Duration;

use kiln_core::{Fault, Outcome};
use kiln_run::{Answer, Arena, Ask};

use crate::workers::idle::{Idle, Rested, Scalars};

/// The name of keepers that wait.
pub(crate) const KEEPERS: &str = "keeper";

/// A process with memory on a device.
pub(crate) struct Keeper {
    /// There until it is given back.
    rested: Option<Rested>,
    idle: Idle,
    /// The scalars that the subject's process was told last.
    told: Option<Scalars>,
    /// Whether its memory is lent at the moment.
    pub(crate) lent: bool,
}

impl Keeper {
    pub(crate) fn new(rested: Rested, idle: Idle) -> Keeper {
        Keeper { rested: Some(rested), idle, told: None, lent: false }
    }

    /// A question about memory.
    pub(crate) fn ask(&mut self, ask: Ask, within: Duration) -> Result<Outcome<Answer>, Fault> {
        let Some(rested) = &mut self.rested else { return Err(Fault::new("asking a keeper", "it was given up")) };
        let answer = rested.worker.ask_within(ask, within)?;
        if matches!(answer, Outcome::Refused(_)) {
            self.rested = None;
        }
        Ok(answer)
    }

    /// Makes room for so many sets of what a shared memory holds, and says where.
    pub(crate) fn map(
        &mut self,
        arena: &Arena,
        (elsewhere, sets): (bool, u32),
        within: Duration,
    ) -> Result<Outcome<Answer>, Fault> {
        let gone = self.rested.as_mut().map(|rested| rested.maps(arena)).unwrap_or_default();
        let (slots, launches, holes) = (Vec::new(), Vec::new(), Vec::new());
        let map =
            Ask::Map { arena: arena.handle(), lent: None, slots, launches, sets, stride: 0, holes, elsewhere, gone };
        match self.ask(map, within)? {
            Outcome::Passed(Answer::Done) => {}
            other => return Ok(other),
        }
        self.told = None;
        self.ask(Ask::Lend, within)
    }

    pub(crate) fn rested(&mut self) -> Option<&mut Rested> {
        self.rested.as_mut()
    }

    /// The scalars of an image, when the subject's process has others.
    pub(crate) fn untold(&mut self, image: u64) -> Option<Scalars> {
        let scalars = self.rested.as_ref()?.images.get(&image)?;
        if scalars.is_empty() || self.told.as_ref() == Some(scalars) {
            return None;
        }
        self.told = Some(scalars.clone());
        self.told.clone()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(rested) = self.rested.take() {
            self.idle.put(KEEPERS.into(), rested);
        }
    }
}
