//! Questions that a device keeps as images. In: a question, and the number it is kept under. Out: the question where calls find
//! it, sent once, and again where the device does not have it any more.

use kiln_core::{Fault, Outcome};
use kiln_judge::Exam;
use kiln_run::{About, Answer, Arena, Ask, MappedSlot};

use super::Seat;
use crate::questions::layout::Layout;
use crate::workers::idle::{Rested, Scalars};

/// The number of an image that is used once.
const ONCE: u64 = u64::MAX - 1;

impl Seat {
    /// Puts a question where calls will find it. On a device it is sent once and kept there under `image`.
    pub(crate) fn lay(
        &mut self,
        layout: &Layout,
        exam: &Exam,
        arena: &mut Arena,
        image: u64,
    ) -> Result<Outcome<()>, Fault> {
        if !self.on_device() {
            layout.lay(exam, arena);
            return Ok(Outcome::Passed(()));
        }
        match self.lay_sent(image)? {
            Outcome::Passed(true) => return Ok(Outcome::Passed(())),
            Outcome::Passed(false) => self.forget(image),
            Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
        }
        passed!(self.send(layout, exam, arena, image)?);
        Ok(self.lay_sent(image)?.map(|_| ()))
    }

    /// Puts what is in memory now where calls will find it. On a device it is not kept for another time.
    pub(crate) fn lay_here(&mut self, layout: &Layout, arena: &Arena) -> Result<Outcome<()>, Fault> {
        if !self.on_device() {
            return Ok(Outcome::Passed(()));
        }
        passed!(self.upload(layout, arena, ONCE)?);
        let laid = self.lay_sent(ONCE)?.map(|_| ());
        self.forget(ONCE);
        Ok(laid)
    }

    /// Sends a question to the device ahead of its use, unless it was sent before.
    pub(crate) fn send(
        &mut self,
        layout: &Layout,
        exam: &Exam,
        arena: &mut Arena,
        image: u64,
    ) -> Result<Outcome<()>, Fault> {
        if self.was_sent(image) {
            return Ok(Outcome::Passed(()));
        }
        layout.lay(exam, arena);
        self.upload(layout, arena, image)
    }

    /// Keeps what is in memory on the device, under a number.
    fn upload(&mut self, layout: &Layout, arena: &Arena, image: u64) -> Result<Outcome<()>, Fault> {
        passed!(self.kept(Ask::Upload { image })?);
        let scalars = layout.slots.iter().filter(|slot| slot.role == "scalar");
        let bytes = |slot: &MappedSlot| arena.bytes()[slot.offset..slot.offset + slot.bytes].to_vec();
        let scalars: Scalars = scalars.map(|slot| (slot.offset, bytes(slot))).collect();
        if let Some(rested) = self.keeping() {
            rested.images.insert(image, scalars);
        }
        Ok(Outcome::Passed(()))
    }

    /// Puts a question that was sent where calls will find it; false when the device does not have it any more.
    pub(crate) fn lay_sent(&mut self, image: u64) -> Result<Outcome<bool>, Fault> {
        if !self.was_sent(image) {
            return Ok(Outcome::Passed(false));
        }
        match self.ask_keeper(Ask::Lay { image })? {
            // Memory on the device was needed for others.
            Outcome::Passed(Answer::Failed(failed)) if failed.about == About::Image => {
                return Ok(Outcome::Passed(false));
            }
            answer => passed!(self.is_done(answer)),
        }
        self.tell_scalars(image).map(|told| told.map(|()| true))
    }

    /// Tells the subject's process the scalars of an image, where another one keeps the memory.
    pub(super) fn tell_scalars(&mut self, image: u64) -> Result<Outcome<()>, Fault> {
        match self.keeper.as_mut().and_then(|keeper| keeper.untold(image)) {
            Some(values) => self.done(Ask::Scalars { values }),
            None => Ok(Outcome::Passed(())),
        }
    }

    fn was_sent(&mut self, image: u64) -> bool {
        self.keeping().is_some_and(|rested| rested.images.contains_key(&image))
    }

    /// The process that keeps the memory.
    fn keeping(&mut self) -> Option<&mut Rested> {
        match &mut self.keeper {
            Some(keeper) => keeper.rested(),
            None => self.rested.as_mut(),
        }
    }

    /// Takes a number for an image back, so that the next question under it is sent.
    pub(crate) fn forget(&mut self, image: u64) {
        if let Some(rested) = self.keeping() {
            rested.images.remove(&image);
        }
    }
}
